//! What is read at every call: remembered, and forgotten when anybody changes it.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use remit_engine::ports::StoreError;
use rusqlite::Connection;

use super::connect;
use super::fault::Fault;

/// How much is remembered before all is forgotten.
const MOST: usize = 10_000;

/// Remembers answers. A question costs a look at one small row; the answer itself is read again only
/// after something of its kind was changed, by whatever process.
pub(crate) struct Memory<K, V> {
    database: PathBuf,
    patience: Duration,
    /// Selects what goes up with every change.
    changes: &'static str,
    known: Mutex<Known<K, V>>,
}

struct Known<K, V> {
    conn: Option<Connection>,
    changes: Option<i64>,
    answers: HashMap<K, V>,
}

impl<K: Hash + Eq, V: Clone> Memory<K, V> {
    pub(crate) fn new(database: PathBuf, patience: Duration, changes: &'static str) -> Self {
        let known = Known { conn: None, changes: None, answers: HashMap::new() };
        Self { database, patience, changes, known: Mutex::new(known) }
    }

    /// Gives what is remembered, or reads it.
    pub(crate) fn recall(
        &self,
        key: K,
        read: impl FnOnce(&Connection, &K) -> Result<V, Fault>,
    ) -> Result<V, StoreError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.look(&mut known, key, read);
        drop(known);
        answer.map_err(|fault| fault.explain(&self.database))
    }

    fn look(
        &self,
        known: &mut Known<K, V>,
        key: K,
        read: impl FnOnce(&Connection, &K) -> Result<V, Fault>,
    ) -> Result<V, Fault> {
        let conn = match known.conn.take() {
            Some(conn) => conn,
            None => connect::reader(&self.database, self.patience)?,
        };
        let conn = known.conn.insert(conn);
        let changes = conn.prepare_cached(self.changes)?.query_row([], |row| row.get(0))?;
        if known.changes != Some(changes) || known.answers.len() > MOST {
            known.answers.clear();
            known.changes = Some(changes);
        }
        if let Some(answer) = known.answers.get(&key) {
            return Ok(answer.clone());
        }
        let answer = read(conn, &key)?;
        known.answers.insert(key, answer.clone());
        Ok(answer)
    }
}
