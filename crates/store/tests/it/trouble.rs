//! Disks, directories and databases that are not as they should be: an error that says what to do,
//! and never a word that something is recorded which is not.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use remit_engine::ports::Store;
use remit_engine::record::{Begun, CallQuery, Next};
use remit_store::sqlite::{Options, SqliteStore};
use remit_testkit::conformance::hands::{at, begin, call, find, grant, intent, key, kinds, run};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::child::{self, Role};
use crate::kill::{Acknowledged, assert_proved};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refusal(opened: Result<SqliteStore, remit_engine::ports::StoreError>) -> String {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.message,
    }
}

fn impatient(data: &Path) -> Result<SqliteStore, remit_engine::ports::StoreError> {
    SqliteStore::open_with(
        data,
        &Options { patience: Duration::from_millis(50), ..Options::default() },
    )
}

#[tokio::test]
async fn what_is_made_is_private() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("a/data");
    let store = SqliteStore::open(&data).unwrap();
    run(&store, call("c", "t")).await;
    for folder in [directory.path().join("a"), data.clone(), data.join("nodes")] {
        assert_eq!(mode(&folder), 0o700, "{folder:?}");
    }
    for file in ["remit.db", "remit.db-wal", "remit.db-shm", "open.lock"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    drop(store);
    // A database that others may read is closed to them; a directory is its owner's business.
    fs::set_permissions(data.join("remit.db"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let store = SqliteStore::open(&data).unwrap();
    assert_eq!((mode(&data.join("remit.db")), mode(&data)), (0o600, 0o755));
    find(&store, key("c")).await;
}

#[test]
fn a_later_or_another_programs_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let database = directory.path().join("remit.db");
    let conn = Connection::open(&database).unwrap();
    let known: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    conn.pragma_update(None, "user_version", known + 1).unwrap();
    let message = refusal(SqliteStore::open(directory.path()));
    assert!(message.contains(&format!("has version {}", known + 1)), "{message}");
    assert!(message.contains("use the Remit that wrote it, or a later one"), "{message}");
    conn.pragma_update(None, "user_version", known).unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    conn.pragma_update(None, "application_id", 7).unwrap();
    let message = refusal(SqliteStore::open(directory.path()));
    assert!(message.contains("another program's database"), "{message}");

    let other = tempfile::tempdir().unwrap();
    let conn = Connection::open(other.path().join("remit.db")).unwrap();
    conn.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    let message = refusal(SqliteStore::open(other.path()));
    assert!(message.contains("another program's database"), "{message}");
    let tables: i64 =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1, "it was not touched");
}

#[tokio::test]
async fn a_damaged_database_is_an_error_that_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("remit.db");
    fs::write(&database, "this is not a database, whatever its name says. ".repeat(100)).unwrap();
    let message = refusal(SqliteStore::open(directory.path()));
    assert!(message.contains("is damaged"), "{message}");
    assert!(message.contains("restore it from a backup"), "{message}");
    fs::remove_file(&database).unwrap();

    let store = SqliteStore::open(directory.path()).unwrap();
    for n in 0..300 {
        run(&store, call(&format!("c{n}"), "t")).await;
    }
    drop(store);
    let whole = fs::read(&database).unwrap();
    let (mut errors, mut tries) = (0, 0);
    for (at, byte) in (4096..whole.len()).step_by(1024).zip([0xff, 0x00, 0x7f].iter().cycle()) {
        let mut damaged = whole.clone();
        damaged[at..].iter_mut().take(512).for_each(|b| *b = *byte);
        fs::write(&database, damaged).unwrap();
        tries += 1;
        // Whatever was hit: no panic, no hang, and every error says what to do.
        errors += visit(directory.path(), tries).await;
    }
    for length in [100, 5000, whole.len() / 2, whole.len() - 1] {
        fs::write(&database, &whole[..length]).unwrap();
        tries += 1;
        errors += visit(directory.path(), tries).await;
    }
    println!("{tries} kinds of damage, {errors} errors");
    assert!(errors > tries / 2);
    fs::write(&database, &whole).unwrap();
    assert_eq!(visit(directory.path(), 0).await, 0);
}

