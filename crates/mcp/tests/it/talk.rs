//! A server on two pipes that behaves, in every revision.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use remit_engine::ports::Pending;
use remit_mcp::{
    Event, Host, Identity, McpError, Question, Revision, Server, State, Step, Transport, Until,
    snapshot,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{call, call_until, config, launch, long, reaches, server, works};

async fn revision(args: &[&str]) -> Revision {
    let server = server(args);
    works(&server).await;
    let State::Ready { revision } = server.state() else { panic!("{server:?}") };
    server.stop().await;
    assert_eq!(server.state(), State::Stopped);
    revision
}

#[tokio::test]
async fn the_newest_revision_is_found_and_older_ones_are_fallen_back_to() {
    assert_eq!(revision(&["--era", "modern"]).await, Revision::V20260728);
    assert_eq!(revision(&["--era", "both"]).await, Revision::V20260728);
    assert_eq!(revision(&["--era", "older"]).await, Revision::V20251125);
    // One that answers nothing in particular, and one that refuses what it speaks.
    assert_eq!(revision(&["--era", "empty"]).await, Revision::V20251125);
    assert_eq!(revision(&["--era", "unsure"]).await, Revision::V20260728);
    for older in [Revision::V20250618, Revision::V20250326] {
        assert_eq!(revision(&["--revision", older.as_str()]).await, older);
    }
    assert_eq!(revision(&["--revision", "2024-11-05"]).await, Revision::V20250326);
}

#[tokio::test]
async fn a_server_that_does_not_answer_the_probe_gets_a_handshake() {
    let mut config = config(&["--era", "silent"]);
    config.times.probe = Duration::from_millis(50);
    let server = Server::new(config);
    works(&server).await;
    assert_eq!(server.state(), State::Ready { revision: Revision::V20251125 });
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_gets_a_handshake_the_next_time() {
    let server = server(&["--era", "brittle"]);
    server.start();
    reaches(&server, |state| matches!(state, State::Ready { .. })).await;
    works(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn everything_can_be_asked() {
    for era in ["older", "modern"] {
        let server = server(&["--era", era]);
        let client = server.client(&long()).await.unwrap();
        assert_eq!(
            (client.welcome().name.as_str(), client.welcome().version.as_str()),
            ("py", "1")
        );
        assert!(client.welcome().has("tools") && !client.welcome().has("sampling"));
        client.ping(&long()).await.unwrap();
        assert_eq!(client.list_resources(&long()).await.unwrap()[0]["uri"], "a:b");
        assert_eq!(client.list_templates(&long()).await.unwrap()[0]["uriTemplate"], "a:{x}");
        let read = client.read_resource("a:b", &long()).await.unwrap();
        assert_eq!(read["contents"][0]["text"], "contents");
        assert_eq!(client.list_prompts(&long()).await.unwrap()[0]["name"], "p");
        let prompt = client.get_prompt("p", &json!({}), &long()).await.unwrap();
        assert_eq!(prompt["messages"][0]["content"]["text"], "hi");
        let refused = call(&server, "no_such_tool", json!({})).await.unwrap_err();
        assert!(matches!(refused, McpError::Refused { code: -32602, .. }), "{refused}");
        server.stop().await;
    }
}

#[tokio::test]
async fn many_calls_are_under_way_at_once_and_each_gets_its_answer() {
    let server = Arc::new(server(&[]));
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..200 {
        let server = Arc::clone(&server);
        calls.spawn(async move {
            let got = call(&server, "echo", json!({"n": n})).await.unwrap();
            assert_eq!(got, format!("{{\"n\": {n}}}"));
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    server.stop().await;
}

#[tokio::test]
async fn a_line_longer_than_the_pipe_goes_through_whole() {
    let server = server(&[]);
    let text = "é".repeat(700_000);
    let got = call(&server, "echo", json!({"t": text})).await.unwrap();
    assert_eq!(got.len(), text.len() + 9);
    works(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn time_and_being_called_off_reach_the_server() {
    for era in ["older", "modern"] {
        let server = server(&["--era", era]);
        works(&server).await;
        let soon = Until::within(Duration::from_millis(30));
        let timed_out = call_until(&server, "hang", json!({}), &soon).await.unwrap_err();
        assert!(matches!(timed_out, McpError::TimedOut { .. }), "{timed_out}");
        let cancel = CancellationToken::new();
        let asking = Until::cancelled_by(Duration::from_secs(60), cancel.clone());
        let (called_off, ()) =
            tokio::join!(call_until(&server, "hang", json!({}), &asking), async {
                tokio::time::sleep(Duration::from_millis(30)).await;
                cancel.cancel();
            });
        assert_eq!(called_off.unwrap_err(), McpError::Cancelled);
        // Also who simply goes away is told of.
        let gone = call(&server, "hang", json!({}));
        assert!(tokio::time::timeout(Duration::from_millis(30), gone).await.is_err());
        let heard = call(&server, "cancelled", json!({})).await.unwrap();
        let heard: Vec<u64> = serde_json::from_str(&heard).unwrap();
        assert_eq!(heard.len(), 3, "{heard:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn progress_comes_in_order_before_the_answer() {
    let server = server(&[]);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&steps);
    let sink = Arc::new(move |step: Step| keep.lock().unwrap().push(step));
    server.call_tool("progress", &json!({}), &long(), Some(sink)).await.unwrap();
    let steps = steps.lock().unwrap().clone();
    let fractions: Vec<_> = steps.iter().filter_map(Step::fraction).collect();
    assert_eq!(fractions, [0.25, 0.5, 0.75, 1.0]);
    assert_eq!(steps[3].message.as_deref(), Some("step 4"));
    server.stop().await;
}

#[tokio::test]
async fn what_a_server_says_by_itself_is_heard() {
    for era in ["older", "modern"] {
        let server = server(&["--era", era]);
        let mut events = server.events();
        call(&server, "change", json!({})).await.unwrap();
        let mut heard = Vec::new();
        while heard.len() < 3 {
            let event = tokio::time::timeout(crate::support::LONG, events.recv()).await;
            heard.push(event.unwrap().unwrap());
        }
        let log = Event::Log { level: "info".to_owned(), data: json!("hi") };
        let updated = Event::ResourceUpdated("a:b".to_owned());
        assert_eq!(heard, [Event::ToolsChanged, updated, log]);
        server.stop().await;
    }
}

struct Answers(Mutex<Vec<Question>>);

impl Host for Answers {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {}})
    }

    fn answer(&self, question: Question) -> Pending<'_, Result<Value, String>> {
        self.0.lock().unwrap().push(question);
        Box::pin(async { Ok(json!({"action": "accept", "content": {"name": "ann"}})) })
    }
}

#[tokio::test]
async fn questions_of_a_server_are_answered_by_the_host_or_refused() {
    for era in ["older", "modern"] {
        let host = Arc::new(Answers(Mutex::default()));
        let mut config = config(&["--era", era]);
        config.host = host.clone();
        let asking = Server::new(config);
        let got = call(&asking, "ask", json!({})).await.unwrap();
        assert!(got.contains("ann"), "{got}");
        assert_eq!(era == "modern", got.contains("\"s1\""), "the state is given back: {got}");
        let question = host.0.lock().unwrap().remove(0);
        assert_eq!((question.server.as_str(), &question.params["message"]), ("py", &json!("who?")));
        asking.stop().await;
    }
    let older = server(&[]);
    let got = call(&older, "ask", json!({})).await.unwrap();
    assert!(got.contains("-32601") && got.contains("nobody to answer"), "{got}");
    let got = call(&older, "ask", json!({"method": "ping"})).await.unwrap();
    assert!(got.contains("\"result\": {}"), "{got}");
    let got = call(&older, "ask", json!({"method": "files/delete"})).await.unwrap();
    assert!(got.contains("-32601"), "{got}");
    older.stop().await;
    let modern = server(&["--era", "modern"]);
    let refused = call(&modern, "ask", json!({})).await.unwrap_err();
    assert_eq!(refused, McpError::InputRequired { methods: vec!["elicitation/create".to_owned()] });
    modern.stop().await;
}

#[tokio::test]
async fn a_list_is_read_page_by_page_and_becomes_capabilities() {
    let mut config = config(&["--tools", "90", "--page", "25"]);
    config.name = "many".to_owned();
    let (launch, around) = (launch(&["--tools", "90", "--page", "25"]), config.around.clone());
    assert!(matches!(&config.transport, Transport::Stdio(declared) if *declared == launch));
    let server = Server::new(config);
    let listing = server.list_tools(&long()).await.unwrap();
    assert!(listing.tools.len() > 100, "{}", listing.tools.len());
    let identity = Identity::Local(launch.identity(&around).unwrap());
    let taken = snapshot(server.name(), &listing, &identity);
    assert_eq!(taken.capabilities.len(), listing.tools.len());
    assert!(taken.capabilities.iter().any(|one| one.name == "@many/tool_89"));
    let again = snapshot(server.name(), &server.list_tools(&long()).await.unwrap(), &identity);
    assert_eq!(taken.hash, again.hash);
    server.stop().await;
}

#[tokio::test]
async fn a_child_gets_no_more_of_the_environment_than_it_is_given() {
    let mut config = config(&[]);
    if let Transport::Stdio(launch) = &mut config.transport {
        launch.env.insert("GIVEN".to_owned(), "yes".to_owned());
    }
    let server = Server::new(config);
    let got = call(&server, "env", json!({})).await.unwrap();
    let got: serde_json::Map<String, Value> = serde_json::from_str(&got).unwrap();
    assert_eq!(got.get("GIVEN"), Some(&json!("yes")));
    let allowed = remit_mcp::Surroundings::NAMES;
    for name in got.keys() {
        // The interpreter sets the language by itself.
        let is_known = name == "GIVEN" || allowed.contains(&name.as_str());
        assert!(is_known, "{name} was passed on");
    }
    assert!(std::env::vars_os().count() > allowed.len(), "there was something to keep back");
    server.stop().await;
}

#[tokio::test]
async fn states_are_seen() {
    let server = server(&[]);
    assert_eq!(server.state(), State::Idle);
    server.start();
    reaches(&server, |state| matches!(state, State::Ready { .. })).await;
    server.stop().await;
    assert_eq!(server.state(), State::Stopped);
    assert_eq!(server.client(&long()).await.err(), Some(McpError::Stopped));
}
