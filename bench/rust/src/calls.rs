//! Calls through the whole pipeline against what the database alone gives, and among few and many
//! capabilities.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use remit_engine::catalog::{Catalog, Settings, Source};
use remit_engine::policy::Policy;
use remit_engine::ports::{Approver, Clock, Executor, Pending, Question, Reply, Running};
use remit_engine::stage::Authorised;
use remit_engine::{Engine, Parts};
use remit_model::{
    Answer, Binding, Call, CallId, Caller, Capability, Dialect, Manifest, Outcome, Permission,
    Sensitivity, ThreadId,
};
use remit_store::sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::measure::{cpu, median};

const CALLERS: usize = 64;
const CALLS_EACH: usize = 100;
const ROUNDS: usize = 5;

struct Nothing;

impl Executor for Nothing {
    fn execute<'a>(&'a self, _: &'a Authorised, _: Running) -> Pending<'a, Outcome> {
        Box::pin(async { Outcome::Succeeded(Answer::default()) })
    }
}

impl Approver for Nothing {
    fn ask<'a>(&'a self, _: &'a Question) -> Pending<'a, Reply> {
        Box::pin(async { Reply::No })
    }
}

impl Clock for Nothing {
    fn now(&self) -> remit_model::Instant {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ms = wall.map_or(0, |since| since.as_millis() as i64);
        remit_model::Instant { wall_ms: ms, boot_ms: ms, boot: "bench".to_owned() }
    }
}

fn catalog(capabilities: usize) -> Catalog {
    let mut manifest = Manifest::new(Dialect::Tool);
    manifest.capabilities = (0..capabilities)
        .map(|number| Capability {
            name: format!("bench.noop_{number}"),
            description: "does nothing".to_owned(),
            input_schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}),
            output_schema: None,
            permission: Permission::Scope("bench:run".to_owned()),
            sensitivity: Some(Sensitivity::Low),
            timeout_ms: None,
            binding: Binding::Human,
        })
        .collect();
    let source = Source {
        name: "bench".to_owned(),
        origin: "bench".to_owned(),
        root: None,
        manifest,
        hash: "0".repeat(64),
        settings: Ok(Settings::default()),
        problem: None,
    };
    Catalog::build(vec![source], Arc::new(Policy::default()))
}

fn engine(folder: &Path) -> Engine {
    let store = SqliteStore::open(folder).expect("the store opens");
    Engine::new(Parts {
        executor: Arc::new(Nothing),
        store: Arc::new(store),
        approver: Arc::new(Nothing),
        clock: Arc::new(Nothing),
        probe: None,
        confined: true,
    })
}

fn call(number: u64, caller: usize, capabilities: usize) -> Call {
    Call {
        id: CallId::parse(&format!("call-{number:012}")).expect("an id"),
        caller: Caller::person("ann"),
        thread: ThreadId::parse(&format!("thread-{caller}")).expect("an id"),
        group: false,
        capability: format!("bench.noop_{}", number as usize % capabilities),
        input: json!({"n": number}),
        timeout_ms: None,
    }
}

