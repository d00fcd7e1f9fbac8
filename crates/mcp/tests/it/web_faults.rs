//! Servers over HTTP that misbehave.

use std::time::Duration;

use remit_mcp::{Config, McpError, Remote, Server, Transport};
use serde_json::{Value, json};

use crate::fake::{Asked, Fake, Says, Then, event, modern, older};
use crate::support::{call, call_until, long};
use crate::web::at;

/// Answers one tool with a fault, while another call of the same server works.
async fn fault(says: impl Fn(&Asked) -> Says + Send + Sync + 'static) -> McpError {
    let fake = Fake::start(modern(move |asked| (asked.tool() == "bad").then(|| says(asked)))).await;
    let server = Server::new(at(&fake));
    call(&server, "echo", json!({})).await.unwrap();
    let soon = remit_mcp::Until::within(Duration::from_secs(5));
    let error = call_until(&server, "bad", json!({}), &soon).await.unwrap_err();
    call(&server, "echo", json!({})).await.unwrap();
    server.stop().await;
    error
}

fn note() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}})
}

fn stray(id: Value) -> String {
    event(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))
}

#[tokio::test]
async fn each_fault_has_an_error_of_its_own_and_the_server_stays_usable() {
    let large = |_: &Asked| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600";
        let mut bytes = format!("{head}\r\n\r\n").into_bytes();
        bytes.extend(std::iter::repeat_n(b'x', 6 << 20));
        Says::Raw(bytes)
    };
    assert!(matches!(fault(large).await, McpError::TooLarge { .. }));
    let unsaid = |_: &Asked| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_owned();
        Says::Raw((head + &"x".repeat(6 << 20)).into_bytes())
    };
    assert!(matches!(fault(unsaid).await, McpError::TooLarge { .. }));
    let event_large =
        |_: &Asked| Says::Events(vec![(0, format!("data: {}", "x".repeat(5 << 20)))], Then::Stays);
    assert!(matches!(fault(event_large).await, McpError::TooLarge { .. }));
    let flood = |_: &Asked| Says::Events(vec![(0, event(&note()).repeat(6_000))], Then::Stays);
    assert!(matches!(fault(flood).await, McpError::Flood { .. }));
    let malformed = |_: &Asked| Says::Json(200, vec![], "{\"jsonrpc\":".to_owned());
    assert!(matches!(fault(malformed).await, McpError::Nonsense { .. }));
    let malformed_event =
        |_: &Asked| Says::Events(vec![(0, "data: {\"jsonrpc\"\n\n".to_owned())], Then::Stays);
    assert!(matches!(fault(malformed_event).await, McpError::Nonsense { .. }));
    let html = |_: &Asked| Says::Other(200, "text/html", "<html>".to_owned());
    assert!(fault(html).await.to_string().contains("`text/html`"));
    let other_id =
        |_: &Asked| Says::Json(200, vec![], r#"{"jsonrpc":"2.0","id":999,"result":{}}"#.to_owned());
    assert!(matches!(fault(other_id).await, McpError::Nonsense { .. }));
    let stall = |_: &Asked| Says::Silence;
    assert!(matches!(fault(stall).await, McpError::TimedOut { .. }));
    let stall_within = |_: &Asked| Says::Events(vec![(0, event(&note()))], Then::Stays);
    assert!(matches!(fault(stall_within).await, McpError::TimedOut { .. }));
    let unended = |_: &Asked| Says::Events(vec![(0, event(&note()))], Then::Ends);
    assert!(fault(unended).await.to_string().contains("ended without the answer"));
    let cut = |_: &Asked| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
        Says::Raw(head.as_bytes().to_vec())
    };
    assert!(matches!(fault(cut).await, McpError::Unreachable { .. }));
    let no_http = |_: &Asked| Says::Raw(b"220 mail.example.com ESMTP\r\n".to_vec());
    assert!(matches!(fault(no_http).await, McpError::Unreachable { .. }));
    let moved =
        |_: &Asked| Says::Json(302, vec![("Location", "http://evil/".into())], String::new());
    assert!(fault(moved).await.to_string().contains("not followed"));
    let broken = |_: &Asked| Says::Other(500, "text/plain", "oh no".to_owned());
    assert!(fault(broken).await.to_string().contains("status 500"));
    let strays = |asked: &Asked| {
        let events = [stray(json!(12345)), stray(json!("x")), stray(Value::Null)].concat();
        let refused = json!({"jsonrpc": "2.0", "id": asked.body["id"],
            "error": {"code": -1, "message": "at last"}});
        Says::Events(vec![(0, events + &event(&refused) + &event(&refused))], Then::Ends)
    };
    assert!(fault(strays).await.to_string().contains("at last"));
}

async fn unusable(fake: &Fake) -> String {
    let mut config = at(fake);
    config.times.connect = Duration::from_millis(800);
    config.times.probe = Duration::from_millis(200);
    let server = Server::new(config);
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::BackingOff { .. }), "{error}");
    server.stop().await;
    error.to_string()
}

#[tokio::test]
async fn what_is_no_server_is_said_not_to_be_one() {
    let html = Fake::start(|_| Says::Other(200, "text/html", "<html>".to_owned())).await;
    assert!(unusable(&html).await.contains("`text/html` instead of JSON"));
    let nothing = Fake::start(|_| Says::Other(404, "text/html", "<html>".to_owned())).await;
    assert!(unusable(&nothing).await.contains("no server at this address"));
    let silent = Fake::start(|_| Says::Silence).await;
    assert!(unusable(&silent).await.contains("no answer to the first request"));
    let future = Fake::start(|asked| {
        let data = json!({"supported": ["2027-01-01"]});
        let error = json!({"code": -32022, "message": "no", "data": data});
        let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
        Says::Json(400, vec![], body.to_string())
    })
    .await;
    assert!(unusable(&future).await.contains("2027-01-01"));
    let gone = { Fake::start(|_| Says::Silence).await.url() };
    let remote = Remote { url: gone, ..Remote::default() };
    let server = Server::new(Config::new("web", Transport::Http(remote)));
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn a_header_that_the_protocol_sets_cannot_be_given() {
    for (name, value) in [("Mcp-Session-Id", "x"), ("host", "x"), ("a b", "x"), ("x", "a\r\nb: c")]
    {
        let mut remote = Remote { url: "http://127.0.0.1:9/mcp".to_owned(), ..Remote::default() };
        remote.headers.insert(name.to_owned(), value.to_owned());
        let server = Server::new(Config::new("web", Transport::Http(remote)));
        let error = server.client(&long()).await.err().unwrap().to_string();
        assert!(error.contains("header"), "{error}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_flood_on_the_stream_of_a_session_ends_the_session() {
    let fake = Fake::start(older(|asked| {
        let flood = || Says::Events(vec![(0, event(&note()).repeat(6_000))], Then::Stays);
        (asked.method == "GET").then(flood)
    }))
    .await;
    let server = Server::new(at(&fake));
    server.start();
    let state = crate::support::reaches(&server, |state| {
        matches!(state, remit_mcp::State::BackingOff { .. })
    })
    .await;
    assert!(format!("{state:?}").contains("Flood"), "{state:?}");
    server.stop().await;
}
