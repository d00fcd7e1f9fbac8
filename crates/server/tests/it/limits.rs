//! Every limit: at it, and one past it.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use remit_server::Limits;
use serde_json::json;

use crate::house::House;

fn padded(bytes: usize) -> String {
    let body = |text: &str| json!({"capability": "demo.echo", "input": {"text": text}}).to_string();
    body(&"x".repeat(bytes - body("").len()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let house = House::limited(Limits { body_bytes: 4_096, ..Limits::default() }).await;
    assert_eq!(house.post("/calls", &house.admin, &padded(4_096)).await.status, 200);
    let larger = house.post("/calls", &house.admin, &padded(4_097)).await;
    assert_eq!((larger.status, larger.code().as_str()), (413, "BODY_TOO_LARGE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_json_without_double_meanings() {
    let house = House::new().await;
    let bad = [
        ("{", "INVALID_JSON"),
        ("", "INVALID_JSON"),
        ("[]", "INVALID_BODY"),
        ("{}", "INVALID_BODY"),
        (r#"{"capability": "demo.echo", "capability": "demo.fail"}"#, "INVALID_JSON"),
        (r#"{"capability": "demo.echo", "input": {"n": 9007199254740993}}"#, "INVALID_JSON"),
        (r#"{"capability": "demo.echo", "extra": 1}"#, "INVALID_BODY"),
        (r#"{"capability": "demo.echo", "call_id": "a b"}"#, "INVALID_CALL_ID"),
        (r#"{"capability": "demo.echo", "thread_id": ""}"#, "INVALID_THREAD"),
        ("{\"capability\": \"demo.echo\", \"input\": {\"text\": \"\\ud800\"}}", "INVALID_JSON"),
    ];
    for (body, code) in bad {
        let refused = house.post("/calls", &house.admin, body).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, code), "{body}");
    }
    let deep = format!(
        r#"{{"capability": "demo.echo", "input": {}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    assert_eq!(house.post("/calls", &house.admin, &deep).await.status, 400);
    let headers = vec![
        ("authorization".to_owned(), format!("Bearer {}", house.admin)),
        ("content-type".to_owned(), "text/plain".to_owned()),
    ];
    let plain = house.send_with("POST", "/calls", headers, Some("{}")).await;
    assert_eq!((plain.status, plain.code().as_str()), (415, "NOT_JSON"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_too_often_waits_and_others_do_not() {
    let limits = Limits { requests_per_second: 2, ..Limits::default() };
    let house = House::limited(limits).await;
    let ann = house.user("ann").await;
    let mut refused = 0;
    for _ in 0..10 {
        let answer = house.get("/calls", &ann).await;
        if answer.status == 429 {
            assert_eq!(answer.code(), "TOO_MANY_REQUESTS");
            assert_eq!(answer.headers["retry-after"], "1");
            refused += 1;
        }
    }
    assert!((3..=6).contains(&refused), "{refused} of 10 with a burst of 4");
    assert_eq!(house.get("/calls", &house.admin).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_tokens_is_slowed_down() {
    let house = House::limited(Limits { failures_per_second: 2, ..Limits::default() }).await;
    let mut seen = Vec::new();
    for n in 0..8 {
        seen.push(house.get("/calls", &format!("rmu_{n}")).await.status);
    }
    assert_eq!(seen[0], 401);
    assert!(seen.contains(&429), "{seen:?}");
    assert_eq!(house.get("/calls", &house.admin).await.status, 200, "a valid token is not touched");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_slowly_is_cut_off() {
    let limits = Limits {
        header_time: Duration::from_millis(200),
        body_time: Duration::from_millis(200),
        header_bytes: 16 * 1024,
        ..Limits::default()
    };
    let house = House::limited(limits).await;
    let address = house.url.strip_prefix("http://").unwrap().to_owned();
    let admin = house.admin.clone();
    let raw = move |sent: String| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let _ = stream.write_all(sent.as_bytes());
        let mut got = String::new();
        let _ = stream.read_to_string(&mut got);
        got
    };
    tokio::task::spawn_blocking(move || {
        // A head that never ends is cut off, with or without a word.
        let got = raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n".to_owned());
        assert!(!got.contains("200 OK"), "{got}");
        let head = format!(
            "POST /calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {admin}\r\nContent-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{{"
        );
        let got = raw(head);
        assert!(got.contains("408") && got.contains("BODY_TOO_SLOW"), "{got}");
        let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
        let got = raw(long);
        assert!(got.contains("431"), "{got}");
    })
    .await
    .unwrap();
    assert_eq!(house.get("/healthz", "").await.status, 200, "others are served");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_connections_are_open_and_one_that_closes_makes_room() {
    let house = House::limited(Limits { connections: 2, ..Limits::default() }).await;
    let address = house.url.strip_prefix("http://").unwrap().to_owned();
    let hold = |address: &str| std::net::TcpStream::connect(address).unwrap();
    let (one, _two) = (hold(&address), hold(&address));
    let third = house.get("/healthz", "");
    tokio::pin!(third);
    let waited = tokio::time::timeout(Duration::from_millis(300), &mut third).await;
    assert!(waited.is_err(), "there is no room");
    drop(one);
    assert_eq!(third.await.status, 200);
}
