//! A process that writes is killed at any moment: what it was told is recorded, is.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};

use remit_engine::ports::Store;
use remit_engine::record::{CallQuery, CallState};
use remit_model::Outcome;
use remit_store::sqlite::SqliteStore;
use remit_store::verify;
use remit_testkit::conformance::hands::{at, success};
use serde_json::json;

use crate::child::{self, Role};

const CYCLES: usize = 30;

/// Is what a child said that the store had acknowledged.
#[derive(Default)]
pub(crate) struct Acknowledged {
    pub(crate) begun: BTreeSet<String>,
    pub(crate) ended: BTreeSet<String>,
}

impl Acknowledged {
    pub(crate) fn note(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("begun", name)) => self.begun.insert(name.to_owned()),
            Some(("ended", name)) => self.ended.insert(name.to_owned()),
            _ => panic!("the child said `{line}`"),
        };
    }

    /// Says what of it a store has lost.
    pub(crate) async fn missing_in(&self, store: &dyn Store) -> Vec<String> {
        let records = store.calls(CallQuery::default()).await.unwrap();
        let found: BTreeMap<String, CallState> =
            records.into_iter().map(|r| (r.call.id.to_string(), r.state)).collect();
        let mut missing = Vec::new();
        for name in &self.begun {
            if !found.contains_key(name) {
                missing.push(format!("the beginning of {name}"));
            }
        }
        for name in &self.ended {
            if found.get(name) != Some(&CallState::Ended(success(json!(name)))) {
                missing.push(format!("the end of {name}"));
            }
        }
        missing
    }
}

pub(crate) async fn assert_proved(store: &dyn Store) {
    for report in verify(store).await.unwrap() {
        assert_eq!(report.trouble, None, "{report:?}");
    }
}

async fn states(store: &dyn Store, state: &str) -> BTreeSet<String> {
    let query = CallQuery { state: Some(state.to_owned()), ..CallQuery::default() };
    let records = store.calls(query).await.unwrap();
    records.into_iter().map(|record| record.call.id.to_string()).collect()
}

#[tokio::test]
async fn what_was_acknowledged_survives_the_death_of_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut acknowledged = Acknowledged::default();
    let mut unknown = BTreeSet::new();
    for cycle in 0..CYCLES {
        let (mut child, mut lines) = child::start(Role::Write, &data);
        // Some of them die while they open the database, or before they have said anything.
        let words = RandomState::new().hash_one(cycle) % 120;
        for _ in 0..words {
            acknowledged.note(&child::next(&mut lines).expect("a child that goes on"));
        }
        child.kill().unwrap();
        while let Some(line) = child::next(&mut lines) {
            acknowledged.note(&line);
        }
        child.wait().unwrap();

        let store = SqliteStore::open(&data).unwrap();
        assert_eq!(acknowledged.missing_in(&store).await, Vec::<String>::new(), "cycle {cycle}");
        assert_proved(&store).await;
        let running = states(&store, "running").await;
        let recovered = store.recover(at(1_000)).await.unwrap();
        let recovered: BTreeSet<String> =
            recovered.into_iter().map(|key| key.id.to_string()).collect();
        assert_eq!(recovered, running, "cycle {cycle}");
        assert!(recovered.is_disjoint(&acknowledged.ended));
        unknown.extend(recovered);
        assert_eq!(states(&store, Outcome::OutcomeUnknown.status()).await, unknown);
        assert!(states(&store, "running").await.is_empty());
        assert_proved(&store).await;
    }
    let (begun, ended) = (acknowledged.begun.len(), acknowledged.ended.len());
    println!("{CYCLES} kills: {begun} begun, {ended} ended, {} unknown", unknown.len());
    assert!(begun > CYCLES && ended > CYCLES && !unknown.is_empty());
}
