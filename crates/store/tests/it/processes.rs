//! Several processes with one data directory.

use std::path::Path;

use remit_engine::ports::Store;
use remit_engine::record::{CallState, Next};
use remit_model::Outcome;
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::hands::{at, begin, call, find, key, run};

use crate::child::{self, Role};
use crate::kill::{Acknowledged, assert_proved};

fn locks(data: &Path) -> usize {
    std::fs::read_dir(data.join("nodes")).unwrap().count()
}

#[tokio::test]
async fn the_calls_of_a_living_process_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let (mut child, mut lines) = child::start(Role::Hold, &data);
    assert_eq!(child::next(&mut lines).as_deref(), Some("begun held"));
    let store = SqliteStore::open(&data).unwrap();
    begin(&store, call("own", "t"), Next::Run).await;
    assert_eq!(store.recover(at(9)).await, Ok(Vec::new()));
    assert_eq!(find(&store, key("held")).await.state, CallState::Running);
    assert_eq!(locks(&data), 2);

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(locks(&data), 2, "the dead leave their locks");
    assert_eq!(store.recover(at(9)).await, Ok(vec![key("held")]));
    let state = find(&store, key("held")).await.state;
    assert_eq!(state, CallState::Ended(Outcome::OutcomeUnknown));
    assert_eq!(find(&store, key("own")).await.state, CallState::Running);
    assert_eq!(locks(&data), 1);
    assert_proved(&store).await;
    drop(store);
    assert_eq!(locks(&data), 0, "who closes takes the lock along");
}

#[tokio::test]
async fn a_lock_without_a_process_is_removed_and_a_strange_name_is_no_path() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let store = SqliteStore::open(&data).unwrap();
    let stale = data.join("nodes").join(format!("{}.lock", "0".repeat(32)));
    let other = data.join("nodes/notes.txt");
    let outside = data.join("precious.lock");
    for file in [&stale, &other, &outside] {
        std::fs::write(file, "").unwrap();
    }
    begin(&store, call("c", "t"), Next::Run).await;
    let conn = rusqlite::Connection::open(data.join("remit.db")).unwrap();
    conn.execute("UPDATE calls SET node = '../precious'", []).unwrap();
    assert_eq!(store.recover(at(9)).await, Ok(vec![key("c")]));
    assert!(!stale.exists());
    assert!(other.exists() && outside.exists());
}

#[tokio::test]
async fn processes_that_write_at_the_same_time_make_one_chain() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let store = SqliteStore::open(&data).unwrap();
    let mut children: Vec<_> = (0..3).map(|_| child::start(Role::Write, &data)).collect();
    let mut acknowledged = Acknowledged::default();
    for n in 0..60 {
        run(&store, call(&format!("own{n}"), &format!("t{}", n % 3))).await;
        for (_, lines) in &mut children {
            acknowledged.note(&child::next(lines).expect("a child that goes on"));
        }
    }
    for (child, lines) in &mut children {
        child.kill().unwrap();
        while let Some(line) = child::next(lines) {
            acknowledged.note(&line);
        }
        child.wait().unwrap();
    }
    assert_eq!(acknowledged.missing_in(&store).await, Vec::<String>::new());
    assert_proved(&store).await;
    for n in 0..60 {
        find(&store, key(&format!("own{n}"))).await;
    }
}

#[test]
fn many_open_an_empty_directory_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("a/b/data");
    let mut children: Vec<_> = (0..8).map(|_| child::start(Role::Open, &data)).collect();
    for (child, lines) in &mut children {
        assert_eq!(child::next(lines).as_deref(), Some("opened"));
        child.wait().unwrap();
    }
}
