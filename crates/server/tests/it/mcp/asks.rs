//! Tools that ask their client while they run, and tools that speak.

use remit_engine::catalog::Source;
use remit_model::Sensitivity;
use remit_testkit::samples::{catalog, settings, source};
use serde_json::{Value, json};

use super::{Messages, heads, modern, session, within};
use crate::house::{House, Reply};

fn asking() -> Source {
    let all =
        [("ask", Sensitivity::Low), ("careful.ask", Sensitivity::High), ("say", Sensitivity::Low)];
    let mut made = source("t", &all);
    for capability in &mut made.manifest.capabilities {
        capability.input_schema = json!({"type": "object"});
        capability.timeout_ms = Some(20_000);
    }
    made.settings = Ok(settings(&json!({"key": "hunter22"}), &["hunter22"]));
    made
}

async fn house() -> (House, String) {
    let house = House::new().await;
    house.engine.swap(catalog(vec![asking()]));
    let ann = house.user("ann").await;
    (house, ann)
}

fn all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

async fn send(house: &House, token: &str, params: Value, can: Value) -> Reply {
    let (headers, body) = modern(token, "tools/call", params, can);
    house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await
}

fn call(arguments: Value) -> Value {
    json!({"name": "t.ask", "arguments": arguments, "_meta": {"remit/callId": "c1"}})
}

