//! JSON Schema 2020-12 inside manifests: judged with places, compiled, and compared by example.

pub mod validator;
pub mod witness;

mod check;
mod keywords;
mod loops;
mod pattern;
mod refs;
mod samples;

use remit_model::Severity;

pub use check::check;
pub(crate) use check::{check_setting, expect_object};

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
