//! The load generator: many callers of many servers, in turns, and what each call took of the server.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::http::{Answer, Connection, request};
use crate::measure::{cpu_of, median};

const CALLERS: usize = 64;
const ROUNDS: usize = 9;
const VERSION: &str = "2025-11-25";

/// Is a server that runs until this is dropped.
pub struct Running {
    child: Child,
    pub address: SocketAddr,
    /// What a caller proves itself with, if the server wants that.
    pub token: Option<String>,
}

impl Running {
    /// Starts a program that says where it listens.
    pub fn start(words: &[String]) -> Self {
        let mut command = Command::new(&words[0]);
        let mut child = command
            .args(&words[1..])
            // It ends when this is closed: also if we break off and cannot end it.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
        let said = loop {
            let line = lines.next().unwrap_or_else(|| panic!("{words:?} ended")).expect("a line");
            if let Some(said) = line.strip_prefix("listening on http://") {
                break said.to_owned();
            }
        };
        let mut words = said.split_whitespace();
        let address = words.next().and_then(|text| text.parse().ok()).expect("an address");
        Self { child, address, token: words.next().map(str::to_owned) }
    }

    /// Starts one of this program's own.
    pub fn own(words: &[&str]) -> Self {
        let own = std::env::current_exe().expect("this program");
        let all = [own.to_str().expect("a path"), "serve"].into_iter().chain(words.iter().copied());
        Self::start(&all.map(str::to_owned).collect::<Vec<_>>())
    }

    /// Gives its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Gives the CPU time that it has used, in nanoseconds.
    pub fn cpu(&self) -> f64 {
        cpu_of(self.child.id() as i32).expect("it runs").as_secs_f64() * 1e9
    }

    /// Gives the headers that every request to it has.
    pub fn heads(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let host = self.address;
        format!("host: {host}\r\ncontent-type: application/json\r\n{}", token.unwrap_or_default())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is one way of calling one server.
struct Contestant {
    name: &'static str,
    server: Arc<Running>,
    kind: Kind,
    /// Among how many capabilities it calls.
    capabilities: u64,
    calls_each: usize,
    callers: Vec<(Connection, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Echo,
    Mcp,
    Rest,
}

impl Kind {
    fn body(self, number: u64, capabilities: u64) -> Value {
        let name = format!("bench.noop_{}", number % capabilities);
        match self {
            Self::Rest => json!({"capability": name, "input": {"n": number}}),
            Self::Mcp | Self::Echo => json!({
                "jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": name, "arguments": {"n": number}},
            }),
        }
    }

    fn path(self) -> &'static str {
        if self == Self::Rest { "/calls" } else { "/mcp" }
    }

    fn check(self, answer: &Answer) {
        let is_good = match self {
            Self::Rest => answer.contains(r#""status":"success""#),
            Self::Mcp => {
                answer.contains(r#""content":[{"#) && !answer.contains(r#""isError":true"#)
            }
            Self::Echo => answer.contains("tools/call"),
        };
        assert!(answer.status == 200 && is_good, "{} {}", answer.status, answer.text());
    }
}

/// Shakes hands where that is done, and gives the headers of the requests that follow.
async fn begin(server: &Running, kind: Kind) -> (Connection, String) {
    let mut connection = Connection::open(server.address).await;
    let mut heads = server.heads();
    if kind != Kind::Mcp {
        return (connection, heads);
    }
    heads.push_str("accept: application/json, text/event-stream\r\n");
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
    }});
    let welcome =
        connection.ask(&request("POST", "/mcp", &heads, hello.to_string().as_bytes())).await;
    assert_eq!(welcome.status, 200, "{}", welcome.text());
    if let Some(session) = welcome.header("mcp-session-id") {
        heads.push_str(&format!("mcp-session-id: {session}\r\n"));
    }
    heads.push_str(&format!("mcp-protocol-version: {VERSION}\r\n"));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let taken = connection.ask(&request("POST", "/mcp", &heads, ready.as_bytes())).await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    (connection, heads)
}

impl Contestant {
    async fn new(
        name: &'static str,
        server: &Arc<Running>,
        kind: Kind,
        capabilities: u64,
        calls_each: usize,
    ) -> Self {
        let mut callers = Vec::new();
        for _ in 0..CALLERS {
            callers.push(begin(server, kind).await);
        }
        Self { name, server: Arc::clone(server), kind, capabilities, calls_each, callers }
    }

    /// Has all callers make their calls; gives wall and CPU time of one.
    async fn round(&mut self, numbers: &Arc<AtomicU64>) -> [f64; 2] {
        let (wall, used) = (Instant::now(), self.server.cpu());
        let (kind, capabilities, calls) = (self.kind, self.capabilities, self.calls_each);
        let tasks: Vec<_> = std::mem::take(&mut self.callers)
            .into_iter()
            .map(|(mut connection, heads)| {
                let numbers = Arc::clone(numbers);
                tokio::spawn(async move {
                    for _ in 0..calls {
                        let number = numbers.fetch_add(1, Ordering::Relaxed);
                        let body = kind.body(number, capabilities).to_string();
                        let sent = request("POST", kind.path(), &heads, body.as_bytes());
                        kind.check(&connection.ask(&sent).await);
                    }
                    (connection, heads)
                })
            })
            .collect();
        for task in tasks {
            self.callers.push(task.await.expect("a caller"));
        }
        let made = (CALLERS * calls) as f64;
        [wall.elapsed().as_secs_f64() * 1e9 / made, (self.server.cpu() - used) / made]
    }
}

/// Measures all in turns. The peers are commands: the official servers in other languages.
pub async fn run(folder: &str, peers: &[(String, Vec<String>)]) -> Value {
    let few = Arc::new(Running::own(&["remit", &format!("{folder}/few"), "10"]));
    let many = Arc::new(Running::own(&["remit", &format!("{folder}/many"), "10000"]));
    let echo = Arc::new(Running::own(&["echo"]));
    let rmcp = Arc::new(Running::own(&["rmcp", "plain"]));
    let lean = Arc::new(Running::own(&["rmcp", "lean"]));
    let mut all = vec![
        Contestant::new("echo", &echo, Kind::Echo, 10, 50).await,
        Contestant::new("mcp", &few, Kind::Mcp, 10, 50).await,
        Contestant::new("calls", &few, Kind::Rest, 10, 50).await,
        Contestant::new("mcp of many", &many, Kind::Mcp, 10_000, 50).await,
        Contestant::new("rmcp", &rmcp, Kind::Mcp, 10, 50).await,
        Contestant::new("rmcp without sessions", &lean, Kind::Mcp, 10, 50).await,
    ];
    for (name, words) in peers {
        let server = Arc::new(Running::start(words));
        let name: &'static str = name.clone().leak();
        all.push(Contestant::new(name, &server, Kind::Mcp, 1, 5).await);
    }
    let numbers = Arc::new(AtomicU64::new(1_000_000));
    let mut figures = vec![Vec::new(); all.len()];
    for round in 0..=ROUNDS {
        for (contestant, figures) in all.iter_mut().zip(&mut figures) {
            let figure = contestant.round(&numbers).await;
            // The first round warms up.
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    let mut answer = json!({});
    for (contestant, turns) in all.iter().zip(figures) {
        let of = |which: usize| median(turns.iter().map(|turn| turn[which]).collect());
        answer[contestant.name] = json!({"wall": of(0), "cpu": of(1)});
    }
    answer
}
