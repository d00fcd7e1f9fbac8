//! What the tests have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use remit_exec::process::{
    Answer, Confinement, Interpreters, Key, Kind, Launcher, Plan, Progress, Request, Sandbox,
    Until, Worker, WorkerError,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Is long enough for anything that is going to happen at all.
pub const LONG: Duration = Duration::from_secs(60);

/// Gives the binary with the stages.
pub fn launcher() -> Launcher {
    Launcher::new(env!("CARGO_BIN_EXE_remit-launch"))
}

/// Gives a directory of this checkout.
pub fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}

/// Gives a plan for a tool of this crate's tests.
pub async fn plan(entry: &str) -> Plan {
    plan_in(&checkout("crates/exec/tests/tools"), Kind::Python, entry).await
}

/// Gives a plan for a tool.
pub async fn plan_in(tools: &Path, kind: Kind, entry: &str) -> Plan {
    let program = Interpreters::default().program(kind, tools, entry).await.unwrap();
    Plan { program, confinement: Confinement::default(), sandbox: Sandbox::On }
}

/// Gives a plan for the tool that does what tools must not do.
pub async fn misbehave() -> Plan {
    plan("misbehave.py").await
}

/// Gives a key of a pool for a plan.
pub fn key(plan: Plan) -> Arc<Key> {
    Arc::new(Key { plan, settings: "none".to_owned(), user: "ada".to_owned() })
}

/// Starts a worker.
pub async fn start(plan: &Plan) -> Worker {
    Worker::start(&launcher(), plan).await.unwrap()
}

/// Makes a call that may take long.
pub async fn call(
    worker: &mut Worker,
    command: &str,
    parameters: Value,
) -> Result<Answer, WorkerError> {
    call_within(worker, command, parameters, LONG).await
}

/// Makes a call that may take so long.
pub async fn call_within(
    worker: &mut Worker,
    command: &str,
    parameters: Value,
    timeout: Duration,
) -> Result<Answer, WorkerError> {
    let asked = Asked::new(command, parameters);
    let cancel = CancellationToken::new();
    let until = Until { deadline: Instant::now() + timeout, cancel: &cancel };
    worker.call(&asked.request(), until, &ignore).await
}

/// Gives the result of a call that must succeed.
pub async fn result(worker: &mut Worker, command: &str, parameters: Value) -> Value {
    call(worker, command, parameters).await.unwrap().outcome.unwrap()
}

/// Is a request that owns what it asks.
pub struct Asked {
    pub command: String,
    pub parameters: Value,
    pub settings: Value,
}

impl Asked {
    pub fn new(command: &str, parameters: Value) -> Self {
        Self { command: command.to_owned(), parameters, settings: json!({"token": "hush"}) }
    }

    pub fn request(&self) -> Request<'_> {
        Request {
            command: &self.command,
            parameters: &self.parameters,
            settings: &self.settings,
            call_id: "call-1",
            timeout: LONG,
        }
    }
}

/// Takes progress and does nothing with it.
pub fn ignore(_: Progress) {}

/// Waits for something that must happen soon.
pub async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Gives a word that no other process of this machine has among its arguments.
pub fn marker(name: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("marker-{name}-{}-{}", std::process::id(), now.as_nanos())
}

/// Lists the processes that have a word among their arguments.
pub fn processes_with(word: &str) -> Vec<u32> {
    let listed = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(word.len()).any(|part| part == word.as_bytes())
    };
    pids.filter(|pid| *pid != std::process::id()).filter(has).collect()
}

/// Tells whether a process exists, also as a zombie.
pub fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Tells whether the tests run as root of the machine.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Is a list of processes with nothing in it.
pub const NONE: [u32; 0] = [];

/// Tells what a launcher finds on this machine.
pub async fn offers_of(launcher: &Launcher) -> remit_exec::process::Offers {
    remit_exec::process::offers(launcher).await
}
