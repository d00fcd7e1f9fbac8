//! Questions that wait at a desk.

use std::sync::Arc;
use std::time::Duration;

use remit_engine::desk::{Change, Desk, DeskApprover, DeskLimits, NotTaken};
use remit_engine::ports::Reply;
use remit_engine::{Ended, Engine, Parts, Started};
use remit_model::{Call, Denial, Outcome, Sensitivity};
use remit_testkit::samples::{call, catalog, source};
use remit_testkit::{FakeClock, FakeExecutor, MemoryStore};
use serde_json::{Value, json};

struct Room {
    engine: Engine,
    desk: Arc<Desk>,
    executor: Arc<FakeExecutor>,
}

fn room(limits: DeskLimits) -> Room {
    let desk = Arc::new(Desk::new(limits));
    let executor = Arc::new(FakeExecutor::default());
    let engine = Engine::new(Parts {
        executor: executor.clone(),
        store: Arc::new(MemoryStore::default()),
        approver: Arc::new(DeskApprover(Arc::clone(&desk))),
        clock: Arc::new(FakeClock::default()),
        probe: None,
        offers: None,
        confined: true,
    });
    let names = [("echo", Sensitivity::High), ("noop", Sensitivity::Medium)];
    engine.swap(catalog(vec![source("demo", &names)]));
    Room { engine, desk, executor }
}

impl Room {
    /// Starts a call and waits until it is asked about or has ended.
    async fn start(&self, call: Call) -> Started {
        let key = call.key();
        let started = self.engine.start(call);
        while self.desk.of_call(&key).is_none() && started.now().is_none() {
            tokio::task::yield_now().await;
        }
        started
    }
}

fn high(id: &str, input: Value) -> Call {
    call(id, "demo.echo", input)
}

fn medium(id: &str) -> Call {
    call(id, "demo.noop", json!({}))
}

fn code(ended: &Ended) -> &str {
    match &ended.outcome {
        Outcome::Failed(failure) => &failure.code,
        other => other.status(),
    }
}

#[tokio::test]
async fn an_answer_reaches_the_call_and_the_record_says_who_gave_it() {
    let room = room(DeskLimits::default());
    let mut changes = room.desk.watch();
    for (id, reply, ended) in [("1", Reply::Yes, "succeeded"), ("2", Reply::No, "denied")] {
        let started = room.start(high(id, json!({}))).await;
        let [asked] = &room.desk.list("ann")[..] else { panic!("one waits") };
        assert_eq!(asked.question.call.id.as_str(), id);
        assert_eq!(room.desk.answer(&asked.id, "bob", reply, "bob"), Err(NotTaken::Unknown));
        assert_eq!(room.desk.answer(&asked.id, "ann", reply, "ann in the console"), Ok(()));
        assert_eq!(room.desk.answer(&asked.id, "ann", reply, "ann"), Err(NotTaken::Unknown));
        assert_eq!(code(&started.ended().await), ended);
        assert!(
            matches!(changes.recv().await, Ok(Change::Asked { call, .. }) if call.id.as_str() == id)
        );
        assert!(
            matches!(changes.recv().await, Ok(Change::Settled { call, .. }) if call.id.as_str() == id)
        );
    }
    let query = remit_engine::record::EventQuery {
        thread: remit_model::ThreadId::parse("t").unwrap(),
        after: 0,
        limit: None,
    };
    let events = room.engine.store().events(query).await.unwrap();
    let said = |e: &&remit_model::Event| e.body.contains("\"by\":\"ann in the console\"");
    assert_eq!(events.iter().filter(said).count(), 2);
}

#[tokio::test]
async fn a_yes_to_medium_answers_all_that_are_alike() {
    let room = room(DeskLimits::default());
    let started = [room.start(medium("1")).await, room.start(medium("2")).await];
    let [asked] = &room.desk.list("ann")[..] else { panic!("they are shown as one") };
    assert_eq!(asked.calls, 2);
    room.desk.answer(&asked.id, "ann", Reply::Yes, "ann").unwrap();
    for started in started {
        assert_eq!(code(&started.ended().await), "succeeded");
    }
    assert!(room.desk.list("ann").is_empty());
}

#[tokio::test]
async fn a_yes_to_high_lets_exactly_one_call_run_and_a_no_is_for_all() {
    let room = room(DeskLimits::default());
    let first = room.start(high("1", json!({"n": 1}))).await;
    let second = room.start(high("2", json!({"n": 1}))).await;
    let third = room.start(high("3", json!({"n": 1}))).await;
    let other = room.start(high("4", json!({"n": 2}))).await;
    let listed = room.desk.list("ann");
    assert_eq!(listed.iter().map(|asked| asked.calls).collect::<Vec<_>>(), [3, 1]);
    room.desk.answer(&listed[0].id, "ann", Reply::Yes, "ann").unwrap();
    assert_eq!(code(&first.ended().await), "succeeded");
    assert_eq!(room.executor.runs(), 1);
    assert_eq!(room.desk.list("ann")[0].calls, 2);
    room.desk.answer(&listed[0].id, "ann", Reply::No, "ann").unwrap();
    for started in [second, third] {
        assert_eq!(started.ended().await.outcome, Outcome::Denied { reason: Denial::UserRejected });
    }
    assert_eq!(other.now(), None, "what is not alike still waits");
    assert_eq!(room.executor.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_over_is_no_longer_there() {
    let room = room(DeskLimits::default());
    let late = room.start(high("1", json!({}))).await;
    let [asked] = &room.desk.list("ann")[..] else { panic!("one waits") };
    assert_eq!(asked.left, Duration::from_secs(30));
    assert_eq!(late.ended().await.outcome, Outcome::Denied { reason: Denial::UserTimeout });
    assert!(room.desk.list("ann").is_empty());
    let off = room.start(high("2", json!({}))).await;
    room.engine.cancel(&high("2", json!({})).key());
    assert_eq!(code(&off.ended().await), "cancelled");
    assert!(room.desk.list("ann").is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_too_often_is_refused_and_others_are_not() {
    let room = room(DeskLimits { per_minute: 3, waiting: 20 });
    let numbered = |id: usize| high(&id.to_string(), json!({"n": id}));
    for id in 1..=3 {
        let started = room.start(numbered(id)).await;
        assert_eq!(started.now(), None, "{id}");
        room.engine.cancel(&numbered(id).key());
        started.ended().await;
    }
    let refused = room.start(numbered(4)).await.ended().await;
    assert_eq!(code(&refused), "TOO_MANY_PROMPTS");
    let mut robots = numbered(5);
    robots.caller.agent = Some("robot".to_owned());
    assert_eq!(room.start(robots).await.now(), None, "another agent has a count of its own");
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(room.start(numbered(6)).await.now(), None, "a minute later it may ask again");
}

#[tokio::test]
async fn only_so_many_calls_wait_at_once_even_if_they_are_alike() {
    let room = room(DeskLimits { per_minute: 100, waiting: 2 });
    for id in ["1", "2"] {
        assert_eq!(room.start(high(id, json!({}))).await.now(), None);
    }
    let third = room.start(high("3", json!({}))).await.ended().await;
    assert_eq!(code(&third), "TOO_MANY_PROMPTS");
}
