//! Servers over HTTP that behave, in every revision.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use remit_mcp::{Config, Event, McpError, Remote, Revision, Server, State, Step, Transport, Until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake::{Asked, Fake, Says, Then, event, modern, older};
use crate::support::{LONG, call, call_until, long, until};

pub fn at(fake: &Fake) -> Config {
    let remote = Remote { url: fake.url(), ..Remote::default() };
    let mut config = Config::new("web", Transport::Http(remote));
    config.times.first_pause = Duration::from_millis(20);
    config
}

fn no_more(_: &Asked) -> Option<Says> {
    None
}

/// Gives a message in answer to a request.
fn answered(asked: &Asked, words: &str) -> Value {
    let result = json!({"content": [{"type": "text", "text": words}]});
    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result})
}

#[tokio::test]
async fn the_newest_revision_is_spoken_with_all_its_headers() {
    let fake = Fake::start(modern(no_more)).await;
    let server = Server::new(at(&fake));
    assert_eq!(call(&server, "echo", json!({"a": 1})).await.unwrap(), "{\"a\":1}");
    assert_eq!(server.state(), State::Ready { revision: Revision::V20260728 });
    let sent = fake.asked_for("tools/call").remove(0);
    let meta = &sent.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "remit");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(sent.header("accept"), Some("application/json, text/event-stream"));
    assert!(sent.header("mcp-session-id").is_none() && fake.asked_for("initialize").is_empty());
    server.stop().await;
}

#[tokio::test]
async fn arguments_are_repeated_in_headers_and_tools_that_ask_wrongly_are_left_out() {
    let fake = Fake::start(modern(no_more)).await;
    let server = Server::new(at(&fake));
    // Not listed yet: the refusal makes the client look, and ask again.
    assert_eq!(call(&server, "region", json!({"region": "eu"})).await.unwrap(), "eu");
    assert_eq!(fake.asked_for("tools/call").len(), 2);
    assert_eq!(call(&server, "region", json!({"region": "us"})).await.unwrap(), "us");
    assert_eq!(fake.asked_for("tools/call").len(), 3);
    let listing = server.list_tools(&long()).await.unwrap();
    assert_eq!(listing.tools.len(), 2);
    assert_eq!(listing.refused[0].0, "wrong");
    server.stop().await;
}

#[tokio::test]
async fn an_older_server_gets_a_handshake_a_session_and_a_goodbye() {
    let fake = Fake::start(older(no_more)).await;
    let server = Server::new(at(&fake));
    assert_eq!(call(&server, "echo", json!({"a": 1})).await.unwrap(), "{\"a\":1}");
    assert_eq!(server.state(), State::Ready { revision: Revision::V20251125 });
    server.client(&long()).await.unwrap().ping(&long()).await.unwrap();
    assert_eq!(fake.asked_for("notifications/initialized").len(), 1);
    server.stop().await;
    let asked = fake.asked.lock().unwrap();
    assert_eq!(asked.last().unwrap().method, "DELETE");
}

#[tokio::test]
async fn connections_are_used_again() {
    let fake = Fake::start(older(|asked| {
        let is_stream = asked.rpc() == "tools/call";
        is_stream.then(|| Says::Events(vec![(0, event(&answered(asked, "x")))], Then::Ends))
    }))
    .await;
    let server = Server::new(at(&fake));
    for _ in 0..50 {
        assert_eq!(call(&server, "echo", json!({})).await.unwrap(), "x");
    }
    let made = fake.connections.load(Ordering::SeqCst);
    assert!(made < 10, "{made} connections for 50 calls");
    server.stop().await;
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let fake = Fake::start(modern(|asked| {
        if asked.rpc() != "tools/call" {
            return None;
        }
        let body = answered(asked, "once").to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        // Closed without a word about it.
        Some(Says::Raw(format!("{head} {}\r\n\r\n{body}", body.len()).into_bytes()))
    }))
    .await;
    let server = Server::new(at(&fake));
    for _ in 0..5 {
        assert_eq!(call(&server, "echo", json!({})).await.unwrap(), "once");
        // The end of the connection needs a moment to arrive.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn progress_and_questions_come_before_the_answer_in_a_stream() {
    let replied: Arc<Mutex<Vec<Value>>> = Arc::default();
    let keep = Arc::clone(&replied);
    let fake = Fake::start(older(move |asked| {
        if asked.body.get("method").is_none() && asked.body.get("id").is_some() {
            keep.lock().unwrap().push(asked.body.clone());
            return Some(Says::Other(202, "text/plain", String::new()));
        }
        (asked.rpc() == "tools/call").then(|| {
            let token = &asked.body["params"]["_meta"]["progressToken"];
            let step = |done: u64| {
                json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": done, "total": 2}})
            };
            let question = json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"});
            let events = [step(1), question, step(2), answered(asked, "done")];
            let pauses = [0, 0, 30, 0];
            Says::Events(pauses.into_iter().zip(events.iter().map(event)).collect(), Then::Ends)
        })
    }))
    .await;
    let server = Server::new(at(&fake));
    let steps = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&steps);
    let sink = Arc::new(move |step: Step| keep.lock().unwrap().push(step.fraction()));
    server.call_tool("x", &json!({}), &long(), Some(sink)).await.unwrap();
    assert_eq!(*steps.lock().unwrap(), [Some(0.5), Some(1.0)]);
    until("the refusal", || !replied.lock().unwrap().is_empty()).await;
    assert_eq!(replied.lock().unwrap()[0]["error"]["code"], -32601);
    server.stop().await;
}

