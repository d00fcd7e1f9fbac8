//! A confined native process from its start to its end, against the same program without Remit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use remit_exec::process::{
    Confinement, Interpreters, Kind, Launcher, Plan, Request, Sandbox, Until, Worker,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::measure::{Stopwatch, middle};

const ROUNDS: usize = 100;
const WARM_UP: usize = 5;

/// Measures in turns.
pub fn run(launcher: &Path, program: &Path) -> Value {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let folder = program.parent().expect("a folder");
        let entry = program.file_name().expect("a name");
        let interpreters = Interpreters::default();
        let program = interpreters.program(Kind::Native, folder, entry).await.expect("a program");
        let plan = Plan { program, confinement: Confinement::default(), sandbox: Sandbox::On };
        let launcher = Launcher::new(launcher);
        let (mut confined, mut bare) = (Vec::new(), Vec::new());
        for round in 0..WARM_UP + ROUNDS {
            let begun = Stopwatch::start();
            confine(&launcher, &plan).await;
            let ours = begun.stop();
            let begun = Stopwatch::start();
            exec(&plan.program.path);
            let theirs = begun.stop();
            if round >= WARM_UP {
                confined.push(ours);
                bare.push(theirs);
            }
        }
        json!({"confined": middle(&confined, 1), "bare": middle(&bare, 1)})
    })
}

async fn confine(launcher: &Launcher, plan: &Plan) {
    let mut worker = Worker::start(launcher, plan).await.expect("starts");
    let (parameters, settings, cancel) = (json!({"n": 1}), json!({}), CancellationToken::new());
    let timeout = Duration::from_secs(5);
    let request = Request {
        command: "answer",
        parameters: &parameters,
        settings: &settings,
        call_id: "call-1",
        timeout,
    };
    let until = Until { deadline: Instant::now() + timeout, cancel: &cancel };
    let answer = worker.call(&request, until, &|_| {}).await.expect("answers");
    assert!(answer.outcome.is_ok(), "{answer:?}");
    worker.end().await;
}

fn exec(program: &Path) {
    let pipes = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = pipes.expect("starts");
    let line = json!({"id": "1", "command": "answer", "parameters": {"n": 1}, "settings": {}, "context": {"call_id": "call-1", "timeout_ms": 5_000}});
    let mut requests = child.stdin.take().expect("a pipe");
    requests.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    let mut answer = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut answer)
        .expect("it answers");
    assert!(answer.contains("\"result\""), "{answer}");
    drop(requests);
    child.wait().expect("it ends");
}
