//! Calls of warm tools from many callers at once, each with a worker to itself, against the pipes to
//! as many workers alone and against the commits alone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use remit_engine::Engine;
use remit_exec::process::PoolOptions;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use crate::bare::{Bare, Write};
use crate::house;
use crate::measure::{Stopwatch, middle};
use crate::warm::{self, NAME, NAMES, Tool, request};

/// Is as many as there are processes that a pool keeps: none is started while it is measured.
const CALLERS: usize = 16;
const CALLS_EACH: usize = 12;
const ROUNDS: usize = 40;
const WARM_UP: usize = 5;

/// Is a worker at the end of two pipes, and nothing between.
struct Worker {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    child: Child,
}

impl Worker {
    fn start(tool: &Tool<'_>) -> Self {
        let mut child = Command::from(tool.command()).spawn().expect("the interpreter starts");
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("a pipe"));
        Self { requests: requests.expect("a pipe"), answers, child }
    }

    async fn ask(&mut self, line: &str) {
        self.requests.write_all(line.as_bytes()).await.expect("the worker reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).await.expect("the worker answers");
        assert!(answer.contains("\"result\""), "{answer}");
    }
}

/// Is all that the contestants have.
struct Hall {
    engine: Engine,
    bare: Bare,
    workers: Vec<Mutex<Worker>>,
    numbers: AtomicU64,
}

impl Hall {
    async fn one(&self, which: usize, caller: usize) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        match which {
            0 => {
                let call = warm::call(number, &format!("warm-{caller}"));
                let ended = self.engine.run(call).await;
                assert!(ended.outcome.is_success(), "{ended:?}");
            }
            1 => self.workers[caller].lock().await.ask(&request(number)).await,
            _ => {
                self.bare.write(Write::Begin { number, thread: caller }).await;
                if which == 3 {
                    self.workers[caller].lock().await.ask(&request(number)).await;
                }
                self.bare.write(Write::End { number, thread: caller }).await;
            }
        }
    }
}

/// Measures in turns: the pipeline, the pipes, the two commits, and the pipes between them.
pub fn run(folder: &Path, launcher: &Path, tool: &Tool<'_>) -> Value {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let engine = warm::engine(folder, launcher, PoolOptions::default());
        engine.swap(tool.catalog());
        let bodies = house::bodies(&engine, warm::call(0, "sample")).await;
        let hall = Arc::new(Hall {
            bare: Bare::open(folder, CALLERS, NAME, bodies),
            workers: (0..CALLERS).map(|_| Mutex::new(Worker::start(tool))).collect(),
            numbers: AtomicU64::new(1),
            engine,
        });
        let mut turns = NAMES.map(|_| Vec::new());
        for round in 0..WARM_UP + ROUNDS {
            for (which, turns) in turns.iter_mut().enumerate() {
                let begun = Stopwatch::start();
                let mut callers = tokio::task::JoinSet::new();
                for caller in 0..CALLERS {
                    let hall = Arc::clone(&hall);
                    callers.spawn(async move {
                        for _ in 0..CALLS_EACH {
                            hall.one(which, caller).await;
                        }
                    });
                }
                callers.join_all().await;
                let turn = begun.stop();
                if round >= WARM_UP {
                    turns.push(turn);
                }
            }
        }
        hall.engine.shut_down().await;
        for worker in &hall.workers {
            worker.lock().await.child.kill().await.expect("the worker ends");
        }
        let figures = NAMES.iter().zip(turns);
        let calls = CALLERS * CALLS_EACH;
        figures.map(|(name, turns)| ((*name).to_owned(), middle(&turns, calls))).collect()
    })
}
