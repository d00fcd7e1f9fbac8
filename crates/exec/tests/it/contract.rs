//! What docs/workers.md promises to tools, and asks of them.

use std::sync::Mutex;
use std::time::Instant;

use remit_exec::process::{Until, WorkerError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{Asked, LONG, call, exists, misbehave, result, start};

#[tokio::test]
async fn a_worker_gets_what_the_contract_says_and_nothing_else() {
    let mut worker = start(&misbehave().await).await;
    let got = result(&mut worker, "echo", json!({"a": [1, "é"]})).await;
    assert_eq!(got["parameters"], json!({"a": [1, "é"]}));
    assert_eq!(got["settings"], json!({"token": "hush"}));
    assert_eq!(got["context"], json!({"call_id": "call-1", "timeout_ms": 60_000}));
    let mut env: Vec<_> = got["env"].as_object().unwrap().keys().map(String::as_str).collect();
    env.retain(|name| *name != "LC_CTYPE");
    assert_eq!(env, ["HOME", "LANG", "PATH", "TMPDIR"]);
    assert_eq!(got["env"]["HOME"], got["env"]["TMPDIR"]);
    worker.end().await;
}

#[tokio::test]
async fn a_worker_serves_one_call_after_the_other() {
    let mut worker = start(&misbehave().await).await;
    for number in 1..=3 {
        assert_eq!(result(&mut worker, "echo", json!({})).await["calls"], number);
        assert!(worker.is_fit());
    }
    assert_eq!(worker.calls(), 3);
    worker.end().await;
    assert!(!worker.is_fit());
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_in_order() {
    let mut worker = start(&misbehave().await).await;
    let seen = Mutex::new(Vec::new());
    let asked = Asked::new("progress", json!({"steps": 4}));
    let cancel = CancellationToken::new();
    let until = Until { deadline: Instant::now() + LONG, cancel: &cancel };
    let sink = |step| seen.lock().unwrap().push(step);
    worker.call(&asked.request(), until, &sink).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|step| step.fraction).collect::<Vec<_>>(), [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(seen[3].message.as_deref(), Some("step 3"));
}

#[tokio::test]
async fn what_is_not_an_answer_ends_the_worker() {
    for line in [
        "hello",
        "",
        "{}",
        "[]",
        r#"{"id":"ID"}"#,
        r#"{"id":"other","result":1}"#,
        r#"{"id":"ID","result":1,"error":{"code":"A","message":"b"}}"#,
        r#"{"id":"ID","error":{"code":"lower","message":"b"}}"#,
        r#"{"id":"ID","progress":{"fraction":2}}"#,
        r#"{"id":"ID","pong":true}"#,
    ] {
        let mut worker = start(&misbehave().await).await;
        let pid = worker.pid();
        let error = call(&mut worker, "say", json!({"line": line})).await.unwrap_err();
        assert_eq!(error.code(), "BAD_ANSWER", "{line}: {error}");
        assert!(!exists(pid) && !worker.is_fit(), "{line}");
    }
}

#[tokio::test]
async fn an_answer_nobody_asked_for_makes_a_worker_unfit() {
    let mut worker = start(&misbehave().await).await;
    assert_eq!(result(&mut worker, "answer_twice", json!({})).await, 1);
    // It may not have written the second one yet; then it is the next call that fails.
    if worker.is_fit() {
        let error = call(&mut worker, "echo", json!({})).await.unwrap_err();
        assert_eq!(error.code(), "BAD_ANSWER");
    }
    assert!(!worker.is_fit());
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let mut plan = misbehave().await;
    plan.confinement.limits.output_bytes = 100_000;
    let mut worker = start(&plan).await;
    call(&mut worker, "line", json!({"bytes": 100_000})).await.unwrap();
    let error = call(&mut worker, "line", json!({"bytes": 100_001})).await.unwrap_err();
    assert_eq!(error, WorkerError::TooMuchOutput { most: 100_000 });
}

#[tokio::test]
async fn ten_gigabytes_of_output_are_stopped_at_the_limit() {
    for command in ["flood", "flood_lines"] {
        let mut worker = start(&misbehave().await).await;
        let pid = worker.pid();
        let error = call(&mut worker, command, json!({})).await.unwrap_err();
        assert_eq!(error, WorkerError::TooMuchOutput { most: 1 << 20 }, "{command}");
        assert!(!exists(pid));
    }
}

#[tokio::test]
async fn a_huge_request_and_a_huge_answer_get_through() {
    let mut plan = misbehave().await;
    plan.confinement.limits.output_bytes = 40 << 20;
    let mut worker = start(&plan).await;
    let text = "x".repeat(10 << 20);
    let got = result(&mut worker, "echo", json!({"text": text})).await;
    assert_eq!(got["parameters"]["text"].as_str().unwrap().len(), text.len());
}

#[tokio::test]
async fn what_a_tool_mutters_is_kept_in_part_and_never_blocks_it() {
    let mut worker = start(&misbehave().await).await;
    result(&mut worker, "mutter", json!({"bytes": 5_000_000})).await;
    let error = call(&mut worker, "exit", json!({"code": 3})).await.unwrap_err();
    let WorkerError::Ended { how, said } = error else { panic!("{error}") };
    assert_eq!(how, "exit code 3");
    // Of the call before it at most what was still on its way.
    assert!(said.ends_with("last words") && said.len() <= 4096 + "…".len(), "{said}");
}

#[tokio::test]
async fn a_tool_that_dies_is_reported_with_its_reason() {
    let mut worker = start(&misbehave().await).await;
    let error = call(&mut worker, "abort", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "TOOL_ENDED");
    assert!(error.to_string().contains("killed by signal"), "{error}");
    let mut worker = start(&misbehave().await).await;
    let error = call(&mut worker, "close", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "TOOL_ENDED");
}
