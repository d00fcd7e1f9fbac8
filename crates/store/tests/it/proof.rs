//! Whoever changes the record is found out.

use std::path::Path;

use remit_engine::ports::Store;
use remit_engine::record::{Message, Next};
use remit_model::event::Break;
use remit_store::sqlite::SqliteStore;
use remit_store::{ThreadReport, Trouble, verify, verify_with};
use remit_testkit::conformance::hands::{
    answered, ask, begin, call, ending, grant, id, run, success, thread,
};
use serde_json::{Value, json};

async fn filled(data: &Path) -> SqliteStore {
    let store = SqliteStore::open(data).unwrap();
    for n in 0..3 {
        run(&store, call(&format!("a{n}"), "t")).await;
        run(&store, call(&format!("b{n}"), "u")).await;
    }
    begin(&store, call("asked", "t"), ask()).await;
    store.answer(answered("asked", None)).await.unwrap();
    store.finish(ending("asked", success(json!(1)))).await.unwrap();
    begin(&store, call("running", "t"), Next::Run).await;
    let message = Message {
        thread: thread("t"),
        role: "user".to_owned(),
        content: "hello".to_owned(),
        metadata: Value::Null,
        call: None,
        at_ms: 1,
    };
    store.say(message).await.unwrap();
    store
}

/// Changes the database behind the store's back, and gives what is said of thread `t`. Thread `u` was
/// not touched and must be well.
async fn after(changes: &str) -> ThreadReport {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path()).await;
    let conn = rusqlite::Connection::open(directory.path().join("remit.db")).unwrap();
    conn.execute_batch(&format!("PRAGMA foreign_keys = OFF; {changes}")).unwrap();
    let mut reports = verify(&store).await.unwrap();
    let at = reports.iter().position(|report| report.thread == thread("u")).unwrap();
    let untouched = reports.remove(at);
    assert_eq!((untouched.events, untouched.trouble), (6, None));
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

#[tokio::test]
async fn an_untouched_record_is_well() {
    let report = after("").await;
    assert_eq!(report.trouble, None);
    assert_eq!(report.events, 11);
}

#[tokio::test]
async fn what_was_altered_removed_or_forged_is_found_where_it_is() {
    let in_t = "thread = (SELECT id FROM threads WHERE name = 't')";
    let hash = |sequence| Some(Trouble::Chain(Break::Hash { sequence }));
    let gap = |expected, found| Some(Trouble::Chain(Break::Sequence { expected, found }));
    let lost = |call: &str, missing| Some(Trouble::Call { call: id(call), missing });
    for (change, trouble) in [
        ("UPDATE events SET body = body || ' ' WHERE sequence = 4 AND", hash(4)),
        ("UPDATE events SET at_ms = at_ms - 1 WHERE sequence = 1 AND", hash(1)),
        ("UPDATE events SET kind = 'message' WHERE sequence = 2 AND", hash(2)),
        ("UPDATE events SET call = 'other' WHERE sequence = 2 AND", hash(2)),
        ("UPDATE events SET hash = zeroblob(32) WHERE sequence = 5 AND", hash(5)),
        (
            "UPDATE events SET previous = zeroblob(32) WHERE sequence = 5 AND",
            Some(Trouble::Chain(Break::Link { sequence: 5 })),
        ),
        ("DELETE FROM events WHERE sequence = 1 AND", gap(1, 2)),
        ("DELETE FROM events WHERE sequence = 3 AND", gap(3, 4)),
        ("UPDATE events SET sequence = sequence + 50 WHERE sequence = 3 AND", gap(3, 4)),
        // A chain does not miss its end; the calls do.
        ("DELETE FROM events WHERE sequence > 9 AND", lost("running", "beginning")),
        ("DELETE FROM events WHERE sequence > 8 AND", lost("asked", "end")),
        ("DELETE FROM events WHERE sequence > 1 AND", lost("a0", "end")),
        ("DELETE FROM events WHERE", lost("a0", "end")),
    ] {
        let report = after(&format!("{change} {in_t}")).await;
        match (&report.trouble, &trouble) {
            // Of several calls without an end, any may be named; that the store cannot read a call
            // whose events are gone says the same.
            (Some(Trouble::Unreadable(error)), Some(Trouble::Call { .. })) => {
                assert!(error.message.contains("is gone"), "{change}: {error}");
                assert!(error.message.contains("restore it from a backup"), "{change}: {error}");
            }
            (found, expected) => assert_eq!(found, expected, "{change}"),
        }
        let words = report.trouble.unwrap().to_string();
        assert!(!words.is_empty() && !words.ends_with('.'), "{words}");
    }
}

