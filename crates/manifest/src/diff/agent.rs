//! stub
use remit_model::Node;

use super::Changes;

pub(super) fn diff(_old: &Node, _new: &Node, _changes: &mut Changes) {}
