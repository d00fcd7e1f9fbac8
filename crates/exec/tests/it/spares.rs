//! Starts made ahead: they serve one plan each, and nothing is left of those that serve none.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use remit_exec::process::{Launcher, Limits, Sandbox, Spares, Worker};
use serde_json::json;

use crate::support::{eventually, exists, launcher, misbehave, processes_with, result};

/// Makes the test below play Remit.
const PART: &str = "REMIT_TEST_SPARE";

/// Lists the children of a process.
fn children_of(pid: u32) -> Vec<u32> {
    let listed = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|child| parent_of(*child) == Some(pid)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn is_waiting(launcher: &Launcher) -> bool {
    launcher.spares() == 1
}

#[tokio::test]
async fn a_spare_serves_one_plan_like_its_own() {
    let launcher = launcher().with_spares(Spares::Once);
    let plan = misbehave().await;
    let mut online = plan.clone();
    online.confinement.network = true;
    let mut smaller = plan.clone();
    smaller.confinement.limits.processes = 9;
    launcher.prepare(Sandbox::On, false, Limits::default());
    launcher.prepare(Sandbox::On, false, Limits::default());
    assert!(is_waiting(&launcher));
    for other in [&online, &smaller] {
        Worker::start(&launcher, other).await.unwrap().end().await;
        assert!(is_waiting(&launcher), "it is not for them");
    }
    let mut first = Worker::start(&launcher, &plan).await.unwrap();
    assert_eq!(launcher.spares(), 0);
    let mut second = Worker::start(&launcher, &plan).await.unwrap();
    assert_ne!(parent_of(first.pid()), parent_of(second.pid()));
    for worker in [&mut first, &mut second] {
        assert_eq!(result(worker, "echo", json!({})).await["calls"], 1);
        worker.end().await;
    }
}

#[tokio::test]
async fn a_spare_is_followed_by_another_until_the_end() {
    let launcher = launcher().with_spares(Spares::Always);
    let plan = misbehave().await;
    assert_eq!(launcher.spares(), 0);
    for _ in 0..3 {
        let mut worker = Worker::start(&launcher, &plan).await.unwrap();
        assert_eq!(result(&mut worker, "echo", json!({})).await["calls"], 1);
        worker.end().await;
        eventually("the next one waits", || is_waiting(&launcher)).await;
    }
    launcher.end_spares().await;
    launcher.prepare(Sandbox::On, false, Limits::default());
    assert_eq!(launcher.spares(), 0);
    // It goes on without.
    Worker::start(&launcher, &plan).await.unwrap().end().await;
}

#[tokio::test]
async fn a_spare_that_is_gone_is_not_used() {
    let launcher = launcher().with_spares(Spares::Once);
    let mut plan = misbehave().await;
    // Tells it from the processes of other tests.
    plan.confinement.limits.cpu_seconds = 4_747;
    launcher.prepare(Sandbox::On, false, plan.confinement.limits.clone());
    eventually("it is there", || processes_with("\"cpu_seconds\":4747").len() == 2).await;
    for pid in processes_with("\"cpu_seconds\":4747") {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    eventually("it ends", || processes_with("\"cpu_seconds\":4747").is_empty()).await;
    Worker::start(&launcher, &plan).await.unwrap().end().await;
}

#[tokio::test]
async fn a_spare_reads_nothing_that_is_the_programs() {
    // The plan and the first request are written at once, before anybody reads either.
    let launcher = launcher().with_spares(Spares::Once);
    launcher.prepare(Sandbox::Off, false, Limits::default());
    let mut plan = misbehave().await;
    plan.sandbox = Sandbox::Off;
    let mut worker = Worker::start(&launcher, &plan).await.unwrap();
    for number in 1..=3 {
        assert_eq!(result(&mut worker, "echo", json!({})).await["calls"], number);
    }
    worker.end().await;
}

#[tokio::test]
async fn a_killed_remit_leaves_no_spare() {
    if std::env::var_os(PART).is_some() {
        let launcher = launcher().with_spares(Spares::Once);
        launcher.prepare(Sandbox::On, false, Limits::default());
        let own = std::process::id();
        eventually("it is there", || {
            children_of(own).iter().any(|keeper| !children_of(*keeper).is_empty())
        })
        .await;
        let keeper = children_of(own)[0];
        eprintln!("spare {keeper} {}", children_of(keeper)[0]);
        tokio::time::sleep(Duration::from_secs(600)).await;
        return;
    }
    let mut remit = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "spares::a_killed_remit_leaves_no_spare", "--nocapture"])
        .env(PART, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut words = BufReader::new(remit.stderr.take().unwrap()).lines().map_while(Result::ok);
    let said = words.find(|line| line.contains("spare ")).unwrap();
    let pids: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    remit.kill().unwrap();
    remit.wait().unwrap();
    eventually("both end", || pids.iter().all(|pid| !exists(*pid))).await;
}