#[tokio::test]
async fn calls_whose_events_are_not_told_are_missed() {
    // The store of an operator who removes the calls' places in the log as well as the events.
    let report = after(
        "DELETE FROM events WHERE sequence > 9
             AND thread = (SELECT id FROM threads WHERE name = 't');
         UPDATE calls SET begun = 1, ended = NULL WHERE name = 'running'",
    )
    .await;
    let missing = Trouble::Call { call: id("running"), missing: "beginning" };
    assert_eq!(report.trouble, Some(missing));
}

#[tokio::test]
async fn an_index_that_does_not_fit_the_events_is_found() {
    for (change, said) in [
        (
            "UPDATE calls SET ended = (SELECT ended FROM calls WHERE name = 'a1') WHERE name = 'asked'",
            "the end of the call `asked`",
        ),
        ("DELETE FROM calls WHERE name = 'a1'", "`a1` is not known"),
        ("UPDATE calls SET user = 'eve' WHERE name = 'a1'", "`a1` is not known"),
    ] {
        let trouble = after(change).await.trouble;
        let words = trouble.map(|trouble| trouble.to_string()).unwrap_or_default();
        assert!(words.contains(said), "{change}: {words:?}");
    }
}

#[tokio::test]
async fn permissions_that_do_not_fit_the_events_are_found() {
    for (change, said) in [
        ("", None),
        ("UPDATE grants SET revoked = 0", Some("no event tells that the permission")),
        ("DELETE FROM grants WHERE revoked = 1", Some("the mark is gone")),
        (
            "UPDATE grants SET manifest_hash = 'other' WHERE revoked = 0",
            Some("no event tells that the permission"),
        ),
        ("DELETE FROM grants WHERE revoked = 0", None),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        run(&store, call("a", "t")).await;
        let standing = grant("", "kept:scope");
        let taken = grant("", "taken:scope");
        store.give(standing).await.unwrap();
        store.give(taken.clone()).await.unwrap();
        store.revoke(taken.permit(), taken.used.clone()).await.unwrap();
        let conn = rusqlite::Connection::open(directory.path().join("remit.db")).unwrap();
        conn.execute_batch(change).unwrap();
        let reports = verify(&store).await.unwrap();
        let found: Vec<String> =
            reports.iter().filter_map(|r| r.trouble.as_ref().map(Trouble::to_string)).collect();
        match said {
            Some(said) => assert!(found.iter().any(|f| f.contains(said)), "{change}: {found:?}"),
            None => assert!(found.is_empty(), "{change}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_hash_noted_elsewhere_shows_what_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path()).await;
    let noted = verify(&store).await.unwrap().into_iter().find(|r| r.thread == thread("t"));
    let noted = noted.unwrap().hash;
    let holds = async || {
        let mut seen = false;
        let reports = verify_with(&store, |event| seen |= event.hash == noted).await.unwrap();
        assert!(reports.iter().all(|report| report.trouble.is_none()));
        seen
    };
    assert!(holds().await);
    let conn = rusqlite::Connection::open(directory.path().join("remit.db")).unwrap();
    conn.execute("DELETE FROM events WHERE kind = 'message'", []).unwrap();
    assert!(!holds().await, "nothing but the noted hash tells of the last message");
}

#[tokio::test]
async fn a_record_that_grows_meanwhile_is_well() {
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(SqliteStore::open(directory.path()).unwrap());
    let writer = std::sync::Arc::clone(&store);
    let writing = tokio::spawn(async move {
        for n in 0..300 {
            run(&*writer, call(&format!("c{n}"), "t")).await;
        }
    });
    while !writing.is_finished() {
        for report in verify(&*store).await.unwrap() {
            assert_eq!(report.trouble, None);
        }
    }
    writing.await.unwrap();
    assert_eq!(verify(&*store).await.unwrap()[0].events, 600);
}
