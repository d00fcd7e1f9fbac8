//! What the cases are made with.

use std::sync::Arc;

use remit_engine::ports::Store;
use remit_engine::record::{Answered, Basis, Begun, CallRecord, Ending, EventQuery, Intent, Next};
use remit_model::event::Verifier;
use remit_model::{
    Answer, Call, CallId, CallKey, Caller, Denial, Event, EventKind, Grant, Instant, Outcome,
    Permit, Sensitivity, ThreadId,
};
use serde_json::{Value, json};

/// Gives a moment, so many milliseconds after another.
#[must_use]
pub fn at(ms: i64) -> Instant {
    Instant { wall_ms: 1_700_000_000_000 + ms, boot_ms: 1_000 + ms, boot: "boot".to_owned() }
}

/// Gives a call's id.
#[must_use]
pub fn id(text: &str) -> CallId {
    CallId::parse(text).expect("the id of a call")
}

/// Gives a thread.
#[must_use]
pub fn thread(text: &str) -> ThreadId {
    ThreadId::parse(text).expect("the id of a thread")
}

/// Gives a call of `ann` in a thread.
#[must_use]
pub fn call(name: &str, thread_name: &str) -> Call {
    Call {
        id: id(name),
        caller: Caller::person("ann"),
        thread: thread(thread_name),
        group: false,
        capability: "demo.echo".to_owned(),
        input: json!({"call": name}),
        timeout_ms: None,
    }
}

/// Gives the key of a call of `ann`.
#[must_use]
pub fn key(name: &str) -> CallKey {
    call(name, "t").key()
}

/// Gives an intent.
#[must_use]
pub fn intent(call: Call, next: Next) -> Intent {
    let basis = Basis {
        source: "demo".to_owned(),
        manifest_hash: "ab".repeat(32),
        scope: "demo:use".to_owned(),
        sensitivity: Sensitivity::Medium,
        confined: true,
    };
    Intent { call: call.into(), basis: Some(basis), rule: "some-rule".to_owned(), next, at: at(1) }
}

/// Says that a person is asked.
#[must_use]
pub fn ask() -> Next {
    Next::Ask { why: "it takes some care".to_owned() }
}

/// Gives an answer.
#[must_use]
pub fn answered(name: &str, denial: Option<Denial>) -> Answered {
    Answered { key: key(name), denial, at: at(2), by: Some("ann".to_owned()), grant: None }
}

/// Gives a success.
#[must_use]
pub fn success(result: Value) -> Outcome {
    Outcome::Succeeded(Answer { result, ..Answer::default() })
}

/// Gives an end.
#[must_use]
pub fn ending(name: &str, outcome: Outcome) -> Ending {
    Ending { key: key(name), outcome, at: at(3), duration_ms: 7, grant: None }
}

/// Gives a grant of `ann`, in thread `t`.
#[must_use]
pub fn grant(agent: &str, scope: &str) -> Grant {
    Grant {
        user: "ann".to_owned(),
        agent: agent.to_owned(),
        source: "demo".to_owned(),
        scope: scope.to_owned(),
        sensitivity: Sensitivity::Medium,
        manifest_hash: "ab".repeat(32),
        device: "laptop".to_owned(),
        thread: "t".to_owned(),
        used: at(5),
        revoked: false,
    }
}

/// Names a permission of `ann`.
#[must_use]
pub fn permit(agent: &str, scope: &str) -> Permit {
    grant(agent, scope).permit()
}

/// Begins a call that must be new.
pub async fn begin(store: &dyn Store, call: Call, next: Next) {
    let name = call.id.clone();
    let begun = store.begin(intent(call, next)).await.expect("a beginning");
    assert_eq!(begun, Begun::Fresh, "{name}");
}

/// Runs a call to its end.
pub async fn run(store: &dyn Store, call: Call) {
    let key = call.key();
    begin(store, call, Next::Run).await;
    let outcome = success(json!(null));
    let ending = Ending { key, outcome, at: at(3), duration_ms: 7, grant: None };
    store.finish(ending).await.expect("an end");
}

/// Finds a call that must be there.
pub async fn find(store: &dyn Store, key: CallKey) -> CallRecord {
    let name = key.id.clone();
    let found = store.call(key).await.expect("an answer");
    found.unwrap_or_else(|| panic!("the call `{name}` is not there"))
}

/// Lists the events of a thread, whose chain must be whole and end where the thread says.
pub async fn events(store: &dyn Store, thread: &ThreadId) -> Vec<Event> {
    let query = EventQuery { thread: thread.clone(), after: 0, limit: None };
    let events = store.events(query).await.expect("events");
    let mut verifier = Verifier::default();
    for event in &events {
        assert_eq!(event.thread, *thread);
        assert_eq!(verifier.next(event), Ok(()), "{event:?}");
    }
    let heads = store.threads().await.expect("threads");
    let head = heads.into_iter().find(|head| head.thread == *thread);
    let (count, hash) = verifier.head();
    match head {
        None => assert_eq!(count, 0, "a thread with events is listed"),
        Some(head) => {
            assert_eq!((head.events, head.hash.as_str()), (count, hash));
            assert_eq!(Some(head.at_ms), events.last().map(|event| event.at_ms));
        }
    }
    events
}

/// Lists the kinds of the events of a thread.
pub async fn kinds(store: &dyn Store, name: &str) -> Vec<EventKind> {
    events(store, &thread(name)).await.into_iter().map(|event| event.kind).collect()
}

/// Does something many times at once, as many tasks, and gives what came of it.
pub async fn crowd<T, F>(
    store: &Arc<dyn Store>,
    size: usize,
    one: impl Fn(Arc<dyn Store>, usize) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..size).map(|n| tokio::spawn(one(Arc::clone(store), n))).collect();
    let mut results = Vec::with_capacity(size);
    for task in tasks {
        results.push(task.await.expect("a task that does not panic"));
    }
    results
}
