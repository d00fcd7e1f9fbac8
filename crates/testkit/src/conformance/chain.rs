//! The log: what it tells, and that it is one chain a thread.

use remit_engine::log::{Beginning, Conclusion};
use remit_engine::record::{EventQuery, Next, Progress};
use remit_engine::stream::Heard;
use remit_model::{CallId, Denial, EventKind, Failure, Outcome};
use serde_json::{Value, json};

use super::Place;
use super::hands::{
    answered, ask, at, begin, call, ending, events, intent, key, kinds, permit, run, success,
    thread,
};

/// The events of a call tell all that is known of it.
pub async fn a_step_is_an_event_that_tells_it(place: &dyn Place) {
    let store = place.open().await;
    begin(&*store, call("c", "t"), ask()).await;
    store.answer(answered("c", None)).await.expect("an answer");
    store.finish(ending("c", success(json!({"n": 1})))).await.expect("an end");
    let events = events(&*store, &thread("t")).await;
    let told: Vec<_> = events
        .iter()
        .map(|event| (event.kind, event.at_ms, event.call.as_ref().map(CallId::as_str)))
        .collect();
    let expected = [
        (EventKind::Asked, at(1).wall_ms, Some("c")),
        (EventKind::Answered, at(2).wall_ms, Some("c")),
        (EventKind::Outcome, at(3).wall_ms, Some("c")),
    ];
    assert_eq!(told, expected);
    let bodies: Vec<&str> = events.iter().map(|event| event.body.as_str()).collect();
    let [asked, answer, outcome] = bodies[..] else { unreachable!("there are three") };
    let beginning: Beginning<'_> = serde_json::from_str(asked).expect("a beginning");
    let intent = intent(call("c", "t"), ask());
    assert_eq!(beginning.why.as_deref(), Some("it takes some care"));
    let parts = beginning.into_parts(intent.call.id.clone(), thread("t"));
    assert_eq!(parts, (intent.call.as_ref().clone(), intent.basis, intent.rule));
    let answer: Value = serde_json::from_str(answer).expect("an answer");
    assert_eq!(answer, json!({"answer": "yes", "by": "ann"}));
    let conclusion: Conclusion<'_> = serde_json::from_str(outcome).expect("an end");
    assert_eq!(*conclusion.outcome, success(json!({"n": 1})));
    assert_eq!(conclusion.duration_ms, 7);

    begin(&*store, call("d", "u"), ask()).await;
    store.answer(answered("d", Some(Denial::UserRejected))).await.expect("an answer");
    let denied = super::hands::events(&*store, &thread("u")).await;
    let body: Value = serde_json::from_str(&denied[1].body).expect("an answer");
    assert_eq!(body, json!({"answer": "no", "reason": "user_rejected", "by": "ann"}));

    let refusal = Outcome::Failed(Failure::new("NO", "no"));
    begin(&*store, call("e", "v"), Next::Refuse(refusal.clone())).await;
    let refused = super::hands::events(&*store, &thread("v")).await;
    let beginning: Beginning<'_> = serde_json::from_str(&refused[0].body).expect("a refusal");
    assert_eq!(beginning.outcome.as_deref(), Some(&refusal));
}

/// One thread's events say nothing about another's.
pub async fn threads_have_chains_of_their_own(place: &dyn Place) {
    let store = place.open().await;
    assert_eq!(store.threads().await, Ok(Vec::new()));
    for n in 0..5 {
        for name in ["b", "a", "c"] {
            run(&*store, call(&format!("{name}{n}"), name)).await;
        }
    }
    for name in ["a", "b", "c"] {
        assert_eq!(kinds(&*store, name).await.len(), 10, "{name}");
    }
    let heads = store.threads().await.expect("threads");
    let mut names: Vec<&str> = heads.iter().map(|head| head.thread.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(events(&*store, &thread("nobody-was-here")).await, []);
}

/// A reader can go on where they were.
pub async fn events_come_in_pages(place: &dyn Place) {
    let store = place.open().await;
    for n in 0..5 {
        run(&*store, call(&format!("c{n}"), "t")).await;
    }
    let page = async |after, limit| {
        let query = EventQuery { thread: thread("t"), after, limit };
        let events = store.events(query).await.expect("events");
        events.into_iter().map(|event| event.sequence).collect::<Vec<_>>()
    };
    assert_eq!(page(0, None).await, (1..=10).collect::<Vec<_>>());
    assert_eq!(page(0, Some(3)).await, [1, 2, 3]);
    assert_eq!(page(3, Some(3)).await, [4, 5, 6]);
    assert_eq!(page(8, Some(3)).await, [9, 10]);
    assert_eq!(page(9, None).await, [10]);
    for nothing in [page(10, None), page(u64::MAX, None), page(0, Some(0))] {
        assert!(nothing.await.is_empty());
    }
    assert_eq!(page(0, Some(usize::MAX)).await.len(), 10);
}

/// Who follows a thread hears all that is recorded in it, once it is last and in order.
pub async fn who_follows_hears_what_is_recorded(place: &dyn Place) {
    let store = place.open().await;
    run(&*store, call("early", "t")).await;
    let mut feed = store.follow(&thread("t"));
    for (name, place) in [("c", "t"), ("d", "elsewhere"), ("e", "t")] {
        run(&*store, call(name, place)).await;
    }
    assert!(store.finish(ending("c", success(json!(2)))).await.is_err());
    run(&*store, call("f", "t")).await;
    let recorded = events(&*store, &thread("t")).await;
    for event in &recorded[2..] {
        let Heard::Event(told) = feed.next().await else { panic!("it is not behind") };
        assert_eq!(told.event, *event);
    }
    drop(store);
}

/// What is refused leaves no trace.
pub async fn a_refused_change_adds_nothing(place: &dyn Place) {
    let store = place.open().await;
    run(&*store, call("c", "t")).await;
    let before = events(&*store, &thread("t")).await;
    assert!(store.finish(ending("c", success(json!(2)))).await.is_err());
    assert!(store.finish(ending("d", success(json!(2)))).await.is_err());
    assert!(store.answer(answered("c", None)).await.is_err());
    assert!(store.progress(key("d"), Progress::default()).await.is_err());
    assert_eq!(store.lift(permit("", "demo:use"), at(1)).await, Ok(false));
    assert_eq!(store.ask_to_stop(key("c"), "ann", at(1)).await, Ok(false));
    assert!(store.ask_to_stop(key("d"), "ann", at(1)).await.is_err());
    assert_eq!(events(&*store, &thread("t")).await, before);
    run(&*store, call("d", "t")).await;
    assert_eq!(kinds(&*store, "t").await.len(), 4);
}

/// Whatever one store remembers of a thread, another may have added to it.
pub async fn several_open_stores_add_to_one_chain(place: &dyn Place) {
    let one = place.open().await;
    let other = place.open().await;
    for n in 0..4 {
        run(&*one, call(&format!("one{n}"), "t")).await;
        begin(&*one, call(&format!("both{n}"), "t"), Next::Run).await;
        run(&*other, call(&format!("other{n}"), "t")).await;
        let end = ending(&format!("both{n}"), success(json!(n)));
        other.finish(end).await.expect("an end");
        run(&*other, call(&format!("more{n}"), "t")).await;
    }
    assert_eq!(kinds(&*one, "t").await.len(), 32);
    assert_eq!(kinds(&*other, "t").await.len(), 32);
}
