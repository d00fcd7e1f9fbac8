//! What becomes of one call.

use remit_engine::record::{Begun, CallRecord, CallState, Next, Progress};
use remit_model::{Answer, Caller, Denial, EventKind, Failure, Outcome};
use serde_json::json;

use super::Place;
use super::hands::{
    answered, ask, at, begin, call, ending, events, find, id, intent, key, kinds, success, thread,
};

/// Every end is kept as it was, with how long it took.
pub async fn a_call_runs_and_ends_in_every_way(place: &dyn Place) {
    let store = place.open().await;
    let answer = Answer {
        result: json!({"n": [1, null, "x"]}),
        message: Some("half of it".to_owned()),
        base64: Some("AAEC".to_owned()),
    };
    let failure = Failure::new("BROKEN", "it broke").with_details(json!({"why": ["a", 1]}));
    let outcomes = [
        success(json!(null)),
        Outcome::Succeeded(answer.clone()),
        Outcome::Partial(answer),
        Outcome::Denied { reason: Denial::UserRejected },
        Outcome::Denied { reason: Denial::UserTimeout },
        Outcome::Denied { reason: Denial::ToolNotSupportedInGroup },
        Outcome::Denied { reason: Denial::PermissionRevoked },
        Outcome::Failed(failure),
        Outcome::TimedOut { after_ms: 30_000 },
        Outcome::Cancelled { message: "called off".to_owned() },
        Outcome::OutcomeUnknown,
    ];
    for (n, outcome) in outcomes.into_iter().enumerate() {
        let name = format!("c{n}");
        let mut call = call(&name, "t");
        call.caller.device = Some("laptop".to_owned());
        call.group = n % 2 == 0;
        call.timeout_ms = (n % 3 == 0).then_some(500);
        let intent = intent(call.clone(), Next::Run);
        begin(&*store, call.clone(), Next::Run).await;
        let mut expected = CallRecord {
            call,
            basis: intent.basis,
            rule: intent.rule,
            state: CallState::Running,
            begun_ms: at(1).wall_ms,
            duration_ms: None,
            progress: None,
        };
        assert_eq!(find(&*store, key(&name)).await, expected);
        store.finish(ending(&name, outcome.clone())).await.expect("an end");
        expected.state = CallState::Ended(outcome);
        expected.duration_ms = Some(7);
        assert_eq!(find(&*store, key(&name)).await, expected);
    }
}

/// The first use of a key counts, whatever the second one says.
pub async fn a_key_is_recorded_once(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), Next::Run).await;
    let first = find(&*store, key("c")).await;
    let mut other = call("c", "another");
    other.input = json!({"something": "else"});
    other.capability = "demo.other".to_owned();
    other.caller.device = Some("phone".to_owned());
    let refusal = Next::Refuse(Outcome::Failed(Failure::new("NO", "no")));
    for next in [Next::Run, ask(), refusal] {
        let begun = store.begin(intent(other.clone(), next)).await.expect("an answer");
        assert_eq!(begun, Begun::Known(Box::new(first.clone())));
    }
    assert_eq!(kinds(&*store, "t").await, [EventKind::Intent]);
    let threads = store.threads().await.expect("threads");
    assert_eq!(threads.len(), 1, "a repetition makes no thread: {threads:?}");
}

/// No two callers can take each other's ids, nor be put together to look like one another.
pub async fn keys_differ_by_user_agent_and_id(place: &dyn Place) {
    let store = place.open().await;
    let mut keys = Vec::new();
    for (user, agent, name) in [
        ("ab", None, "c"),
        ("ab", Some("x"), "c"),
        ("a", Some("b"), "c"),
        ("a", Some("bc"), "c"),
        ("abc", None, "c"),
        ("AB", None, "c"),
        ("ab ", None, "c"),
        ("ab", None, "C"),
        ("ab", None, "c.c"),
    ] {
        let mut call = call(name, "t");
        let agent = agent.map(str::to_owned);
        call.caller = Caller { user: user.to_owned(), agent, device: None };
        keys.push(call.key());
        begin(&*store, call, Next::Run).await;
    }
    for key in keys {
        assert_eq!(find(&*store, key.clone()).await.call.key(), key);
    }
    let mut themselves = call("c", "t");
    themselves.caller = Caller { agent: Some(String::new()), ..Caller::person("ab") };
    let begun = store.begin(intent(themselves, Next::Run)).await.expect("an answer");
    assert!(matches!(begun, Begun::Known(_)), "an agent without a name is nobody");
}