fn form(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

fn with(mut params: Value, state: &Value, answers: Value) -> Value {
    params["requestState"] = state.clone();
    params["inputResponses"] = answers;
    params
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_said_and_brought_round_by_round() {
    let (house, ann) = house().await;
    let params = call(json!({"asks": ["form"], "rounds": 2}));
    let first = send(&house, &ann, params.clone(), all()).await.json()["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(first["inputRequests"]["form"]["method"], "elicitation/create");
    assert_eq!(first["_meta"]["remit/callId"], "c1");
    // What is no answer is asked again, under another id, and is the same round.
    for none in
        [json!({}), json!({"form": 1}), json!({"form": {"action": "accept", "content": {}}})]
    {
        let again = with(params.clone(), &first["requestState"], none);
        let again = send(&house, &ann, again, all()).await.json()["result"].clone();
        assert_eq!(again["requestState"], first["requestState"], "{again}");
    }
    let answers = json!({"form": form("Ann"), "nobody_asked": 1});
    let answered = with(params.clone(), &first["requestState"], answers);
    let second = send(&house, &ann, answered.clone(), all()).await.json()["result"].clone();
    assert_eq!(second["resultType"], "input_required");
    assert_ne!(second["requestState"], first["requestState"]);
    // The stream broke and the client sends its first answer again: it counts for the first round alone.
    let repeated = send(&house, &ann, answered, all()).await.json()["result"].clone();
    assert_eq!(repeated["requestState"], second["requestState"], "{repeated}");
    let last = with(params.clone(), &second["requestState"], json!({"form": form("Bob")}));
    for _ in 0..2 {
        let done = send(&house, &ann, last.clone(), all()).await.json()["result"].clone();
        assert_eq!(
            done["structuredContent"]["answers"],
            json!([{"form": form("Ann")}, {"form": form("Bob")}]),
            "{done}"
        );
    }
    assert_eq!(house.executor.runs(), 1, "all that is one call");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_brings_is_its_own() {
    let (house, ann) = house().await;
    let bob = house.user("bob").await;
    let key = house.post("/tokens", &ann, r#"{"label": "k", "scopes": ["calls"]}"#).await.json();
    let key = key["token"].as_str().unwrap().to_owned();
    let params = call(json!({"asks": ["form"]}));
    let first = send(&house, &ann, params.clone(), all()).await.json()["result"].clone();
    let state = first["requestState"].as_str().unwrap();
    let answers = json!({"form": form("Eve")});
    for (token, state) in [
        (&bob, state.to_owned()),
        (&key, state.to_owned()),
        (&ann, format!("{state}-TAMPERED")),
        (&ann, state.replacen(".1.", ".2.", 1)),
        (&ann, "c1".to_owned()),
    ] {
        let refused =
            send(&house, token, with(params.clone(), &json!(state), answers.clone()), all());
        let refused = refused.await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (400, &json!(-32602)),
            "{state}"
        );
    }
    let done = send(&house, &ann, with(params, &json!(state), json!({"form": form("Ann")})), all());
    let done = done.await.json();
    assert_eq!(done["result"]["structuredContent"]["answers"], json!([{"form": form("Ann")}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_asked_only_for_what_it_says_it_has() {
    let (house, ann) = house().await;
    let key = house.post("/tokens", &ann, r#"{"label": "k", "scopes": ["calls"]}"#).await.json();
    let key = key["token"].as_str().unwrap().to_owned();
    for (token, kinds, can, lacks) in [
        (&ann, json!(["sample"]), json!({}), "sampling"),
        (&ann, json!(["form", "sample"]), json!({"elicitation": {}}), "sampling"),
        (&ann, json!(["roots"]), json!({"sampling": {}, "elicitation": {}}), "roots"),
        (&ann, json!(["form"]), json!({"elicitation": {"url": {}}}), "elicitation"),
        // A form is for the person, for whom a key that only calls does not answer.
        (&key, json!(["form"]), all(), "elicitation"),
    ] {
        let params = json!({"name": "t.ask", "arguments": {"asks": kinds}});
        let refused = send(&house, token, params, can).await;
        let error = refused.json()["error"].clone();
        assert_eq!((refused.status, &error["code"]), (400, &json!(-32021)), "{error}");
        assert_eq!(error["data"]["requiredCapabilities"], json!({lacks: {}}));
    }
    let rest = r#"{"capability": "t.ask", "input": {"asks": ["form"]}}"#;
    let rest = house.post("/calls", &ann, rest).await.json();
    assert_eq!(rest["code"], "CLIENT_CANNOT", "who cannot be asked is told so: {rest}");
    let id = session(&house, &ann, "2025-11-25", json!({})).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "t.ask", "arguments": {"asks": ["sample"]},
    }});
    let legacy = within(&house, &ann, &id, &body).await.json();
    assert_eq!(legacy["result"]["structuredContent"]["error"]["code"], "CLIENT_CANNOT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_an_answer_does_not_reach_the_work_or_the_record() {
    let (house, ann) = house().await;
    let params = call(json!({"asks": ["form"]}));
    let first = send(&house, &ann, params.clone(), all()).await.json()["result"].clone();
    let answered = with(params, &first["requestState"], json!({"form": form(&ann)}));
    let done = send(&house, &ann, answered, all()).await.text;
    assert!(done.contains("[secret]") && !done.contains(&ann), "{done}");
    assert!(!house.get("/calls/c1", &ann).await.text.contains(&ann));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_asked_about_can_ask_too() {
    let (house, ann) = house().await;
    let mut params = call(json!({"asks": ["form", "sample", "roots"]}));
    params["name"] = json!("t.careful.ask");
    let first = send(&house, &ann, params.clone(), all()).await.json()["result"].clone();
    assert!(first["inputRequests"]["approval"].is_object(), "{first}");
    let yes = json!({"approval": {"action": "accept", "content": {"decision": "approve"}}});
    let approved = with(params.clone(), &first["requestState"], yes);
    let second = send(&house, &ann, approved, all()).await.json()["result"].clone();
    let names: Vec<_> = second["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["form", "roots", "sample"]);
    let said =
        json!({"role": "assistant", "content": {"type": "text", "text": "so"}, "model": "m"});
    let answers = json!({"form": form("Ann"), "sample": said, "roots": {"roots": []}});
    let done = with(params, &second["requestState"], answers.clone());
    let done = send(&house, &ann, done, all()).await.json();
    assert_eq!(done["result"]["structuredContent"]["answers"], json!([answers]));
}

async fn legacy(house: &House, token: &str, id: &str, arguments: Value) -> Messages {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "t.ask", "arguments": arguments, "_meta": {"remit/callId": "c1"},
    }});
    let headers = heads(token, &[("mcp-session-id", id)]);
    Messages::open(house, "POST", headers, Some(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn older_revisions_are_asked_by_requests() {
    let (house, ann) = house().await;
    let id = session(&house, &ann, "2025-11-25", all()).await;
    let mut messages = legacy(&house, &ann, &id, json!({"asks": ["form", "roots"]})).await;
    let (one, other) = (messages.next().await.unwrap(), messages.next().await.unwrap());
    assert_eq!(
        (&one["method"], &other["method"]),
        (&json!("elicitation/create"), &json!("roots/list"))
    );
    for (asked, said) in [(&other, json!({"roots": []})), (&one, form("Ann"))] {
        let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": said});
        assert_eq!(within(&house, &ann, &id, &reply).await.status, 202);
    }
    let last = messages.next().await.unwrap();
    let answers = json!([{"form": form("Ann"), "roots": {"roots": []}}]);
    assert_eq!(last["result"]["structuredContent"]["answers"], answers, "{last}");
    assert_eq!(messages.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_refuses_or_answers_nonsense_ends_the_question() {
    let (house, ann) = house().await;
    for said in [
        json!({"error": {"code": -1, "message": "no"}}),
        json!({"result": {"action": "accept", "content": {"name": 1}}}),
    ] {
        let id = session(&house, &ann, "2025-11-25", all()).await;
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "t.ask", "arguments": {"asks": ["form"]},
        }});
        let headers = heads(&ann, &[("mcp-session-id", &id)]);
        let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
        let mut reply = said;
        reply["jsonrpc"] = json!("2.0");
        reply["id"] = messages.next().await.unwrap()["id"].clone();
        within(&house, &ann, &id, &reply).await;
        let last = messages.next().await.unwrap();
        let code = &last["result"]["structuredContent"]["error"]["code"];
        assert_eq!(code, "CLIENT_SILENT", "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_call_that_is_called_off_are_taken_back() {
    let (house, ann) = house().await;
    let id = session(&house, &ann, "2025-11-25", all()).await;
    let mut messages = legacy(&house, &ann, &id, json!({"asks": ["form"]})).await;
    let asked = messages.next().await.unwrap();
    house.post("/calls/c1/cancel", &ann, "{}").await;
    let withdrawn = messages.next().await.unwrap();
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    let last = messages.next().await.unwrap();
    assert_eq!(last["result"]["structuredContent"]["error"]["code"], "CANCELLED");
}

#[tokio::test(flavor = "multi_thread")]
async fn remarks_go_to_who_wants_them_without_secrets() {
    let (house, ann) = house().await;
    let said = |message: &Value| {
        assert_eq!(message["method"], "notifications/message");
        assert_eq!(message["params"]["logger"], "t.say");
        assert_eq!(message["params"]["data"], json!({"key": "[secret]"}));
        message["params"]["level"].as_str().unwrap().to_owned()
    };
    let modern_call = |level: Option<&str>| {
        let mut params = json!({"name": "t.say", "arguments": {}});
        if let Some(level) = level {
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        modern(&ann, "tools/call", params, json!({}))
    };
    let (headers, body) = modern_call(Some("info"));
    let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
    assert_eq!(said(&messages.next().await.unwrap()), "info");
    assert_eq!(said(&messages.next().await.unwrap()), "error");
    assert_eq!(messages.next().await.unwrap()["result"]["isError"], false);
    let (headers, body) = modern_call(None);
    let quiet = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
    assert_eq!(quiet.headers["content-type"], "application/json", "nobody wanted to be told");
    let (headers, body) = modern_call(Some("loud"));
    let wrong = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
    assert_eq!(wrong.json()["error"]["code"], -32602);

    let id = session(&house, &ann, "2025-06-18", json!({})).await;
    let body =
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t.say"}});
    let before = within(&house, &ann, &id, &body).await;
    assert_eq!(before.headers["content-type"], "application/json", "nothing was said of it yet");
    for (level, is_one) in [("LOUD", false), ("error", true)] {
        let set = json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": level}});
        assert_eq!(within(&house, &ann, &id, &set).await.json()["result"] == json!({}), is_one);
    }
    let headers = heads(&ann, &[("mcp-session-id", &id)]);
    let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
    assert_eq!(said(&messages.next().await.unwrap()), "error");
    assert_eq!(messages.next().await.unwrap()["id"], 7);
}
