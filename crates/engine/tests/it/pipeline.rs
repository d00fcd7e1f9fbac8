//! A call's way: what runs, what is refused, what is recorded.

use std::sync::Arc;

use remit_engine::catalog::{Catalog, Entry, Problem, State};
use remit_engine::policy::{Pattern, Policy, WhiteList};
use remit_engine::ports::{Reply, Store};
use remit_engine::record::{CallQuery, CallState, EventQuery};
use remit_engine::{Engine, Parts};
use remit_model::{Denial, EventKind, Outcome, Sensitivity, ThreadId, event};
use remit_testkit::samples::{call, catalog, settings, source};
use remit_testkit::{FakeApprover, FakeClock, FakeExecutor, FlakyStore, MemoryStore};
use serde_json::json;

pub(crate) struct House {
    pub(crate) engine: Engine,
    pub(crate) executor: Arc<FakeExecutor>,
    pub(crate) approver: Arc<FakeApprover>,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) store: Arc<FlakyStore<MemoryStore>>,
}

pub(crate) fn house(catalog: Catalog) -> House {
    let executor = Arc::new(FakeExecutor::default());
    let approver = Arc::new(FakeApprover::default());
    let clock = Arc::new(FakeClock::default());
    let store = Arc::new(FlakyStore::new(Arc::new(MemoryStore::default())));
    let engine = Engine::new(Parts {
        executor: executor.clone(),
        store: store.clone(),
        approver: approver.clone(),
        clock: clock.clone(),
        probe: None,
        offers: None,
        confined: true,
    });
    engine.swap(catalog);
    House { engine, executor, approver, clock, store }
}

fn low() -> Catalog {
    let names = ["echo", "hang", "fail", "noop"].map(|name| (name, Sensitivity::Low));
    catalog(vec![source("demo", &names)])
}

async fn kinds(store: &dyn Store) -> Vec<EventKind> {
    let query = EventQuery { thread: ThreadId::parse("t").unwrap(), after: 0, limit: None };
    let events = store.events(query).await.unwrap();
    let mut verifier = event::Verifier::default();
    events.iter().for_each(|event| verifier.next(event).unwrap());
    events.into_iter().map(|event| event.kind).collect()
}

fn code(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed(failure) => &failure.code,
        other => other.status(),
    }
}

#[tokio::test]
async fn a_call_runs_and_its_intent_and_outcome_are_recorded() {
    let house = house(low());
    let ended = house.engine.run(call("1", "demo.echo", json!({"text": "hi"}))).await;
    let Outcome::Succeeded(answer) = &ended.outcome else { panic!("{ended:?}") };
    assert_eq!(answer.result, json!({"text": "hi", "n": 7}), "defaults are filled in");
    assert_eq!(kinds(&*house.store).await, [EventKind::Intent, EventKind::Outcome]);
    let records = house.store.calls(CallQuery::default()).await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].state, CallState::Ended(ended.outcome));
    assert_eq!(records[0].basis.as_ref().unwrap().scope, "demo:use");
}

#[tokio::test]
async fn what_does_not_run_is_recorded_too() {
    let house = house(low());
    let unknown = house.engine.run(call("1", "demo.ecko", json!({}))).await.outcome;
    assert_eq!(code(&unknown), "UNKNOWN_CAPABILITY");
    let Outcome::Failed(failure) = unknown else { unreachable!() };
    assert!(failure.message.contains("did you mean `demo.echo`?"), "{}", failure.message);
    let invalid = house.engine.run(call("2", "demo.echo", json!({"n": "x", "y": 1}))).await.outcome;
    let Outcome::Failed(failure) = invalid else { panic!("{invalid:?}") };
    let details = failure.details.unwrap();
    assert_eq!(failure.code, "INVALID_INPUT");
    assert_eq!(details["errors"].as_array().unwrap().len(), 2, "all errors at once: {details}");
    assert_eq!(details["input_schema"]["type"], "object");
    let failed = house.engine.run(call("3", "demo.fail", json!({}))).await.outcome;
    assert_eq!(code(&failed), "BROKEN");
    assert_eq!(house.executor.runs(), 1, "only the last was run");
    let records = house.store.calls(CallQuery::default()).await.unwrap();
    let states: Vec<_> = records.iter().map(|record| record.state.as_str()).collect();
    assert_eq!(states, ["failed", "failed", "failed"]);
}

