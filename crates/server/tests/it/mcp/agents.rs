//! Tools of agents that the caller has added.

use serde_json::{Value, json};

use super::{Messages, ask, heads, modern, session};
use crate::agents::manifest;
use crate::house::House;

struct Agent {
    id: String,
    token: String,
}

async fn publish(house: &House, agent: &Agent, manifest: &Value) {
    let headers = vec![("authorization".to_owned(), format!("Bearer {}", agent.token))];
    let path = format!("/agents/{}", agent.id);
    let sent = house.send_with("PATCH", &path, headers, Some(&manifest.to_string())).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
}

async fn agent(house: &House, owner: &str) -> Agent {
    let made = house.post("/agents", owner, r#"{"name": "NotesBot"}"#).await.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let agent = Agent { id: text("agent_id"), token: text("token") };
    publish(house, &agent, &manifest(1)).await;
    agent
}

async fn add(house: &House, user: &str, agent: &Agent, version: u64) {
    let body = json!({"version": version}).to_string();
    let path = format!("/relations/{}", agent.id);
    assert_eq!(house.send("PUT", &path, user, Some(&body)).await.status, 200);
}

async fn listed(house: &House, user: &str, params: Value) -> Vec<Value> {
    let list = ask(house, user, "tools/list", params).await.json();
    list["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_an_agent_are_listed_and_called_by_who_added_it() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = agent(&house, &ann).await;
    let name = format!("{}..2fread_note", agent.id);
    let find = async |user: &str, params: Value| {
        let all = listed(&house, user, params).await;
        all.into_iter().find(|tool| tool["name"] == name.as_str())
    };
    assert!(find(&bob, json!({})).await.is_none(), "not before it is added");
    add(&house, &bob, &agent, 1).await;
    let tool = find(&bob, json!({})).await.unwrap();
    assert_eq!(tool["title"], "NotesBot: read_note");
    assert_eq!(tool["_meta"]["remit/scope"], "notes:read");
    assert!(tool["inputSchema"]["properties"]["id"].is_object());
    assert!(find(&ann, json!({})).await.is_none(), "its owner has not added it");
    let other = json!({"_meta": {"remit/agent": "somebody"}});
    assert!(find(&bob, other).await.is_none(), "another agent does not see it");
    let mut names: Vec<String> = listed(&house, &bob, json!({}))
        .await
        .iter()
        .map(|tool| tool["title"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 6);
    names.dedup();
    assert_eq!(names.len(), 6);

    let call = async |user: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        ask(&house, user, "tools/call", params).await.json()
    };
    assert_eq!(call(&bob, json!({"id": "n"})).await["result"]["isError"], false);
    let wrong = call(&bob, json!({"id": 1})).await;
    assert_eq!(wrong["result"]["structuredContent"]["error"]["code"], "INVALID_INPUT");
    assert_eq!(call(&ann, json!({"id": "n"})).await["error"]["code"], -32602, "not hers");
    assert_eq!(house.executor.runs(), 1);
    house.send("DELETE", &format!("/relations/{}", agent.id), &bob, None).await;
    assert!(find(&bob, json!({})).await.is_none(), "removed");
    let over = call(&bob, json!({"id": "n"})).await;
    assert_eq!(over["result"]["structuredContent"]["error"]["message"], "permission_revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_waits_for_a_review_is_not_listed() {
    let house = House::new().await;
    let bob = house.user("bob").await;
    let agent = agent(&house, &bob).await;
    add(&house, &bob, &agent, 1).await;
    assert_eq!(listed(&house, &bob, json!({})).await.len(), 6);
    let mut changed = manifest(2);
    changed["tools"][0]["input_schema"]["required"] = json!(["id"]);
    let (headers, body) = modern(
        &bob,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
        json!({}),
    );
    let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
    messages.next().await.unwrap();
    publish(&house, &agent, &changed).await;
    let heard = messages.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/tools/list_changed", "at once");
    assert_eq!(listed(&house, &bob, json!({})).await.len(), 5, "it waits");
    let path = format!("/relations/{}/accept", agent.id);
    assert_eq!(house.post(&path, &bob, r#"{"version": 2}"#).await.status, 200);
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/tools/list_changed");
    assert_eq!(listed(&house, &bob, json!({})).await.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_the_token_they_were_opened_with() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let key = house.post("/tokens", &ann, r#"{"label": "k", "scopes": ["calls"]}"#).await.json();
    let token = key["token"].as_str().unwrap().to_owned();
    let id = session(&house, &token, "2025-11-25", json!({})).await;
    let headers = heads(&token, &[("mcp-session-id", &id)]);
    let mut stream = Messages::open(&house, "GET", headers, None).await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    let (headers, body) = modern(&token, "subscriptions/listen", params, json!({}));
    let mut listening = Messages::open(&house, "POST", headers, Some(body)).await;
    listening.next().await.unwrap();
    let more = |name: &str| {
        let more = remit_testkit::samples::source(name, &[("x", remit_model::Sensitivity::Low)]);
        remit_testkit::samples::catalog(vec![crate::house::demo(), more])
    };
    // What changes before a stream is open is not told on it.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    house.engine.swap(more("one"));
    for (messages, count) in [(&mut stream, 2), (&mut listening, 1)] {
        for _ in 0..count {
            assert!(messages.next().await.is_some(), "while the token stands");
        }
    }
    let revoked = format!("/tokens/{}", key["id"].as_str().unwrap());
    assert_eq!(house.send("DELETE", &revoked, &ann, None).await.status, 204);
    // It is looked at once a second, before anything goes out.
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    house.engine.swap(more("two"));
    for messages in [&mut stream, &mut listening] {
        assert!(messages.next().await.is_none(), "nothing more");
    }
}
