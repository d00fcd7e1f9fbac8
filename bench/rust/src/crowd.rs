//! Calls among thousands who listen and thousands who dawdle: what they cost the others, and the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http::{Connection, request};
use crate::load::Running;

/// How many there are of each kind.
const MANY: usize = 2_000;
const CALLERS: usize = 8;
const CALLS_EACH: usize = 500;
/// How often a slow client sends the next letter of its request.
const DAWDLE: Duration = Duration::from_millis(500);

/// Calls from a few connections; gives the wall time that all but one in a hundred stay below, in
/// nanoseconds, and the CPU time of one call.
async fn calls(server: &Arc<Running>) -> [f64; 2] {
    let used = server.cpu();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let server = Arc::clone(server);
            tokio::spawn(async move {
                let mut connection = Connection::open(server.address).await;
                let mut took = Vec::with_capacity(CALLS_EACH);
                for number in 0..CALLS_EACH {
                    let body = json!({"capability": "bench.noop_1", "input": {"n": number}, "thread_id": format!("caller-{caller}")});
                    let sent = request("POST", "/calls", &server.heads(), body.to_string().as_bytes());
                    let began = Instant::now();
                    let answer = connection.ask(&sent).await;
                    took.push(began.elapsed().as_secs_f64() * 1e9);
                    assert_eq!(answer.status, 200, "{}", answer.text());
                }
                took
            })
        })
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.expect("a caller"));
    }
    all.sort_unstable_by(f64::total_cmp);
    let made = all.len();
    [all[(made - 1) * 99 / 100], (server.cpu() - used) / made as f64]
}

/// Has everybody come in and stay until the tasks are ended.
async fn crowd(server: &Arc<Running>) -> Vec<tokio::task::JoinHandle<()>> {
    let mut tasks = Vec::with_capacity(2 * MANY);
    for _ in 0..MANY {
        let mut listener = Connection::open(server.address).await;
        listener.send(&request("GET", "/threads/quiet/events", &server.heads(), b"")).await;
        assert_eq!(listener.head().await.0, 200);
        tasks.push(tokio::spawn(async move {
            loop {
                listener.some().await;
            }
        }));
        let mut slow = TcpStream::connect(server.address).await.expect("a connection");
        tasks.push(tokio::spawn(async move {
            for letter in b"POST /calls HTTP/1.1\r\nhost: localhost\r\nx-slow: " {
                // The server may lose patience, which is its right.
                let _ = slow.write_all(&[*letter]).await;
                tokio::time::sleep(DAWDLE).await;
            }
        }));
    }
    tasks
}

fn memory(server: &Running) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// Measures calls alone and among the crowd.
pub async fn run(folder: &str) -> Value {
    let server = Arc::new(Running::own(&["remit", folder, "10"]));
    calls(&server).await;
    let alone = calls(&server).await;
    let before = memory(&server);
    let tasks = crowd(&server).await;
    let each = (memory(&server) - before) / (2 * MANY) as f64;
    let among = calls(&server).await;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    let time = |[wall, cpu]: [f64; 2]| json!({"wall": wall, "cpu": cpu});
    json!({"alone": time(alone), "among": time(among), "kib": each})
}