#[tokio::test]
async fn the_same_key_runs_once_whether_repeated_later_or_at_once() {
    let house = house(low());
    let first = house.engine.run(call("1", "demo.echo", json!({"n": 1}))).await;
    let again = house.engine.run(call("1", "demo.echo", json!({"n": 1}))).await;
    assert_eq!(first.outcome, again.outcome);
    assert_eq!(house.executor.runs(), 1);
    let mut other = call("1", "demo.echo", json!({"n": 2}));
    other.caller.agent = Some("bot".to_owned());
    assert_ne!(house.engine.run(other).await.outcome, first.outcome, "ids are the caller's own");
    let at_once: Vec<_> =
        (0..20).map(|_| house.engine.start(call("2", "demo.echo", json!({"n": 2})))).collect();
    let mut outcomes = Vec::new();
    for started in at_once {
        outcomes.push(started.ended().await.outcome);
    }
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    assert_eq!(house.executor.runs(), 3);
}

#[tokio::test]
async fn work_that_takes_too_long_is_stopped() {
    let house = house(low());
    let mut late = call("1", "demo.hang", json!({}));
    late.timeout_ms = Some(20);
    let ended = house.engine.run(late).await;
    assert_eq!(ended.outcome, Outcome::TimedOut { after_ms: 20 });
    assert_eq!(house.executor.stopped(), 1);
    let mut patient = call("2", "demo.hang", json!({}));
    patient.timeout_ms = Some(u64::MAX);
    let ended = house.engine.run(patient).await;
    assert_eq!(ended.outcome, Outcome::TimedOut { after_ms: 200 }, "the capability's own is less");
}

#[tokio::test]
async fn a_call_that_is_called_off_really_stops() {
    let house = house(low());
    let started = house.engine.start(call("1", "demo.hang", json!({})));
    tokio::task::yield_now().await;
    assert!(house.engine.cancel(started.key()));
    assert_eq!(started.ended().await.outcome.status(), "cancelled");
    assert!(!house.engine.cancel(&call("1", "demo.hang", json!({})).key()), "it is gone");
    let waiting = house.engine.start(call("2", "demo.hang", json!({})));
    house.engine.shut_down().await;
    assert_eq!(waiting.now().unwrap().outcome.status(), "cancelled");
}

#[tokio::test]
async fn whoever_asked_may_leave_and_the_call_goes_on() {
    let house = house(low());
    let run = house.engine.run(call("1", "demo.hang", json!({})));
    let left = tokio::time::timeout(std::time::Duration::from_millis(5), run).await;
    assert!(left.is_err());
    let key = call("1", "demo.hang", json!({})).key();
    let ended = house.engine.under_way(&key).unwrap().ended().await;
    assert_eq!(ended.outcome.status(), "timed_out");
    assert_eq!(house.store.call(key).await.unwrap().unwrap().state.as_str(), "timed_out");
}

#[tokio::test]
async fn what_a_caller_may_not_see_is_not_told_from_what_is_not_there() {
    let mut hidden = source("hidden", &[("echo", Sensitivity::Low), ("off", Sensitivity::Low)]);
    hidden.manifest.enabled = false;
    let open = source("open", &[("echo", Sensitivity::Low)]);
    let policy = Policy {
        white_lists: vec![WhiteList {
            user: Pattern::new("*"),
            agent: Pattern::new("*"),
            allow: vec![Pattern::new("open.*")],
        }],
        ..Policy::default()
    };
    let house = house(Catalog::build(vec![hidden, open], Arc::new(policy)));
    let mut messages = Vec::new();
    for name in ["hidden.echo", "absent.echo", "hidden.off"] {
        let outcome = house.engine.run(call(name, name, json!({}))).await.outcome;
        let Outcome::Failed(failure) = outcome else { panic!() };
        let message = failure.message.replace(name, "NAME");
        messages.push((failure.code, message.split("; did").next().unwrap().to_owned()));
        assert!(!failure.message.contains("did you mean `hidden"), "{}", failure.message);
    }
    assert_eq!(messages[0], messages[1]);
    assert_eq!(messages[0], messages[2]);
    assert!(house.engine.run(call("1", "open.echo", json!({}))).await.outcome.is_success());
}

