//! Many at once.

use std::sync::Arc;

use remit_engine::record::{Begun, CallQuery, CallState, Next};
use remit_model::{Denial, EventKind};
use serde_json::json;

use super::Place;
use super::hands::{
    answered, ask, begin, call, crowd, ending, find, intent, key, kinds, run, success,
};

const CROWD: usize = 24;
const EACH: usize = 6;

/// Everybody's events are there, one behind the other.
pub async fn many_write_to_one_thread(place: &dyn Place) {
    let store = place.open().await;
    crowd(&store, CROWD, async |store, n| {
        for m in 0..EACH {
            run(&*store, call(&format!("c{n}.{m}"), "t")).await;
        }
    })
    .await;
    assert_eq!(kinds(&*store, "t").await.len(), CROWD * EACH * 2);
    let calls = store.calls(CallQuery::default()).await.expect("calls");
    assert_eq!(calls.len(), CROWD * EACH);
    assert!(calls.iter().all(|record| record.state == CallState::Ended(success(json!(null)))));
}

/// Threads do not get into each other's way.
pub async fn many_write_to_many_threads(place: &dyn Place) {
    let store = place.open().await;
    crowd(&store, CROWD, async |store, n| {
        for m in 0..EACH {
            run(&*store, call(&format!("c{n}.{m}"), &format!("t{}", (n + m) % 7))).await;
        }
    })
    .await;
    let mut count = 0;
    for n in 0..7 {
        count += kinds(&*store, &format!("t{n}")).await.len();
    }
    assert_eq!(count, CROWD * EACH * 2);
    assert_eq!(store.threads().await.expect("threads").len(), 7);
}

/// Two processes with one record make one chain.
pub async fn many_write_to_one_thread_through_two_stores(place: &dyn Place) {
    let (one, other) = (place.open().await, place.open().await);
    let both = [Arc::clone(&one), other];
    crowd(&one, CROWD, |_, n| {
        let store = Arc::clone(&both[n % 2]);
        async move {
            for m in 0..EACH {
                run(&*store, call(&format!("c{n}.{m}"), "t")).await;
            }
        }
    })
    .await;
    for store in &both {
        assert_eq!(kinds(&**store, "t").await.len(), CROWD * EACH * 2);
    }
}

/// However many repeat a call at once, one of them runs it.
pub async fn of_many_beginnings_one_is_fresh(place: &dyn Place) {
    let (one, other) = (place.open().await, place.open().await);
    let both = [Arc::clone(&one), other];
    let begun = crowd(&one, CROWD, |_, n| {
        let store = Arc::clone(&both[n % 2]);
        async move { store.begin(intent(call("c", &format!("t{n}")), Next::Run)).await }
    })
    .await;
    let fresh = begun.iter().filter(|begun| **begun == Ok(Begun::Fresh)).count();
    let known = begun.iter().filter(|begun| matches!(begun, Ok(Begun::Known(_)))).count();
    assert_eq!((fresh, known), (1, CROWD - 1));
    assert_eq!(one.threads().await.expect("threads").len(), 1);
}

/// However many end a call at once, one end is kept.
pub async fn of_many_ends_one_counts(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), Next::Run).await;
    let ends = crowd(&store, CROWD, async |store, n| {
        store.finish(ending("c", success(json!(n)))).await.is_ok()
    })
    .await;
    let winner = ends.iter().position(|ended| *ended).expect("one of them");
    assert_eq!(ends.iter().filter(|ended| **ended).count(), 1);
    let state = find(&*store, key("c")).await.state;
    assert_eq!(state, CallState::Ended(success(json!(winner))));
    assert_eq!(kinds(&*store, "t").await, [EventKind::Intent, EventKind::Outcome]);
}

/// However many answer at once, one answer is kept.
pub async fn of_many_answers_one_counts(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), ask()).await;
    let answers = crowd(&store, CROWD, async |store, n| {
        let denial = (n % 2 == 0).then_some(Denial::UserRejected);
        store.answer(answered("c", denial)).await.is_ok()
    })
    .await;
    let winner = answers.iter().position(|counted| *counted).expect("one of them");
    assert_eq!(answers.iter().filter(|counted| **counted).count(), 1);
    let state = find(&*store, key("c")).await.state;
    let said_no = winner % 2 == 0;
    assert_eq!(state, if said_no { CallState::Asking } else { CallState::Running });
    assert_eq!(kinds(&*store, "t").await, [EventKind::Asked, EventKind::Answered]);
}