/// Uses a store in every way; gives how many were errors.
async fn visit(data: &Path, n: usize) -> usize {
    let store = match SqliteStore::open(data) {
        Ok(store) => store,
        Err(error) => {
            assert!(error.message.contains(": "), "{error}");
            return 1;
        }
    };
    let mut errors = Vec::new();
    errors.extend(store.begin(intent(call(&format!("new{n}"), "t"), Next::Run)).await.err());
    errors.extend(store.calls(CallQuery::default()).await.err());
    errors.extend(store.threads().await.err());
    errors.extend(store.grants("ann", "").await.err());
    errors.extend(store.recover(at(1)).await.err());
    errors.extend(remit_store::verify(&store).await.err());
    for error in &errors {
        let helps = ["restore it from a backup", "see the system's log", "please report"];
        assert!(helps.iter().any(|help| error.message.contains(help)), "{error}");
    }
    errors.len()
}

/// Runs a child whose system calls fail from one on, up to another; gives what it was told.
async fn failing(inject: &str, help: &str) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut command = Command::new("strace");
    let log = directory.path().join("log");
    command.args([
        "-f",
        "-q",
        "-e",
        "signal=none",
        "-e",
        "trace=pwrite64,fsync,fdatasync",
        "-e",
        inject,
        "-o",
    ]);
    command.arg(&log).arg(std::env::current_exe().unwrap());
    child::prepare(&mut command, Role::WriteThroughTrouble, &data);
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!("this test needs strace (on Debian: apt install strace): {error}")
    });
    assert!(output.status.success(), "{output:?}");
    let mut acknowledged = Acknowledged::default();
    let (mut refused, mut after) = (0, 0);
    let told = String::from_utf8(output.stdout).unwrap();
    for line in told.lines() {
        match line.split_once("said ").map(|(_, said)| said) {
            None => {}
            Some(said) if said.starts_with("refused ") => {
                assert!(said.contains(help), "{said}");
                refused += 1;
            }
            Some(said) => {
                acknowledged.note(said);
                after += usize::from(refused > 0);
            }
        }
    }
    println!(
        "{inject}: {} begun, {} ended, {refused} refused, {after} acknowledged afterwards",
        acknowledged.begun.len(),
        acknowledged.ended.len()
    );
    assert!(refused > 0 && after > 0, "it fails, and goes on when it can: {told}");
    let store = SqliteStore::open(&data).unwrap();
    assert_eq!(acknowledged.missing_in(&store).await, Vec::<String>::new());
    assert_proved(&store).await;
}

#[tokio::test]
async fn a_full_disk_is_an_error_until_there_is_room() {
    let help = "is full: make room and try again";
    failing("inject=pwrite64:error=ENOSPC:when=100..109", help).await;
}

#[tokio::test]
async fn a_disk_that_does_not_sync_is_an_error_while_it_does_not() {
    let help = "see the system's log";
    failing("inject=fsync,fdatasync:error=EIO:when=30..33", help).await;
}