/// Makes calls from many callers at once; gives wall and CPU time of one in nanoseconds.
async fn through_the_pipeline(
    engine: &Engine,
    capabilities: usize,
    numbers: &Arc<AtomicU64>,
) -> (f64, f64) {
    let (wall, used) = (Instant::now(), cpu());
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (engine, numbers) = (engine.clone(), Arc::clone(numbers));
            tokio::spawn(async move {
                for _ in 0..CALLS_EACH {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    let ended = engine.run(call(number, caller, capabilities)).await;
                    assert!(ended.outcome.is_success(), "{ended:?}");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
    per_call(wall, used)
}

fn per_call(wall: Instant, used: std::time::Duration) -> (f64, f64) {
    let calls = (CALLERS * CALLS_EACH) as f64;
    (wall.elapsed().as_secs_f64() * 1e9 / calls, (cpu() - used).as_secs_f64() * 1e9 / calls)
}

enum Write {
    Begin { number: u64, thread: usize },
    End { number: u64, thread: usize },
}

type Job = (Write, oneshot::Sender<()>);

/// Writes the same rows with one writer and one commit for all who wait, and nothing else.
struct Bare {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Bare {
    fn open(folder: &Path) -> Self {
        let conn = Connection::open(folder.join("bare.db")).expect("opens");
        conn.execute_batch(concat!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
            include_str!("../../../crates/store/migrations/sqlite/0001_record.sql")
        ))
        .expect("the tables");
        for thread in 0..CALLERS {
            let name = format!("thread-{thread}");
            conn.execute(
                "INSERT INTO threads (id, name) VALUES (?1, ?2)",
                (thread as i64 + 1, name),
            )
            .expect("a thread");
        }
        let (jobs, waiting) = mpsc::unbounded_channel();
        std::thread::spawn(move || keep_writing(&conn, waiting));
        Self { jobs }
    }

    async fn write(&self, write: Write) {
        let (done, wait) = oneshot::channel();
        assert!(self.jobs.send((write, done)).is_ok());
        wait.await.expect("written");
    }
}

fn keep_writing(conn: &Connection, mut waiting: mpsc::UnboundedReceiver<Job>) {
    let mut sequences = [0i64; CALLERS];
    let hash = [7u8; 32];
    let begin = json!({"basis": {"confined": true, "manifest_hash": "0".repeat(64), "scope": "bench:run", "sensitivity": "low", "source": "bench"}, "call": {"caller": {"user": "ann"}, "capability": "bench.noop_0", "group": false, "input": {"n": 1}}, "rule": "low-is-silent"}).to_string();
    let end =
        json!({"duration_ms": 0, "outcome": {"result": null, "status": "succeeded"}}).to_string();
    while let Some(first) = waiting.blocking_recv() {
        let mut batch = vec![first];
        while let Ok(next) = waiting.try_recv() {
            batch.push(next);
        }
        conn.execute_batch("BEGIN IMMEDIATE").expect("begins");
        for (write, _) in &batch {
            let (number, thread, kind, body) = match write {
                Write::Begin { number, thread } => (*number, *thread, "call.intent", &begin),
                Write::End { number, thread } => (*number, *thread, "call.outcome", &end),
            };
            sequences[thread] += 1;
            let (sequence, row) = (sequences[thread], thread as i64 + 1);
            let name = format!("call-{number:012}");
            conn.prepare_cached("INSERT INTO events (thread, sequence, at_ms, kind, call, body, previous, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
                .and_then(|mut insert| insert.execute((row, sequence, 1_700_000_000_000i64, kind, &name, body, &hash, &hash)))
                .expect("an event");
            match write {
                Write::Begin { .. } => conn
                    .prepare_cached("INSERT INTO calls (user, agent, name, thread, capability, begun, state, node) VALUES ('ann', '', ?1, ?2, 'bench.noop_0', ?3, 'running', 'node')")
                    .and_then(|mut insert| insert.execute((&name, row, sequence))),
                Write::End { .. } => conn
                    .prepare_cached("UPDATE calls SET state = 'succeeded', ended = ?2, node = NULL WHERE user = 'ann' AND agent = '' AND name = ?1")
                    .and_then(|mut update| update.execute((&name, sequence))),
            }
            .expect("a call");
        }
        conn.execute_batch("COMMIT").expect("commits");
        for (_, done) in batch {
            let _ = done.send(());
        }
    }
}

async fn database_alone(bare: &Arc<Bare>, numbers: &Arc<AtomicU64>) -> (f64, f64) {
    let (wall, used) = (Instant::now(), cpu());
    let callers: Vec<_> = (0..CALLERS)
        .map(|thread| {
            let (bare, numbers) = (Arc::clone(bare), Arc::clone(numbers));
            tokio::spawn(async move {
                for _ in 0..CALLS_EACH {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    bare.write(Write::Begin { number, thread }).await;
                    bare.write(Write::End { number, thread }).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
    per_call(wall, used)
}

/// Measures in turns.
pub fn run(folder: &Path) -> Value {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let numbers = Arc::new(AtomicU64::new(0));
        let engine = engine(&folder.join("data"));
        let bare = Arc::new(Bare::open(folder));
        let contestants =
            ["engine, 10 capabilities", "group commit alone", "engine, 10000 capabilities"];
        let mut figures = vec![(Vec::new(), Vec::new()); contestants.len()];
        for round in 0..=ROUNDS {
            for (which, (walls, cpus)) in figures.iter_mut().enumerate() {
                let (wall, used) = match which {
                    0 | 2 => {
                        let capabilities = if which == 0 { 10 } else { 10_000 };
                        engine.swap(catalog(capabilities));
                        through_the_pipeline(&engine, capabilities, &numbers).await
                    }
                    _ => database_alone(&bare, &numbers).await,
                };
                // The first round warms up.
                if round > 0 {
                    walls.push(wall);
                    cpus.push(used);
                }
            }
        }
        let mut answer = json!({});
        for (name, (walls, cpus)) in contestants.iter().zip(figures) {
            answer[name] = json!({"wall": median(walls), "cpu": median(cpus)});
        }
        answer
    })
}
