//! A server on two pipes that misbehaves: each fault has an error of its own, and nothing hangs.

use std::sync::Arc;
use std::time::Duration;

use remit_engine::redact::Redactor;
use remit_mcp::{McpError, Server, State};
use serde_json::json;

use crate::support::{call, config, long, reaches, server, works};

fn is_back_after(error: &McpError) -> bool {
    matches!(error, McpError::BackingOff { .. })
}

/// Calls a tool that breaks the server, while another call waits and another server works.
async fn broken_by(tool: &str, arguments: serde_json::Value) -> McpError {
    let (bad, good) = (Arc::new(server(&[])), server(&[]));
    works(&bad).await;
    works(&good).await;
    let waiting = tokio::spawn({
        let bad = Arc::clone(&bad);
        async move { call(&bad, "hang", json!({})).await }
    });
    let error = call(&bad, tool, arguments).await.unwrap_err();
    let other = waiting.await.unwrap().unwrap_err();
    assert_eq!(other, error, "whoever waits hears the same");
    works(&good).await;
    // It is started again by itself.
    let got = loop {
        match call(&bad, "echo", json!({})).await {
            Err(error) if is_back_after(&error) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            other => break other,
        }
    };
    assert_eq!(got.unwrap(), "{}");
    bad.stop().await;
    good.stop().await;
    error
}

#[tokio::test]
async fn a_flood_is_cut_off() {
    let error = broken_by("flood", json!({})).await;
    assert!(matches!(error, McpError::Flood { most: 5_000 }), "{error}");
}

#[tokio::test]
async fn a_malformed_frame_is_said_to_be_one() {
    for tool in ["malformed", "nothing"] {
        let error = broken_by(tool, json!({})).await;
        assert!(matches!(error, McpError::Nonsense { .. }), "{error}");
        assert!(error.to_string().contains("jsonrpc"), "{error}");
    }
}

#[tokio::test]
async fn a_result_of_a_hundred_megabytes_is_refused() {
    let error = broken_by("large", json!({"bytes": 100 << 20})).await;
    assert_eq!(error, McpError::TooLarge { what: "a message", most: 4 << 20 });
}

