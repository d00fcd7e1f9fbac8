//! Grants as they are read at every call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use remit_engine::ports::StoreError;
use remit_model::Grant;

use super::memory::Memory;
use super::pulse::Pulse;
use super::rows;

/// Remembers grants by user and agent.
pub(crate) struct Grants(Memory<(String, String), Arc<[Grant]>>);

impl Grants {
    pub(crate) fn new(database: PathBuf, pulse: &Arc<Pulse>, patience: Duration) -> Self {
        Self(Memory::new(database, pulse, patience, "SELECT grants FROM changes WHERE id = 1"))
    }

    /// Lists what a user has granted to an agent.
    pub(crate) fn of(&self, user: &str, agent: &str) -> Result<Vec<Grant>, StoreError> {
        let key = (user.to_owned(), agent.to_owned());
        let grants = self.0.recall(key, |conn, (user, agent)| {
            let mut find = conn.prepare_cached(rows::GRANTS_OF)?;
            Ok(rows::all(&mut find, [user, agent], rows::grant)?.into())
        })?;
        Ok(grants.to_vec())
    }
}
