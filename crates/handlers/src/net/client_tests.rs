use super::*;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, json};

const LIMITS: Limits = Limits { bytes: 1000, time: Duration::from_secs(20), redirects: 2 };

/// Serves one answer to everybody and counts who came.
fn server(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let mut host = String::new();
            while let Some(Ok(line)) =
                lines.next().filter(|l| l.as_ref().is_ok_and(|l| !l.is_empty()))
            {
                if let Some(value) = line.to_lowercase().strip_prefix("host: ") {
                    host = value.to_owned();
                }
            }
            let _ = stream.write_all(answer.replace("HOST", &host).as_bytes());
        }
    });
    (port, count)
}

fn to_loopback(_: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))])
}

fn mixed(_: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    // The first may not be reached; if it were, nothing answers there.
    Ok(vec![SocketAddr::from(([169, 254, 1, 1], port)), SocketAddr::from(([127, 0, 0, 1], port))])
}

fn client(settings: &serde_json::Value, lookup: Lookup) -> Client {
    let settings = Settings(settings.as_object().cloned().unwrap_or_default());
    Client::with_lookup(Guard::new(&settings).unwrap(), &settings, lookup).unwrap()
}

const PLAIN: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nfrom HOST";

#[test]
fn a_name_that_leads_to_a_private_address_is_not_connected_to() {
    let (port, count) = server(PLAIN);
    let url = Url::parse(&format!("http://public.example:{port}/")).unwrap();
    let failure = client(&json!({}), to_loopback).get(&url, "*/*", LIMITS).unwrap_err();
    assert_eq!(failure.code, "NOT_ALLOWED");
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The same client reaches it as soon as it may: the guard was all that kept it away.
    let allowed = client(&json!({"allow_private": true}), to_loopback);
    let reply = allowed.get(&url, "*/*", LIMITS).unwrap();
    assert_eq!(String::from_utf8(reply.body).unwrap(), format!("from public.example:{port}"));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn of_several_addresses_only_those_that_pass_are_tried() {
    let (port, count) = server(PLAIN);
    let url = Url::parse(&format!("http://public.example:{port}/")).unwrap();
    assert_eq!(client(&json!({}), mixed).get(&url, "*/*", LIMITS).unwrap_err().code, "NOT_ALLOWED");
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert!(client(&json!({"allow_private": true}), mixed).get(&url, "*/*", LIMITS).is_ok());
}

#[test]
fn each_lookup_is_judged_anew() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn turning(_: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        // A name that leads to an allowed place once, and then elsewhere.
        let last = if ASKED.fetch_add(1, Ordering::SeqCst) == 0 { 1 } else { 2 };
        Ok(vec![SocketAddr::from(([127, 0, 0, last], port))])
    }
    let (port, count) = server(
        "HTTP/1.1 302 Found\r\nlocation: http://turning.example:PORT/\r\nconnection: close\r\n\r\n",
    );
    let (second, _) = server(PLAIN);
    let client = client(&json!({"allowed_hosts": format!("turning.example:{port}")}), turning);
    let first = Url::parse(&format!("http://turning.example:{port}/")).unwrap();
    let next = Url::parse(&format!("http://turning.example:{second}/")).unwrap();
    let _ = client.get(&first, "*/*", LIMITS);
    assert!(count.load(Ordering::SeqCst) >= 1);
    assert_eq!(client.get(&next, "*/*", LIMITS).unwrap_err().code, "NOT_ALLOWED");
}

#[test]
fn a_body_is_read_to_its_limit_and_no_further() {
    let answer = Box::leak(
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(1000))
            .into_boxed_str(),
    );
    let (port, _) = server(answer);
    let url = Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
    let client = client(&json!({"allow_private": true}), system);
    let at = client.get(&url, "*/*", LIMITS).unwrap();
    assert_eq!((at.body.len(), at.cut), (1000, false));
    let past = client.get(&url, "*/*", Limits { bytes: 999, ..LIMITS }).unwrap();
    assert_eq!((past.body.len(), past.cut), (999, true));
}

#[test]
fn redirects_are_followed_to_their_limit_and_no_further() {
    let (end, _) = server(PLAIN);
    let chain = |next: u16| {
        let answer = format!(
            "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:{next}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        server(Box::leak(answer.into_boxed_str())).0
    };
    let two = chain(chain(end));
    let three = chain(two);
    let client = client(&json!({"allow_private": true}), system);
    let get = |port: u16| {
        client.get(&Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap(), "*/*", LIMITS)
    };
    assert_eq!(get(two).unwrap().status, 200);
    assert_eq!(get(three).unwrap_err().code, "TOO_MANY_REDIRECTS");
}

#[test]
fn a_service_is_not_followed_elsewhere() {
    let (elsewhere, count) = server(PLAIN);
    let answer = format!(
        "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:{elsewhere}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (port, _) = server(Box::leak(answer.into_boxed_str()));
    let client = client(&json!({"allow_private": true}), system);
    let url = Url::parse(&format!("http://127.0.0.1:{port}/?q=1")).unwrap();
    let failure = client.call(&url, &[("x-key", "CANARY")], None, LIMITS).unwrap_err();
    assert_eq!(failure.code, "REDIRECTED");
    assert!(!failure.message.contains("CANARY"));
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn settings_that_cannot_be_sent_or_trusted_are_told() {
    let with = |name: &str, value: &str| {
        let settings = Settings(Map::from_iter([(name.to_owned(), value.into())]));
        Client::new(Guard::default(), &settings).err().map(|failure| failure.code)
    };
    assert_eq!(with("user_agent", "a\r\nb"), Some("BAD_SETTING"));
    assert_eq!(with("ca_certificates", "no certificate"), Some("BAD_SETTING"));
    assert_eq!(with("user_agent", "Me/1.0"), None);
}