#[tokio::test]
async fn a_result_at_the_limit_passes_and_one_past_it_does_not() {
    let mut config = config(&[]);
    config.limits.message_bytes = 10_000;
    let server = Server::new(config);
    // The frame around the text has a size of its own.
    let around =
        r#"{"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": ""}]}}"#;
    let room = 10_000 - around.len();
    works(&server).await;
    assert_eq!(call(&server, "large", json!({"bytes": room})).await.unwrap().len(), room);
    let error = call(&server, "large", json!({"bytes": room + 1})).await.unwrap_err();
    assert!(matches!(error, McpError::TooLarge { .. }), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn a_crash_within_a_call_is_told_with_the_last_words_and_without_secrets() {
    let error = broken_by("crash", json!({"code": 3})).await;
    let McpError::Ended { how, said } = &error else { panic!("{error}") };
    assert_eq!(how, "exit code 3");
    assert!(said.contains("about to crash"), "{said}");
    let mut config = config(&[]);
    config.redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
    let server = Server::new(config);
    let error = call(&server, "crash", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("about to crash, token [secret]"), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn noise_strays_and_second_answers_are_no_harm() {
    let server = server(&["--fault", "banner"]);
    assert_eq!(call(&server, "noise", json!({})).await.unwrap(), "noisy");
    assert_eq!(call(&server, "strays", json!({})).await.unwrap(), "stray");
    assert_eq!(call(&server, "twice", json!({})).await.unwrap(), "first");
    assert_eq!(call(&server, "batch", json!({})).await.unwrap(), "batched");
    works(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn ten_thousand_tools_are_listed_and_more_are_not() {
    let listed = |config| async move {
        let server = Server::new(config);
        let got = server.list_tools(&long()).await;
        works(&server).await;
        server.stop().await;
        got
    };
    let tools = listed(config(&["--tools", "9900", "--page", "1000"])).await.unwrap().tools;
    assert!(tools.len() > 9_900, "{}", tools.len());
    let error = listed(config(&["--tools", "10000", "--page", "1000"])).await.unwrap_err();
    assert_eq!(error, McpError::TooLarge { what: "a list", most: 10_000 });
    let mut small = config(&["--tools", "1000"]);
    small.limits.list_bytes = 1_000;
    assert_eq!(
        listed(small).await.unwrap_err(),
        McpError::TooLarge { what: "a list", most: 1_000 }
    );
    let error = listed(config(&["--page", "5", "--fault", "circle"])).await.unwrap_err();
    assert!(error.to_string().contains("in circles"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_the_handshake_is_given_up() {
    let mut config = config(&["--fault", "slow-start", "--say", "still thinking"]);
    config.times.connect = Duration::from_millis(700);
    config.times.leave = Duration::from_millis(100);
    let server = Server::new(config);
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    let McpError::BackingOff { why, .. } = &error else { panic!("{error}") };
    assert!(matches!(&**why, McpError::NotReady { .. }), "{error}");
    assert!(error.to_string().contains("still thinking"), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_or_spoken_to_is_said_plainly() {
    let fails = |config| async move {
        let server = Server::new(config);
        let error = call(&server, "echo", json!({})).await.unwrap_err();
        assert!(is_back_after(&error), "{error}");
        server.stop().await;
        error.to_string()
    };
    let says = fails(config(&["--fault", "dies", "--say", "I cannot find my keys"])).await;
    assert!(says.contains("exit code 7") && says.contains("find my keys"), "{says}");
    let says = fails(config(&["--fault", "refuses"])).await;
    assert!(says.contains("not today"), "{says}");
    let says = fails(config(&["--fault", "html"])).await;
    assert!(says.contains("does not speak the protocol"), "{says}");
    let says = fails(config(&["--era", "future"])).await;
    assert!(says.contains("no revision") && says.contains("2027-01-01"), "{says}");
    let says = fails(config(&["--revision", "1.0"])).await;
    assert!(says.contains("no revision") && says.contains("`1.0`"), "{says}");
    for (command, word) in [("no-such-program-here", "no program"), ("/proc/version", "no program")]
    {
        for with_keeper in [true, false] {
            let mut config = config(&[]);
            config.transport = remit_mcp::Transport::Stdio(remit_mcp::Launch {
                command: command.to_owned(),
                ..remit_mcp::Launch::default()
            });
            config.keeper = config.keeper.filter(|_| with_keeper);
            let says = fails(config).await;
            assert!(says.contains(word), "{says}");
        }
    }
    // `cat` says back what it hears, and `yes` says one thing for ever.
    for (command, word) in [("cat", "refused"), ("yes", "nobody asked for")] {
        let mut config = config(&[]);
        let command = command.to_owned();
        config.transport =
            remit_mcp::Transport::Stdio(remit_mcp::Launch { command, ..Default::default() });
        let says = fails(config).await;
        assert!(says.contains(word), "{says}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_read_fills_no_memory() {
    let mut config = config(&["--fault", "unread"]);
    config.limits.backlog_bytes = 1 << 20;
    config.times.leave = Duration::from_millis(100);
    let server = Arc::new(Server::new(config));
    server.client(&long()).await.unwrap();
    let text = "x".repeat(300_000);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (server, text) = (Arc::clone(&server), text.clone());
        calls.spawn(async move { call(&server, "echo", json!({"t": text})).await });
    }
    let first = calls.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(matches!(first, McpError::Busy { .. }), "{first}");
    server.stop().await;
    while let Some(done) = calls.join_next().await {
        assert!(done.unwrap().is_err());
    }
}

#[tokio::test]
async fn no_more_requests_are_under_way_than_allowed() {
    let mut config = config(&[]);
    config.limits.requests = 4;
    let server = Arc::new(Server::new(config));
    works(&server).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let server = Arc::clone(&server);
        calls.spawn(async move { call(&server, "late", json!({"seconds": 1})).await });
    }
    // Each writes its request as soon as it runs.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let error = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Busy { .. }), "{error}");
    while let Some(done) = calls.join_next().await {
        assert_eq!(done.unwrap().unwrap(), "late");
    }
    works(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_failed_once_is_back_and_one_that_fails_always_backs_off() {
    let place = tempfile::tempdir().unwrap();
    let once = place.path().join("once");
    let recovering = server(&["--fault", "dies-once", "--once", once.to_str().unwrap()]);
    recovering.start();
    reaches(&recovering, |state| matches!(state, State::Ready { .. })).await;
    works(&recovering).await;
    recovering.stop().await;
    let failing = server(&["--fault", "dies"]);
    failing.start();
    let state = reaches(
        &failing,
        |state| matches!(state, State::BackingOff { failures, .. } if *failures >= 3),
    )
    .await;
    let State::BackingOff { why, pause, .. } = state else { unreachable!() };
    assert!(matches!(&*why, McpError::Ended { .. }), "{why}");
    assert!(pause > Duration::from_millis(50), "{pause:?}");
    failing.stop().await;
    assert_eq!(failing.state(), State::Stopped);
}
