//! A call of a tool that no process waits for, in an engine that runs, against the interpreter alone.
//!
//! Wall time is that until the answer is there. CPU time is all that the call costs, also later: the
//! end of the process, and what was prepared for the next call.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use remit_exec::process::PoolOptions;
use remit_model::Caller;
use serde_json::{Value, json};

use crate::measure::{Stopwatch, middle};
use crate::warm::{self, Tool};

const ROUNDS: usize = 40;
/// As many as the pool keeps, and some: from then on every call ends a process too.
const WARM_UP: usize = 6;
const KEPT: usize = 4;
/// Is how long what goes on after a call is waited for.
const AFTER: Duration = Duration::from_millis(250);

/// Measures in turns.
pub fn run(folder: &Path, launcher: &Path, tool: &Tool<'_>) -> Value {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let pool = PoolOptions { most_idle: KEPT, ..PoolOptions::default() };
        let engine = warm::engine(folder, launcher, pool);
        engine.swap(tool.catalog());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..WARM_UP + ROUNDS {
            // A worker serves one user, so that nobody else's is warm for this call.
            let mut call = warm::call(round as u64, "cold");
            call.caller = Caller::person(&format!("user-{round}"));
            let (begun, wall) = (Stopwatch::start(), Instant::now());
            let ended = engine.run(call).await;
            let wall = wall.elapsed();
            assert!(ended.outcome.is_success(), "{ended:?}");
            tokio::time::sleep(AFTER).await;
            let [_, cpu] = begun.stop();
            let alone = alone(tool);
            if round >= WARM_UP {
                ours.push([wall.as_secs_f64() * 1e9, cpu]);
                theirs.push(alone);
            }
        }
        engine.shut_down().await;
        json!({"call": middle(&ours, 1), "bare": middle(&theirs, 1)})
    })
}

fn alone(tool: &Tool<'_>) -> [f64; 2] {
    let (begun, wall) = (Stopwatch::start(), Instant::now());
    let mut child = tool.command().spawn().expect("the interpreter starts");
    let mut requests = child.stdin.take().expect("a pipe");
    requests.write_all(warm::request(1).as_bytes()).expect("it reads");
    let mut answer = String::new();
    let answers = child.stdout.take().expect("a pipe");
    BufReader::new(answers).read_line(&mut answer).expect("it answers");
    assert!(answer.contains("\"result\""), "{answer}");
    let wall = wall.elapsed();
    drop(requests);
    child.wait().expect("it ends");
    let [_, cpu] = begun.stop();
    [wall.as_secs_f64() * 1e9, cpu]
}
