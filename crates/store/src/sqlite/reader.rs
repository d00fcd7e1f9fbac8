//! The threads that read. A reader sees what was committed last and waits for nobody's fsync.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use remit_engine::ports::StoreError;
use remit_engine::record::{CallQuery, CallRecord, EventQuery, Message, ThreadHead, Version};
use remit_model::{CallId, CallKey, Event, Grant, ThreadId};
use rusqlite::{Connection, ToSql, params};
use tokio::sync::oneshot;

use super::connect;
use super::fault::Fault;
use super::queue::Queue;
use super::rows;

/// How many read at the same time.
const READERS: usize = 2;

type Job = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

/// Hands questions to the threads that read.
pub(crate) struct Readers {
    queue: Arc<Queue<Job>>,
    database: Arc<Path>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Readers {
    /// Starts the threads. Each opens its connection with the first question it gets.
    pub(crate) fn start(database: PathBuf, patience: Duration) -> Result<Self, StoreError> {
        let database: Arc<Path> = database.into();
        let queue = Arc::<Queue<Job>>::default();
        let mut threads = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            let (jobs, database) = (Arc::clone(&queue), Arc::clone(&database));
            let thread = thread::Builder::new()
                .name("remit-reader".to_owned())
                .spawn(move || serve(&jobs, &database, patience))
                .map_err(|error| StoreError::new(format!("cannot start a thread: {error}")))?;
            threads.push(thread);
        }
        Ok(Self { queue, database, threads })
    }

    /// Asks a question.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let database = Arc::clone(&self.database);
        self.queue.add(Box::new(move |conn| {
            let answer =
                conn.and_then(|conn| question(conn).map_err(|fault| fault.explain(&database)));
            // Whoever asked may have left.
            let _ = reply.send(answer);
        }));
        let stopped = || StoreError::new("the threads that read have stopped: start Remit again");
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(queue: &Queue<Job>, database: &Path, patience: Duration) {
    let mut conn = None;
    let mut jobs = Vec::new();
    while queue.take(&mut jobs, 1) {
        for job in jobs.drain(..) {
            if conn.is_none() {
                match connect::reader(database, patience) {
                    Ok(opened) => conn = Some(opened),
                    Err(fault) => {
                        job(Err(fault.explain(database)));
                        continue;
                    }
                }
            }
            if let Some(conn) = &conn {
                job(Ok(conn));
            }
        }
    }
}

/// Finds a call.
pub(crate) fn call(conn: &Connection, key: &CallKey) -> Result<Option<CallRecord>, Fault> {
    let mut find = conn.prepare_cached(rows::CALL)?;
    rows::first(&mut find, params![key.user, key.agent, key.id.as_str()], rows::call)
}

/// Lists calls.
pub(crate) fn calls(conn: &Connection, query: &CallQuery) -> Result<Vec<CallRecord>, Fault> {
    let mut conditions = Vec::new();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let thread = query.thread.as_ref().map(ThreadId::as_str);
    let id = query.id.as_ref().map(CallId::as_str);
    let limit = rows::limit(query.limit);
    for (value, condition) in [
        (query.user.as_ref().map(|user| user as &dyn ToSql), "c.user = ?"),
        (thread.as_ref().map(|thread| thread as &dyn ToSql), rows::OF_THREAD),
        (query.capability.as_ref().map(|name| name as &dyn ToSql), "c.capability = ?"),
        (query.state.as_ref().map(|state| state as &dyn ToSql), "c.state = ?"),
        (id.as_ref().map(|id| id as &dyn ToSql), "c.name = ?"),
        (query.id_start.as_ref().map(|start| start as &dyn ToSql), "instr(c.name, ?) = 1"),
    ] {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(value);
        }
    }
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!("WHERE {}", conditions.join(" AND ")),
    };
    let sql = format!("{} {conditions} ORDER BY c.id DESC LIMIT ?", rows::CALLS);
    values.push(&limit);
    rows::all(&mut *conn.prepare_cached(&sql)?, &*values, rows::call)
}

