//! What is read at every call: remembered, and forgotten when anybody changes it.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use remit_engine::ports::StoreError;
use rusqlite::Connection;

use super::connect;
use super::fault::Fault;
use super::pulse::{Beat, Pulse};

/// How much is remembered before all is forgotten.
const MOST: usize = 10_000;

/// Remembers answers. If nothing was committed since the last question, or nothing but what this
/// process knows to be of another kind, the answer stands ([`Pulse`]). If something was, one small row
/// tells whether it was of this kind; only then is the answer read again.
pub(crate) struct Memory<K, V> {
    pulse: Arc<Pulse>,
    database: PathBuf,
    patience: Duration,
    /// Selects what goes up with every change.
    changes: &'static str,
    known: Mutex<Known<K, V>>,
}

struct Known<K, V> {
    conn: Option<Connection>,
    /// The database as it was when `changes` was read, and its epoch.
    beat: Option<Beat>,
    epoch: Option<u64>,
    changes: Option<i64>,
    answers: HashMap<K, V>,
}

impl<K: Hash + Eq, V: Clone> Memory<K, V> {
    pub(crate) fn new(
        database: PathBuf,
        pulse: &Arc<Pulse>,
        patience: Duration,
        changes: &'static str,
    ) -> Self {
        let answers = HashMap::new();
        let known = Known { conn: None, beat: None, epoch: None, changes: None, answers };
        let (pulse, known) = (Arc::clone(pulse), Mutex::new(known));
        Self { pulse, database, patience, changes, known }
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
        // Before the look at the row: what is committed in between is felt the next time.
        let beat = known.conn.as_ref().and_then(|_| self.pulse.beat());
        let epoch = beat.as_ref().and_then(|beat| self.pulse.epoch(beat));
        let stands =
            (beat.is_some() && beat == known.beat) || (epoch.is_some() && epoch == known.epoch);
        if stands && let Some(answer) = known.answers.get(&key) {
            return Ok(answer.clone());
        }
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
        (known.beat, known.epoch) = (beat, epoch);
        if let Some(answer) = known.answers.get(&key) {
            return Ok(answer.clone());
        }
        let answer = read(conn, &key)?;
        known.answers.insert(key, answer.clone());
        Ok(answer)
    }
}
