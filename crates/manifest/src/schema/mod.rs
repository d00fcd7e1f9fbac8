//! JSON Schema 2020-12 inside manifests: judged with places, compiled, and compared by example.

pub mod witness;

use remit_model::{Node, Severity};

use crate::report::Report;

/// Adjusts how a schema is judged.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// What another draft than 2020-12 is.
    pub other_draft: Severity,
}

impl Default for Manner {
    fn default() -> Self {
        Self { other_draft: Severity::Error }
    }
}

/// Judges a schema and everything in it.
pub fn check<'t>(_node: &'t Node, _manner: Manner, _report: &mut Report<'t>) {}
