//! A server of HTTP that says exactly what a test wants, byte by byte.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Is a request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl Asked {
    /// Gives the method of the protocol.
    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub fn tool(&self) -> &str {
        self.body["params"]["name"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn result(&self, result: Value) -> Says {
        let body = json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result});
        Says::Json(200, vec![], body.to_string())
    }

    pub fn error(&self, status: u16, code: i64, message: &str) -> Says {
        let error = json!({"code": code, "message": message});
        let body = json!({"jsonrpc": "2.0", "id": self.body["id"], "error": error});
        Says::Json(status, vec![], body.to_string())
    }
}

/// Is what a server says to a request.
pub enum Says {
    /// A body with this status and these headers.
    Json(u16, Vec<(&'static str, String)>, String),
    /// A body of another kind.
    Other(u16, &'static str, String),
    /// Events, each after a pause; then the end of the stream, or silence.
    Events(Vec<(u64, String)>, Then),
    /// These bytes and nothing else, then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, for ever.
    Silence,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    Ends,
    Stays,
}

/// Writes an event.
pub fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

type Handler = Arc<dyn Fn(&Asked) -> Says + Send + Sync>;

/// Is a running server.
pub struct Fake {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<Asked>>>,
    /// How many connections were made.
    pub connections: Arc<AtomicUsize>,
    /// How many connections were closed while an answer was on its way.
    pub left: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    pub async fn start(handler: impl Fn(&Asked) -> Says + Send + Sync + 'static) -> Self {
        Self::bind("127.0.0.1:0".parse().unwrap(), None, handler).await
    }

    pub async fn start_at(
        address: SocketAddr,
        handler: impl Fn(&Asked) -> Says + Send + Sync + 'static,
    ) -> Self {
        Self::bind(address, None, handler).await
    }

    pub async fn secure(
        tls: tokio_rustls::TlsAcceptor,
        handler: impl Fn(&Asked) -> Says + Send + Sync + 'static,
    ) -> Self {
        Self::bind("127.0.0.1:0".parse().unwrap(), Some(tls), handler).await
    }

    async fn bind(
        address: SocketAddr,
        tls: Option<tokio_rustls::TlsAcceptor>,
        handler: impl Fn(&Asked) -> Says + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, connections, left) = (Arc::default(), Arc::default(), Arc::default());
        let (seen, count, gone) = (Arc::clone(&asked), Arc::clone(&connections), Arc::clone(&left));
        let handler: Handler = Arc::new(handler);
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (count, seen, gone): (Arc<AtomicUsize>, _, _) =
                    (Arc::clone(&count), Arc::clone(&seen), Arc::clone(&gone));
                count.fetch_add(1, Ordering::SeqCst);
                let (handler, tls) = (Arc::clone(&handler), tls.clone());
                open.spawn(async move {
                    match tls {
                        None => serve(stream, &handler, &seen, &gone).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &handler, &seen, &gone).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, asked, connections, left, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Gives the requests for a method of the protocol.
    pub fn asked_for(&self, method: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|one| one.rpc() == method).cloned().collect()
    }
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut Vec<u8>) -> Option<Asked> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let method = lines.next()?.split(' ').next()?.to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    while buffer.len() < end + 4 + length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&buffer[end + 4..end + 4 + length]).unwrap_or_default();
    buffer.drain(..end + 4 + length);
    Some(Asked { method, headers, body })
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    handler: &Handler,
    seen: &Mutex<Vec<Asked>>,
    left: &AtomicUsize,
) {
    let mut buffer = Vec::new();
    while let Some(asked) = read(&mut stream, &mut buffer).await {
        seen.lock().unwrap().push(asked.clone());
        if !answer(&mut stream, handler(&asked), left).await {
            return;
        }
    }
}

/// Answers, and tells whether the connection goes on.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    says: Says,
    left: &AtomicUsize,
) -> bool {
    let whole = |status: u16, kind: &str, more: &[(&str, String)], body: &str| {
        let more: String =
            more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    match says {
        Says::Json(status, more, body) => {
            let text = whole(status, "application/json", &more, &body);
            stream.write_all(text.as_bytes()).await.is_ok()
        }
        Says::Other(status, kind, body) => {
            stream.write_all(whole(status, kind, &[], &body).as_bytes()).await.is_ok()
        }
        Says::Events(events, then) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            if stream.write_all(head.as_bytes()).await.is_err() {
                return false;
            }
            for (pause, text) in events {
                if pause > 0 {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                let chunk = format!("{:x}\r\n{text}\r\n", text.len());
                if stream.write_all(chunk.as_bytes()).await.is_err() {
                    left.fetch_add(1, Ordering::SeqCst);
                    return false;
                }
            }
            if then == Then::Stays {
                return silent(stream, left).await;
            }
            stream.write_all(b"0\r\n\r\n").await.is_ok()
        }
        Says::Raw(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            false
        }
        Says::Silence => silent(stream, left).await,
    }
}

async fn silent<S: AsyncRead + Unpin>(stream: &mut S, left: &AtomicUsize) -> bool {
    let mut byte = [0];
    // Until the other side goes away.
    let _ = stream.read(&mut byte).await;
    left.fetch_add(1, Ordering::SeqCst);
    false
}

const MODERN: &str = "2026-07-28";

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

/// Answers as a server of the newest revision does; `more` comes first.
pub fn modern(more: impl Fn(&Asked) -> Option<Says>) -> impl Fn(&Asked) -> Says {
    move |asked| {
        if let Some(says) = more(asked) {
            return says;
        }
        let version = &asked.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if version != MODERN || asked.header("mcp-protocol-version") != Some(MODERN) {
            return asked.error(400, -32020, "the version is missing");
        }
        if asked.header("mcp-method") != Some(asked.rpc()) {
            return asked.error(400, -32020, "the method is missing");
        }
        match asked.rpc() {
            "server/discover" => asked.result(json!({
                "supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": true}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
            })),
            "tools/list" => asked.result(json!({"tools": [
                {"name": "echo", "inputSchema": {"type": "object"}},
                {"name": "region", "inputSchema": {"type": "object", "properties": {
                    "region": {"type": "string", "x-mcp-header": "Region"}}}},
                {"name": "wrong", "inputSchema": {"type": "object", "properties": {
                    "n": {"type": "number", "x-mcp-header": "N"}}}},
            ]})),
            "tools/call" if asked.header("mcp-name") != Some(asked.tool()) => {
                asked.error(400, -32020, "the name is missing")
            }
            "tools/call" if asked.tool() == "region" => {
                let given = asked.body["params"]["arguments"]["region"].as_str();
                match asked.header("mcp-param-region") == given {
                    true => asked.result(text(given.unwrap_or("none"))),
                    false => asked.error(400, -32020, "the region is missing"),
                }
            }
            "tools/call" => asked.result(text(&asked.body["params"]["arguments"].to_string())),
            _ => asked.error(404, -32601, "no such method"),
        }
    }
}

/// Answers as a server with sessions does; `more` comes first, but not before the handshake.
pub fn older(more: impl Fn(&Asked) -> Option<Says>) -> impl Fn(&Asked) -> Says {
    move |asked| {
        if asked.rpc() == "initialize" {
            let version = asked.body["params"]["protocolVersion"].clone();
            let result = json!({"protocolVersion": version, "serverInfo": {"name": "fake"},
                "capabilities": {"tools": {"listChanged": true}}});
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
            let session = vec![("Mcp-Session-Id", "s-1".to_owned())];
            return Says::Json(200, session, body.to_string());
        }
        if asked.header("mcp-session-id") != Some("s-1") {
            return Says::Other(400, "text/plain", "begin with initialize".to_owned());
        }
        if asked.header("mcp-protocol-version") != Some("2025-11-25") {
            return Says::Other(400, "text/plain", "which revision?".to_owned());
        }
        if let Some(says) = more(asked) {
            return says;
        }
        if asked.method == "GET" {
            return Says::Other(405, "text/plain", String::new());
        }
        if asked.body.get("id").is_none() || asked.method == "DELETE" {
            return Says::Other(202, "text/plain", String::new());
        }
        match asked.rpc() {
            "ping" => asked.result(json!({})),
            "tools/list" => asked.result(json!({"tools": []})),
            "tools/call" => asked.result(text(&asked.body["params"]["arguments"].to_string())),
            _ => asked.error(200, -32601, "no such method"),
        }
    }
}