#[tokio::test]
async fn being_called_off_closes_the_connection_and_older_servers_are_told() {
    let hang = |asked: &Asked| (asked.tool() == "hang").then_some(Says::Silence);
    for is_modern in [true, false] {
        let fake = match is_modern {
            true => Fake::start(modern(hang)).await,
            false => Fake::start(older(hang)).await,
        };
        let server = Server::new(at(&fake));
        call(&server, "echo", json!({})).await.unwrap();
        let cancel = CancellationToken::new();
        let asking = Until::cancelled_by(LONG, cancel.clone());
        let (got, ()) = tokio::join!(call_until(&server, "hang", json!({}), &asking), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        });
        assert_eq!(got.unwrap_err(), McpError::Cancelled);
        until("the closed connection", || fake.left.load(Ordering::SeqCst) >= 1).await;
        let soon = Until::within(Duration::from_millis(50));
        let got = call_until(&server, "hang", json!({}), &soon).await.unwrap_err();
        assert!(matches!(got, McpError::TimedOut { .. }), "{got}");
        let gone = call(&server, "hang", json!({}));
        assert!(tokio::time::timeout(Duration::from_millis(50), gone).await.is_err());
        until("the closed connections", || fake.left.load(Ordering::SeqCst) >= 3).await;
        let told = if is_modern { 0 } else { 3 };
        until("the notifications", || fake.asked_for("notifications/cancelled").len() == told)
            .await;
        if !is_modern {
            let hung = fake.asked_for("tools/call");
            let hung: Vec<_> = hung.iter().filter(|one| one.tool() == "hang").collect();
            let told = fake.asked_for("notifications/cancelled");
            assert_eq!(told[0].body["params"]["requestId"], hung[0].body["id"]);
        }
        call(&server, "echo", json!({})).await.unwrap();
        server.stop().await;
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_taken_up_where_it_ended() {
    let fake = Fake::start(older(|asked| {
        if asked.method == "GET" {
            let after = asked.header("last-event-id")?;
            assert_eq!(after, "e1");
            // The request was the second after the handshake and its probe.
            let answer = json!({"jsonrpc": "2.0", "id": 3,
                "result": {"content": [{"type": "text", "text": "resumed"}]}});
            return Some(Says::Events(vec![(0, event(&answer))], Then::Ends));
        }
        (asked.rpc() == "tools/call").then(|| {
            assert_eq!(asked.body["id"], 3);
            let first = "id: e1\nretry: 10\ndata:\n\n".to_owned();
            Says::Events(vec![(0, first)], Then::Ends)
        })
    }))
    .await;
    let server = Server::new(at(&fake));
    assert_eq!(call(&server, "echo", json!({})).await.unwrap(), "resumed");
    server.stop().await;
}

#[tokio::test]
async fn an_answer_may_come_on_the_stream_of_the_session_instead() {
    let fake = Fake::start(older(|asked| {
        if asked.method == "GET" {
            let is_resumed = asked.header("last-event-id").is_some();
            let answer = json!({"jsonrpc": "2.0", "id": 3,
                "result": {"content": [{"type": "text", "text": "elsewhere"}]}});
            // Not before the request has lost its own stream.
            let said = if is_resumed { vec![] } else { vec![(800, event(&answer))] };
            return Some(Says::Events(said, Then::Stays));
        }
        (asked.rpc() == "tools/call")
            .then(|| Says::Events(vec![(0, "id: e1\nretry: 10\ndata:\n\n".to_owned())], Then::Ends))
    }))
    .await;
    let server = Server::new(at(&fake));
    assert_eq!(call(&server, "echo", json!({})).await.unwrap(), "elsewhere");
    server.stop().await;
}

#[tokio::test]
async fn changes_are_heard_on_the_stream_of_a_session_and_of_a_subscription() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let one = event(&changed);
    let get = {
        let one = one.clone();
        move |asked: &Asked| {
            let is_stream = asked.method == "GET";
            is_stream.then(|| Says::Events(vec![(50, format!("id: 9\n{one}"))], Then::Stays))
        }
    };
    let subscribe = move |asked: &Asked| {
        let is_stream = asked.rpc() == "subscriptions/listen";
        is_stream.then(|| {
            assert_eq!(asked.body["params"]["notifications"], json!({"toolsListChanged": true}));
            Says::Events(vec![(50, one.clone())], Then::Stays)
        })
    };
    for fake in [Fake::start(older(get)).await, Fake::start(modern(subscribe)).await] {
        let server = Server::new(at(&fake));
        let mut events = server.events();
        server.start();
        let heard = tokio::time::timeout(LONG, events.recv()).await.unwrap().unwrap();
        assert_eq!(heard, Event::ToolsChanged);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_forgotten_session_is_begun_again_and_the_call_is_made_once_more() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let fake = Fake::start(older(move |asked| {
        let is_first = asked.rpc() == "tools/call" && count.fetch_add(1, Ordering::SeqCst) == 1;
        is_first.then(|| Says::Other(404, "text/plain", "who are you?".to_owned()))
    }))
    .await;
    let server = Server::new(at(&fake));
    call(&server, "echo", json!({})).await.unwrap();
    call(&server, "echo", json!({})).await.unwrap();
    assert_eq!(fake.asked_for("initialize").len(), 2);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_went_away_is_seen_to_be_down_and_comes_back() {
    let fake = Fake::start(older(no_more)).await;
    let server = Server::new(at(&fake));
    call(&server, "echo", json!({})).await.unwrap();
    let address = fake.address;
    drop(fake);
    let error = loop {
        match call(&server, "echo", json!({})).await {
            // The connection that was kept may still have been open.
            Err(error) if server.state() == (State::Ready { revision: Revision::V20251125 }) => {
                assert!(matches!(error, McpError::Unreachable { .. }), "{error}");
            }
            Ok(_) => {}
            Err(error) => break error,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    let fake = Fake::start_at(address, older(no_more)).await;
    crate::support::reaches(&server, |state| matches!(state, State::Ready { .. })).await;
    call(&server, "echo", json!({})).await.unwrap();
    assert_eq!(fake.asked_for("initialize").len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn headers_that_were_given_are_sent_and_not_shown() {
    let fake = Fake::start(modern(|asked| {
        (asked.header("authorization") != Some("Bearer t0ken")).then(|| {
            let body = "{}".to_owned();
            let challenge = vec![("WWW-Authenticate", "Bearer realm=\"x\"".to_owned())];
            Says::Json(401, challenge, body)
        })
    }))
    .await;
    let mut config = at(&fake);
    let Transport::Http(remote) = &mut config.transport else { unreachable!() };
    remote.headers.insert("Authorization".to_owned(), "Bearer t0ken".to_owned());
    assert!(!format!("{:?}", config.transport).contains("t0ken"));
    let server = Server::new(config);
    call(&server, "echo", json!({})).await.unwrap();
    server.stop().await;
    let server = Server::new(at(&fake));
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("Bearer realm"), "{error}");
    let McpError::BackingOff { why, .. } = error else { panic!() };
    assert!(matches!(&*why, McpError::Unauthorised { status: 401, .. }));
    server.stop().await;
}

#[tokio::test]
async fn a_secure_connection_is_only_made_to_who_can_prove_to_be_the_server() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.try_into().unwrap())
        .unwrap();
    let fake = Fake::secure(Arc::new(tls).into(), modern(no_more)).await;
    let url = fake.url().replace("http:", "https:");
    let trusting = |roots| {
        let remote = Remote { url: url.clone(), roots, ..Remote::default() };
        Server::new(Config::new("web", Transport::Http(remote)))
    };
    let server = trusting(vec![certificate]);
    call(&server, "echo", json!({})).await.unwrap();
    server.stop().await;
    let server = trusting(Vec::new());
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no secure connection"), "{error}");
    server.stop().await;
}
