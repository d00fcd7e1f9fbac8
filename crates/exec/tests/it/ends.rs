//! Nothing a tool started outlives its time.

use std::time::{Duration, Instant};

use remit_exec::process::{Sandbox, Until, Worker, WorkerError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{
    Asked, LONG, NONE, call, call_within, eventually, exists, ignore, launcher, marker, misbehave,
    processes_with, result, start,
};

async fn with_grandchild(name: &str, sandbox: Sandbox) -> (Worker, String) {
    let marker = marker(name);
    let mut plan = misbehave().await;
    plan.sandbox = sandbox;
    let mut worker = start(&plan).await;
    result(&mut worker, "grandchild", json!({"marker": marker})).await;
    eventually("the grandchild starts", || processes_with(&marker).len() == 1).await;
    (worker, marker)
}

#[tokio::test]
async fn a_timeout_ends_grandchildren_in_sessions_of_their_own() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let (mut worker, marker) = with_grandchild("timeout", sandbox).await;
        let asked = json!({"seconds": 600});
        let error = call_within(&mut worker, "sleep", asked, Duration::from_millis(20)).await;
        assert_eq!(error.unwrap_err(), WorkerError::TimedOut);
        // At once: the call returns when they are gone.
        assert_eq!(processes_with(&marker), NONE, "{sandbox:?}");
        assert!(!exists(worker.pid()));
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_its_process() {
    let (mut worker, marker) = with_grandchild("cancel", Sandbox::On).await;
    let cancel = CancellationToken::new();
    let asked = Asked::new("sleep", json!({"seconds": 600}));
    let request = asked.request();
    let until = Until { deadline: Instant::now() + LONG, cancel: &cancel };
    let stop = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(worker.call(&request, until, &ignore), stop);
    assert_eq!(outcome.unwrap_err(), WorkerError::Cancelled);
    assert_eq!(processes_with(&marker), NONE);
}

#[tokio::test]
async fn a_dropped_worker_ends_too() {
    let (worker, marker) = with_grandchild("drop", Sandbox::On).await;
    drop(worker);
    eventually("all of it ends", || processes_with(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_dropped_call_ends_its_process() {
    let (mut worker, marker) = with_grandchild("drop-call", Sandbox::On).await;
    let asked = json!({"seconds": 600});
    let short = Duration::from_millis(20);
    let dropped = tokio::time::timeout(short, call(&mut worker, "sleep", asked)).await;
    assert!(dropped.is_err());
    assert!(!worker.is_fit());
    drop(worker);
    eventually("all of it ends", || processes_with(&marker).is_empty()).await;
}

#[tokio::test]
async fn what_outlives_the_tool_itself_ends_with_it() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let marker = marker("orphan");
        let mut plan = misbehave().await;
        plan.sandbox = sandbox;
        let mut worker = start(&plan).await;
        let error = call(&mut worker, "orphan_and_die", json!({"marker": marker})).await;
        assert_eq!(error.unwrap_err().code(), "TOOL_ENDED");
        assert_eq!(processes_with(&marker), NONE, "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_killed_keeper_takes_its_tool_along() {
    let (worker, marker) = with_grandchild("keeper", Sandbox::On).await;
    let keeper = parent_of(worker.pid());
    let pid = rustix::process::Pid::from_raw(keeper).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    eventually("all of it ends", || processes_with(&marker).is_empty()).await;
}

/// Names the marker to the process that stands for Remit in the test below.
const HOLDER: &str = "REMIT_TEST_HOLDER";

/// Is no test: it is what the next test starts, and kills.
#[tokio::test]
async fn stand_in_for_remit() {
    let Ok(marker) = std::env::var(HOLDER) else { return };
    let mut worker = start(&misbehave().await).await;
    result(&mut worker, "hold", json!({"marker": marker})).await;
    let _ = call(&mut worker, "sleep", json!({"seconds": 600})).await;
}

#[tokio::test]
async fn a_tool_that_holds_the_pipe_open_ends_with_remit_all_the_same() {
    let marker = marker("holder");
    let mut remit = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ends::stand_in_for_remit"])
        .env(HOLDER, &marker)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("the grandchild starts", || processes_with(&marker).len() == 1).await;
    remit.kill().unwrap();
    remit.wait().unwrap();
    eventually("all of it ends", || processes_with(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_tool_that_holds_the_pipe_open_and_closes_its_answers_does_not_hold_its_call() {
    let mut worker = start(&misbehave().await).await;
    let held = call(&mut worker, "hold", json!({"close": true}));
    let error = tokio::time::timeout(LONG, held).await.unwrap().unwrap_err();
    assert_eq!(error.code(), "TOOL_ENDED");
    assert!(!exists(worker.pid()));
}

#[tokio::test]
async fn a_signal_of_the_tool_to_its_group_does_not_reach_the_keeper() {
    let mut worker = start(&misbehave().await).await;
    result(&mut worker, "dead_child", json!({})).await;
    assert_eq!(result(&mut worker, "echo", json!({})).await["calls"], 2);
}

#[tokio::test]
async fn a_tool_without_a_sandbox_cleans_up_its_temporary_directory() {
    let mut plan = misbehave().await;
    plan.sandbox = Sandbox::Off;
    let mut worker = Worker::start(&launcher(), &plan).await.unwrap();
    assert_eq!(result(&mut worker, "tmp", json!({})).await, json!([]));
    let got = result(&mut worker, "echo", json!({})).await;
    let place = std::path::PathBuf::from(got["env"]["TMPDIR"].as_str().unwrap());
    assert!(place.join("left").exists());
    worker.end().await;
    assert!(!place.exists());
}

fn parent_of(pid: u32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let parent = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap();
    parent.parse().unwrap()
}
