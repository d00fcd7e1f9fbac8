//! The Model Context Protocol over real connections, revision by revision.

mod agents;
mod approvals;
mod asks;
mod beside;
mod hostile;
mod modern;
mod pipes;
mod prompting;
mod sessions;

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::house::{House, Reply};

pub(crate) type Headers = Vec<(String, String)>;

pub(crate) fn heads(token: &str, more: &[(&str, &str)]) -> Headers {
    let basic = [
        ("authorization", format!("Bearer {token}")),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    basic.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(more).collect()
}

/// Makes a request of the newest revision with the headers it wants.
pub(crate) fn modern(token: &str, method: &str, mut params: Value, can: Value) -> (Headers, Value) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
    let named = if method == "resources/read" { "uri" } else { "name" };
    let name = params[named].as_str().unwrap_or_default().to_owned();
    let mut more = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if matches!(method, "tools/call" | "prompts/get" | "resources/read") {
        more.push(("mcp-name", name.as_str()));
    }
    let headers = heads(token, &more);
    (headers, json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

pub(crate) async fn ask(house: &House, token: &str, method: &str, params: Value) -> Reply {
    let (headers, body) = modern(token, method, params, json!({}));
    house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await
}

/// Shakes hands and gives the session.
pub(crate) async fn session(house: &House, token: &str, revision: &str, can: Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": can,
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let answer = house.send_with("POST", "/mcp", heads(token, &[]), Some(&body.to_string())).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["result"]["protocolVersion"], revision);
    let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let done = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
    let headers = heads(token, &[("mcp-session-id", &session)]);
    let told = house.send_with("POST", "/mcp", headers, Some(done)).await;
    assert_eq!((told.status, told.text.as_str()), (202, ""));
    session
}

/// Sends a request within a session.
pub(crate) async fn within(house: &House, token: &str, session: &str, body: &Value) -> Reply {
    let headers = heads(token, &[("mcp-session-id", session)]);
    house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await
}

/// Reads a stream of messages as they come.
pub(crate) struct Messages(UnboundedReceiver<Value>);

impl Messages {
    pub(crate) async fn open(
        house: &House,
        method: &str,
        headers: Headers,
        body: Option<Value>,
    ) -> Self {
        let (url, method) = (format!("{}/mcp", house.url), method.to_owned());
        let (sender, receiver) = unbounded_channel();
        std::thread::spawn(move || {
            let mut request = ureq::http::Request::builder().method(method.as_str()).uri(&url);
            for (name, value) in &headers {
                request = request.header(name, value);
            }
            let agent = ureq::Agent::new_with_defaults();
            let response = match body {
                Some(body) => agent.run(request.body(body.to_string()).unwrap()),
                None => agent.run(request.body(()).unwrap()),
            };
            let response = response.unwrap();
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            for line in BufReader::new(response.into_body().into_reader()).lines() {
                let Ok(line) = line else { return };
                if let Some(data) = line.strip_prefix("data: ") {
                    let _ = sender.send(serde_json::from_str(data).unwrap());
                }
            }
        });
        Self(receiver)
    }

    /// Waits for the next message; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        self.0.recv().await
    }
}
