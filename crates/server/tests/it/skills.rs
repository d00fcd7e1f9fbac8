//! Skill documents: who can read what, by every way in.

use std::sync::Arc;

use remit_engine::catalog::Catalog;
use remit_engine::policy::{Pattern, Policy, WhiteList};
use serde_json::{Value, json};

use crate::house::{House, demo};
use crate::mcp::modern;

fn patterns(list: &[&str]) -> Vec<Pattern> {
    list.iter().map(|one| Pattern::new(one)).collect()
}

/// Lets `bot` read about three modules of which there are two, and call nothing of the second.
fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.skills.default = Some(Vec::new());
    policy.skills.agents.insert("bot".to_owned(), patterns(&["calendar", "demo", "nothing"]));
    let allow = patterns(&["calendar.*"]);
    policy.white_lists =
        vec![WhiteList { user: Pattern::new("*"), agent: Pattern::new("bot"), allow }];
    policy
}

fn modules(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["module"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_reads_about_every_module() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let list = house.get("/skill-documents", &ann).await.json();
    assert_eq!(modules(&list["skills"]), ["calendar", "contacts", "demo", "memory"]);
    let index = list["index"].as_str().unwrap();
    assert!(index.contains("- memory: Remembers facts") && index.len() < 800, "{index}");
    let written = house.get("/skill-documents/calendar", &ann).await;
    assert_eq!(written.headers["content-type"], "text/markdown; charset=utf-8");
    assert!(written.text.starts_with("# calendar\n"), "the one that was written by hand");
    let made = house.get("/skill-documents/demo", &ann).await.text;
    assert!(made.starts_with("# demo\n") && made.contains("\n## danger.echo\n"), "{made}");
    assert!(made.contains("sensitivity high") && made.contains("```json\n{"), "{made}");
    assert_eq!(house.get("/skill-documents/none", &ann).await.code(), "NOT_FOUND");
    let key = r#"{"label": "x", "scopes": ["threads"]}"#;
    let key = house.post("/tokens", &ann, key).await.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(house.get("/skill-documents", &key).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hostile_in_a_manifest_stays_in_its_line() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut demo = demo();
    demo.manifest.capabilities[0].description = "a\n## forged\n\u{202e}b".to_owned();
    house.engine.swap(Catalog::build(vec![demo], Arc::default()));
    let made = house.get("/skill-documents/demo", &ann).await.text;
    assert!(made.contains("\na ## forged \\u{202e}b\n"), "{made}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_what_was_enabled_and_no_more() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    house.engine.swap(Catalog::build(vec![demo()], Arc::new(policy())));
    let list = house.get("/skill-documents?agent=bot", &ann).await.json();
    assert_eq!(modules(&list["skills"]), ["calendar", "demo"]);
    let hidden = house.get("/skill-documents/memory?agent=bot", &ann).await;
    let missing = house.get("/skill-documents/nothing?agent=bot", &ann).await;
    assert_eq!((hidden.status, &hidden.text), (404, &missing.text), "the same");
    let other = house.get("/skill-documents?agent=other", &ann).await.json();
    assert_eq!((modules(&other["skills"]), &other["index"]), (vec![], &json!("")));
    assert_eq!(modules(&house.get("/skill-documents", &ann).await.json()["skills"]).len(), 4);
    // An agent's own token reads for itself.
    let added = house.post("/agents", &ann, r#"{"name": "Bot"}"#).await.json();
    let (id, token) = (added["agent_id"].as_str().unwrap(), added["token"].as_str().unwrap());
    let mut own = policy();
    own.skills.agents.insert(id.to_owned(), patterns(&["mem*"]));
    house.engine.swap(Catalog::build(vec![demo()], Arc::new(own)));
    let list = house.get("/skill-documents", token).await.json();
    assert_eq!(modules(&list["skills"]), ["memory"]);
    assert_eq!(house.get("/skill-documents?agent=bot", token).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reads_through_its_one_tool() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    house.engine.swap(Catalog::build(vec![demo()], Arc::new(policy())));
    let call = async |method: &str, input: Value, agent: Value| {
        let arguments = json!({"module": "skills", "method": method, "input": input});
        let params =
            json!({"name": "project_cli", "arguments": arguments, "_meta": {"remit/agent": agent}});
        let (headers, body) = modern(&ann, "tools/call", params, json!({}));
        let body = body.to_string();
        let reply = house.send_with("POST", "/mcp/project_cli", headers, Some(&body)).await;
        reply.json()["result"]["structuredContent"].clone()
    };
    let bot = json!("bot");
    let index = call("index", json!({}), bot.clone()).await;
    assert_eq!(modules(&index["data"]["items"]), ["calendar", "demo"], "{index}");
    assert_eq!(call("list", json!({}), bot.clone()).await["data"], index["data"]);
    let read = call("read", json!({"module": "demo"}), bot.clone()).await;
    assert!(read["data"]["document"].as_str().unwrap().starts_with("# demo"), "{read}");
    let hidden = call("read", json!({"module": "memory"}), bot.clone()).await;
    assert_eq!(
        (&hidden["status"], &hidden["error"]["code"]),
        (&json!("failure"), &json!("NOT_FOUND"))
    );
    assert_eq!(hidden, call("read", json!({"module": "nothing"}), bot.clone()).await);
    let wrong = call("read", json!({"name": "demo"}), bot.clone()).await;
    assert!(wrong.to_string().contains("input_schema"), "{wrong}");
    let other = call("write", json!({}), bot.clone()).await;
    assert_eq!(other["error"]["code"], "UNKNOWN_CAPABILITY");
    // To read about it is no right to call it.
    let arguments = json!({"module": "demo", "method": "echo", "input": {}});
    let params =
        json!({"name": "project_cli", "arguments": arguments, "_meta": {"remit/agent": bot}});
    let (headers, body) = modern(&ann, "tools/call", params, json!({}));
    let refused =
        house.send_with("POST", "/mcp/project_cli", headers, Some(&body.to_string())).await.json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_reads_too_and_the_history_has_it() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let call = |id: &str, method: &str, input: Value| {
        let arguments = json!({"module": "skills", "method": method, "input": input}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "project_cli", "arguments": arguments}})
    };
    let calls = [
        call("c1", "index", json!({})),
        call("c2", "read", json!({"module": "memory"})),
        call("c3", "read", json!({})),
    ];
    let input = json!({"threadId": "t", "runId": "r", "messages": [], "forwardedProps": {"toolCalls": calls}});
    let events = house.post_stream("/runs", &ann, &input.to_string()).await.rest().await;
    let results: Vec<Value> = events
        .iter()
        .filter(|event| event.data["type"] == "TOOL_CALL_RESULT")
        .map(|event| serde_json::from_str(event.data["content"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(modules(&results[0]["data"]["items"]), ["calendar", "contacts", "demo", "memory"]);
    assert!(results[1]["data"]["document"].as_str().unwrap().starts_with("# memory"));
    assert_eq!(results[2]["error"]["code"], "INVALID_ACTION_INPUT");
    let history = house.get("/history?thread_id=t", &ann).await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 4);
}
