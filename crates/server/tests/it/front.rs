//! What is answered before the router is answered as the router would.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use tower::ServiceExt as _;

use super::house::House;

/// Is an answer: status, headers, body.
type Said = (u16, BTreeMap<String, String>, String);

/// Leaves out what differs from one answer to the next, and what the connection adds.
fn comparable(headers: &axum::http::HeaderMap) -> BTreeMap<String, String> {
    let passing = ["date", "content-length", "mcp-session-id", "retry-after"];
    let kept = headers.iter().filter(|(name, _)| !passing.contains(&name.as_str()));
    kept.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
}

/// Asks the router alone.
async fn routed(house: &House, path: &str, headers: &[(String, String)], body: &str) -> Said {
    let mut request = Request::builder().method("POST").uri(path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = remit_server::router(house.app.clone()).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    (parts.status.as_u16(), comparable(&parts.headers), text)
}

async fn served(house: &House, path: &str, headers: &[(String, String)], body: &str) -> Said {
    let reply = house.send_with("POST", path, headers.to_vec(), Some(body)).await;
    (reply.status, comparable(&reply.headers), reply.text)
}

/// Gives a body without the time that it was made at.
fn timeless(text: &str) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.retain(|name, _| !matches!(name.as_str(), "timestamp" | "duration_ms"));
    }
    value
}

#[tokio::test]
async fn both_ways_give_the_same_answer() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let good_call = json!({"capability": "demo.echo", "input": {"text": "hi"}, "call_id": "one", "thread_id": "t"});
    let good_tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "demo.echo", "arguments": {"text": "hi"},
        "_meta": {"remit/callId": "two", "remit/threadId": "t"},
    }});
    let long = format!("\"{}\"", "x".repeat(1024 * 1024));
    let (good_call, good_tool) = (good_call.to_string(), good_tool.to_string());
    let host = house.url.strip_prefix("http://").unwrap().to_owned();
    let head = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let proper = vec![
        head("host", &host),
        head("authorization", &format!("Bearer {ann}")),
        head("content-type", "application/json"),
        head("accept", "application/json, text/event-stream"),
    ];
    let with = |name: &str, value: &str| {
        let mut headers = proper.clone();
        headers.retain(|(known, _)| known != name);
        headers.push(head(name, value));
        headers
    };
    let mut seen = Vec::new();
    for (path, good) in [("/calls", &good_call), ("/mcp", &good_tool)] {
        for (headers, body) in [
            (proper.clone(), good.as_str()),
            (with("authorization", "Bearer nobody"), good),
            (with("authorization", "Basic abc"), good),
            (with("host", "evil.example"), good),
            (with("origin", "https://evil.example"), good),
            (with("content-type", "text/plain"), good),
            (with("accept", "text/html"), good),
            (proper.clone(), "{"),
            (proper.clone(), "[]"),
            (proper.clone(), &long),
        ] {
            let served = served(&house, path, &headers, body).await;
            let routed = routed(&house, path, &headers, body).await;
            let shown = &body[..body.len().min(80)];
            assert_eq!((served.0, &served.1), (routed.0, &routed.1), "{path} {headers:?} {shown}");
            assert_eq!(timeless(&served.2), timeless(&routed.2), "{path} {headers:?} {shown}");
            seen.push(served.0);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [200, 400, 401, 403, 406, 413, 415, 421], "all kinds of answers were seen");
    let figures = house.get("/metrics", &house.admin).await.text;
    for route in ["/calls", "/mcp"] {
        let line = format!("remit_requests_total{{route=\"{route}\",status=\"200\"}}");
        assert!(figures.contains(&line), "{figures}");
    }
    house.stop().await;
}
