//! Texts, numbers and sizes at the edges of what may come.

use remit_engine::record::{CallQuery, CallState, Ending, Next};
use remit_model::{Caller, Failure, Grant, Outcome};
use serde_json::{Value, json};

use super::Place;
use super::hands::{at, begin, call, ending, events, find, grant, intent, key, success, thread};

const ODD: [&str; 12] = [
    "",
    " ",
    "'; DROP TABLE calls; --",
    "%_\\",
    "\"quoted\" `ticks` 'single'",
    "line\nbreak\r\n\ttab",
    "é",
    "e\u{301}",
    "漢字 \u{1f9d1}\u{200d}\u{1f680} العربية",
    "\u{202e}backwards\u{feff}",
    "\u{7f}\u{1}\u{1b}[31m",
    "\u{10ffff}\u{fffe}",
];

/// Whatever people are called, they are told apart and given back as they are.
pub async fn odd_texts_survive(place: &dyn Place) {
    let store = place.open().await;
    let mut expected = Vec::new();
    for (n, text) in ODD.into_iter().enumerate() {
        let mut call = call(&format!("c{n}"), "t");
        let agent = (!text.is_empty()).then(|| text.to_owned());
        call.caller = Caller { user: text.to_owned(), agent, device: Some(text.to_owned()) };
        call.capability = text.to_owned();
        call.input = json!({text: [text], "more": {"nested": text}});
        let key = call.key();
        let mut intent = intent(call.clone(), Next::Run);
        intent.rule = text.to_owned();
        store.begin(intent).await.expect("a beginning");
        let outcome = Outcome::Failed(Failure::new(text, text).with_details(json!({text: text})));
        let end = Ending { key: key.clone(), ..ending("x", outcome.clone()) };
        store.finish(end).await.expect("an end");
        let given = Grant {
            user: text.to_owned(),
            source: text.to_owned(),
            scope: text.to_owned(),
            device: text.to_owned(),
            thread: text.to_owned(),
            ..grant(text, text)
        };
        store.give(given.clone()).await.expect("a grant");
        expected.push((key, call, outcome, given));
    }
    drop(store);
    let store = place.open().await;
    for (key, call, outcome, given) in expected {
        let text = call.capability.clone();
        let record = find(&*store, key).await;
        assert_eq!(record.call, call);
        assert_eq!(record.rule, text);
        assert_eq!(record.state, CallState::Ended(outcome));
        let user = CallQuery { user: Some(text.clone()), ..CallQuery::default() };
        let capability = CallQuery { capability: Some(text.clone()), ..CallQuery::default() };
        for query in [user, capability] {
            assert_eq!(store.calls(query).await.expect("calls").len(), 1, "{text:?}");
        }
        let permit = given.permit();
        assert_eq!(store.grants(&text, &text).await, Ok(vec![given]));
        assert_eq!(store.revoke(permit, at(1)).await, Ok(1), "{text:?}");
    }
    events(&*store, &thread("t")).await;
}

/// What is large is kept whole.
pub async fn large_input_survives(place: &dyn Place) {
    let store = place.open().await;
    let mut call = call("c", "t");
    let many: Vec<u32> = (0..100_000).collect();
    call.input = json!({"text": "x☃".repeat(1 << 19), "many": many});
    begin(&*store, call.clone(), Next::Run).await;
    let result = json!("y".repeat(3 << 20));
    store.finish(ending("c", success(result.clone()))).await.expect("an end");
    let record = find(&*store, key("c")).await;
    assert!(record.call == call && record.state == CallState::Ended(success(result)));
    assert_eq!(events(&*store, &thread("t")).await.len(), 2);
}

/// What any surface could read is kept: JSON is read 127 levels deep.
pub async fn deep_input_survives(place: &dyn Place) {
    let store = place.open().await;
    let deep = (0..126).fold(json!(1), |inner, n| match n % 2 {
        0 => json!([inner]),
        _ => json!({"a": inner}),
    });
    let mut call = call("c", "t");
    call.input = json!({"deep": deep});
    begin(&*store, call.clone(), Next::Run).await;
    store.finish(ending("c", success(call.input.clone()))).await.expect("an end");
    let record = find(&*store, key("c")).await;
    assert!(record.call == call && record.state == CallState::Ended(success(call.input)));
}

/// Numbers are the same to the last bit.
pub async fn numbers_survive(place: &dyn Place) {
    let store = place.open().await;
    let numbers: Vec<Value> = [
        json!([0, -0.0, 1e308, 5e-324, 0.1, 1.0, 1e16, 123_456_789.123_456_79]),
        json!([u64::MAX, i64::MIN, i64::MAX, 9_007_199_254_740_993_u64]),
        json!([f64::MAX, f64::MIN_POSITIVE, f64::EPSILON, 2.225_073_858_507_201e-308]),
    ]
    .into();
    let edges = [(0, i64::MIN), (1, -1), (u64::MAX, 0), (u64::MAX - 1, i64::MAX)];
    for (n, (large, ms)) in edges.into_iter().enumerate() {
        let name = format!("c{n}");
        let mut call = call(&name, "t");
        call.timeout_ms = Some(large);
        call.input = json!(numbers);
        let mut begun = intent(call.clone(), Next::Run);
        begun.at.wall_ms = ms;
        store.begin(begun).await.expect("a beginning");
        let mut end = ending(&name, Outcome::TimedOut { after_ms: large });
        end.duration_ms = large;
        end.at.wall_ms = ms;
        store.finish(end).await.expect("an end");
        let record = find(&*store, key(&name)).await;
        assert_eq!(record.call, call);
        assert_eq!(record.begun_ms, ms);
        assert_eq!(record.duration_ms, Some(large));
        assert_eq!(record.state, CallState::Ended(Outcome::TimedOut { after_ms: large }));
    }
    begin(&*store, call("d", "t"), Next::Run).await;
    let outcome = success(json!(numbers));
    store.finish(ending("d", outcome.clone())).await.expect("an end");
    assert_eq!(find(&*store, key("d")).await.state, CallState::Ended(outcome));
    assert_eq!(events(&*store, &thread("t")).await.len(), 10);
}
