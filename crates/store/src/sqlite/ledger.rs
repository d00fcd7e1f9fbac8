//! What is written, inside a transaction that somebody else begins and commits.
//!
//! Each piece of work first finds out whether it may be done and only then writes, so that a refusal
//! leaves nothing behind.

mod calls;
mod grants;

use std::collections::HashMap;
use std::sync::Arc;

use remit_engine::record::{Message, NewVersion, Published, RunNote};
use remit_engine::stream::Hub;
use remit_model::event::{Draft, FIRST};
use remit_model::{CallKey, Event, ThreadId};
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::rows;

pub(crate) use calls::Opening;

use calls::UnderWay;

/// How many ends of threads are remembered before all are forgotten.
const MOST_HEADS: usize = 10_000;

/// Writes to a database, and remembers where its threads end.
pub(crate) struct Ledger {
    conn: Connection,
    /// The store that writes.
    node: String,
    heads: HashMap<ThreadId, Head>,
    /// The calls that were begun here and run.
    running: HashMap<CallKey, UnderWay>,
    /// Changes when anybody else has written: then nothing that is remembered counts.
    version: Option<i64>,
    /// Those who follow threads, and what is to be told them when it is last.
    hub: Arc<Hub>,
    told: Vec<Event>,
}

struct Head {
    thread: i64,
    sequence: u64,
    hash: String,
}

impl Ledger {
    pub(crate) fn new(conn: Connection, node: &str, hub: Arc<Hub>) -> Self {
        Self {
            conn,
            node: node.to_owned(),
            heads: HashMap::new(),
            running: HashMap::new(),
            version: None,
            hub,
            told: Vec::new(),
        }
    }

    /// Begins a transaction in which nobody else can write.
    pub(crate) fn begin_batch(&mut self) -> Result<(), Fault> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version =
            self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.heads.len() > MOST_HEADS {
            self.forget();
            self.version = Some(version);
        }
        Ok(())
    }

    /// Gives the connection, to write what has a file of its own.
    pub(crate) fn conn(&self) -> &Connection {
        &self.conn
    }

    /// Gives the connection back.
    pub(crate) fn into_connection(self) -> Connection {
        self.conn
    }

    fn forget(&mut self) {
        self.heads.clear();
        self.running.clear();
    }

    /// Makes what was written last.
    pub(crate) fn commit(&mut self) -> Result<(), Fault> {
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        if !self.told.is_empty() {
            self.hub.tell(self.told.drain(..));
        }
        Ok(())
    }

    /// Takes back what was written since the beginning.
    pub(crate) fn roll_back(&mut self) {
        self.forget();
        self.told.clear();
        // Some faults end the transaction by themselves.
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    /// Adds an event to a thread; gives its number.
    fn append(&mut self, thread: &ThreadId, draft: &Draft) -> Result<u64, Fault> {
        let head = head(&mut self.heads, &self.conn, thread)?;
        let event = draft.clone().seal(thread, head.sequence, &head.hash);
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO events (thread, sequence, at_ms, kind, call, body, previous, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        insert.execute(params![
            head.thread,
            rows::stored(event.sequence),
            event.at_ms,
            event.kind.as_str(),
            event.call.as_ref().map(remit_model::CallId::as_str),
            event.body,
            rows::bytes(&event.previous)?,
            rows::bytes(&event.hash)?,
        ])?;
        head.sequence = event.sequence;
        if self.hub.is_followed() {
            head.hash.clone_from(&event.hash);
            self.told.push(event);
        } else {
            head.hash = event.hash;
        }
        Ok(head.sequence)
    }

    /// Keeps a version of a manifest.
    pub(crate) fn publish(&mut self, new: &NewVersion) -> Result<Published, Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT version, hash FROM versions WHERE source = ?1 ORDER BY version DESC LIMIT 1",
        )?;
        let last = rows::first(&mut find, [&new.source], |row| {
            Ok((row.get::<_, i64>(0)?, rows::text(row, 1)? == new.hash))
        })?;
        let version = match last {
            Some((version, true)) => {
                return Ok(Published { version: rows::number(version)?, changed: false });
            }
            Some((version, false)) => version + 1,
            None => 1,
        };
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO versions (source, version, hash, canonical, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![new.source, version, new.hash, new.canonical, new.at.wall_ms])?;
        Ok(Published { version: rows::number(version)?, changed: true })
    }

    /// Adds a step of a run to its thread.
    pub(crate) fn note(&mut self, note: &RunNote) -> Result<u64, Fault> {
        let draft = note.draft();
        keepable(&draft)?;
        self.append(&note.thread, &draft)
    }

    /// Adds a message to its thread.
    pub(crate) fn say(&mut self, message: &Message) -> Result<(), Fault> {
        let draft = message.draft();
        keepable(&draft)?;
        self.append(&message.thread, &draft)?;
        Ok(())
    }
}

/// Refuses what could not be read back.
fn keepable(draft: &Draft) -> Result<(), Fault> {
    if rows::is_too_deep(&draft.body) {
        return Err(Fault::refused(format!(
            "JSON nested deeper than {} levels cannot be recorded: send less nested JSON",
            rows::DEEPEST
        )));
    }
    Ok(())
}

/// Finds the end of a thread, and makes the thread if it is new.
fn head<'h>(
    heads: &'h mut HashMap<ThreadId, Head>,
    conn: &Connection,
    thread: &ThreadId,
) -> Result<&'h mut Head, Fault> {
    if !is_known(heads, conn, thread)? {
        let mut insert = conn.prepare_cached("INSERT INTO threads (name) VALUES (?1)")?;
        insert.execute([thread.as_str()])?;
        let head = Head { thread: conn.last_insert_rowid(), sequence: 0, hash: FIRST.to_owned() };
        heads.insert(thread.clone(), head);
    }
    heads.get_mut(thread).ok_or_else(|| Fault::Damaged("a thread without an end".to_owned()))
}

/// Tells whether a thread is there, and remembers its end if it is.
fn is_known(
    heads: &mut HashMap<ThreadId, Head>,
    conn: &Connection,
    thread: &ThreadId,
) -> Result<bool, Fault> {
    if heads.contains_key(thread) {
        return Ok(true);
    }
    let mut find = conn.prepare_cached(
        "SELECT t.id, e.sequence, e.hash
         FROM threads t
         LEFT JOIN events e ON e.thread = t.id
         WHERE t.name = ?1
         ORDER BY e.sequence DESC LIMIT 1",
    )?;
    let found = rows::first(&mut find, [thread.as_str()], |row| {
        let (sequence, hash) = match row.get::<_, Option<i64>>(1)? {
            None => (0, FIRST.to_owned()),
            Some(sequence) => (rows::number(sequence)?, rows::hash(row, 2)?),
        };
        Ok(Head { thread: row.get(0)?, sequence, hash })
    })?;
    let is_known = found.is_some();
    heads.extend(found.map(|head| (thread.clone(), head)));
    Ok(is_known)
}
