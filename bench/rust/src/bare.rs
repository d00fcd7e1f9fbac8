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
            sequences: vec![0; threads],
            calls: vec![0; threads],
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
    /// The last event of each thread.
    sequences: Vec<i64>,
    /// The call under way in each thread.
    calls: Vec<i64>,
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
        self.sequences[thread] += 1;
        let sequence = self.sequences[thread];
        if let Write::Begin { .. } = write {
            self.conn
                .prepare_cached("INSERT INTO calls (user, agent, name, thread, capability, begun, ended, state, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, 'running', ?7) ON CONFLICT (user, agent, name) DO NOTHING")?
                .execute(params!["ann", "", name, row, self.capability, sequence, "0123456789abcdef0123456789abcdef"])?;
            self.calls[thread] = self.conn.last_insert_rowid();
        }
        self.conn
            .prepare_cached("INSERT INTO events (thread, sequence, at_ms, kind, call, body, previous, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
            .execute(params![row, sequence, 1_700_000_000_000i64, kind, name, body, hash, hash])?;
        if let Write::End { .. } = write {
            self.conn
                .prepare_cached("UPDATE calls SET state = ?2, ended = ?3, node = NULL, denial = NULL WHERE id = ?1")?
                .execute(params![self.calls[thread], "succeeded", sequence])?;
        }
        Ok(())
    }
}
