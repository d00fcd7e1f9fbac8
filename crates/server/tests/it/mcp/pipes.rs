//! The protocol over pipes: one message a line.

use remit_server::mcp::{Tools, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};

use crate::house::House;

/// Is a client at the other end.
struct Client {
    lines: Lines<BufReader<DuplexStream>>,
    writer: DuplexStream,
    server: tokio::task::JoinHandle<Result<(), String>>,
}

impl Client {
    fn start(house: &House) -> Self {
        let (writer, reader) = tokio::io::duplex(1 << 16);
        let (out, back) = tokio::io::duplex(1 << 16);
        let app = house.app.clone();
        let server =
            tokio::spawn(
                async move { stdio::serve(&app, "ann", Tools::Catalog, reader, out).await },
            );
        Self { lines: BufReader::new(back).lines(), writer, server }
    }

    async fn write(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        self.next().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_eras_are_spoken_and_the_end_ends_what_runs() {
    let house = House::new().await;
    let mut client = Client::start(&house);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}});
    let welcome = client.ask(0, "initialize", hello).await;
    assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let done =
        client.ask(1, "tools/call", json!({"name": "demo.echo", "arguments": {"n": 1}})).await;
    assert_eq!(done["result"]["structuredContent"], json!({"n": 1}));
    let question = client.ask(2, "tools/call", json!({"name": "demo.danger.echo"})).await;
    assert_eq!(question["method"], "elicitation/create");
    let said = json!({"action": "accept", "content": {"decision": "approve"}});
    client.write(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said})).await;
    let last = client.next().await;
    assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(2), &json!(false)));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask(3, "server/discover", json!({"_meta": meta})).await;
    assert_eq!(found["result"]["resultType"], "complete");
    assert_eq!(client.ask(4, "server/discover", json!({})).await["error"]["code"], -32602);
    client.writer.write_all(b"nonsense\n\n").await.unwrap();
    assert_eq!(client.next().await["error"]["code"], -32700);
    let hang = json!({"name": "demo.hang", "_meta": {"progressToken": 1}});
    assert_eq!(client.ask(5, "tools/call", hang.clone()).await["method"], "notifications/progress");
    let off =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    client.write(&off).await;
    assert_eq!(client.next().await["result"]["structuredContent"]["error"]["code"], "CANCELLED");
    assert_eq!(client.ask(6, "tools/call", hang).await["method"], "notifications/progress");
    let Client { lines, writer, server } = client;
    drop(writer);
    server.await.unwrap().unwrap();
    drop(lines);
    house.until(async || house.executor.stopped() == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_ends_it() {
    let house = House::new().await;
    let mut client = Client::start(&house);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let exact = format!("{ping}{}\n", " ".repeat(1024 * 1024 - ping.len() - 1));
    client.writer.write_all(exact.as_bytes()).await.unwrap();
    assert_eq!(client.next().await["result"], json!({}));
    let _ = client.writer.write_all(&vec![b' '; 1024 * 1024 + 1]).await;
    assert!(client.server.await.unwrap().unwrap_err().contains("more than"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_ask_its_user_is_refused_at_once() {
    let house = House::new().await;
    let mut client = Client::start(&house);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    client.ask(0, "initialize", hello).await;
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let refused = client.ask(1, "tools/call", json!({"name": "demo.danger.echo"})).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(refused["result"]["structuredContent"]["error"]["code"], "DENIED", "{refused}");
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shook_hands_is_told_of_changes_between_answers() {
    let house = House::new().await;
    let mut client = Client::start(&house);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    client.ask(0, "initialize", hello).await;
    let uri = json!({"uri": "remit://skills/demo"});
    assert_eq!(client.ask(1, "resources/subscribe", uri).await["result"], json!({}));
    // The listener may still be on its way to where it hears.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let mut changed = crate::house::demo();
    changed.manifest.capabilities.pop();
    let more = remit_testkit::samples::source("more", &[("x", remit_model::Sensitivity::Low)]);
    house.engine.swap(remit_testkit::samples::catalog(vec![changed, more]));
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(client.next().await["method"].as_str().unwrap().to_owned());
    }
    heard.sort_unstable();
    assert_eq!(
        heard,
        [
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/tools/list_changed"
        ]
    );
}
