//! What is said in threads.

use remit_engine::log::Turn;
use remit_engine::record::{Interrupt, Message, Next, RunNote, RunStep};
use remit_model::EventKind;
use serde_json::{Value, json};

use super::Place;
use super::hands::{at, begin, call, events, id, kinds, thread};

fn message(name: &str, content: &str) -> Message {
    Message {
        thread: thread(name),
        role: "user".to_owned(),
        content: content.to_owned(),
        metadata: Value::Null,
        call: None,
        at_ms: at(1).wall_ms,
    }
}

/// The steps of a run are told in order, as they were.
pub async fn the_steps_of_a_run_are_told(place: &dyn Place) {
    let store = place.open().await;
    let interrupts =
        vec![Interrupt { id: "q".to_owned(), call_id: id("c"), message: "run it? ☃".to_owned() }];
    let steps = [
        (RunStep::Started, EventKind::RunStarted),
        (RunStep::Interrupted { interrupts }, EventKind::RunFinished),
        (RunStep::Succeeded, EventKind::RunFinished),
        (
            RunStep::Failed { code: "X".to_owned(), message: "no".to_owned() },
            EventKind::RunFinished,
        ),
    ];
    for (n, (step, _)) in (1..).zip(&steps) {
        let note =
            RunNote { thread: thread("t"), run: "r".to_owned(), step: step.clone(), at_ms: 7 };
        assert_eq!(store.run(note).await, Ok(n));
    }
    for (event, (step, kind)) in events(&*store, &thread("t")).await.iter().zip(&steps) {
        let told: Turn<'_> = serde_json::from_str(&event.body).expect("a step");
        assert_eq!((told.run.as_ref(), told.step.as_ref(), event.kind), ("r", step, *kind));
    }
}

/// A message is read as it was written.
pub async fn messages_keep_what_they_say(place: &dyn Place) {
    let said = [
        message("t", "hello"),
        Message { role: "tool".to_owned(), call: Some(id("c")), ..message("t", "") },
        Message { metadata: json!({"a": [1, {"b": null}], "": ""}), ..message("t", "☃\n\"\\\t") },
        Message { at_ms: i64::MIN, ..message("t", &"long ".repeat(50_000)) },
        Message { at_ms: i64::MAX, metadata: json!("text"), ..message("t", "{\"json\": 1}") },
    ];
    let store = place.open().await;
    for message in &said {
        store.say(message.clone()).await.expect("a message");
    }
    assert_eq!(store.messages(thread("t")).await.as_deref(), Ok(&said[..]));
    drop(store);
    let store = place.open().await;
    assert_eq!(store.messages(thread("t")).await.as_deref(), Ok(&said[..]));
    assert_eq!(kinds(&*store, "t").await, [EventKind::Message; 5]);
    let told = events(&*store, &thread("t")).await;
    assert_eq!(told[1].call, Some(id("c")));
}

/// Messages and calls of a thread are one record; each is listed by itself.
pub async fn messages_stay_in_order_and_in_their_thread(place: &dyn Place) {
    let store = place.open().await;
    assert_eq!(store.messages(thread("t")).await, Ok(Vec::new()));
    for n in 0..5 {
        store.say(message("t", &format!("t{n}"))).await.expect("a message");
        begin(&*store, call(&format!("c{n}"), "t"), Next::Run).await;
        store.say(message("u", &format!("u{n}"))).await.expect("a message");
    }
    for name in ["t", "u"] {
        let messages = store.messages(thread(name)).await.expect("messages");
        let contents: Vec<&str> = messages.iter().map(|message| &*message.content).collect();
        assert_eq!(contents, [0, 1, 2, 3, 4].map(|n| format!("{name}{n}")));
    }
    assert_eq!(kinds(&*store, "t").await.len(), 10);
    assert_eq!(kinds(&*store, "u").await.len(), 5);
}
