//! What the database alone gives: the rows of a call, written by one thread that commits for all who
//! wait. No pipeline, no chain of hashes, nothing read.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

/// Is a part of a call's record.
#[derive(Clone, Copy)]
pub enum Write {
    /// The intent of a call in a thread.
    Begin { number: u64, thread: usize },
    /// Its outcome.
    End { number: u64, thread: usize },
}

impl Write {
    fn thread(self) -> usize {
        match self {
            Self::Begin { thread, .. } | Self::End { thread, .. } => thread,
        }
    }
}

/// Are the bodies of the two events of a call, as the product words them.
pub struct Bodies {
    pub begin: String,
    pub end: String,
}

type Job = (Write, oneshot::Sender<()>);

/// Writes the same rows as the product, and nothing else.
pub struct Bare {
    jobs: mpsc::Sender<Job>,
}

impl Bare {
    /// Makes a database like the product's, with as many threads as there are callers.
    pub fn open(folder: &Path, threads: usize, capability: &str, bodies: Bodies) -> Self {
        let conn = Connection::open(folder.join("bare.db")).expect("opens");
        // As the product's connection is set up, or this one would compile statements anew.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).expect("configures");
        conn.set_prepared_statement_cache_capacity(64);
        conn.execute_batch(concat!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
            "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
            include_str!("../../../crates/store/migrations/sqlite/0001_record.sql"),
            include_str!("../../../crates/store/migrations/sqlite/0002_stop.sql"),
            include_str!("../../../crates/store/migrations/sqlite/0006_chains.sql"),
        ))
        .expect("the tables");
        for thread in 1..=threads {
            let row = (thread as i64, format!("thread-{thread}"));
            conn.execute("INSERT INTO threads (id, name) VALUES (?1, ?2)", row).expect("a thread");
        }
        let (jobs, waiting) = mpsc::channel();
        let mut rows = Rows {
            conn,
            bodies,
            capability: capability.to_owned(),
            threads: vec![Thread::default(); threads],
            events: 0,
        };
        std::thread::spawn(move || rows.keep_writing(&waiting));
        Self { jobs }
    }

    /// Writes and returns when the disk has it.
    pub async fn write(&self, write: Write) {
        let (done, wait) = oneshot::channel();
        assert!(self.jobs.send((write, done)).is_ok());
        wait.await.expect("written");
    }
}

struct Rows {
    conn: Connection,
    bodies: Bodies,
    capability: String,
    threads: Vec<Thread>,
    /// How many there are.
    events: i64,
}

#[derive(Clone, Default)]
struct Thread {
    /// How many events it has.
    sequence: i64,
    /// The last of them.
    event: Option<i64>,
    /// The last call, which is under way.
    call: Option<i64>,
}

impl Rows {
    fn keep_writing(&mut self, waiting: &mpsc::Receiver<Job>) {
        let mut batch: Vec<Job> = Vec::new();
        while let Ok(first) = waiting.recv() {
            batch.push(first);
            batch.extend(waiting.try_iter());
            loop {
                let (began, count) = (Instant::now(), batch.len());
                self.commit(&mut batch);
                // Those who were answered together come back together: the product waits for them too.
                let until = Instant::now() + (began.elapsed() / 2).min(Duration::from_millis(1));
                while count > 1 && batch.len() < count {
                    match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
                        Ok(next) => batch.push(next),
                        Err(_) => break,
                    }
                }
                batch.extend(waiting.try_iter());
                if batch.is_empty() {
                    break;
                }
            }
        }
    }

    fn commit(&mut self, batch: &mut Vec<Job>) {
        let run = |conn: &Connection, sql| conn.prepare_cached(sql).and_then(|mut s| s.execute([]));
        run(&self.conn, "BEGIN IMMEDIATE").expect("begins");
        for (write, _) in batch.iter() {
            self.write(*write).expect("the rows");
        }
        let mut written: Vec<usize> = batch.iter().map(|(write, _)| write.thread()).collect();
        written.sort_unstable();
        written.dedup();
        for thread in written {
            let Thread { event, call, .. } = self.threads[thread];
            self.conn
                .prepare_cached("UPDATE threads SET last_event = ?2, last_call = ?3 WHERE id = ?1")
                .and_then(|mut update| update.execute(params![thread as i64 + 1, event, call]))
                .expect("the end of a thread");
        }
        run(&self.conn, "COMMIT").expect("commits");
        for (_, done) in batch.drain(..) {
            let _ = done.send(());
        }
    }

    fn write(&mut self, write: Write) -> rusqlite::Result<()> {
        let (number, thread, kind, body) = match write {
            Write::Begin { number, thread } => (number, thread, "call.intent", &self.bodies.begin),
            Write::End { number, thread } => (number, thread, "call.outcome", &self.bodies.end),
        };
        let (row, name, hash) = (thread as i64 + 1, format!("call-{number:012}"), [7u8; 32]);
        let thread = &mut self.threads[thread];
        thread.sequence += 1;
        self.events += 1;
        let (sequence, event) = (thread.sequence, self.events);
        if let Write::Begin { .. } = write {
            self.conn
                .prepare_cached("INSERT INTO calls (user, agent, name, thread, prior, capability, begun, ended, state, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, 'running', ?8) ON CONFLICT (user, agent, name) DO NOTHING")?
                .execute(params!["ann", "", name, row, thread.call, self.capability, event, "0123456789abcdef0123456789abcdef"])?;
            thread.call = Some(self.conn.last_insert_rowid());
        }
        self.conn
            .prepare_cached("INSERT INTO events (id, thread, sequence, prior, at_ms, kind, call, body, previous, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
            .execute(params![event, row, sequence, thread.event, 1_700_000_000_000i64, kind, name, body, hash, hash])?;
        thread.event = Some(event);
        if let Write::End { .. } = write {
            self.conn
                .prepare_cached("UPDATE calls SET state = ?2, ended = ?3, node = NULL, denial = NULL WHERE id = ?1")?
                .execute(params![thread.call, "succeeded", event])?;
        }
        Ok(())
    }
}
