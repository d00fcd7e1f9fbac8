//! Who calls, when, and what new things are to be named.

use jiff::Timestamp;

use crate::zone::Zone;

/// Is what a call needs beside its input. Nothing here comes from the input.
#[derive(Clone, Debug)]
pub struct Context {
    /// The user on whose behalf it is made.
    pub user: String,
    /// The present moment.
    pub now: Timestamp,
    /// Where the user lives.
    pub zone: Zone,
    /// A fresh name, unique to this call; the ids of what the call makes are built from it, so that
    /// running the call again after a conflict makes the same ones.
    pub fresh: String,
}

impl Context {
    /// Gives the id of the nth thing of a kind that the call makes.
    pub(crate) fn id(&self, prefix: &str, nth: usize) -> String {
        if nth == 0 {
            format!("{prefix}_{}", self.fresh)
        } else {
            format!("{prefix}_{}_{nth}", self.fresh)
        }
    }
}
