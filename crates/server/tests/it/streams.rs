//! Streams: what is in the record, then what is recorded.

use serde_json::json;

use crate::house::{Event, House};

async fn call(house: &House, token: &str, id: &str) {
    let body = json!({"capability": "demo.echo", "call_id": id, "thread_id": "t"}).to_string();
    assert_eq!(house.post("/calls", token, &body).await.status, 200);
}

fn ids(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.id.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_call_come_until_it_has_ended() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    call(&house, &ann, "before").await;
    let body = r#"{"capability": "demo.hang", "call_id": "c1", "thread_id": "t", "wait": false}"#;
    assert_eq!(house.post("/calls", &ann, body).await.status, 202);
    house.until(async || house.get("/calls/c1", &ann).await.status == 200).await;
    let mut stream = house.stream("/calls/c1/events", &ann, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data["call_id"]), ("call.intent", &json!("c1")));
    assert_eq!(first.data["data"]["capability"], "demo.hang");
    call(&house, &ann, "other").await;
    house.post("/calls/c1/cancel", &ann, "{}").await;
    let rest = stream.rest().await;
    let names: Vec<_> = rest.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["call.stop", "call.outcome"], "and nothing of other calls");
    let again = house.stream("/calls/c1/events", &ann, None).await.rest().await;
    assert_eq!(again.len(), 3, "after the end the same comes from the record");
    let resumed = house.stream("/calls/c1/events", &ann, first.id).await.rest().await;
    assert_eq!(resumed, rest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_streams_everything_once_and_in_order_wherever_one_comes_in() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    for n in 0..5 {
        call(&house, &ann, &format!("a{n}")).await;
    }
    let mut streams = Vec::new();
    for last in [None, Some(0), Some(3), Some(10)] {
        streams.push((last.unwrap_or(0), house.stream("/threads/t/events", &ann, last).await));
    }
    let mut bobs = house.stream("/threads/t/events", &bob, None).await;
    // Many at once while the streams go on.
    let more: Vec<String> = (0..40).map(|n| format!("b{n}")).collect();
    futures_util::future::join_all(more.iter().map(|id| call(&house, &ann, id))).await;
    for (last, mut stream) in streams {
        let mut seen = Vec::new();
        while seen.last() != Some(&90) {
            seen.push(stream.next().await.unwrap().id.unwrap());
        }
        let expected: Vec<u64> = (last + 1..=90).collect();
        assert_eq!(seen, expected);
    }
    call(&house, &bob, "b").await;
    assert_eq!(bobs.next().await.unwrap().id, Some(1), "the thread of another user is another");
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_at_any_event_and_resumed_nothing_is_lost_or_repeated() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for n in 0..10 {
        call(&house, &ann, &format!("c{n}")).await;
    }
    let mut whole = Vec::new();
    let mut stream = house.stream("/threads/t/events", &ann, None).await;
    for _ in 0..20 {
        whole.push(stream.next().await.unwrap());
    }
    for cut in 1..20 {
        let mut union = Vec::new();
        let mut first = house.stream("/threads/t/events", &ann, None).await;
        for _ in 0..cut {
            union.push(first.next().await.unwrap());
        }
        drop(first);
        let mut second = house.stream("/threads/t/events", &ann, union.last().unwrap().id).await;
        while union.len() < 20 {
            union.push(second.next().await.unwrap());
        }
        assert_eq!(ids(&union), ids(&whole));
        assert_eq!(union, whole);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_token_it_was_opened_with() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let body = r#"{"label": "ci", "scopes": ["threads", "approvals"]}"#;
    let key = house.post("/tokens", &ann, body).await.json();
    let token = key["token"].as_str().unwrap();
    call(&house, &ann, "before").await;
    let mut thread = house.stream("/threads/t/events", token, None).await;
    let mut questions = house.stream("/approvals/stream", token, None).await;
    assert!(thread.next().await.is_some() && thread.next().await.is_some());
    assert!(questions.next().await.is_some());
    let revoked = format!("/tokens/{}", key["id"].as_str().unwrap());
    assert_eq!(house.send("DELETE", &revoked, &ann, None).await.status, 204);
    // It is looked at once a second, before anything goes out.
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    call(&house, &ann, "after").await;
    assert!(thread.next().await.is_none(), "nothing more of the conversation");
    let ask = r#"{"capability": "demo.noop", "call_id": "q", "wait": false}"#;
    assert_eq!(house.post("/calls", &ann, ask).await.status, 202);
    assert!(questions.next().await.is_none(), "and no more questions");
}
