//! A client that takes as little as it can from the servers it measures: one connection, one request at a
//! time, answers read whole.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Is a connection that stays open.
pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// Is what came back.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Gives a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub fn contains(&self, what: &str) -> bool {
        self.text().contains(what)
    }
}

/// Writes a request.
pub fn request(method: &str, path: &str, heads: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\n{heads}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server takes a connection");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, unread: Vec::new() }
    }

    /// Sends a request and reads its answer.
    pub async fn ask(&mut self, request: &[u8]) -> Answer {
        self.send(request).await;
        let (status, head) = self.head().await;
        let mut answer = Answer { status, head, body: Vec::new() };
        if let Some(length) = answer.header("content-length") {
            let length = length.parse().expect("a length");
            answer.body = self.take(length).await;
        } else if answer.header("transfer-encoding").is_some() {
            answer.body = self.chunks().await;
        }
        answer
    }

    pub async fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).await.expect("the server reads");
    }

    /// Reads the head of an answer.
    pub async fn head(&mut self) -> (u16, String) {
        let end = self.until(b"\r\n\r\n").await;
        let head = String::from_utf8(self.take(end + 4).await).expect("a head is text");
        (head.get(9..12).and_then(|status| status.parse().ok()).expect("a status"), head)
    }

    async fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = self.until(b"\r\n").await;
            let line = self.take(end + 2).await;
            let size = std::str::from_utf8(&line).expect("a size").trim();
            let size = usize::from_str_radix(size, 16).expect("a size");
            body.extend_from_slice(&self.take(size + 2).await[..size]);
            if size == 0 {
                return body;
            }
        }
    }

    async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            self.more().await;
        }
        let rest = self.unread.split_off(length);
        std::mem::replace(&mut self.unread, rest)
    }

    async fn until(&mut self, mark: &[u8]) -> usize {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|window| window == mark) {
                return at;
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        self.unread.reserve(4096);
        let read = self.stream.read_buf(&mut self.unread).await.expect("the server answers");
        assert!(read > 0, "the server hung up");
    }

    /// Waits for bytes of a stream, and gives all there are.
    pub async fn some(&mut self) -> Vec<u8> {
        if self.unread.is_empty() {
            self.more().await;
        }
        std::mem::take(&mut self.unread)
    }
}
