//! Messages that nobody honest sends.

use serde_json::{Value, json};

use super::{heads, session, within};
use crate::house::House;

async fn raw(house: &House, token: &str, more: &[(&str, &str)], body: &str) -> (u16, Value) {
    let answer = house.send_with("POST", "/mcp", heads(token, more), Some(body)).await;
    let json = if answer.text.is_empty() { Value::Null } else { answer.json() };
    (answer.status, json)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused_with_what_is_wrong() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (body, code, id) in [
        ("", -32700, Value::Null),
        ("{", -32700, Value::Null),
        ("nonsense", -32700, Value::Null),
        ("\u{feff}{}", -32700, Value::Null),
        ("1", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, -32600, Value::Null),
        (r#"{"id":4,"method":"ping"}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":5}"#, -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":5}}"#, -32602, json!(4)),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"_meta":[]}}"#,
            -32602,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[null,"demo.echo"]}"#,
            -32602,
            json!(4),
        ),
    ] {
        let (status, answer) = raw(&house, &ann, &[], body).await;
        assert_eq!(status, 400, "{body}");
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{body}: {answer}"
        );
    }
    for id in ["0", "-1", "\"é\"", "\"1\"", "1.5", "9007199254740993"] {
        let (status, _) =
            raw(&house, &ann, &[], &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
                .await;
        assert_eq!(status, 200, "{id}");
    }
    let (status, answer) =
        raw(&house, &ann, &[], r#"{"jsonrpc":"2.0","method":"no/such","params":{}}"#).await;
    assert_eq!((status, answer), (202, Value::Null), "a notification has no answer");
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_nest_so_deep_and_no_deeper() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let call = |deep: usize| {
        let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"demo.echo","arguments":{{"n":{nested}}}}}}}"#
        )
    };
    let (_, fits) = raw(&house, &ann, &[], &call(62)).await;
    assert!(!fits["error"]["message"].as_str().unwrap().contains("nested"), "{fits}");
    let (_, deeper) = raw(&house, &ann, &[], &call(63)).await;
    assert!(deeper["error"]["message"].as_str().unwrap().contains("nested"), "{deeper}");
    let (status, _) = raw(&house, &ann, &[], &call(100_000)).await;
    assert!(status == 200 || status == 400, "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_has_a_limit_and_only_one_revision_has_batches() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let ping = |n: usize| json!({"jsonrpc": "2.0", "id": n, "method": "ping"});
    let batch = |count: usize| Value::Array((0..count).map(ping).collect());
    let old = session(&house, &ann, "2025-03-26", json!({})).await;
    let answers = within(&house, &ann, &old, &batch(64)).await;
    let ids: Vec<_> =
        answers.json().as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..64).collect::<Vec<u64>>());
    for count in [0, 65] {
        let refused = within(&house, &ann, &old, &batch(count)).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)));
    }
    let mixed = json!([
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ["2.0", 3, "ping"],
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "demo.echo"}},
    ]);
    let answers = within(&house, &ann, &old, &mixed).await.json();
    assert_eq!(answers.as_array().unwrap().len(), 3, "{answers}");
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(answers[1]["error"]["code"], -32601, "no handshake inside a batch");
    assert_eq!(answers[2]["result"]["isError"], false);
    let told = within(&house, &ann, &old, &json!([{"jsonrpc": "2.0", "method": "x"}])).await;
    assert_eq!((told.status, told.text.as_str()), (202, ""));
    let new = session(&house, &ann, "2025-06-18", json!({})).await;
    let refused = within(&house, &ann, &new, &batch(1)).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doors_are_the_same_as_elsewhere() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(house.post("/mcp", "rmu_wrong", ping).await.status, 401);
    let send = async |headers: &[(&str, &str)], body: &str| {
        let mut all = vec![("authorization".to_owned(), format!("Bearer {ann}"))];
        all.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        house.send_with("POST", "/mcp", all, Some(body)).await.status
    };
    assert_eq!(send(&[("content-type", "text/plain")], ping).await, 415);
    assert_eq!(send(&[("accept", "text/html")], ping).await, 406);
    assert_eq!(send(&[("accept", "text/event-stream")], ping).await, 406);
    assert_eq!(send(&[("accept", "application/json")], ping).await, 200);
    assert_eq!(send(&[("origin", "https://evil.example")], ping).await, 403);
    assert_eq!(send(&[("host", "evil.example")], ping).await, 421);
    assert_eq!(send(&[("mcp-protocol-version", "1999-01-01")], ping).await, 400);
    assert_eq!(send(&[("mcp-session-id", "none")], ping).await, 404);
    let most = 1024 * 1024;
    let exact = format!("{ping}{}", " ".repeat(most - ping.len()));
    assert_eq!(send(&[], &exact).await, 200);
    assert_eq!(send(&[], &format!("{exact} ")).await, 413);
    let scoped =
        house.post("/tokens", &ann, r#"{"label": "k", "scopes": ["grants"]}"#).await.json();
    assert_eq!(house.post("/mcp", scoped["token"].as_str().unwrap(), ping).await.status, 403);
}
