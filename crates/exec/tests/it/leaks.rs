//! Nothing is left behind: not by hundreds of timeouts, not when Remit is killed.
//!
//! These look at all processes and files of Remit, so they run it in a process of its own: this same
//! test binary, told by a variable to play its part.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use remit_exec::process::{Plan, Spares, Worker};
use serde_json::json;

use crate::support::{
    NONE, call_within, eventually, key, launcher, marker, misbehave, processes_with, result, start,
};

const PART: &str = "REMIT_TEST_PART";
/// Is how many calls time out beside each other.
const LANES: usize = 4;

/// Gives a command that runs one test of this binary alone and tells it its part.
fn alone(test: &str, part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(PART, part);
    command
}

fn part() -> Option<String> {
    std::env::var(PART).ok()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn children() -> Vec<String> {
    let me = format!(" {} ", std::process::id());
    let listed = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = listed.filter_map(|e| std::fs::read_to_string(e.path().join("stat")).ok());
    let parent = |stat: &String| {
        let rest = stat.rsplit_once(')').unwrap().1;
        rest.split_whitespace().nth(1).map(|p| format!(" {p} ")) == Some(me.clone())
    };
    stats.filter(parent).collect()
}

#[tokio::test]
async fn nothing_is_left_after_hundreds_of_timeouts() {
    if part().is_none() {
        let output = alone("leaks::nothing_is_left_after_hundreds_of_timeouts", "inner").output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let times: u64 = std::env::var("REMIT_SOAK_TIMEOUTS").map_or(200, |n| n.parse().unwrap());
    let plan = misbehave().await;
    let marker = marker("leak");
    let mut before = None;
    for first in (0..times).step_by(LANES) {
        let mut lanes = tokio::task::JoinSet::new();
        for time in (first..times).take(LANES) {
            lanes.spawn(time_out(plan.clone(), marker.clone(), Duration::from_millis(time % 60)));
        }
        lanes.join_all().await;
        // The first ones open what stays open: the runtime's own files.
        if first >= 8 && before.is_none() {
            before = Some((open_files(), resident()));
        }
    }
    let (files, memory) = before.unwrap();
    assert_eq!(children(), Vec::<String>::new());
    assert_eq!(processes_with(&marker), NONE);
    assert_eq!(open_files(), files);
    assert!(resident() < memory + (8 << 10), "{memory} KiB before, {} KiB after", resident());
    // Other tests kill keepers; the next start sweeps up after those.
    for _ in 0..100 {
        if groups_left().is_empty() {
            return;
        }
        start(&plan).await.end().await;
    }
    panic!("{:?}", groups_left());
}

#[tokio::test]
async fn nothing_is_left_of_starts_made_ahead() {
    if part().is_none() {
        let output =
            alone("leaks::nothing_is_left_of_starts_made_ahead", "inner").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let times: u64 = std::env::var("REMIT_SOAK_TIMEOUTS").map_or(20, |n| n.parse().unwrap()) / 10;
    let plan = misbehave().await;
    let mut before = None;
    for time in 0..times.max(10) {
        let launcher = launcher().with_spares(Spares::Always);
        for round in 0..3 {
            let mut worker = Worker::start(&launcher, &plan).await.unwrap();
            let asked = json!({"marker": "spare", "then": "sleep"});
            let timeout = Duration::from_millis(time % 60);
            call_within(&mut worker, "grandchild", asked, timeout).await.unwrap_err();
            // Some starts find one, some come before it is made, some find it half made.
            if round == 0 {
                eventually("one is made ahead", || launcher.spares() == 1).await;
            }
        }
        launcher.end_spares().await;
        if time == 5 {
            before = Some((open_files(), resident()));
        }
    }
    let (files, memory) = before.unwrap();
    eventually("all end", || children().is_empty()).await;
    assert_eq!(open_files(), files);
    assert!(resident() < memory + (8 << 10), "{memory} KiB before, {} KiB after", resident());
}

/// Starts a worker and makes a call that takes too long.
async fn time_out(plan: Plan, marker: String, timeout: Duration) {
    let mut worker = start(&plan).await;
    // Some are still starting when their time is up, some have grandchildren by then.
    let asked = json!({"marker": marker, "then": "sleep"});
    call_within(&mut worker, "grandchild", asked, timeout).await.unwrap_err();
}

/// Gives the memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Lists control groups whose keepers are gone.
fn groups_left() -> Vec<String> {
    let mut left = Vec::new();
    for tree in ["/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"] {
        let Ok(listed) = std::fs::read_dir(tree) else { continue };
        let names = listed.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        left.extend(names.filter(|name| {
            let pid = name.strip_prefix("remit-").and_then(|pid| pid.parse::<u32>().ok());
            pid.is_some_and(|pid| !crate::support::exists(pid))
        }));
    }
    left
}

#[tokio::test]
async fn a_killed_remit_leaves_no_tool_running() {
    if let Some(marker) = part() {
        // Plays Remit: has a worker with a grandchild, and waits to be killed.
        let mut worker = start(&misbehave().await).await;
        result(&mut worker, "grandchild", json!({"marker": marker})).await;
        eventually("the grandchild starts", || processes_with(&marker).len() == 1).await;
        eprintln!("ready");
        tokio::time::sleep(Duration::from_secs(600)).await;
        return;
    }
    let marker = marker("killed");
    let mut remit = alone("leaks::a_killed_remit_leaves_no_tool_running", &marker)
        .arg(&marker)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let words = BufReader::new(remit.stderr.take().unwrap());
    assert!(words.lines().map_while(Result::ok).any(|line| line.contains("ready")));
    assert!(processes_with(&marker).len() >= 2, "Remit and the grandchild");
    remit.kill().unwrap();
    remit.wait().unwrap();
    eventually("the grandchild ends", || processes_with(&marker).is_empty()).await;
}

#[tokio::test]
async fn files_that_remit_left_open_by_accident_do_not_reach_a_tool() {
    // No flag to close it on exec: every child gets it.
    let flags = rustix::fs::OFlags::RDONLY;
    let leaked = rustix::fs::open("/etc/passwd", flags, rustix::fs::Mode::empty()).unwrap();
    let mut plan = misbehave().await;
    for sandbox in [remit_exec::process::Sandbox::On, remit_exec::process::Sandbox::Off] {
        plan.sandbox = sandbox;
        let mut worker = start(&plan).await;
        assert_eq!(result(&mut worker, "inherited", json!({})).await, json!([0, 1, 2]));
        worker.end().await;
    }
    drop(leaked);
}

#[tokio::test]
async fn starts_that_are_given_up_leave_nothing() {
    if part().is_none() {
        let output =
            alone("leaks::starts_that_are_given_up_leave_nothing", "inner").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let mut plan = misbehave().await;
    let marker = marker("start");
    plan.program.args.push(marker.clone());
    let pool =
        remit_exec::process::Pool::new(launcher(), remit_exec::process::PoolOptions::default());
    let key = key(plan);
    for time in 0..100_u64 {
        // Given up at every point of a start.
        let short = Duration::from_micros(time * 150);
        let _ = tokio::time::timeout(short, pool.prewarm(&key, 1)).await;
    }
    pool.shutdown().await;
    eventually("all end", || processes_with(&marker).is_empty() && children().is_empty()).await;
}