#[tokio::test]
async fn a_database_that_another_holds_locked_is_waited_for_and_not_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let store = impatient(directory.path()).unwrap();
    begin(&store, call("before", "t"), Next::Run).await;
    store.give(grant("", "a:use")).await.unwrap();
    let other = Connection::open(directory.path().join("remit.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM grants").unwrap();
    let error = store.begin(intent(call("during", "t"), Next::Run)).await.unwrap_err();
    assert!(error.message.contains("locked by another program"), "{error}");
    // Whoever only reads waits for nobody.
    find(&store, key("before")).await;
    assert_eq!(store.call(key("during")).await, Ok(None));
    assert_eq!(store.grants("ann", "").await.unwrap().len(), 1);
    assert_eq!(kinds(&store, "t").await.len(), 2);
    other.execute_batch("ROLLBACK").unwrap();
    begin(&store, call("during", "t"), Next::Run).await;

    // A patient one gets its turn.
    let patient = SqliteStore::open(directory.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting =
        tokio::spawn(async move { patient.begin(intent(call("after", "t"), Next::Run)).await });
    tokio::task::yield_now().await;
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(waiting.await.unwrap(), Ok(Begun::Fresh));

    let lock = fs::File::options().write(true).open(directory.path().join("open.lock")).unwrap();
    lock.lock().unwrap();
    let message = refusal(impatient(directory.path()));
    assert!(message.contains("is being opened by another program"), "{message}");
    lock.unlock().unwrap();
    impatient(directory.path()).unwrap();
}

#[test]
fn a_directory_that_is_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for bad in [file.clone(), file.join("below")] {
        let message = refusal(SqliteStore::open(&bad));
        assert!(message.contains("as the data directory"), "{message}");
        assert!(message.contains("name a directory that this user may write"), "{message}");
    }
    fs::create_dir_all(directory.path().join("data/remit.db")).unwrap();
    let message = refusal(SqliteStore::open(&directory.path().join("data")));
    assert!(message.contains("cannot be opened"), "{message}");
    // A name that looks like a URI is a name.
    let odd = directory.path().join("file:x?mode=memory");
    drop(SqliteStore::open(&odd).unwrap());
    assert!(odd.join("remit.db").is_file());
}

/// Opens a directory as somebody whom permissions bind; root they do not.
fn open_as_nobody(tools: &Path, data: &Path) -> String {
    let binary = tools.join("it");
    if !binary.exists() {
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    }
    let mut command = Command::new(binary);
    child::prepare(&mut command, Role::Open, data);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.lines().find_map(|line| line.split_once("said ")).map(|(_, said)| said);
    said.unwrap_or_else(|| panic!("the child said nothing: {text}")).to_owned()
}

#[test]
fn what_one_may_not_read_or_write_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(directory.path(), 0o755);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let own = |path: &Path| {
        if is_root {
            std::os::unix::fs::chown(path, Some(65_534), Some(65_534)).unwrap();
        }
    };
    let empty = directory.path().join("empty");
    fs::create_dir(&empty).unwrap();
    own(&empty);
    assert_eq!(open_as_nobody(directory.path(), &empty), "opened", "the test can succeed");
    for (name, mode) in [("no-entry", 0o000), ("read-only", 0o500)] {
        let data = directory.path().join(name);
        fs::create_dir(&data).unwrap();
        own(&data);
        allow(&data, mode);
        let said = open_as_nobody(directory.path(), &data);
        assert!(said.contains("name a directory that this user may write"), "{name}: {said}");
        allow(&data, 0o700);
    }
    allow(&empty.join("remit.db"), 0o400);
    let said = open_as_nobody(directory.path(), &empty);
    // The owner of a file may read it and is not held up by a mode that they could change; that the
    // file is not writable is what counts.
    assert!(said.contains("give this user the right to write it"), "{said}");
}

#[tokio::test]
async fn json_that_could_not_be_read_back_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let with = |name: &str, input: Value| {
        let mut call = call(name, "t");
        call.input = input;
        call
    };
    // One level is the record's own.
    begin(&store, with("at", nested(255)), Next::Run).await;
    assert_eq!(find(&store, key("at")).await.call.input, nested(255));
    let past = store.begin(intent(with("past", nested(256)), Next::Run)).await.unwrap_err();
    assert!(past.message.contains("nested deeper than 256 levels"), "{past}");
    assert_eq!(store.call(key("past")).await, Ok(None));
}

#[tokio::test]
async fn a_long_write_ahead_log_is_not_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("remit.db-wal");
    let length = || fs::metadata(&log).map_or(0, |log| log.len());
    let store = SqliteStore::open(directory.path()).unwrap();
    run(&store, call("small", "t")).await;
    drop(store);
    assert!(length() > 0, "a short one is");
    let store = SqliteStore::open(directory.path()).unwrap();
    let mut large = call("large", "t");
    large.input = json!("x".repeat(2 << 20));
    run(&store, large).await;
    assert!(length() > 2 << 20);
    drop(store);
    assert_eq!(length(), 0);
    let store = SqliteStore::open(directory.path()).unwrap();
    find(&store, key("small")).await;
    find(&store, key("large")).await;
}
