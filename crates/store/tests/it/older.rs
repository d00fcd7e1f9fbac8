//! A database that an older Remit wrote is brought up to date with nothing lost, and threads of any
//! length are read in parts as they are read whole.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use remit_engine::ports::Store;
use remit_engine::record::{CallQuery, EventQuery, Next};
use remit_model::event::FIRST;
use remit_model::{Event, ThreadId};
use remit_store::sqlite::SqliteStore;
use remit_store::verify;
use remit_testkit::conformance::hands::{call, ending, intent, key, run, success, thread};
use rusqlite::{Connection, params};
use serde_json::json;

/// The steps before threads were chains.
const OLDER: [&str; 5] = [
    include_str!("../../migrations/sqlite/0001_record.sql"),
    include_str!("../../migrations/sqlite/0002_stop.sql"),
    include_str!("../../migrations/sqlite/0003_directory.sql"),
    include_str!("../../migrations/sqlite/0004_registry.sql"),
    include_str!("../../migrations/sqlite/0005_organiser.sql"),
];
const CALLS: usize = 100;

fn add(
    conn: &Connection,
    events: &mut HashMap<i64, Vec<Event>>,
    row: i64,
    draft: remit_model::event::Draft,
) -> i64 {
    let name = ThreadId::parse(["t", "u"][usize::try_from(row - 1).unwrap()]).unwrap();
    let events = events.entry(row).or_default();
    let previous = events.last().map_or(FIRST, |event| &event.hash).to_owned();
    let event = draft.seal(&name, events.len() as u64, &previous);
    let digits = |hex: &str| -> Vec<u8> {
        (0..64).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let sequence = i64::try_from(event.sequence).unwrap();
    conn.execute(
        "INSERT INTO events (thread, sequence, at_ms, kind, call, body, previous, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            row,
            sequence,
            event.at_ms,
            event.kind.as_str(),
            event.call.as_ref().map(remit_model::CallId::as_str),
            event.body,
            digits(&event.previous),
            digits(&event.hash),
        ],
    )
    .unwrap();
    events.push(event);
    sequence
}

/// Writes what the older Remit wrote: calls in two threads by turns, the last of them not ended.
fn older(data: &Path) -> HashMap<i64, Vec<Event>> {
    std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700)).unwrap();
    let conn = Connection::open(data.join("remit.db")).unwrap();
    for step in OLDER {
        conn.execute_batch(step).unwrap();
    }
    conn.pragma_update(None, "application_id", 0x526d_6974).unwrap();
    conn.pragma_update(None, "user_version", 5).unwrap();
    conn.execute_batch("INSERT INTO threads (id, name) VALUES (1, 't'), (2, 'u')").unwrap();
    let mut events = HashMap::new();
    for n in 0..CALLS {
        let (name, row) = (format!("call-{n}"), i64::try_from(n % 2).unwrap() + 1);
        let made = call(&name, if row == 1 { "t" } else { "u" });
        let begun = add(&conn, &mut events, row, intent(made, Next::Run).draft());
        let ended = (n + 1 < CALLS)
            .then(|| add(&conn, &mut events, row, ending(&name, success(json!(n))).draft()));
        let (state, node) =
            if ended.is_some() { ("succeeded", None) } else { ("running", Some("gone")) };
        conn.execute(
            "INSERT INTO calls (user, agent, name, thread, capability, begun, ended, state, node)
             VALUES ('ann', '', ?1, ?2, 'demo.echo', ?3, ?4, ?5, ?6)",
            params![name, row, begun, ended, state, node],
        )
        .unwrap();
    }
    events
}

async fn whole(store: &SqliteStore, name: &str) -> Vec<Event> {
    let query = EventQuery { thread: thread(name), after: 0, limit: None };
    store.events(query).await.unwrap()
}

#[tokio::test]
async fn nothing_of_an_older_database_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let events = older(directory.path());
    let store = SqliteStore::open(directory.path()).unwrap();
    for (row, name) in [(1, "t"), (2, "u")] {
        assert_eq!(whole(&store, name).await, events[&row], "{name}");
        let query = CallQuery { thread: Some(thread(name)), ..CallQuery::default() };
        let calls = store.calls(query).await.unwrap();
        assert_eq!(calls.len(), CALLS / 2);
        assert!(calls.iter().all(|record| record.call.thread == thread(name)));
    }
    let unfinished = store.call(key("call-99")).await.unwrap().unwrap();
    assert_eq!(unfinished.state.as_str(), "running");
    assert!(verify(&store).await.unwrap().iter().all(|report| report.trouble.is_none()));
    // And it goes on where it was.
    run(&store, call("new", "t")).await;
    assert_eq!(whole(&store, "t").await.len(), events[&1].len() + 2);
    let reports = verify(&store).await.unwrap();
    assert!(reports.iter().all(|report| report.trouble.is_none()), "{reports:?}");
}

#[tokio::test]
async fn any_part_of_a_thread_is_the_part_of_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    for n in 0..140 {
        run(&store, call(&format!("t{n}"), "t")).await;
        if n % 3 == 0 {
            run(&store, call(&format!("u{n}"), "u")).await;
        }
    }
    let all = whole(&store, "t").await;
    assert_eq!(all.len(), 280);
    let parts = [0, 1, 2, 62, 63, 64, 65, 127, 128, 200, 278, 279, 280, 281, 1_000];
    for after in parts {
        for limit in parts {
            let query = EventQuery { thread: thread("t"), after: after as u64, limit: Some(limit) };
            let part = store.events(query).await.unwrap();
            let expected: Vec<_> = all.iter().skip(after).take(limit).cloned().collect();
            assert_eq!(part, expected, "{limit} after {after}");
        }
    }
}
