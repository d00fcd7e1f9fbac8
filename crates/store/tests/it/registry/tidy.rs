//! What the database does not keep for ever.

use remit_engine::registry::{
    Agent, Card, ChangeTexts, Notices, Publication, RETRY_MS, Registry as _, Retry, Seen, Written,
};
use remit_model::Instant;
use remit_store::sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

async fn with_agent() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let agent = Agent {
        id: "a".to_owned(),
        name: "a".to_owned(),
        owner: "olga".to_owned(),
        created_at_ms: 1,
        version: 0,
        hash: None,
        bytes: 0,
    };
    assert!(store.create(agent).await.unwrap());
    (directory, store)
}

fn publication(base: u64, at: Instant) -> Publication {
    Publication {
        agent: "a".to_owned(),
        base,
        hash: "h".to_owned(),
        canonical: "{}".to_owned(),
        bytes: 2,
        changes: ChangeTexts::default(),
        retry: None,
        notices: Notices::Leave,
        at,
    }
}

fn at(wall_ms: i64, boot_ms: i64, boot: &str) -> Instant {
    Instant { wall_ms, boot_ms, boot: boot.to_owned() }
}

fn count(directory: &TempDir, table: &str) -> i64 {
    let conn = Connection::open(directory.path().join("remit.db")).unwrap();
    conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// Publishes with a key at a moment.
async fn keyed(store: &SqliteStore, base: u64, key: &str, at: Instant) {
    let retry = Some(Retry { key: key.to_owned(), request: "r".to_owned() });
    let written = store.publish(Publication { retry, ..publication(base, at) }).await.unwrap();
    assert_eq!(written, Written::As(base + 1));
}

#[tokio::test]
async fn keys_are_forgotten_after_a_day_and_not_before() {
    let (directory, store) = with_agent().await;
    keyed(&store, 0, "old", at(0, 0, "boot")).await;
    keyed(&store, 1, "at", at(0, RETRY_MS, "boot")).await;
    assert!(store.retried("a", "old").await.unwrap().is_some(), "a day is still within a day");
    keyed(&store, 2, "past", at(0, RETRY_MS + 1, "boot")).await;
    assert_eq!(store.retried("a", "old").await.unwrap(), None, "and a moment more is not");
    // The hands of the clock say nothing while the machine runs.
    keyed(&store, 3, "jump", at(50 * RETRY_MS, RETRY_MS + 2, "boot")).await;
    assert!(store.retried("a", "at").await.unwrap().is_some());
    // After a start of the machine they are all there is.
    keyed(&store, 4, "start", at(RETRY_MS, 1, "another boot")).await;
    assert!(store.retried("a", "at").await.unwrap().is_some());
    keyed(&store, 5, "later", at(RETRY_MS + 1, 1, "a third boot")).await;
    assert_eq!(store.retried("a", "at").await.unwrap(), None);
    assert_eq!(store.retried("a", "past").await.unwrap(), None);
    assert!(store.retried("a", "jump").await.unwrap().is_some());
    assert_eq!(count(&directory, "agent_retries"), 3);
}

#[tokio::test]
async fn a_card_goes_with_the_last_who_could_read_it() {
    let (directory, store) = with_agent().await;
    store.publish(publication(0, at(1, 1, "boot"))).await.unwrap();
    for user in ["ann", "bob"] {
        let seen = Seen { user: user.to_owned(), agent: "a".to_owned(), version: 1, at_ms: 1 };
        store.add(seen).await.unwrap();
    }
    for base in 1..5 {
        let card = |accepted| Card { accepted, body: format!("{{\"version\":{base}}}") };
        // Nobody accepted the second.
        let notices = Notices::Replace(vec![card(1), card(2)]);
        let new = Publication { notices, ..publication(base, at(1, 1, "boot")) };
        store.publish(new).await.unwrap();
        assert_eq!((count(&directory, "cards"), count(&directory, "notices")), (1, 2));
    }
    store.end("ann", "a", 5).await.unwrap();
    assert_eq!((count(&directory, "cards"), count(&directory, "notices")), (1, 1));
    store.end("bob", "a", 5).await.unwrap();
    assert_eq!((count(&directory, "cards"), count(&directory, "notices")), (0, 0));
}
