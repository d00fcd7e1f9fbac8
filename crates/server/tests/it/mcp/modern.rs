//! Requests that stand alone: 2026-07-28.

use std::io::Write as _;

use remit_model::Sensitivity;
use remit_testkit::samples::{catalog, source};
use serde_json::{Value, json};

use super::{Messages, ask, heads, modern};
use crate::house::{House, demo};

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_as_the_caller_may_call_them() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut off = source("off", &[("x", Sensitivity::Low)]);
    off.manifest.enabled = false;
    let mut odd = source("odd", &[("x", Sensitivity::High)]);
    odd.manifest.capabilities[0].name = "@odd/x".to_owned();
    house.engine.swap(catalog(vec![demo(), off, odd]));
    let list = ask(&house, &ann, "tools/list", json!({})).await.json()["result"].clone();
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["..40odd..2fx", "demo.danger.echo", "demo.echo", "demo.fail", "demo.hang", "demo.noop"]
    );
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(list["ttlMs"].is_u64());
    let odd = &list["tools"][0];
    assert_eq!(
        (&odd["title"], &odd["annotations"]["destructiveHint"]),
        (&json!("@odd/x"), &json!(true))
    );
    assert_eq!(odd["inputSchema"]["type"], "object");
    assert_eq!(odd["_meta"]["remit/sensitivity"], "high");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_comes_in_pages_without_gap_or_repetition() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let names: Vec<String> = (0..1_001).map(|n| format!("t{n:04}")).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), Sensitivity::Low)).collect();
    house.engine.swap(catalog(vec![source("many", &all)]));
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
        let page = ask(&house, &ann, "tools/list", params).await.json()["result"].clone();
        pages += 1;
        for tool in page["tools"].as_array().unwrap() {
            seen.push(tool["name"].as_str().unwrap().to_owned());
        }
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    let expected: Vec<String> = names.iter().map(|name| format!("many.{name}")).collect();
    assert_eq!((pages, seen), (3, expected));
    let wrong = ask(&house, &ann, "tools/list", json!({"cursor": ""})).await;
    assert_eq!((wrong.status, &wrong.json()["error"]["code"]), (400, &json!(-32602)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_recorded_and_the_same_again_runs_nothing() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let meta = json!({"remit/callId": "c1", "remit/threadId": "t"});
    let params = json!({"name": "demo.echo", "arguments": {"text": "hi"}, "_meta": meta});
    for _ in 0..2 {
        let answer = ask(&house, &ann, "tools/call", params.clone()).await;
        assert_eq!(answer.headers["content-type"], "application/json");
        let result = &answer.json()["result"];
        assert_eq!(result["structuredContent"], json!({"text": "hi", "n": 7}));
        assert_eq!(result["content"][0]["type"], "text");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(
            (&result["isError"], &result["resultType"]),
            (&json!(false), &json!("complete"))
        );
        assert_eq!(result["_meta"]["remit/callId"], "c1");
    }
    assert_eq!(house.executor.runs(), 1);
    let shown = house.get("/calls/c1", &ann).await.json();
    assert_eq!((&shown["state"], &shown["thread_id"]), (&json!("succeeded"), &json!("t")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_has_the_form_the_protocol_wants() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let call = async |name: &str, arguments: Value| {
        ask(&house, &ann, "tools/call", json!({"name": name, "arguments": arguments})).await
    };
    let unknown = call("demo.ecko", json!({})).await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (400, &json!(-32602)));
    assert!(unknown.text.contains("unknown tool"), "{}", unknown.text);
    let failed = call("demo.fail", json!({})).await.json()["result"].clone();
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["structuredContent"]["error"]["code"], "BROKEN");
    let wrong = call("demo.echo", json!({"n": "x", "y": 1})).await.json()["result"].clone();
    assert_eq!(wrong["isError"], true);
    let error = &wrong["structuredContent"]["error"];
    assert_eq!(
        (&error["code"], error["details"]["errors"].as_array().unwrap().len()),
        (&json!("INVALID_INPUT"), 2)
    );
    for bad in [json!([]), json!("x"), json!(1)] {
        assert_eq!(call("demo.echo", bad).await.json()["error"]["code"], -32602);
    }
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo.echo","arguments":{"n":1,"n":2}}}"#;
    let refused = house.send_with("POST", "/mcp", heads(&ann, &[]), Some(twice)).await;
    assert_eq!(refused.json()["error"]["code"], -32602, "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn head_and_body_must_agree() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let (headers, body) = modern(&ann, "tools/call", json!({"name": "demo.echo"}), json!({}));
    let send = async |headers: super::Headers, body: &Value| {
        let answer = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
        (answer.status, answer.json()["error"]["code"].as_i64())
    };
    assert_eq!(send(headers.clone(), &body).await, (200, None));
    for (name, value) in [
        ("mcp-method", Some("tools/list")),
        ("mcp-method", Some("TOOLS/CALL")),
        ("mcp-method", None),
        ("mcp-name", Some("demo.fail")),
        ("mcp-name", None),
        ("mcp-protocol-version", Some("2025-11-25")),
        ("mcp-protocol-version", None),
    ] {
        let mut changed: super::Headers =
            headers.iter().filter(|(one, _)| one != name).cloned().collect();
        changed.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        assert_eq!(send(changed, &body).await, (400, Some(-32020)), "{name}: {value:?}");
    }
    let mut twice = headers.clone();
    twice.push(("mcp-name".to_owned(), "demo.fail".to_owned()));
    assert_eq!(send(twice, &body).await, (400, Some(-32020)), "one of two is no name");
    let mut coded: super::Headers =
        headers.iter().filter(|(one, _)| one != "mcp-name").cloned().collect();
    coded.push(("mcp-name".to_owned(), "=?base64?ZGVtby5lY2hv?=".to_owned()));
    assert_eq!(send(coded, &body).await, (200, None));
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut less = body.clone();
        let key = format!("io.modelcontextprotocol/{missing}");
        less["params"]["_meta"].as_object_mut().unwrap().remove(&key);
        assert_eq!(send(headers.clone(), &less).await, (400, Some(-32602)), "{missing}");
    }
    assert_eq!(house.executor.runs(), 2, "nothing else ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn revisions_are_told_and_others_refused() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let found = ask(&house, &ann, "server/discover", json!({})).await.json()["result"].clone();
    assert_eq!(
        found["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])
    );
    let offered = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    });
    assert_eq!(found["capabilities"], offered);
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "remit");
    let (mut headers, mut body) = modern(&ann, "server/discover", json!({}), json!({}));
    headers
        .iter_mut()
        .filter(|(n, _)| n == "mcp-protocol-version")
        .for_each(|h| h.1 = "2099-01-01".to_owned());
    body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let refused = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
    let error = refused.json()["error"].clone();
    assert_eq!((refused.status, &error["code"]), (400, &json!(-32022)));
    assert_eq!(error["data"]["requested"], "2099-01-01");
    for gone in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"] {
        let answer = ask(&house, &ann, gone, json!({})).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (404, &json!(-32601)),
            "{gone}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_calls_off_what_they_wanted() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let meta = json!({"remit/callId": "c1"});
    let (headers, body) =
        modern(&ann, "tools/call", json!({"name": "demo.hang", "_meta": meta}), json!({}));
    let address = house.url.strip_prefix("http://").unwrap().to_owned();
    let mut socket = std::net::TcpStream::connect(&address).unwrap();
    let body = body.to_string();
    let lines: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\n{lines}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    house.until(async || house.get("/calls/c1", &ann).await.json()["status"] == "running").await;
    drop(socket);
    house.until(async || house.get("/calls/c1", &ann).await.json()["state"] == "cancelled").await;
    assert_eq!(house.executor.stopped(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_goes_out_before_the_result() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let meta = json!({"remit/callId": "c1", "progressToken": "p"});
    let (headers, body) =
        modern(&ann, "tools/call", json!({"name": "demo.hang", "_meta": meta}), json!({}));
    let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
    let said = messages.next().await.unwrap();
    assert_eq!(said["method"], "notifications/progress");
    assert_eq!(
        said["params"],
        json!({"progressToken": "p", "progress": 0.5, "total": 1, "message": "half done"})
    );
    house.post("/calls/c1/cancel", &ann, "{}").await;
    let last = messages.next().await.unwrap();
    assert_eq!(last["result"]["structuredContent"]["error"]["code"], "CANCELLED");
    assert_eq!(messages.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_hear_of_changes_and_of_nothing_else() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let listen = async |what: Value| {
        let params = json!({"notifications": what});
        let (headers, mut body) = modern(&ann, "subscriptions/listen", params, json!({}));
        body["id"] = json!("s1");
        let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
        let first = messages.next().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s1");
        messages
    };
    let mut tools = listen(json!({"toolsListChanged": true})).await;
    let mut prompts = listen(json!({"promptsListChanged": true})).await;
    house.engine.swap(catalog(vec![demo(), source("more", &[("x", Sensitivity::Low)])]));
    let heard = tools.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s1");
    house.stop().await;
    for messages in [&mut tools, &mut prompts] {
        let last = messages.next().await.unwrap();
        assert_eq!(
            (&last["id"], &last["result"]["resultType"]),
            (&json!("s1"), &json!("complete"))
        );
        assert_eq!(messages.next().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tool_reaches_all_others() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for path in ["/mcp/project_cli", "/mcp?tools=project_cli"] {
        let send = async |method: &str, params: Value| {
            let (headers, body) = modern(&ann, method, params, json!({}));
            house.send_with("POST", path, headers, Some(&body.to_string())).await.json()
        };
        let call = async |arguments: Value| {
            send("tools/call", json!({"name": "project_cli", "arguments": arguments})).await
        };
        let list = send("tools/list", json!({})).await;
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 1);
        let properties = &list["result"]["tools"][0]["inputSchema"]["properties"];
        let names: Vec<_> = properties.as_object().unwrap().keys().collect();
        assert_eq!(names, ["input", "method", "module"]);
        let done = call(json!({"module": "demo", "method": "echo", "input": {"n": 1}})).await;
        let expected =
            json!({"status": "success", "module": "demo", "method": "echo", "data": {"n": 1}});
        assert_eq!(done["result"]["structuredContent"], expected);
        assert_eq!(done["result"]["content"][0]["text"], expected.to_string());
        let wrong = call(json!({"module": "demo", "method": "echo", "input": {"n": "x"}})).await;
        let error = &wrong["result"]["structuredContent"];
        assert_eq!(
            (&error["status"], &error["error"]["module"]),
            (&json!("failure"), &json!("demo"))
        );
        assert!(error["error"]["details"]["input_schema"].is_object());
        let missing = call(json!({"module": "demo", "method": "none"})).await;
        assert_eq!(missing["result"]["structuredContent"]["error"]["code"], "UNKNOWN_CAPABILITY");
        for bad in [
            json!({"command": "demo", "subcommand": "echo", "args": []}),
            json!({"module": "demo", "method": "echo", "args": []}),
            json!({"module": "demo", "method": "echo", "input": []}),
            json!({"module": "demo"}),
            json!({"module": 1, "method": "echo"}),
        ] {
            assert_eq!(call(bad.clone()).await["error"]["code"], -32602, "{bad}");
        }
        let direct = send("tools/call", json!({"name": "demo.echo"})).await;
        assert_eq!(direct["error"]["code"], -32602, "only through the one tool");
    }
    assert_eq!(house.post("/mcp?tools=all", &ann, "{}").await.code(), "INVALID_QUERY");
}
