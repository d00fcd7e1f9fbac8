//! Web servers to talk to, on loopback, which end with their test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// Is a request that came in.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Is the path with its query.
    pub target: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Request {
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// Gives a parameter of the query.
    pub fn query(&self, name: &str) -> Option<String> {
        let url = url::Url::parse(&format!("http://x{}", self.target)).unwrap();
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }
}

/// Is what a server does with a request.
pub enum Reply {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Sends these bytes as they are.
    Raw(Vec<u8>),
    /// Says nothing until the test is over.
    Silence,
    /// Sends a beginning, then a byte now and then until the test is over.
    Drip(Vec<u8>),
}

impl Reply {
    pub fn html(text: &str) -> Self {
        Self::typed("text/html; charset=utf-8", text.as_bytes())
    }

    pub fn json(value: &Value) -> Self {
        Self::typed("application/json", value.to_string().as_bytes())
    }

    pub fn typed(kind: &str, body: &[u8]) -> Self {
        Self::Answer(200, vec![("content-type", kind.to_owned())], body.to_vec())
    }

    pub fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), b"no".to_vec())
    }

    pub fn redirect(to: &str) -> Self {
        Self::Answer(302, vec![("location", to.to_owned())], Vec::new())
    }
}

/// Is a running server.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (stopped, kept, answer) = (Arc::clone(&stop), Arc::clone(&requests), Arc::new(answer));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (stopped, kept, answer) =
                    (Arc::clone(&stopped), Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let Some(request) = receive(&stream) else { return };
                    kept.lock().unwrap().push(request.clone());
                    respond(stream, answer(&request), &stopped);
                });
            }
        });
        Self { port, requests, stop, thread: Some(thread) }
    }

    /// Gives an address of the server.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Gives what came in so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for somebody to connect.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn receive(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = String::new();
    if let Some(length) = headers.get("content-length").and_then(|length| length.parse().ok()) {
        reader.take(length).read_to_string(&mut body).ok()?;
    }
    Some(Request { method, target, headers, body })
}

fn respond(mut stream: TcpStream, reply: Reply, stopped: &AtomicBool) {
    let wait = || std::thread::sleep(std::time::Duration::from_millis(20));
    match reply {
        Reply::Answer(status, headers, body) => {
            let mut head =
                format!("HTTP/1.1 {status} Answer\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("connection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
        Reply::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
        }
        Reply::Silence => {
            while !stopped.load(Ordering::SeqCst) {
                wait();
            }
        }
        Reply::Drip(bytes) => {
            let mut alive = stream.write_all(&bytes).is_ok();
            while alive && !stopped.load(Ordering::SeqCst) {
                alive = stream.write_all(b" ").is_ok();
                wait();
            }
        }
    }
}

/// Gives settings under which the loopback may be reached.
pub fn private() -> Value {
    json!({"allow_private": true})
}
