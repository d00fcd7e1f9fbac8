//! Calls that another process has, or asks about: two engines over one record.

use std::sync::Arc;
use std::time::Duration;

use remit_engine::ports::{Clock as _, Store};
use remit_engine::record::CallState;
use remit_engine::{Engine, Parts};
use remit_model::{Outcome, Sensitivity};
use remit_testkit::samples::{call, catalog, source};
use remit_testkit::{FakeApprover, FakeClock, FakeExecutor, MemoryStore};
use serde_json::json;

fn over(store: MemoryStore) -> (Engine, Arc<FakeExecutor>) {
    let executor = Arc::new(FakeExecutor::default());
    let engine = Engine::new(Parts {
        executor: executor.clone(),
        store: Arc::new(store),
        approver: Arc::new(FakeApprover::default()),
        clock: Arc::new(FakeClock::default()),
        probe: None,
        offers: None,
        confined: true,
    });
    let names = ["echo", "hang"].map(|name| (name, Sensitivity::Low));
    let mut demo = source("demo", &names);
    demo.manifest.capabilities.iter_mut().for_each(|one| one.timeout_ms = Some(60_000));
    engine.swap(catalog(vec![demo]));
    (engine, executor)
}

fn hang() -> remit_model::Call {
    call("1", "demo.hang", json!({}))
}

async fn until_running(store: &dyn Store) {
    while !matches!(
        store.call(hang().key()).await.unwrap(),
        Some(record) if record.state == CallState::Running && record.progress.is_some()
    ) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wish_from_elsewhere_really_stops_the_work() {
    let record = MemoryStore::default();
    let (engine, executor) = over(record.reopen());
    let started = engine.start(hang());
    until_running(&record).await;
    let now = FakeClock::default().now();
    assert_eq!(record.ask_to_stop(hang().key(), "ann", now).await, Ok(true));
    let ended = started.ended().await;
    assert!(matches!(ended.outcome, Outcome::Cancelled { .. }), "{ended:?}");
    assert_eq!(executor.stopped(), 1);
}

#[tokio::test(start_paused = true)]
async fn progress_is_seen_from_elsewhere() {
    let record = MemoryStore::default();
    let (engine, _) = over(record.reopen());
    let started = engine.start(hang());
    until_running(&record).await;
    let progress = record.call(hang().key()).await.unwrap().unwrap().progress.unwrap();
    assert_eq!((progress.fraction, progress.message.as_deref()), (Some(0.5), Some("half done")));
    engine.cancel(&hang().key());
    started.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_repetition_elsewhere_waits_for_the_first_outcome_and_can_call_it_off() {
    let record = MemoryStore::default();
    let (one, ran) = over(record.reopen());
    let (other, ran_again) = over(record.reopen());
    let first = one.start(hang());
    until_running(&record).await;
    let second = other.start(hang());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(second.now(), None, "it waits");
    assert!(other.cancel(&hang().key()));
    let (first, second) = (first.ended().await, second.ended().await);
    assert_eq!(first.outcome, second.outcome);
    assert!(matches!(first.outcome, Outcome::Cancelled { .. }), "{first:?}");
    assert_eq!((ran.runs(), ran_again.runs()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_repetition_of_a_call_whose_process_is_gone_is_unknown() {
    let record = MemoryStore::default();
    let (other, ran_again) = over(record.reopen());
    {
        let gone = record.reopen();
        let intent = remit_engine::record::Intent {
            // As it is recorded: defaults are filled in.
            call: call("1", "demo.hang", json!({"n": 7})).into(),
            basis: None,
            rule: "low-is-silent".to_owned(),
            next: remit_engine::record::Next::Run,
            at: FakeClock::default().now(),
        };
        gone.begin(intent).await.unwrap();
    }
    assert_eq!(other.run(hang()).await.outcome, Outcome::OutcomeUnknown);
    assert_eq!(ran_again.runs(), 0);
}
