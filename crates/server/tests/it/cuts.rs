//! Streams that break off anywhere: whoever comes back behind the last event that arrived whole has
//! seen everything once.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::house::House;

/// Is what arrived whole, and how many bytes that and the rest were.
struct Arrived {
    events: Vec<(String, String)>,
    bytes: usize,
}

/// Opens a stream, takes at most so many bytes of its body, and hangs up.
fn take(
    url: &str,
    path: &str,
    token: &str,
    last: Option<&str>,
    most: usize,
    all: usize,
) -> Arrived {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let last = last.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{last}\r\n"
    )
    .unwrap();
    let (mut seen, mut buffer) = (Vec::new(), [0; 512]);
    let body = |seen: &[u8]| seen.windows(4).position(|part| part == b"\r\n\r\n").map(|at| at + 4);
    loop {
        let start = body(&seen);
        let arrived = start.map_or(0, |start| seen.len() - start);
        if start.is_some() && arrived >= most {
            break;
        }
        if start.is_some_and(|start| parse(&seen[start..]).len() >= all) {
            break;
        }
        let room = if start.is_some() { buffer.len().min(most - arrived) } else { 1 };
        match stream.read(&mut buffer[..room]).unwrap() {
            0 => break,
            count => seen.extend_from_slice(&buffer[..count]),
        }
    }
    let body = &seen[body(&seen).unwrap()..];
    Arrived { events: parse(body), bytes: body.len() }
}

/// Reads the events that arrived whole: id and data.
fn parse(body: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
    };
    let blocks = whole.split("\n\n");
    blocks.filter_map(|block| Some((field(block, "id: ")?, field(block, "data: ")?))).collect()
}

/// Follows a stream with a cut after each of these numbers of bytes, in turn, until all is there.
fn with_cuts(
    url: &str,
    path: &str,
    token: &str,
    cuts: &[usize],
    all: usize,
) -> Vec<(String, String)> {
    let mut events: Vec<(String, String)> = Vec::new();
    let mut still = 0;
    for most in cuts.iter().cycle().take(20_000) {
        let last = events.last().map(|(id, _)| id.clone());
        let left = all - events.len();
        // A cut that never lets an event through would go on for ever: each time a little more.
        let arrived = take(url, path, token, last.as_deref(), most + still, left);
        still = if arrived.events.is_empty() { still + arrived.bytes.max(64) } else { 0 };
        events.extend(arrived.events);
        if events.len() >= all {
            return events;
        }
    }
    panic!("{} of {all} events after many cuts", events.len());
}

/// Gives numbers that are always the same and follow no rule.
fn odd_numbers(count: usize, most: usize) -> Vec<usize> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(most).unwrap()).unwrap()
    };
    (0..count).map(|_| next()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_anywhere_gives_the_whole_record_once() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for number in 0..12 {
        let text = "é".repeat(number * 7);
        let call = json!({"capability": "demo.echo", "input": {"text": text}, "thread_id": "t"});
        assert_eq!(house.post("/calls", &ann, &call.to_string()).await.status, 200);
    }
    let (url, token) = (house.url.clone(), ann.clone());
    let check = move || {
        let path = "/threads/t/events";
        let whole = take(&url, path, &token, None, usize::MAX, 24);
        assert_eq!(whole.events.len(), 24, "an intent and an outcome for each call");
        // Every place of the first events, then places all over.
        let each: Vec<usize> = (0..900).collect();
        for cut in each.iter().chain(&odd_numbers(60, whole.bytes)) {
            let first = take(&url, path, &token, None, *cut, 24);
            let last = first.events.last().map(|(id, _)| id.clone());
            let rest =
                take(&url, path, &token, last.as_deref(), usize::MAX, 24 - first.events.len());
            let both = [first.events, rest.events].concat();
            assert!(both == whole.events, "cut after {cut} bytes");
        }
        let many = with_cuts(&url, path, &token, &odd_numbers(50, 700), 24);
        assert!(many == whole.events, "many cuts");
    };
    tokio::task::spawn_blocking(check).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cut_anywhere_is_the_same_run() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let calls: Vec<Value> = (0..4)
        .map(|number| {
            let arguments =
                json!({"module": "demo", "method": "echo", "input": {"text": "x".repeat(number * 40)}});
            json!({"id": format!("c{number}"), "type": "function",
                "function": {"name": "project_cli", "arguments": arguments.to_string()}})
        })
        .collect();
    let input = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
        "messages": [], "forwardedProps": {"toolCalls": calls},
    });
    let live = house.post_stream("/runs", &ann, &input.to_string()).await.rest().await;
    let (url, token) = (house.url.clone(), ann.clone());
    let check = move || {
        let path = "/runs/r/events?thread_id=t";
        let whole = take(&url, path, &token, None, usize::MAX, live.len());
        let said: Vec<Value> =
            whole.events.iter().map(|(_, data)| serde_json::from_str(data).unwrap()).collect();
        assert_eq!(said, live.iter().map(|event| event.data.clone()).collect::<Vec<_>>());
        for cut in (0..whole.bytes).step_by(7).chain(odd_numbers(60, whole.bytes)) {
            let first = take(&url, path, &token, None, cut, live.len());
            let left = live.len() - first.events.len();
            let last = first.events.last().map(|(id, _)| id.clone());
            let rest = take(&url, path, &token, last.as_deref(), usize::MAX, left.max(1));
            let rest = if left == 0 { Vec::new() } else { rest.events };
            assert!([first.events, rest].concat() == whole.events, "cut after {cut} bytes");
        }
        let many = with_cuts(&url, path, &token, &odd_numbers(50, 400), live.len());
        assert!(many == whole.events, "many cuts");
    };
    tokio::task::spawn_blocking(check).await.unwrap();
}
