//! Each limit, at it and past it.

use remit_exec::process::{Launcher, Plan, Worker};
use serde_json::json;

use crate::support::{call, is_root, launcher, misbehave, result, start};

async fn limited(set: impl FnOnce(&mut remit_exec::process::Limits)) -> Plan {
    let mut plan = misbehave().await;
    set(&mut plan.confinement.limits);
    plan
}

async fn bomb(launcher: &Launcher, processes: u64) -> u64 {
    let plan = limited(|limits| limits.processes = processes).await;
    let mut worker = Worker::start(launcher, &plan).await.unwrap();
    let count = result(&mut worker, "fork_bomb", json!({"most": 2000})).await;
    worker.end().await;
    count.as_u64().unwrap()
}

#[tokio::test]
async fn a_fork_bomb_gets_as_many_processes_as_allowed() {
    // The worker itself is one of them.
    let count = bomb(&launcher(), 20).await;
    if is_root() && !has_groups().await {
        // Root of the machine is only stopped by the ids of its namespace running out.
        assert!((19..301).contains(&count), "{count}");
    } else {
        assert_eq!(count, 19);
    }
}

#[tokio::test]
async fn a_fork_bomb_is_contained_without_control_groups_too() {
    let count = bomb(&launcher().without_groups(), 20).await;
    let most = if is_root() { 300 } else { 19 };
    assert!((19..=most).contains(&count), "{count}");
}

async fn has_groups() -> bool {
    remit_exec::process::offers(&launcher()).await.control_groups.available
}

#[tokio::test]
async fn memory_is_limited() {
    let plan = limited(|limits| limits.memory_bytes = 256 << 20).await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "memory", json!({"bytes": 100 << 20})).await, 100 << 20);
    let answer = call(&mut worker, "memory", json!({"bytes": 200 << 20})).await.unwrap();
    assert!(answer.outcome.unwrap_err().message.contains("MemoryError"));
}

#[tokio::test]
async fn memory_is_limited_for_all_processes_together_where_groups_can_be_made() {
    if !has_groups().await {
        return;
    }
    let plan = limited(|limits| limits.memory_bytes = 192 << 20).await;
    let mut worker = start(&plan).await;
    let few = json!({"children": 2, "bytes": 50 << 20});
    assert_eq!(result(&mut worker, "memory_together", few).await, 2);
    let many = json!({"children": 5, "bytes": 50 << 20});
    match call(&mut worker, "memory_together", many).await {
        Ok(answer) => assert!(answer.outcome.unwrap().as_u64().unwrap() < 5),
        // The kernel chose the worker itself.
        Err(error) => assert_eq!(error.code(), "TOOL_ENDED"),
    }
}

#[tokio::test]
async fn open_files_are_limited() {
    let plan = limited(|limits| limits.open_files = 40).await;
    let mut worker = start(&plan).await;
    let got = result(&mut worker, "descriptors", json!({})).await;
    // Three are the pipes.
    assert_eq!(got, json!([37, 24]));
}

#[tokio::test]
async fn files_are_limited_in_size() {
    let place = tempfile::tempdir().unwrap();
    let mut plan = limited(|limits| limits.file_bytes = 1 << 20).await;
    plan.confinement.write.push(place.path().canonicalize().unwrap());
    let mut worker = start(&plan).await;
    let directory = place.path().canonicalize().unwrap();
    for (name, bytes, written) in [("fits", 1 << 20, 1 << 20), ("over", (1 << 20) + 1, 1 << 20)] {
        let asked = json!({"directory": directory, "name": name, "bytes": bytes});
        assert_eq!(result(&mut worker, "file", asked).await, written);
        assert_eq!(place.path().join(name).metadata().unwrap().len(), written);
    }
}

#[tokio::test]
async fn the_temporary_directory_holds_as_much_in_all_and_is_empty_afterwards() {
    let plan = limited(|limits| limits.file_bytes = 1 << 20).await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "tmp", json!({})).await, json!([]));
    assert_eq!(result(&mut worker, "tmp", json!({})).await, json!(["left"]));
    let half = json!({"name": "one", "bytes": 700_000});
    assert_eq!(result(&mut worker, "file", half).await, 700_000);
    let more = json!({"name": "two", "bytes": 700_000});
    assert!(result(&mut worker, "file", more).await.as_u64().unwrap() < 400_000);
    worker.end().await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "tmp", json!({})).await, json!([]));
}

#[tokio::test]
async fn processor_time_is_limited() {
    let plan = limited(|limits| limits.cpu_seconds = 1).await;
    let mut worker = start(&plan).await;
    let error = call(&mut worker, "spin", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "TOOL_ENDED");
    assert!(error.to_string().contains("signal 9: it reached `cpu_seconds`"), "{error}");
}

#[tokio::test]
async fn a_worker_that_was_busy_for_long_is_not_given_another_call() {
    let plan = limited(|limits| limits.cpu_seconds = 1).await;
    let mut worker = start(&plan).await;
    assert!(worker.is_fit());
    result(&mut worker, "sleep", json!({"seconds": 0.6})).await;
    assert!(!worker.is_fit());
}

#[tokio::test]
async fn there_are_no_core_dumps_and_the_limits_are_those_asked_for() {
    let plan = limited(|limits| {
        limits.processes = 33;
        limits.memory_bytes = 333 << 20;
        limits.cpu_seconds = 34;
    })
    .await;
    let mut worker = start(&plan).await;
    let got = result(&mut worker, "limits", json!({})).await;
    // One byte is no core, and keeps the kernel from handing one to a program.
    assert_eq!(got["RLIMIT_CORE"], 1);
    // The keeper counts too.
    assert_eq!(got["RLIMIT_NPROC"], 34);
    assert_eq!(got["RLIMIT_DATA"], 333 << 20);
    assert_eq!(got["RLIMIT_CPU"], 34);
}
