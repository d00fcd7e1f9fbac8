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
use super::pulse::{Beat, Pulse};
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
    /// The threads whose ends are to be written down with what was written.
    longer: Vec<ThreadId>,
    /// The id of the last event of all, if it is known.
    last_event: Option<i64>,
    /// The calls that were begun here and run.
    running: HashMap<CallKey, UnderWay>,
    /// Changes when anybody else has written: then nothing that is remembered counts.
    version: Option<i64>,
    pulse: Arc<Pulse>,
    /// The head of the log when the transaction began.
    before: Option<Beat>,
    /// Whether the transaction changed nothing that others remember.
    is_harmless: bool,
    /// Those who follow threads, and what is to be told them when it is last.
    hub: Arc<Hub>,
    told: Vec<Event>,
}

/// Is where a thread ends.
struct Head {
    thread: i64,
    sequence: u64,
    hash: String,
    event: Option<i64>,
    call: Option<i64>,
    /// Whether it has moved since it was written down.
    has_moved: bool,
}

impl Head {
    fn empty(thread: i64) -> Self {
        let (event, call) = (None, None);
        Self { thread, sequence: 0, hash: FIRST.to_owned(), event, call, has_moved: false }
    }
}

/// Names what is remembered between calls, and read again when it was changed.
#[derive(Clone, Copy)]
pub(crate) enum Remembered {
    Grants,
    Tokens,
}

/// Is an event that was added.
struct Added {
    id: i64,
    /// Its number in its thread.
    sequence: u64,
}

impl Ledger {
    pub(crate) fn new(conn: Connection, node: &str, hub: Arc<Hub>, pulse: Arc<Pulse>) -> Self {
        Self {
            conn,
            node: node.to_owned(),
            heads: HashMap::new(),
            longer: Vec::new(),
            last_event: None,
            running: HashMap::new(),
            version: None,
            pulse,
            before: None,
            is_harmless: true,
            hub,
            told: Vec::new(),
        }
    }

    /// Begins a transaction in which nobody else can write.
    pub(crate) fn begin_batch(&mut self) -> Result<(), Fault> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        (self.before, self.is_harmless) = (self.pulse.beat(), true);
        let version =
            self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.heads.len() > MOST_HEADS {
            self.forget();
            self.version = Some(version);
        }
        Ok(())
    }

    /// Counts a change of what others remember, which makes them read it again.
    pub(crate) fn count_change(&mut self, of: Remembered) -> Result<(), Fault> {
        self.is_harmless = false;
        self.conn
            .prepare_cached(match of {
                Remembered::Grants => "UPDATE changes SET grants = grants + 1 WHERE id = 1",
                Remembered::Tokens => "UPDATE changes SET tokens = tokens + 1 WHERE id = 1",
            })?
            .execute([])?;
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
        self.longer.clear();
        self.last_event = None;
        self.running.clear();
    }

    /// Makes what was written last.
    pub(crate) fn commit(&mut self) -> Result<(), Fault> {
        self.write_ends()?;
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        self.pulse.committed(self.before.take(), self.is_harmless);
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

    /// Writes down where the threads end that became longer: once for all that was added to each.
    fn write_ends(&mut self) -> Result<(), Fault> {
        if self.longer.is_empty() {
            return Ok(());
        }
        let mut update = self
            .conn
            .prepare_cached("UPDATE threads SET last_event = ?2, last_call = ?3 WHERE id = ?1")?;
        for thread in self.longer.drain(..) {
            if let Some(head) = self.heads.get_mut(&thread) {
                head.has_moved = false;
                update.execute(params![head.thread, head.event, head.call])?;
            }
        }
        Ok(())
    }

    /// Gives the id that the next event will have.
    fn next_event(&mut self) -> Result<i64, Fault> {
        let last = match self.last_event {
            Some(last) => last,
            None => self
                .conn
                .prepare_cached("SELECT coalesce(max(id), 0) FROM events")?
                .query_row([], |row| row.get(0))?,
        };
        self.last_event = Some(last);
        Ok(last + 1)
    }

    /// Adds an event to a thread.
    fn append(&mut self, thread: &ThreadId, draft: &Draft) -> Result<Added, Fault> {
        let id = self.next_event()?;
        let head = head(&mut self.heads, &self.conn, thread)?;
        let event = draft.clone().seal(thread, head.sequence, &head.hash);
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO events (id, thread, sequence, prior, at_ms, kind, call, body, previous, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        insert.execute(params![
            id,
            head.thread,
            rows::stored(event.sequence),
            head.event,
            event.at_ms,
            event.kind.as_str(),
            event.call.as_ref().map(remit_model::CallId::as_str),
            event.body,
            rows::bytes(&event.previous)?,
            rows::bytes(&event.hash)?,
        ])?;
        self.last_event = Some(id);
        if !std::mem::replace(&mut head.has_moved, true) {
            self.longer.push(thread.clone());
        }
        head.event = Some(id);
        head.sequence = event.sequence;
        let added = Added { id, sequence: event.sequence };
        if self.hub.is_followed() {
            head.hash.clone_from(&event.hash);
            self.told.push(event);
        } else {
            head.hash = event.hash;
        }
        Ok(added)
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
        Ok(self.append(&note.thread, &draft)?.sequence)
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
        heads.insert(thread.clone(), Head::empty(conn.last_insert_rowid()));
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
        "SELECT t.id, t.last_event, t.last_call, e.sequence, e.hash
         FROM threads t
         LEFT JOIN events e ON e.id = t.last_event AND e.thread = t.id
         WHERE t.name = ?1",
    )?;
    let found = rows::first(&mut find, [thread.as_str()], |row| {
        let empty = Head { call: row.get(2)?, ..Head::empty(row.get(0)?) };
        match (row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(3)?) {
            (None, _) => Ok(empty),
            (Some(event), Some(sequence)) => {
                let (sequence, hash) = (rows::number(sequence)?, rows::hash(row, 4)?);
                Ok(Head { sequence, hash, event: Some(event), ..empty })
            }
            // The end is gone; what is added follows what is left.
            (Some(_), None) => left_of(conn, empty),
        }
    })?;
    let is_known = found.is_some();
    heads.extend(found.map(|head| (thread.clone(), head)));
    Ok(is_known)
}

/// Finds what is left of a thread whose end is gone.
fn left_of(conn: &Connection, empty: Head) -> Result<Head, Fault> {
    let mut find = conn.prepare_cached(
        "SELECT id, sequence, hash FROM events WHERE thread = ?1 ORDER BY sequence DESC LIMIT 1",
    )?;
    let found = rows::first(&mut find, [empty.thread], |row| {
        let (sequence, hash) = (rows::number(row.get(1)?)?, rows::hash(row, 2)?);
        Ok((row.get(0)?, sequence, hash))
    })?;
    Ok(match found {
        Some((event, sequence, hash)) => Head { sequence, hash, event: Some(event), ..empty },
        None => empty,
    })
}
