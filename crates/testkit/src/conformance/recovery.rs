//! What a process leaves behind that did not end its calls.

use remit_engine::ports::Store;
use remit_engine::record::{CallState, Next};
use remit_model::{CallKey, Denial, EventKind, Outcome};
use serde_json::json;

use super::Place;
use super::hands::{answered, ask, at, begin, call, ending, find, key, kinds, run, success};

async fn recover(store: &dyn Store) -> Vec<CallKey> {
    let mut keys = store.recover(at(100)).await.expect("a recovery");
    keys.sort_unstable();
    keys
}

/// What ran is unknown, what was asked about is cancelled, what was denied is denied.
pub async fn calls_of_the_gone_are_ended(place: &dyn Place) {
    {
        let gone = place.open().await;
        begin(&*gone, call("running", "t"), Next::Run).await;
        begin(&*gone, call("asking", "t"), ask()).await;
        begin(&*gone, call("approved", "t"), ask()).await;
        gone.answer(answered("approved", None)).await.expect("an answer");
        begin(&*gone, call("denied", "u"), ask()).await;
        gone.answer(answered("denied", Some(Denial::UserRejected))).await.expect("an answer");
        run(&*gone, call("done", "u")).await;
    }
    let store = place.open().await;
    let lost = ["approved", "asking", "denied", "running"].map(key);
    assert_eq!(recover(&*store).await, lost);
    for (name, outcome) in [
        ("running", Outcome::OutcomeUnknown),
        ("approved", Outcome::OutcomeUnknown),
        ("denied", Outcome::Denied { reason: Denial::UserRejected }),
        ("done", success(json!(null))),
    ] {
        assert_eq!(find(&*store, key(name)).await.state, CallState::Ended(outcome), "{name}");
    }
    let asking = find(&*store, key("asking")).await.state;
    assert!(matches!(asking, CallState::Ended(Outcome::Cancelled { .. })), "{asking:?}");
    let told = kinds(&*store, "t").await;
    assert_eq!(told.len(), 7);
    assert_eq!(told[4..], [EventKind::Outcome; 3]);
    assert_eq!(kinds(&*store, "u").await.len(), 5);
    for name in ["running", "asking"] {
        assert!(store.finish(ending(name, success(json!(1)))).await.is_err(), "{name} has ended");
        assert!(store.answer(answered(name, None)).await.is_err(), "{name} has ended");
    }
}

/// Neither one's own calls nor those of others that are alive are touched.
pub async fn calls_of_the_living_are_left_alone(place: &dyn Place) {
    let (one, other) = (place.open().await, place.open().await);
    begin(&*one, call("one", "t"), Next::Run).await;
    begin(&*other, call("other", "t"), ask()).await;
    {
        let gone = place.open().await;
        begin(&*gone, call("gone", "t"), Next::Run).await;
        assert_eq!(recover(&*one).await, []);
        assert_eq!(recover(&*gone).await, []);
    }
    assert_eq!(recover(&*one).await, [key("gone")]);
    assert_eq!(find(&*one, key("one")).await.state, CallState::Running);
    assert_eq!(find(&*one, key("other")).await.state, CallState::Asking);
    one.finish(ending("one", success(json!(1)))).await.expect("an end");
    other.answer(answered("other", None)).await.expect("an answer");
    other.finish(ending("other", success(json!(1)))).await.expect("an end");
}

/// Recovering is done when it is done, however many do it.
pub async fn recovering_twice_ends_nothing_twice(place: &dyn Place) {
    {
        let gone = place.open().await;
        for n in 0..20 {
            begin(&*gone, call(&format!("c{n}"), "t"), Next::Run).await;
        }
    }
    let (one, other) = (place.open().await, place.open().await);
    let (first, second) = tokio::join!(one.recover(at(100)), other.recover(at(100)));
    let count = first.expect("a recovery").len() + second.expect("a recovery").len();
    let rest = recover(&*one).await.len();
    assert_eq!(count + rest, 20);
    assert_eq!(recover(&*one).await, []);
    assert_eq!(recover(&*other).await, []);
    assert_eq!(kinds(&*one, "t").await.len(), 40);
}
