//! One process, many calls, and what happens when it fails.

use std::time::{Duration, Instant};

use remit_exec::process::{
    Answer, Kind, Service, ServiceOptions, ServiceState, Until, WorkerError,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Asked, LONG, checkout, eventually, exists, ignore, launcher, misbehave, plan_in,
};

async fn service(options: ServiceOptions) -> Service {
    Service::start(launcher(), misbehave().await, options)
}

fn quick() -> ServiceOptions {
    ServiceOptions { first_pause: Duration::from_millis(10), ..ServiceOptions::default() }
}

async fn call_within(
    service: &Service,
    command: &str,
    parameters: Value,
    timeout: Duration,
) -> Result<Answer, WorkerError> {
    let asked = Asked::new(command, parameters);
    let cancel = CancellationToken::new();
    let until = Until { deadline: Instant::now() + timeout, cancel: &cancel };
    service.call(&asked.request(), until, &ignore).await
}

async fn running(service: &Service) -> u32 {
    let mut watch = service.watch();
    let is_up = |state: &ServiceState| matches!(state, ServiceState::Running { .. });
    match &*tokio::time::timeout(LONG, watch.wait_for(is_up)).await.unwrap().unwrap() {
        ServiceState::Running { pid } => *pid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_service_keeps_its_process() {
    let service = service(quick()).await;
    for number in 1..=3 {
        let answer = call_within(&service, "echo", json!({}), LONG).await.unwrap();
        assert_eq!(answer.outcome.unwrap()["calls"], number);
    }
    let pid = running(&service).await;
    service.stop().await;
    assert_eq!(service.state(), ServiceState::Stopped);
    assert!(!exists(pid));
    let late = call_within(&service, "echo", json!({}), LONG).await;
    assert_eq!(late.unwrap_err(), WorkerError::Cancelled);
}

#[tokio::test]
async fn a_service_answers_calls_beside_each_other() {
    let plan = plan_in(&checkout("tools/javascript"), Kind::JavaScript, "count_words.js").await;
    let service = Service::start(launcher(), plan, quick());
    running(&service).await;
    let slow = call_within(&service, "count_slowly", json!({"steps": 5}), LONG);
    let fast = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let answer = call_within(&service, "count", json!({"text": "a b"}), LONG).await.unwrap();
        (Instant::now(), answer.outcome.unwrap()["words"].clone())
    };
    let slow = async { (slow.await.unwrap().outcome.unwrap(), Instant::now()) };
    let ((slow, slow_at), (fast_at, fast)) = tokio::join!(slow, fast);
    assert_eq!((slow, fast), (json!({"steps": 5}), json!(2)));
    assert!(fast_at < slow_at);
    service.stop().await;
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_the_service_running() {
    let service = service(quick()).await;
    let pid = running(&service).await;
    let short = Duration::from_millis(20);
    let error = call_within(&service, "sleep", json!({"seconds": 0.1}), short).await.unwrap_err();
    assert_eq!(error, WorkerError::TimedOut);
    // The late answer is thrown away, not taken for the next one.
    let answer = call_within(&service, "echo", json!({}), LONG).await.unwrap();
    assert_eq!(answer.outcome.unwrap()["calls"], 2);
    assert_eq!(running(&service).await, pid);
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_dies_is_started_again_and_says_so() {
    let service = service(ServiceOptions {
        first_pause: Duration::from_millis(200),
        longest_pause: Duration::from_millis(300),
        ..ServiceOptions::default()
    })
    .await;
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let first = running(&service).await;
        let error = call_within(&service, "exit", json!({"code": 3}), LONG).await.unwrap_err();
        let WorkerError::Ended { how, said } = &error else { panic!("{error}") };
        assert_eq!((how.as_str(), said.as_str()), ("exit code 3", "last words"));
        let ServiceState::Waiting { why, failures, pause } = service.state() else {
            panic!("{:?}", service.state())
        };
        assert!(why.contains("exit code 3"), "{why}");
        pauses.push((failures, pause.as_millis()));
        // While it is down a caller is told so at once.
        let down = call_within(&service, "echo", json!({}), LONG).await.unwrap_err();
        assert_eq!(down.code(), "TOOL_NOT_STARTED");
        assert!(down.to_string().contains("down"), "{down}");
        assert_ne!(running(&service).await, first);
    }
    assert_eq!(pauses, [(1, 200), (2, 300), (3, 300)]);
    service.stop().await;
}

#[tokio::test]
async fn failures_are_forgotten_after_a_steady_time() {
    let service = service(ServiceOptions { steady_after: Duration::ZERO, ..quick() }).await;
    for _ in 0..3 {
        running(&service).await;
        call_within(&service, "exit", json!({"code": 3}), LONG).await.unwrap_err();
        assert!(matches!(service.state(), ServiceState::Waiting { failures: 1, .. }));
    }
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_does_not_answer_health_checks_is_replaced() {
    let options = ServiceOptions {
        health_every: Duration::from_millis(20),
        health_within: Duration::from_secs(2),
        ..quick()
    };
    let service = service(options).await;
    let first = running(&service).await;
    // It goes on for many checks while it is well.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(running(&service).await, first);
    let ill = json!({"name": "ill", "bytes": 1});
    call_within(&service, "file", ill, LONG).await.unwrap();
    let mut watch = service.watch();
    let is_down = |state: &ServiceState| matches!(state, ServiceState::Waiting { why, .. } if why.contains("health check"));
    tokio::time::timeout(LONG, watch.wait_for(is_down)).await.unwrap().unwrap();
    assert!(!exists(first));
    assert_ne!(running(&service).await, first);
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_speaks_nonsense_is_replaced_and_its_calls_fail() {
    let service = service(quick()).await;
    running(&service).await;
    let bad = call_within(&service, "say", json!({"line": "hello"}), LONG);
    let other = call_within(&service, "echo", json!({}), LONG);
    let (bad, other) = tokio::join!(bad, other);
    assert_eq!(bad.unwrap_err().code(), "BAD_ANSWER");
    assert_eq!(other.unwrap_err().code(), "BAD_ANSWER");
    running(&service).await;
    let unasked = call_within(&service, "say", json!({"line": r#"{"id":"x","result":1}"#}), LONG);
    assert_eq!(unasked.await.unwrap_err().code(), "BAD_ANSWER");
    service.stop().await;
}

#[tokio::test]
async fn a_dropped_service_ends() {
    let service = service(quick()).await;
    let pid = running(&service).await;
    drop(service);
    eventually("it ends", || !exists(pid)).await;
}

#[tokio::test]
async fn the_progress_of_one_call_is_bounded_as_its_answer_is() {
    let mut plan = misbehave().await;
    plan.confinement.limits.output_bytes = 10_000;
    let service = Service::start(launcher(), plan, quick());
    running(&service).await;
    let few = call_within(&service, "progress", json!({"steps": 20}), LONG).await;
    assert!(few.is_ok(), "{few:?}");
    // What earlier calls said does not count.
    for _ in 0..10 {
        call_within(&service, "progress", json!({"steps": 20}), LONG).await.unwrap();
    }
    let flood = call_within(&service, "flood_lines", json!({}), LONG).await;
    assert_eq!(flood.unwrap_err(), WorkerError::TooMuchOutput { most: 10_000 });
    service.stop().await;
}
