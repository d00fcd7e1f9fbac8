//! A call of a warm tool through the whole pipeline, against the pipe to the same worker alone and
//! against the commits alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use remit_engine::Engine;
use remit_engine::catalog::{Catalog, Settings, Source};
use remit_engine::policy::Policy;
use remit_exec::process::{
    Launcher, Limits, Options, PoolOptions, ProcessExecutor, Sandbox, Spares,
};
use remit_model::{
    Binding, Call, Capability, Dialect, Execution, Manifest, Permission, Runtime, Sensitivity,
};
use serde_json::{Value, json};

use crate::bare::{Bare, Write};
use crate::house;
use crate::measure::{Stopwatch, middle};

const CALLS: usize = 20;
const ROUNDS: usize = 60;
const WARM_UP: usize = 5;
pub const NAME: &str = "count_words.count";
pub const NAMES: [&str; 4] = ["pipeline", "pipe", "two commits", "pipe between commits"];
const TEXT: &str = "to be or not to be, that is the question";

/// Is what is called, and how it is started without Remit.
pub struct Tool<'a> {
    /// `python` or `javascript`.
    pub runtime: &'a str,
    /// The interpreter itself: not a version manager's script that looks for it.
    pub program: &'a str,
    /// The directory of tools and the file in it.
    pub folder: &'a Path,
    pub entry: &'a str,
}

impl Tool<'_> {
    pub fn catalog(&self) -> Catalog {
        let (runtime, execution) = match self.runtime {
            "python" => (Runtime::Python, Execution::Sync),
            _ => (Runtime::Javascript, Execution::Sync),
        };
        let (entry, command) = (self.entry.to_owned(), "count".to_owned());
        let mut manifest = Manifest::new(Dialect::Tool);
        manifest.capabilities = vec![Capability {
            name: NAME.to_owned(),
            description: "Counts words".to_owned(),
            input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}),
            output_schema: None,
            permission: Permission::Scope("bench:run".to_owned()),
            sensitivity: Some(Sensitivity::Low),
            timeout_ms: Some(5_000),
            binding: Binding::Process { runtime, execution, entry, command },
        }];
        let source = Source {
            name: "count_words".to_owned(),
            origin: "bench".to_owned(),
            root: Some(self.folder.to_owned()),
            manifest,
            hash: "0".repeat(64),
            settings: Ok(Settings::default()),
            problem: None,
        };
        Catalog::build(vec![source], Arc::new(Policy::default()))
    }

    /// Gives the command that starts it without Remit.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        if self.runtime == "python" {
            command.arg("-I");
        }
        command.arg(self.folder.join(self.entry)).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    fn worker(&self) -> Worker {
        let mut child = self.command().spawn().expect("the interpreter starts");
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        Worker {
            requests: requests.expect("a pipe"),
            answers: BufReader::new(answers.expect("a pipe")),
            child,
        }
    }
}

/// Is the worker at the end of two pipes, and nothing between.
struct Worker {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    child: Child,
}

impl Worker {
    fn ask(&mut self, line: &str) {
        self.requests.write_all(line.as_bytes()).expect("the worker reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the worker answers");
        assert!(answer.contains("\"result\""), "{answer}");
    }

    fn end(mut self) {
        drop(self.requests);
        self.child.wait().expect("the worker ends");
    }
}

pub fn request(number: u64) -> String {
    let asked = json!({"id": number.to_string(), "command": "count", "parameters": {"text": TEXT}, "settings": {}, "context": {"call_id": format!("call-{number:012}"), "timeout_ms": 5_000}});
    format!("{asked}\n")
}

pub fn call(number: u64, thread: &str) -> Call {
    house::call(number, thread, NAME.to_owned(), json!({"text": TEXT}))
}

/// Makes an engine that runs tools as `remit serve` does.
pub fn engine(folder: &Path, launcher: &Path, pool: PoolOptions) -> Engine {
    let data = folder.join("data");
    let executor = ProcessExecutor::new(Options {
        launcher: launcher.to_owned(),
        handler: "unused".to_owned(),
        sandbox: Sandbox::On,
        lent: remit_exec::process::Lent { limits: Limits::default(), ..Default::default() },
        hidden: vec![data.clone()],
        guarded: Vec::new(),
        pool,
        visitors: None,
    });
    let executor = executor.launched_by(Launcher::new(launcher).with_spares(Spares::Always));
    house::engine(&data, Arc::new(executor))
}

/// Measures in turns: the pipeline, the pipe, the two commits, and the pipe between them.
pub fn run(folder: &Path, launcher: &Path, tool: &Tool<'_>) -> Value {
    // One thread, as in `remit call`; the store has its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let engine = engine(folder, launcher, PoolOptions::default());
        engine.swap(tool.catalog());
        let bodies = house::bodies(&engine, call(0, "sample")).await;
        let bare = Bare::open(folder, 1, NAME, bodies);
        let mut worker = tool.worker();
        let mut number = 0;
        let mut turns = NAMES.map(|_| Vec::new());
        for round in 0..WARM_UP + ROUNDS {
            for (which, turns) in turns.iter_mut().enumerate() {
                let begun = Stopwatch::start();
                for _ in 0..CALLS {
                    number += 1;
                    match which {
                        0 => {
                            let ended = engine.run(call(number, "warm")).await;
                            assert!(ended.outcome.is_success(), "{ended:?}");
                        }
                        1 => worker.ask(&request(number)),
                        _ => {
                            bare.write(Write::Begin { number, thread: 0 }).await;
                            if which == 3 {
                                worker.ask(&request(number));
                            }
                            bare.write(Write::End { number, thread: 0 }).await;
                        }
                    }
                }
                let turn = begun.stop();
                if round >= WARM_UP {
                    turns.push(turn);
                }
            }
        }
        worker.end();
        engine.shut_down().await;
        let figures = NAMES.iter().zip(turns);
        figures.map(|(name, turns)| ((*name).to_owned(), middle(&turns, CALLS))).collect()
    })
}