#[tokio::test]
async fn what_is_off_or_broken_says_so() {
    let mut off = source("off", &[("echo", Sensitivity::Low)]);
    off.manifest.enabled = false;
    let mut broken = source("broken", &[("echo", Sensitivity::Low)]);
    broken.settings = Err("`api_key` is missing".to_owned());
    let mut stale = source("stale", &[("echo", Sensitivity::Low)]);
    stale.problem = Some(Problem { message: "the new version is broken".into(), usable: true });
    let house = house(catalog(vec![off, broken, stale]));
    let outcome = |id: &'static str, name: &'static str| {
        let engine = house.engine.clone();
        async move { engine.run(call(id, name, json!({}))).await.outcome }
    };
    assert_eq!(code(&outcome("1", "off.echo").await), "CAPABILITY_DISABLED");
    let Outcome::Failed(failure) = outcome("2", "broken.echo").await else { panic!() };
    assert!(failure.message.contains("`api_key` is missing"), "{}", failure.message);
    assert!(outcome("3", "stale.echo").await.is_success(), "the last good version goes on");
}

#[tokio::test]
async fn names_that_are_one_after_folding_cannot_be_called_and_that_is_said() {
    let one = source("my-tool", &[("echo", Sensitivity::Low)]);
    let other = source("My_Tool", &[("echo", Sensitivity::Low)]);
    let catalog = catalog(vec![one, other]);
    let broken =
        |entry: &Arc<Entry>| matches!(&entry.state, State::Broken(why) if why.contains("one name"));
    assert_eq!(catalog.entries().count(), 2);
    assert!(catalog.entries().all(broken), "both are there, and neither can be called");
    assert_eq!(catalog.clashes().len(), 1);
    assert!(catalog.clashes()[0].contains("my-tool.yaml"), "{:?}", catalog.clashes());
    assert!(catalog.clashes()[0].contains("My_Tool.yaml"), "{:?}", catalog.clashes());
}

