//! What the tests run as a process of its own: this binary, told by a variable what to do.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use remit_engine::ports::Store;
use remit_engine::record::{Ending, Next};
use remit_store::sqlite::{Durability, Options, SqliteStore};
use remit_testkit::conformance::hands::{at, begin, call, crowd, ending, intent, success};
use serde_json::json;

const ROLE: &str = "REMIT_STORE_TEST_ROLE";
const DATA: &str = "REMIT_STORE_TEST_DATA";

/// Says what a child does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// Begins and ends calls for ever, and says each time what the store has acknowledged.
    Write,
    /// Begins and ends a few calls and closes the store.
    WriteFew,
    /// The same without a store that waits for the disk.
    WriteFewUnsafely,
    /// Begins and ends calls one by one, and says what was refused.
    WriteThroughTrouble,
    /// Begins a call and waits to be killed.
    Hold,
    /// Opens the store and says what came of it.
    Open,
}

const ROLES: [(&str, Role); 6] = [
    ("write", Role::Write),
    ("few", Role::WriteFew),
    ("few-unsafely", Role::WriteFewUnsafely),
    ("trouble", Role::WriteThroughTrouble),
    ("hold", Role::Hold),
    ("open", Role::Open),
];

/// How many calls a child writes that writes a few.
pub(crate) const FEW: usize = 40;

/// Adds to a command what makes this binary a child.
pub(crate) fn prepare(command: &mut Command, role: Role, data: &Path) {
    let word = ROLES.iter().find(|(_, other)| format!("{other:?}") == format!("{role:?}"));
    command
        .args(["--exact", "child::child", "--nocapture", "--quiet"])
        .env(ROLE, word.unwrap().0)
        .env(DATA, data)
        .stdout(Stdio::piped());
}

/// Starts this binary as a child.
pub(crate) fn start(role: Role, data: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    prepare(&mut command, role, data);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

/// Gives the next line that the child said, without what the test runner says around it. None if the
/// child is gone; half a line was not said.
pub(crate) fn next(lines: &mut BufReader<ChildStdout>) -> Option<String> {
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        if !line.ends_with('\n') {
            return None;
        }
        if let Some((_, said)) = line.trim_end().split_once("said ") {
            return Some(said.to_owned());
        }
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("said {text}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Is the child, if this process is one; otherwise there is nothing to test here.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let data = std::env::var_os(DATA).unwrap();
    let data = Path::new(&data);
    let role = ROLES.iter().find(|(word, _)| *word == role).unwrap().1;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match role {
        Role::Write => runtime.block_on(write(open(data, Durability::Full), usize::MAX)),
        Role::WriteFew => runtime.block_on(write(open(data, Durability::Full), FEW / 4)),
        Role::WriteFewUnsafely => runtime.block_on(write(open(data, Durability::Off), FEW / 4)),
        Role::WriteThroughTrouble => {
            runtime.block_on(write_through_trouble(&*open(data, Durability::Full)));
        }
        Role::Hold => runtime.block_on(async {
            let store = open(data, Durability::Full);
            begin(&*store, call("held", "t"), Next::Run).await;
            say("begun held");
            std::future::pending::<()>().await;
        }),
        Role::Open => match SqliteStore::open(data) {
            Ok(_) => say("opened"),
            Err(error) => say(&error.message),
        },
    }
}

fn open(data: &Path, durability: Durability) -> Arc<dyn Store> {
    let options = Options { durability, ..Options::default() };
    Arc::new(SqliteStore::open_with(data, &options).unwrap())
}

async fn write(store: Arc<dyn Store>, each: usize) {
    let run = std::process::id();
    crowd(&store, 4, |store, n| async move {
        for m in 0..each {
            let name = format!("c{run}.{n}.{m}");
            let call = call(&name, &format!("t{}", n % 3));
            let key = call.key();
            begin(&*store, call, Next::Run).await;
            say(&format!("begun {name}"));
            let outcome = success(json!(name));
            let ending = Ending { key, outcome, at: at(3), duration_ms: 1, grant: None };
            store.finish(ending).await.unwrap();
            say(&format!("ended {name}"));
        }
    })
    .await;
}

async fn write_through_trouble(store: &dyn Store) {
    for n in 0..FEW {
        let name = format!("c{n}");
        if let Err(error) = store.begin(intent(call(&name, "t"), Next::Run)).await {
            say(&format!("refused {error}"));
            continue;
        }
        say(&format!("begun {name}"));
        match store.finish(ending(&name, success(json!(name)))).await {
            Ok(()) => say(&format!("ended {name}")),
            Err(error) => say(&format!("refused {error}")),
        }
    }
}
