//! Approvals through the client, where it can; at the desk, where not.

use serde_json::{Value, json};

use super::{Messages, heads, modern, session, within};
use crate::house::House;

fn forms() -> Value {
    json!({"elicitation": {}})
}

async fn send(house: &House, token: &str, params: Value, can: Value) -> Value {
    let (headers, body) = modern(token, "tools/call", params, can);
    house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await.json()
}

fn answer(state: &Value, said: Value) -> Value {
    json!({
        "name": "demo.danger.echo", "arguments": {"n": 1},
        "requestState": state, "inputResponses": {"approval": said},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_is_told_what_is_missing_and_goes_on_with_the_answer() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let first = json!({"name": "demo.danger.echo", "arguments": {"n": 1}, "_meta": {"remit/threadId": "t"}});
    for (said, runs) in [
        (json!({"action": "accept", "content": {"decision": "approve"}}), true),
        (json!({"action": "accept", "content": {"decision": "deny"}}), false),
        (json!({"action": "decline"}), false),
        (json!({"action": "cancel"}), false),
    ] {
        let before = house.executor.runs();
        let asked = send(&house, &ann, first.clone(), forms()).await["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let question = &asked["inputRequests"]["approval"];
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("demo.danger.echo") && message.contains(r#"{"n":1}"#),
            "{message}"
        );
        assert_eq!(house.executor.runs(), before, "nothing runs while it is asked");
        // What is no answer is asked again.
        for none in [
            json!({}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"decision": "approve_once"}}),
        ] {
            let again = send(&house, &ann, answer(&asked["requestState"], none), forms()).await;
            assert_eq!(again["result"]["resultType"], "input_required", "{again}");
        }
        let ended =
            send(&house, &ann, answer(&asked["requestState"], said), forms()).await["result"]
                .clone();
        assert_eq!(ended["isError"], !runs, "{ended}");
        assert_eq!(house.executor.runs() - before, usize::from(runs));
        assert_eq!(ended["_meta"]["remit/callId"], asked["_meta"]["remit/callId"]);
        assert_eq!(ended["_meta"]["remit/threadId"], "t");
        if !runs {
            assert_eq!(
                ended["structuredContent"]["error"],
                json!({"code": "DENIED", "message": "user_rejected"})
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_for_ones_own_call_as_it_was_asked() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let first = json!({"name": "demo.danger.echo", "arguments": {"n": 1}});
    let asked = send(&house, &ann, first, forms()).await["result"].clone();
    let yes = json!({"action": "accept", "content": {"decision": "approve"}});
    let state = &asked["requestState"];
    let foreign = send(&house, &bob, answer(state, yes.clone()), forms()).await;
    assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
    let forged = json!(format!("{}x", state.as_str().unwrap()));
    assert_eq!(
        send(&house, &ann, answer(&forged, yes.clone()), forms()).await["error"]["code"],
        -32602
    );
    let mut other = answer(state, yes.clone());
    other["arguments"] = json!({"n": 2});
    let other = send(&house, &ann, other, forms()).await;
    assert_eq!(other["result"]["structuredContent"]["error"]["code"], "CALL_ID_REUSED");
    assert_eq!(house.executor.runs(), 0, "a yes to one input is none to another");
    let ended = send(&house, &ann, answer(state, yes.clone()), forms()).await;
    assert_eq!(ended["result"]["structuredContent"], json!({"n": 1}));
    let again = send(&house, &ann, answer(state, yes), forms()).await;
    assert_eq!(again["result"]["structuredContent"], json!({"n": 1}), "the first outcome");
    assert_eq!(house.executor.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_be_asked_there_is_asked_at_the_desk() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let key = house.post("/tokens", &ann, r#"{"label": "k", "scopes": ["calls"]}"#).await.json();
    let key = key["token"].as_str().unwrap().to_owned();
    // A client without forms; and a key that may make calls but answer no questions, whatever its
    // client says it can show.
    for (token, can) in
        [(&ann, json!({})), (&ann, json!({"elicitation": {"url": {}}})), (&key, forms())]
    {
        let params = json!({"name": "demo.danger.echo", "arguments": {}});
        let calling = send(&house, token, params, can);
        let answering = async {
            let list = async || house.get("/approvals", &ann).await.json()["approvals"].clone();
            house.until(async || list().await != json!([])).await;
            let path = format!("/approvals/{}", list().await[0]["id"].as_str().unwrap());
            assert_eq!(house.post(&path, &ann, r#"{"decision": "approve"}"#).await.status, 204);
        };
        let (ended, ()) = tokio::join!(calling, answering);
        assert_eq!(ended["result"]["isError"], false, "{ended}");
    }
}

async fn elicited(house: &House, token: &str, session: &str, id: u64) -> (Messages, Value) {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "demo.danger.echo", "arguments": {"n": 1},
    }});
    let headers = heads(token, &[("mcp-session-id", session)]);
    let mut messages = Messages::open(house, "POST", headers, Some(body)).await;
    let question = messages.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    (messages, question)
}

#[tokio::test(flavor = "multi_thread")]
async fn older_revisions_are_asked_within_the_answer() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    for revision in ["2025-06-18", "2025-11-25"] {
        let session_id = session(&house, &ann, revision, forms()).await;
        let bobs = session(&house, &bob, revision, forms()).await;
        for (said, runs) in [
            (json!({"action": "accept", "content": {"decision": "approve"}}), true),
            (json!({"action": "accept", "content": {}}), false),
            (json!({"action": "decline"}), false),
        ] {
            let before = house.executor.runs();
            let (mut messages, question) = elicited(&house, &ann, &session_id, 7).await;
            let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": said});
            assert_eq!(within(&house, &bob, &bobs, &reply).await.status, 202);
            assert_eq!(house.executor.runs(), before, "another's answer is none");
            assert_eq!(within(&house, &ann, &session_id, &reply).await.status, 202);
            let last = messages.next().await.unwrap();
            assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(7), &json!(!runs)));
            assert_eq!(house.executor.runs() - before, usize::from(runs));
            assert_eq!(messages.next().await, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_answered_elsewhere_is_taken_back() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let session = session(&house, &ann, "2025-11-25", forms()).await;
    let (mut messages, question) = elicited(&house, &ann, &session, 1).await;
    let waiting = house.get("/approvals", &ann).await.json()["approvals"][0].clone();
    let path = format!("/approvals/{}", waiting["id"].as_str().unwrap());
    house.post(&path, &ann, r#"{"decision": "approve"}"#).await;
    let withdrawn = messages.next().await.unwrap();
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert_eq!(messages.next().await.unwrap()["result"]["isError"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_token_makes_no_calls() {
    let house = House::new().await;
    let made = house.post("/agents", &house.admin, r#"{"name": "robot"}"#).await.json();
    let token = made["token"].as_str().unwrap();
    let params = json!({"name": "demo.danger.echo", "arguments": {}});
    let refused = send(&house, token, params, forms()).await;
    assert!(refused["error"].is_object(), "{refused}");
    assert_eq!(house.executor.runs(), 0);
}