/// What is known of a call is given to whoever repeats it.
pub async fn a_repetition_shows_how_far_the_call_has_come(place: &dyn Place) {
    let store = place.open().await;
    let state = async || {
        let begun = store.begin(intent(call("c", "t"), Next::Run)).await.expect("an answer");
        match begun {
            Begun::Known(record) => record.state,
            Begun::Fresh => CallState::Ended(Outcome::OutcomeUnknown),
        }
    };
    begin(&*store, call("c", "t"), ask()).await;
    assert_eq!(state().await, CallState::Asking);
    store.answer(answered("c", None)).await.expect("an answer");
    assert_eq!(state().await, CallState::Running);
    store.finish(ending("c", success(json!(5)))).await.expect("an end");
    assert_eq!(state().await, CallState::Ended(success(json!(5))));
}

/// What does not run is kept with why, also where nothing was found to call.
pub async fn a_refusal_is_recorded(place: &dyn Place) {
    let store = place.open().await;
    let outcome = Outcome::Failed(Failure::new("UNKNOWN_CAPABILITY", "there is no `demo.x`"));
    let mut refused = intent(call("c", "t"), Next::Refuse(outcome.clone()));
    refused.basis = None;
    assert_eq!(store.begin(refused.clone()).await, Ok(Begun::Fresh));
    let expected = CallRecord {
        call: refused.call.as_ref().clone(),
        basis: None,
        rule: refused.rule.clone(),
        state: CallState::Ended(outcome.clone()),
        begun_ms: at(1).wall_ms,
        duration_ms: Some(0),
        progress: None,
    };
    assert_eq!(find(&*store, key("c")).await, expected);
    assert!(store.finish(ending("c", success(json!(1)))).await.is_err());
    assert!(store.answer(answered("c", None)).await.is_err());
    assert_eq!(store.begin(refused).await, Ok(Begun::Known(Box::new(expected))));
    assert_eq!(kinds(&*store, "t").await, [EventKind::Outcome]);
}

/// Only who was asked about can be approved, and only once.
pub async fn a_yes_makes_the_call_run(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), ask()).await;
    assert_eq!(find(&*store, key("c")).await.state, CallState::Asking);
    store.answer(answered("c", None)).await.expect("an answer");
    assert_eq!(find(&*store, key("c")).await.state, CallState::Running);
    for denial in [None, Some(Denial::UserRejected)] {
        assert!(store.answer(answered("c", denial)).await.is_err(), "it was answered");
    }
    assert_eq!(find(&*store, key("c")).await.state, CallState::Running);
    store.finish(ending("c", success(json!(1)))).await.expect("an end");
    begin(&*store, call("d", "t"), Next::Run).await;
    assert!(store.answer(answered("d", None)).await.is_err(), "nobody was asked");
}

/// Nothing turns a no into a yes.
pub async fn a_no_leaves_only_the_end_to_be_recorded(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), ask()).await;
    store.answer(answered("c", Some(Denial::UserTimeout))).await.expect("an answer");
    for denial in [None, Some(Denial::UserRejected)] {
        assert!(store.answer(answered("c", denial)).await.is_err(), "it was answered");
    }
    assert!(store.finish(ending("c", success(json!(1)))).await.is_err(), "it was denied");
    let denied = Outcome::Denied { reason: Denial::UserTimeout };
    store.finish(ending("c", denied.clone())).await.expect("an end");
    assert_eq!(find(&*store, key("c")).await.state, CallState::Ended(denied));
}

/// What ended stays as it ended.
pub async fn an_end_is_final(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), Next::Run).await;
    store.finish(ending("c", success(json!("first")))).await.expect("an end");
    let record = find(&*store, key("c")).await;
    assert!(store.finish(ending("c", success(json!("second")))).await.is_err());
    assert!(store.finish(ending("c", success(json!("first")))).await.is_err());
    assert!(store.answer(answered("c", None)).await.is_err());
    assert_eq!(find(&*store, key("c")).await, record);
    assert_eq!(kinds(&*store, "t").await, [EventKind::Intent, EventKind::Outcome]);
}

/// A call that waits for a person can end in any way but well.
pub async fn what_nobody_approved_cannot_have_succeeded(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), ask()).await;
    assert!(store.finish(ending("c", success(json!(1)))).await.is_err());
    assert!(store.finish(ending("c", Outcome::Partial(Answer::default()))).await.is_err());
    assert_eq!(find(&*store, key("c")).await.state, CallState::Asking);
    let cancelled = Outcome::Cancelled { message: "called off".to_owned() };
    store.finish(ending("c", cancelled.clone())).await.expect("an end");
    assert_eq!(find(&*store, key("c")).await.state, CallState::Ended(cancelled));
}