#[tokio::test]
async fn a_tools_secrets_do_not_come_back() {
    let mut leaky = source("demo", &[("leak", Sensitivity::Low)]);
    let values = json!({"api_key": "canary-12345", "url": "https://x/?k=canary-12345"});
    leaky.settings = Ok(settings(&values, &["canary-12345"]));
    let house = house(catalog(vec![leaky]));
    let ended = house.engine.run(call("1", "demo.leak", json!({}))).await;
    let text = format!("{ended:?} {:?}", house.store);
    assert!(text.contains("[secret]") && !text.contains("canary"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_run() {
    let house = house(low());
    house.store.break_writes(true);
    let ended = house.engine.run(call("1", "demo.echo", json!({}))).await;
    assert_eq!(code(&ended.outcome), "NOT_RECORDED");
    assert_eq!(house.executor.runs(), 0);
    house.store.break_writes(false);
    let hanging = house.engine.start(call("2", "demo.hang", json!({})));
    while house.executor.runs() == 0 {
        tokio::task::yield_now().await;
    }
    house.store.break_writes(true);
    let ended = hanging.ended().await;
    assert_eq!(ended.outcome, Outcome::OutcomeUnknown, "it ran, but the record does not know");
}

#[tokio::test]
async fn explaining_runs_nothing_and_decides_the_same() {
    let names = [("echo", Sensitivity::High), ("noop", Sensitivity::Low)];
    let house = house(catalog(vec![source("demo", &names)]));
    let high = house.engine.explain(call("1", "demo.echo", json!({})), true).await.unwrap();
    assert_eq!((high.verdict, high.rule.as_str()), ("ask", "high-asks-every-time"));
    let low = house.engine.explain(call("2", "demo.noop", json!({})), true).await.unwrap();
    assert_eq!((low.verdict, low.rule.as_str()), ("allow", "low-is-silent"));
    let bad = house.engine.explain(call("3", "demo.noop", json!({"n": "x"})), true).await.unwrap();
    assert_eq!((bad.verdict, bad.rule.as_str()), ("refuse", "invalid-input"));
    assert_eq!(house.executor.runs(), 0);
    assert!(house.store.calls(CallQuery::default()).await.unwrap().is_empty());
    house.approver.will(Some(Reply::No));
    let denied = house.engine.run(call("1", "demo.echo", json!({}))).await.outcome;
    assert_eq!(denied, Outcome::Denied { reason: Denial::UserRejected });
    let kinds = kinds(&*house.store).await;
    assert_eq!(kinds, [EventKind::Asked, EventKind::Answered, EventKind::Outcome]);
}

#[tokio::test]
async fn the_id_of_another_call_is_refused_and_tells_nothing_of_it() {
    let house = house(low());
    let first = call("1", "demo.echo", json!({"text": "secret"}));
    assert!(house.engine.run(first.clone()).await.outcome.is_success());
    assert!(house.engine.run(first).await.outcome.is_success(), "a repetition is none");
    let running = house.engine.start(call("2", "demo.hang", json!({})));
    for other in [
        call("1", "demo.noop", json!({"text": "secret"})),
        call("1", "demo.echo", json!({"text": "other"})),
        call("1", "demo.no_such", json!({})),
        call("2", "demo.echo", json!({})),
        call("2", "demo.hang", json!({"n": 8})),
    ] {
        let ended = house.engine.run(other).await;
        assert_eq!(code(&ended.outcome), "CALL_ID_REUSED", "{ended:?}");
        assert!(!format!("{ended:?}").contains("secret"));
    }
    running.ended().await;
    assert_eq!(house.executor.runs(), 2);
}

const TOKEN: &str = "rmu_0123456789abcdefghijABCDEFGHIJ0123456789";

#[tokio::test]
async fn a_call_with_a_secret_in_it_does_not_run_and_the_secret_is_not_recorded() {
    let mut demo = source("demo", &[("echo", Sensitivity::Low)]);
    demo.settings = Ok(settings(&json!({"key": "configured-17"}), &["configured-17"]));
    let house = house(catalog(vec![demo]));
    let foreign = format!("ghp_{}", "a1".repeat(18));
    for (id, capability, secret) in [
        ("1", "demo.echo", TOKEN),
        ("2", "demo.echo", "configured-17"),
        ("3", "demo.echo", foreign.as_str()),
        ("4", "there.is_none", TOKEN),
    ] {
        let named =
            house.engine.run(call(&format!("n{id}"), &format!("a.{secret}"), json!({}))).await;
        assert_eq!(code(&named.outcome), "SECRET_IN_ARGUMENTS", "a name is an argument too");
        let input = json!({"text": format!("use {secret} please")});
        let ended = house.engine.run(call(id, capability, input.clone())).await;
        assert_eq!(code(&ended.outcome), "SECRET_IN_ARGUMENTS", "{secret}");
        let Outcome::Failed(failure) = &ended.outcome else { unreachable!() };
        assert_eq!(failure.details, Some(json!({"pointer": "/text"})));
        let again = house.engine.run(call(id, capability, input.clone())).await;
        assert_eq!(again.outcome, ended.outcome, "the same call again is the same call");
        let explained = house.engine.explain(call(id, capability, input), true).await.unwrap();
        assert_eq!(explained.rule, "secret-in-arguments");
    }
    assert_eq!(house.executor.runs(), 0);
    let query = EventQuery { thread: ThreadId::parse("t").unwrap(), after: 0, limit: None };
    let events = format!("{:?}", house.store.events(query).await.unwrap());
    let calls = format!("{:?}", house.store.calls(CallQuery::default()).await.unwrap());
    for secret in [TOKEN, "configured-17", foreign.as_str()] {
        assert!(!events.contains(secret) && !calls.contains(secret), "{secret}");
    }
    assert!(calls.contains("use [secret] please"), "{calls}");
}

#[tokio::test]
async fn the_operator_lets_secrets_of_others_pass_and_never_ours() {
    let policy = Policy { secret_arguments: vec![Pattern::new("demo.*")], ..Policy::default() };
    let demo = source("demo", &[("echo", Sensitivity::Low)]);
    let house = house(Catalog::build(vec![demo], Arc::new(policy)));
    let foreign = format!("ghp_{}", "a1".repeat(18));
    let passed = house.engine.run(call("1", "demo.echo", json!({"text": foreign}))).await;
    assert_eq!(passed.outcome.status(), "succeeded", "{passed:?}");
    let refused = house.engine.run(call("2", "demo.echo", json!({"text": TOKEN}))).await;
    assert_eq!(code(&refused.outcome), "SECRET_IN_ARGUMENTS");
}