/// Lists the events of a thread.
pub(crate) fn events(conn: &Connection, query: &EventQuery) -> Result<Vec<Event>, Fault> {
    let mut find = conn.prepare_cached("SELECT id, last_event FROM threads WHERE name = ?1")?;
    let found = rows::first(&mut find, [query.thread.as_str()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?))
    })?;
    let Some((thread, last)) = found else { return Ok(Vec::new()) };
    if let (None, _) | (_, Some(0)) = (last, query.limit) {
        return Ok(Vec::new());
    }
    if let Some(events) = walked(conn, query, thread, last)? {
        return Ok(events);
    }
    // Something is gone. What is left shows where.
    let asked = params![thread, rows::stored(query.after), rows::limit(query.limit)];
    let mut scan = conn.prepare_cached(rows::SCAN)?;
    rows::all(&mut scan, asked, |row| rows::event(row, &query.thread))
}

/// Walks a thread back from its end, or from the first indexed event behind what is asked for. Gives
/// nothing if the chain is broken.
fn walked(
    conn: &Connection,
    query: &EventQuery,
    thread: i64,
    last: Option<i64>,
) -> Result<Option<Vec<Event>>, Fault> {
    let most = query.limit.map_or(u64::MAX, |limit| u64::try_from(limit).unwrap_or(u64::MAX));
    let until = query.after.saturating_add(most);
    let mut find = conn.prepare_cached(rows::ANCHOR)?;
    let anchor =
        rows::first(&mut find, params![thread, rows::stored(until)], |row| Ok(row.get(0)?))?;
    let (mut next, mut above) = (anchor.or(last), u64::MAX);
    let (mut events, mut read) = (Vec::new(), conn.prepare_cached(rows::EVENT)?);
    while let Some(id) = next {
        let found = rows::first(&mut read, [id], |row| {
            let is_ours = row.get::<_, i64>(8)? == thread;
            Ok((is_ours, row.get(7)?, rows::event(row, &query.thread)?))
        })?;
        let Some((true, prior, event)) = found else { return Ok(None) };
        // Each is the one before the last: only so is nothing passed over, and is there an end.
        let sequence = event.sequence;
        if above != u64::MAX && sequence.checked_add(1) != Some(above) {
            return Ok(None);
        }
        (above, next) = (sequence, prior);
        if sequence <= query.after {
            break;
        }
        if sequence <= until {
            events.push(event);
        }
    }
    if above > query.after.saturating_add(1) {
        return Ok(None);
    }
    events.reverse();
    Ok(Some(events))
}

/// Lists the threads.
pub(crate) fn threads(conn: &Connection) -> Result<Vec<ThreadHead>, Fault> {
    rows::all(&mut *conn.prepare_cached(rows::HEADS)?, [], rows::head)
}

/// Lists the calls of a store that somebody wants stopped.
pub(crate) fn asked_to_stop(conn: &Connection, node: &str) -> Result<Vec<CallKey>, Fault> {
    let mut find = conn.prepare_cached(
        "SELECT user, agent, name FROM calls WHERE node = ?1 AND stop = 1 ORDER BY id",
    )?;
    rows::all(&mut find, [node], |row| {
        let id = rows::call_id(rows::text(row, 2)?)?;
        Ok(CallKey { user: row.get(0)?, agent: row.get(1)?, id })
    })
}

/// Lists all that a user has granted.
pub(crate) fn granted_by(conn: &Connection, user: &str) -> Result<Vec<Grant>, Fault> {
    rows::all(&mut *conn.prepare_cached(rows::GRANTED_BY)?, [user], rows::grant)
}

/// Lists the versions of a source.
pub(crate) fn versions(conn: &Connection, source: &str) -> Result<Vec<Version>, Fault> {
    rows::all(&mut *conn.prepare_cached(rows::VERSIONS)?, [source], rows::version)
}

/// Lists the messages of a thread.
pub(crate) fn messages(conn: &Connection, thread: &ThreadId) -> Result<Vec<Message>, Fault> {
    let mut find = conn.prepare_cached(rows::MESSAGES)?;
    rows::all(&mut find, [thread.as_str()], |row| rows::message(row, thread))
}
