//! Measures the processor time of a call, ours and the server's, on pipes and over HTTP.
//!
//!     cargo run --release -p remit-mcp --example cost [CALLS] [AT_ONCE]
//!
//! The server is this program again, as small as a server can be, so that its share is a lower bound for
//! what real servers spend. On pipes the same calls are also made by hand, without the client.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that cannot go on should stop"
)]

use std::convert::Infallible;
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use remit_mcp::{Config, Launch, Remote, Server, Transport, Until};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

fn answer(asked: &[u8]) -> Option<Vec<u8>> {
    let asked: Value = serde_json::from_slice(asked).ok()?;
    let id = asked.get("id")?;
    let result = match asked["method"].as_str()? {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        _ => {
            let text = asked["params"]["arguments"]["text"].clone();
            json!({"content": [{"type": "text", "text": text}], "resultType": "complete"})
        }
    };
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "result": result})).ok()
}

fn serve_pipe() {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in input.lines() {
        if let Some(mut bytes) = line.ok().and_then(|line| answer(line.as_bytes())) {
            bytes.push(b'\n');
            output.write_all(&bytes).and_then(|()| output.flush()).unwrap();
        }
    }
}

async fn serve_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| async {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let mut response =
                    hyper::Response::new(Full::new(Bytes::from(answer(&body).unwrap_or_default())));
                let kind = hyper::header::HeaderValue::from_static("application/json");
                response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
                Ok::<_, Infallible>(response)
            });
            let http = hyper::server::conn::http1::Builder::new();
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Gives the processor time of a process, in nanoseconds.
fn spent(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let times =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    times.filter_map(|time| time.split(' ').next()?.parse::<u64>().ok()).sum()
}

struct Figures {
    what: &'static str,
    calls: usize,
    ours: u64,
    theirs: u64,
    took: Duration,
}

impl Figures {
    fn print(&self) {
        let per = |ns: u64| ns as f64 / self.calls as f64 / 1_000.0;
        let rate = self.calls as f64 / self.took.as_secs_f64();
        let (what, ours, theirs) = (self.what, per(self.ours), per(self.theirs));
        println!("{what:<24} {ours:>8.1} µs ours {theirs:>8.1} µs theirs {rate:>9.0} calls/s");
    }
}

async fn by_client(what: &'static str, server: Server, pid: u32, calls: usize, at_once: usize) {
    let server = Arc::new(server);
    let long = Until::within(Duration::from_secs(600));
    let given = Arc::new(json!({"text": "hello there"}));
    for _ in 0..500 {
        server.call_tool("echo", &given, &long, None).await.unwrap();
    }
    let pid = if pid == 0 { child() } else { pid };
    let (ours, theirs, began) = (spent(std::process::id()), spent(pid), Instant::now());
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (server, given) = (Arc::clone(&server), Arc::clone(&given));
        running.spawn(async move {
            for _ in 0..calls / at_once {
                let until = Until::within(Duration::from_secs(60));
                server.call_tool("echo", &given, &until, None).await.unwrap();
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    let figures = Figures {
        what,
        calls,
        ours: spent(std::process::id()) - ours,
        theirs: spent(pid) - theirs,
        took: began.elapsed(),
    };
    figures.print();
    server.stop().await;
}

/// Finds the one child of this process.
fn child() -> u32 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.filter_map(|list| list.split_whitespace().next()?.parse().ok()).next().unwrap()
}

async fn by_hand(calls: usize) {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.arg("pipe").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut lines = tokio::io::BufReader::new(process.stdout.take().unwrap()).lines();
    let pid = process.id().unwrap();
    let (mut ours, mut theirs, mut began) = (0, 0, Instant::now());
    for n in 0..calls + 500 {
        if n == 500 {
            (ours, theirs, began) = (spent(std::process::id()), spent(pid), Instant::now());
        }
        let params = json!({"name": "echo", "arguments": {"text": "hello there"}});
        let asked = json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params});
        input.write_all(format!("{asked}\n").as_bytes()).await.unwrap();
        let line = lines.next_line().await.unwrap().unwrap();
        let _: Value = serde_json::from_str(&line).unwrap();
    }
    let ours = spent(std::process::id()) - ours;
    let theirs = spent(pid) - theirs;
    Figures { what: "pipe, by hand", calls, ours, theirs, took: began.elapsed() }.print();
    drop(input);
    process.wait().await.unwrap();
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let first = args.next().unwrap_or_else(|| "20000".to_owned());
    match first.as_str() {
        "pipe" => return serve_pipe(),
        "http" => return serve_http().await,
        _ => {}
    }
    let calls: usize = first.parse().unwrap();
    let at_once: usize = args.next().map_or(16, |text| text.parse().unwrap());
    by_hand(calls).await;
    let me = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    for (what, at_once) in [("pipe, client", 1), ("pipe, client, at once", at_once)] {
        let launch = Launch { command: me.clone(), args: vec!["pipe".into()], ..Launch::default() };
        let server = Server::new(Config::new("pipe", Transport::Stdio(launch)));
        by_client(what, server, 0, calls, at_once).await;
    }
    let mut command = tokio::process::Command::new(&me);
    let mut process = command.arg("http").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = tokio::io::BufReader::new(process.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap();
    for (what, at_once) in [("HTTP, client", 1), ("HTTP, client, at once", at_once)] {
        let remote = Remote { url: format!("http://127.0.0.1:{port}/mcp"), ..Remote::default() };
        let server = Server::new(Config::new("http", Transport::Http(remote)));
        by_client(what, server, process.id().unwrap(), calls, at_once).await;
    }
    process.kill().await.unwrap();
}
