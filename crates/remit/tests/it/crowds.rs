//! Many who listen and many who dawdle: others are served all the same, and each costs little.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::calls::house;
use crate::serving::Serving;

/// Is how many there are of each kind.
const MANY: usize = 2_000;
/// Is how much memory one of them may cost, in KiB.
const EACH: usize = 64;

/// Gives the memory of a process, in KiB.
fn memory(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn two_thousand_listeners_and_two_thousand_slow_clients_are_in_nobodys_way() {
    // Each connection takes a descriptor here; the server has a process, and a limit, of its own.
    let needed = u64::try_from(2 * MANY + 200).unwrap();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limit.current.is_some_and(|now| now < needed) {
        let raised = rustix::process::Rlimit { current: Some(needed), maximum: limit.maximum };
        if rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).is_err() {
            println!("skipped: this user may open {:?} files, {needed} are needed", limit.maximum);
            return;
        }
    }
    let place = house();
    fs::write(
        place.path().join("remit.yaml"),
        "capabilities:\n  - {match: demo.*, sensitivity: low}\n",
    )
    .unwrap();
    let server = Serving::start(place.path(), &[]);
    let call = |text: &str| {
        let answer = server.call("demo.echo", json!({"text": text}));
        assert_eq!(answer["outcome"], "succeeded", "{answer}");
    };
    call("before");
    let before = memory(server.pid());
    let listeners: Vec<TcpStream> = (0..MANY)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            write!(
                stream,
                "GET /threads/t/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
                server.token
            )
            .unwrap();
            stream
        })
        .collect();
    let slow: Vec<TcpStream> = (0..MANY)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.write_all(b"POST /calls HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap();
            stream
        })
        .collect();
    // Each listener has heard what was before; so all of them are there.
    let hears = |mut stream: &TcpStream, word: &str| {
        let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        while !String::from_utf8_lossy(&heard).contains(word) {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "the stream ended");
            heard.extend_from_slice(&buffer[..count]);
        }
    };
    listeners.iter().for_each(|stream| hears(stream, "call.outcome"));
    call("during");
    listeners.iter().for_each(|stream| hears(stream, "during"));
    let after = memory(server.pid());
    let each = after.saturating_sub(before) / (2 * MANY);
    println!("{} connections cost {each} KiB each", 2 * MANY);
    assert!(each <= EACH, "{before} KiB before, {after} KiB with {} connections", 2 * MANY);
    drop((listeners, slow));
    call("after");
    server.stop();
}
