//! Questions and answers over HTTP.

use serde_json::{Value, json};

use crate::house::House;

async fn waiting(house: &House, token: &str) -> Vec<Value> {
    house.get("/approvals", token).await.json()["approvals"].as_array().unwrap().clone()
}

async fn ask(house: &House, token: &str, capability: &str, id: &str) -> Value {
    let body = json!({"capability": capability, "call_id": id, "thread_id": "t", "wait": false});
    assert_eq!(house.post("/calls", token, &body.to_string()).await.status, 202);
    house.until(async || !waiting(house, token).await.is_empty()).await;
    waiting(house, token).await.remove(0)
}

async fn state(house: &House, token: &str, id: &str) -> Value {
    house
        .until(async || {
            house.get(&format!("/calls/{id}"), token).await.json()["response"].is_object()
        })
        .await;
    house.get(&format!("/calls/{id}"), token).await.json()["response"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_is_asked_and_their_answer_counts() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let asked = ask(&house, &ann, "demo.danger.echo", "c1").await;
    assert_eq!(
        (&asked["capability"], &asked["sensitivity"]),
        (&json!("demo.danger.echo"), &json!("high"))
    );
    assert_eq!((&asked["thread_id"], &asked["call_id"]), (&json!("t"), &json!("c1")));
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    let approve = r#"{"decision": "approve"}"#;
    assert_eq!(waiting(&house, &bob).await, Vec::<Value>::new());
    assert_eq!(house.post(&path, &bob, approve).await.status, 404, "it is not theirs");
    assert_eq!(house.post(&path, &ann, r#"{"decision": "perhaps"}"#).await.status, 400);
    assert_eq!(house.executor.runs(), 0);
    assert_eq!(house.post(&path, &ann, approve).await.status, 204);
    assert_eq!(state(&house, &ann, "c1").await["outcome"], "succeeded");
    assert_eq!(house.post(&path, &ann, approve).await.status, 404, "a second answer is none");
    let asked = ask(&house, &ann, "demo.danger.echo", "c2").await;
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    assert_eq!(house.post(&path, &ann, r#"{"decision": "deny"}"#).await.status, 204);
    let denied = state(&house, &ann, "c2").await;
    assert_eq!((&denied["outcome"], &denied["error"]), (&json!("denied"), &json!("user_rejected")));
    assert_eq!(house.executor.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_medium_yes_is_listed_as_a_permission_and_can_be_taken_back() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let asked = ask(&house, &ann, "demo.noop", "c1").await;
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    assert_eq!(house.post(&path, &ann, r#"{"decision": "approve"}"#).await.status, 204);
    state(&house, &ann, "c1").await;
    let silent =
        house.post("/calls", &ann, r#"{"capability": "demo.noop", "thread_id": "t"}"#).await;
    assert_eq!(silent.json()["outcome"], "succeeded");
    let grants = house.get("/grants", &ann).await.json();
    let grant = &grants["grants"][0];
    assert_eq!((&grant["scope"], &grant["thread_id"]), (&json!("demo:use"), &json!("t")));
    let named = r#"{"source": "demo", "scope": "demo:use"}"#;
    let gone = house.send("DELETE", "/grants", &ann, Some(named)).await;
    assert_eq!(gone.json(), json!({"revoked": 1}));
    let denied =
        house.post("/calls", &ann, r#"{"capability": "demo.noop", "thread_id": "t"}"#).await;
    assert_eq!(denied.json()["error"], "permission_revoked");
    assert_eq!(house.post("/grants/lift", &ann, named).await.status, 204);
    assert_eq!(house.post("/grants/lift", &ann, named).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_for_once_is_asked_again() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for id in ["c1", "c2"] {
        let asked = ask(&house, &ann, "demo.noop", id).await;
        let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
        assert_eq!(house.post(&path, &ann, r#"{"decision": "approve_once"}"#).await.status, 204);
        assert_eq!(state(&house, &ann, id).await["outcome"], "succeeded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_shows_the_list_at_every_change() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let mut stream = house.stream("/approvals/stream", &ann, None).await;
    assert_eq!(stream.next().await.unwrap().data["approvals"], json!([]));
    ask(&house, &bob, "demo.noop", "b1").await;
    let asked = ask(&house, &ann, "demo.noop", "c1").await;
    let now = stream.next().await.unwrap().data;
    assert_eq!(now["approvals"][0]["call_id"], "c1", "what others are asked is not told");
    assert_eq!(now["approvals"].as_array().unwrap().len(), 1);
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    house.post(&path, &ann, r#"{"decision": "deny"}"#).await;
    assert_eq!(stream.next().await.unwrap().data["approvals"], json!([]));
    house.stop().await;
    assert_eq!(stream.next().await, None, "a stop ends it");
}
