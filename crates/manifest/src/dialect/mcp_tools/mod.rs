//! stub
use remit_model::{Dialect, Manifest, Node};

use crate::report::Report;
use crate::shape::{Record, Unknown};

/// stub
pub static RESULT: Record = Record { what: "x", fields: &[], unknown: Unknown::Warning };

/// stub
pub fn check<'t>(_root: &'t Node, _report: &mut Report<'t>) {}

/// stub
#[must_use]
pub fn lower(_root: &Node) -> Manifest {
    Manifest::new(Dialect::McpTools)
}

/// Finds the result inside a JSON-RPC response, or takes the tree as the result itself.
#[must_use]
pub fn unwrapped(root: &Node) -> &Node {
    root.get("result").filter(|_| root.get("jsonrpc").is_some()).unwrap_or(root)
}
