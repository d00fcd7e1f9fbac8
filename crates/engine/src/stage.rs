//! The stages of a call, each a type that only the stage before it can make.

pub mod authorise;
pub mod project;
mod resolve;
mod validate;

use std::sync::Arc;

use remit_model::{Call, Outcome};

use crate::catalog::{Catalog, Entry};
use crate::record::Basis;

pub(crate) use resolve::resolve;
pub(crate) use validate::validate;

/// Holds back a call with a secret in it, first of all: nothing of it may be recorded, also not of a
/// call of what is not there.
pub(crate) fn screen(call: Call, catalog: &Catalog) -> Result<Call, Box<Refused>> {
    let lenient =
        catalog.policy().secret_arguments.iter().any(|pattern| pattern.matches(&call.capability));
    catalog.screen().check(call, lenient)
}

/// Is a call whose name was found.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) call: Call,
    pub(crate) entry: Arc<Entry>,
}

/// Is a call whose input fits, defaults filled in.
#[derive(Debug)]
pub(crate) struct Valid {
    pub(crate) call: Arc<Call>,
    pub(crate) entry: Arc<Entry>,
}

/// Is a call that may run. There is no way to make one but through the pipeline.
#[derive(Debug)]
pub struct Authorised {
    call: Arc<Call>,
    entry: Arc<Entry>,
}

impl Authorised {
    /// Gives the call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Gives what is called.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
}

/// Is a call that goes no further, and what it was judged by.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) call: Arc<Call>,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) rule: &'static str,
    pub(crate) outcome: Outcome,
}

impl Valid {
    /// Lets it run: the verdict was yes, by rule or by a person.
    pub(crate) fn authorised(self, _proof: authorise::Allowed) -> Authorised {
        Authorised { call: self.call, entry: self.entry }
    }

    /// Gives what it is judged by.
    pub(crate) fn basis(&self, confined: bool) -> Basis {
        basis(&self.entry, confined)
    }
}

/// Gives what a call of this capability is judged by.
pub(crate) fn basis(entry: &Entry, confined: bool) -> Basis {
    Basis {
        source: entry.source.name.clone(),
        manifest_hash: entry.source.hash.clone(),
        scope: entry.scope.clone(),
        sensitivity: entry.sensitivity,
        confined,
    }
}
