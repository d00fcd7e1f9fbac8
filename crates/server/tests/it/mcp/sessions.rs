//! Clients that shake hands: 2025-03-26 to 2025-11-25.

use remit_model::Sensitivity;
use remit_testkit::samples::{catalog, source};
use serde_json::{Value, json};

use super::{Messages, heads, session, within};
use crate::house::{House, demo};

fn call(id: Value, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test(flavor = "multi_thread")]
async fn every_revision_is_spoken_as_it_was() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (revision, structured, wrong_is_result) in
        [("2025-03-26", false, false), ("2025-06-18", true, false), ("2025-11-25", true, true)]
    {
        let session = session(&house, &ann, revision, json!({})).await;
        let ask = async |body: Value| within(&house, &ann, &session, &body).await.json();
        assert_eq!(
            ask(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})).await["result"],
            json!({})
        );
        let list = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 5);
        assert!(list["result"].get("resultType").is_none(), "{revision}");
        assert_eq!(list["result"]["tools"][0].get("title").is_some(), structured);
        let done = ask(call(json!(2), "demo.echo", json!({"n": 1}))).await;
        assert_eq!(done["result"]["isError"], false);
        assert_eq!(done["result"].get("structuredContent").is_some(), structured, "{revision}");
        assert_eq!(done["result"]["content"][0]["text"], r#"{"n":1}"#);
        let wrong = ask(call(json!(3), "demo.echo", json!({"n": "x"}))).await;
        assert_eq!(wrong["error"]["code"] == -32602, !wrong_is_result, "{revision}: {wrong}");
        assert_eq!(wrong["result"]["isError"] == true, wrong_is_result, "{revision}: {wrong}");
        let unknown = ask(call(json!(4), "no.such", json!({}))).await;
        assert_eq!(unknown["error"]["code"], -32602);
        let modern = ask(json!({"jsonrpc": "2.0", "id": 5, "method": "server/discover"})).await;
        assert_eq!(modern["error"]["code"], -32601);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_its_owners_and_ends() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let session = session(&house, &ann, "2025-11-25", json!({})).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(within(&house, &ann, &session, &ping).await.status, 200);
    assert_eq!(within(&house, &bob, &session, &ping).await.status, 404, "it is not theirs");
    let headers = heads(&bob, &[("mcp-session-id", &session)]);
    assert_eq!(house.send_with("DELETE", "/mcp", headers, None).await.status, 404);
    let headers = heads(&ann, &[("mcp-session-id", &session)]);
    assert_eq!(house.send_with("DELETE", "/mcp", headers, None).await.status, 204);
    assert_eq!(within(&house, &ann, &session, &ping).await.status, 404);
    for method in ["GET", "DELETE"] {
        assert_eq!(house.send_with(method, "/mcp", heads(&ann, &[]), None).await.status, 405);
    }
    // Without a session, calls can be made all the same.
    let body = call(json!(1), "demo.echo", json!({})).to_string();
    let answer = house.send_with("POST", "/mcp", heads(&ann, &[]), Some(&body)).await;
    assert_eq!(answer.json()["result"]["isError"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_session_are_one_conversation_and_can_be_called_off() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let session_id = session(&house, &ann, "2025-11-25", json!({})).await;
    let bobs = session(&house, &bob, "2025-11-25", json!({})).await;
    let body = call(json!("x"), "demo.hang", json!({}));
    let calling = within(&house, &ann, &session_id, &body);
    let calling_off = async {
        let state = async || house.get("/calls", &ann).await.json()["calls"][0]["status"].clone();
        house.until(async || state().await == "running").await;
        let off = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        within(&house, &bob, &bobs, &off(json!("x"))).await;
        within(&house, &ann, &session_id, &off(json!("y"))).await;
        assert_eq!(state().await, "running", "neither another's nor another");
        assert_eq!(within(&house, &ann, &session_id, &off(json!("x"))).await.status, 202);
    };
    let (ended, ()) = tokio::join!(calling, calling_off);
    assert_eq!(ended.json()["result"]["structuredContent"]["error"]["code"], "CANCELLED");
    assert_eq!(house.executor.stopped(), 1);
    let next =
        within(&house, &ann, &session_id, &call(json!(2), "demo.echo", json!({}))).await.json();
    let thread = &ended.json()["result"]["_meta"]["remit/threadId"];
    assert_eq!(&next["result"]["_meta"]["remit/threadId"], thread);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_hears_of_changes_on_its_one_stream() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let session = session(&house, &ann, "2025-06-18", json!({})).await;
    let headers = heads(&ann, &[("mcp-session-id", &session)]);
    let mut messages = Messages::open(&house, "GET", headers.clone(), None).await;
    let second = async || house.send_with("GET", "/mcp", headers.clone(), None).await.status;
    // A stream that is open has its place; until then a second would get it and not end.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(second().await, 409);
    house.engine.swap(catalog(vec![demo(), source("more", &[("x", Sensitivity::Low)])]));
    for list in ["tools", "resources"] {
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(messages.next().await.unwrap()["method"], method.as_str());
    }
    house.stop().await;
    assert_eq!(messages.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_has_added_an_agent_can_name_it() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = house.post("/agents", &ann, r#"{"name": "NotesBot"}"#).await.json();
    let session_id = session(&house, &bob, "2025-11-25", json!({})).await;
    let mut named = call(json!(1), "demo.echo", json!({}));
    for (agent, is_taken) in [(json!("a-label-of-mine"), true), (agent["agent_id"].clone(), false)]
    {
        named["params"]["_meta"] = json!({"remit/agent": agent});
        let answer = within(&house, &bob, &session_id, &named).await.json();
        assert_eq!(answer["result"].is_object(), is_taken, "{answer}");
    }
}
