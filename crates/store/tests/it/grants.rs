//! What only this store does with grants.

use remit_engine::ports::Store;
use remit_engine::record::{Ending, Next};
use remit_engine::stage::authorise::DAY_MS;
use remit_model::{Grant, Instant};
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::hands::{at, begin, call, ending, grant, success};
use serde_json::json;

async fn scopes(store: &dyn Store) -> Vec<String> {
    let grants = store.grants("ann", "").await.unwrap();
    grants.into_iter().map(|grant| grant.scope).collect()
}

async fn finish(store: &dyn Store, name: &str, given: Grant, now: Instant) {
    begin(store, call(name, "t"), Next::Run).await;
    let ending = Ending { grant: Some(given), at: now, ..ending(name, success(json!(1))) };
    store.finish(ending).await.unwrap();
}

#[tokio::test]
async fn what_has_lapsed_is_forgotten_when_something_new_is_granted() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let used = |scope: &str, used: Instant| Grant { used, ..grant("", scope) };
    let earlier = |wall_ms: i64, boot_ms: i64, boot: &str| {
        let now = at(0);
        let boot = boot.to_owned();
        Instant { wall_ms: now.wall_ms - wall_ms, boot_ms: now.boot_ms - boot_ms, boot }
    };
    for given in [
        used("1:stands", earlier(0, DAY_MS, "boot")),
        used("2:clock-jumped", earlier(DAY_MS * 9, 5, "boot")),
        used("3:other-start", earlier(DAY_MS, DAY_MS * 9, "before")),
        used("4:lapsed", earlier(0, DAY_MS + 1, "boot")),
        used("5:lapsed", earlier(DAY_MS + 1, 0, "before")),
        used("6:revoked", earlier(DAY_MS * 9, DAY_MS * 9, "boot")),
    ] {
        store.give(given).await.unwrap();
    }
    store.revoke(grant("", "6:revoked").permit(), at(0)).await.unwrap();
    assert_eq!(scopes(&store).await.len(), 6);
    finish(&store, "c", used("7:new", at(0)), at(0)).await;
    let left = ["1:stands", "2:clock-jumped", "3:other-start", "6:revoked", "7:new"];
    assert_eq!(scopes(&store).await, left);
}

#[tokio::test]
async fn what_is_remembered_is_read_again_after_a_change_behind_the_stores_back() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    store.give(grant("", "a:use")).await.unwrap();
    assert_eq!(scopes(&store).await, ["a:use"]);
    let conn = rusqlite::Connection::open(directory.path().join("remit.db")).unwrap();
    conn.execute("DELETE FROM grants", []).unwrap();
    // Proof that they are remembered at all: nothing said that they changed.
    assert_eq!(scopes(&store).await, ["a:use"]);
    conn.execute("UPDATE changes SET grants = grants + 1", []).unwrap();
    assert!(scopes(&store).await.is_empty());
}
