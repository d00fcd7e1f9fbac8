//! One thread with a thousand subscribers, and manifests that are published: what the server does beside calls.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::http::{Connection, request};
use crate::load::Running;

const SUBSCRIBERS: usize = 1_000;
/// How many events each of them is sent.
const EVENTS: usize = 100;
const PUBLISHERS: usize = 8;
const VERSIONS_EACH: usize = 40;

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Is what was heard: how late each event was, in milliseconds.
#[derive(Default)]
struct Heard(Mutex<Vec<i64>>);

/// Listens until all events have come.
async fn subscribe(server: &Running, path: &str, heard: &Arc<Heard>, done: &Arc<Semaphore>) {
    let mut connection = Connection::open(server.address).await;
    let asked = request("GET", path, &server.heads(), b"");
    connection.send(&asked).await;
    assert_eq!(connection.head().await.0, 200);
    let (heard, done) = (Arc::clone(heard), Arc::clone(done));
    tokio::spawn(async move {
        let (mut late, mut rest) = (Vec::with_capacity(EVENTS), String::new());
        while late.len() < EVENTS {
            rest.push_str(&String::from_utf8_lossy(&connection.some().await));
            let now = now_ms();
            // Only whole events are read; what came of the next one waits for its end.
            while let Some(end) = rest.find("\n\n") {
                let event: String = rest.drain(..end + 2).collect();
                if let Some((_, at)) = event.split_once("\"at_ms\":") {
                    let digits: String = at.chars().take_while(char::is_ascii_digit).collect();
                    late.push(now - digits.parse::<i64>().expect("a time"));
                }
            }
        }
        heard.0.lock().expect("a list").extend(late);
        done.add_permits(1);
    });
}

/// Has everybody listen, makes events at a steady pace, and says what their delivery took.
async fn deliver(
    server: &Running,
    path: &str,
    each: usize,
    post: impl Fn(usize) -> (String, String),
) -> Value {
    let (heard, done) = (Arc::new(Heard::default()), Arc::new(Semaphore::new(0)));
    for _ in 0..SUBSCRIBERS {
        subscribe(server, path, &heard, &done).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut connection = Connection::open(server.address).await;
    let (began, used) = (Instant::now(), server.cpu());
    for number in 0..EVENTS / each {
        let (path, body) = post(number);
        let answer =
            connection.ask(&request("POST", &path, &server.heads(), body.as_bytes())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let all = tokio::time::timeout(Duration::from_secs(60), done.acquire_many(SUBSCRIBERS as u32));
    let _all = all.await.expect("every event reaches everybody").expect("a count");
    let cpu = (server.cpu() - used) / (SUBSCRIBERS * EVENTS) as f64;
    let mut late = std::mem::take(&mut *heard.0.lock().expect("a list"));
    late.sort_unstable();
    let at = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
    json!({"cpu": cpu, "p50": at(0.5), "p99": at(0.99), "seconds": began.elapsed().as_secs_f64(), "events": late.len()})
}

/// Compares a thread's stream with a broadcast of bytes of the same size.
pub async fn run(folder: &str) -> Value {
    let ours = Running::own(&["remit", folder, "10"]);
    let bare = Running::own(&["broadcast"]);
    let call = |number: usize| {
        let body =
            json!({"capability": "bench.noop_1", "input": {"n": number}, "thread_id": "busy"});
        ("/calls".to_owned(), body.to_string())
    };
    let remit = deliver(&ours, "/threads/busy/events", 2, call).await;
    // As long as what Remit sends of a call.
    let say = |number: usize| {
        let data = json!({"sequence": number, "kind": "outcome", "data": "x".repeat(400)});
        let body = format!(
            "id: {number}\nevent: outcome\ndata: {{\"at_ms\":{},\"of\":{data}}}\n\n",
            now_ms()
        );
        ("/say".to_owned(), body)
    };
    let broadcast = deliver(&bare, "/events", 1, say).await;
    json!({"remit": remit, "broadcast": broadcast})
}

/// Publishes manifests of several agents at once, two versions in turn; gives the time of one.
pub async fn publish(folder: &str, files: [&str; 2]) -> Value {
    let server = Arc::new(Running::own(&["remit", folder, "10"]));
    let bodies = Arc::new(files.map(|file| std::fs::read(file).expect("a manifest")));
    let mut publishers = Vec::new();
    for number in 0..PUBLISHERS {
        let mut connection = Connection::open(server.address).await;
        let new = json!({"name": format!("agent {number}")}).to_string();
        let added =
            connection.ask(&request("POST", "/agents", &server.heads(), new.as_bytes())).await;
        let added: Value = serde_json::from_slice(&added.body).expect("an agent");
        let path = format!("/agents/{}", added["agent_id"].as_str().expect("an id"));
        publishers.push((connection, path));
    }
    let (began, used) = (Instant::now(), server.cpu());
    let tasks: Vec<_> = publishers
        .into_iter()
        .map(|(mut connection, path)| {
            let (server, bodies) = (Arc::clone(&server), Arc::clone(&bodies));
            tokio::spawn(async move {
                for version in 0..VERSIONS_EACH {
                    let sent = request("PATCH", &path, &server.heads(), &bodies[version % 2]);
                    let answer = connection.ask(&sent).await;
                    assert_eq!(answer.status, 200, "{}", answer.text());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a publisher");
    }
    let made = (PUBLISHERS * VERSIONS_EACH) as f64;
    json!({"wall": began.elapsed().as_secs_f64() * 1e9 / made, "cpu": (server.cpu() - used) / made})
}
