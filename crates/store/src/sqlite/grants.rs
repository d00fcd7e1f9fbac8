//! Grants as they are read at every call: remembered, and forgotten when anybody changes one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use remit_engine::ports::StoreError;
use remit_model::Grant;
use rusqlite::Connection;

use super::connect;
use super::fault::Fault;
use super::rows;

/// How many users' grants are remembered before all are forgotten.
const MOST_USERS: usize = 10_000;

/// Remembers grants. A question costs a look at the state of the database, in shared memory; the
/// grants themselves are read again only after one was changed, by whatever process.
pub(crate) struct Grants {
    database: PathBuf,
    patience: Duration,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    conn: Option<Connection>,
    /// What anybody's commit changes.
    commits: Option<i64>,
    /// What a change of a grant changes.
    changes: Option<i64>,
    /// By user, then by agent.
    grants: HashMap<String, HashMap<String, Arc<[Grant]>>>,
}

impl Grants {
    pub(crate) fn new(database: PathBuf, patience: Duration) -> Self {
        Self { database, patience, memory: Mutex::default() }
    }

    /// Lists what a user has granted to an agent.
    pub(crate) fn of(&self, user: &str, agent: &str) -> Result<Vec<Grant>, StoreError> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let grants = self.read(&mut memory, user, agent);
        drop(memory);
        grants.map(|grants| grants.to_vec()).map_err(|fault| fault.explain(&self.database))
    }

    fn read(&self, memory: &mut Memory, user: &str, agent: &str) -> Result<Arc<[Grant]>, Fault> {
        let conn = match memory.conn.take() {
            Some(conn) => conn,
            None => connect::reader(&self.database, self.patience)?,
        };
        let conn = memory.conn.insert(conn);
        let commits: i64 =
            conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if memory.commits != Some(commits) {
            let changes = conn
                .prepare_cached("SELECT grants FROM changes WHERE id = 1")?
                .query_row([], |row| row.get(0))?;
            if memory.changes != Some(changes) || memory.grants.len() > MOST_USERS {
                memory.grants.clear();
            }
            memory.changes = Some(changes);
            memory.commits = Some(commits);
        }
        if let Some(known) = memory.grants.get(user).and_then(|agents| agents.get(agent)) {
            return Ok(Arc::clone(known));
        }
        let mut find = conn.prepare_cached(rows::GRANTS_OF)?;
        let grants: Arc<[Grant]> = rows::all(&mut find, [user, agent], rows::grant)?.into();
        let agents = memory.grants.entry(user.to_owned()).or_default();
        agents.insert(agent.to_owned(), Arc::clone(&grants));
        Ok(grants)
    }
}