/// What is not there is not made by speaking of it.
pub async fn what_is_unknown_is_refused(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), Next::Run).await;
    let mut others = key("c");
    others.user = "bob".to_owned();
    let mut agents = key("c");
    agents.agent = "robot".to_owned();
    for unknown in [key("d"), others, agents] {
        assert_eq!(store.call(unknown.clone()).await, Ok(None));
        let mut end = ending("c", success(json!(1)));
        end.key = unknown.clone();
        assert!(store.finish(end).await.is_err());
        let mut answer = answered("c", None);
        answer.key = unknown.clone();
        assert!(store.answer(answer).await.is_err());
        assert!(store.progress(unknown, Progress::default()).await.is_err());
    }
    assert_eq!(find(&*store, key("c")).await.state, CallState::Running);
    assert_eq!(kinds(&*store, "t").await, [EventKind::Intent]);
}

/// The last word on progress counts, as long as the call goes on.
pub async fn progress_is_kept_until_the_end(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), Next::Run).await;
    assert_eq!(find(&*store, key("c")).await.progress, None);
    let said = [
        Progress { fraction: Some(0.0), message: None },
        Progress { fraction: Some(0.1), message: Some("one ☃ of ten".to_owned()) },
        Progress::default(),
        Progress { fraction: Some(1.0), message: Some(String::new()) },
    ];
    for progress in said.clone() {
        store.progress(key("c"), progress.clone()).await.expect("progress");
        assert_eq!(find(&*store, key("c")).await.progress, Some(progress));
    }
    store.finish(ending("c", success(json!(1)))).await.expect("an end");
    let late = Progress { fraction: Some(0.5), message: None };
    store.progress(key("c"), late).await.expect("late progress is no error");
    assert_eq!(find(&*store, key("c")).await.progress, said.last().cloned());
    assert_eq!(kinds(&*store, "t").await, [EventKind::Intent, EventKind::Outcome]);
}

/// A wish to stop a call reaches whoever has it, is told once, and goes with the call's end.
pub async fn a_wish_to_stop_reaches_whoever_has_the_call(place: &dyn Place) {
    let (ours, other) = (place.open().await, place.open().await);
    for name in ["c", "d"] {
        begin(&*ours, call(name, "t"), Next::Run).await;
    }
    begin(&*ours, call("e", "t"), ask()).await;
    assert_eq!(ours.asked_to_stop().await, Ok(Vec::new()));
    for name in ["c", "e", "c"] {
        assert_eq!(other.ask_to_stop(key(name), "bob", at(2)).await, Ok(true));
    }
    assert_eq!(ours.asked_to_stop().await, Ok(vec![key("c"), key("e")]));
    assert_eq!(other.asked_to_stop().await, Ok(Vec::new()), "it has none of them");
    let cancelled = || Outcome::Cancelled { message: String::new() };
    for name in ["c", "d", "e"] {
        ours.finish(ending(name, cancelled())).await.expect("an end");
        assert_eq!(other.ask_to_stop(key(name), "bob", at(4)).await, Ok(false));
    }
    assert_eq!(ours.asked_to_stop().await, Ok(Vec::new()));
    let told = events(&*ours, &thread("t")).await;
    let wishes: Vec<_> = told.iter().filter(|e| e.kind == EventKind::StopAsked).collect();
    assert_eq!(wishes.len(), 2);
    assert!(wishes.iter().all(|event| event.body.contains("bob")));
}

/// The record outlives whoever wrote it.
pub async fn what_was_recorded_is_there_when_opened_again(place: &dyn Place) {
    let before = {
        let store = place.open().await;
        begin(&*store, call("done", "t"), Next::Run).await;
        store.finish(ending("done", success(json!([1])))).await.expect("an end");
        begin(&*store, call("asked", "t"), ask()).await;
        store.answer(answered("asked", None)).await.expect("an answer");
        begin(&*store, call("asking", "u"), ask()).await;
        snapshot(&*store).await
    };
    let store = place.open().await;
    assert_eq!(snapshot(&*store).await, before);
    let begun = store.begin(intent(call("done", "t"), Next::Run)).await.expect("an answer");
    assert!(matches!(begun, Begun::Known(_)));
    begin(&*store, call("more", "t"), Next::Run).await;
    assert_eq!(kinds(&*store, "t").await.len(), 5);
}

async fn snapshot(
    store: &dyn remit_engine::ports::Store,
) -> (Vec<CallRecord>, Vec<remit_model::Event>, Vec<remit_engine::record::ThreadHead>) {
    let mut events = events(store, &thread("t")).await;
    events.extend(super::hands::events(store, &thread("u")).await);
    let mut records = Vec::new();
    for name in ["done", "asked", "asking"] {
        assert_eq!(key(name).id, id(name));
        records.push(find(store, key(name)).await);
    }
    (records, events, store.threads().await.expect("threads"))
}
