//! What is left of servers when they are gone: nothing.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use remit_mcp::{Config, McpError, Server, Servers, State};
use serde_json::json;

use crate::support::{LONG, call, config, lives, long, python, reaches, server, until, works};

async fn pid_of(server: &Server, tool: &str) -> u32 {
    call(server, tool, json!({})).await.unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    for with_keeper in [true, false] {
        let mut config = config(&[]);
        config.keeper = config.keeper.filter(|_| with_keeper);
        let server = Server::new(config);
        let pid = pid_of(&server, "sleepless").await;
        let daemon = with_keeper.then_some(pid_of(&server, "daemon").await);
        assert!(lives(pid));
        server.stop().await;
        // Its own group holds the sleeper; the daemon left it, and is found by the keeper alone.
        until("the end of the server", || !lives(pid)).await;
        let sleeping = || {
            let all = std::fs::read_dir("/proc").unwrap().flatten();
            let groups = all.filter_map(|entry| {
                let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
                let rest = stat.rsplit_once(')')?.1.to_owned();
                let mut words = rest.split_whitespace();
                let state = words.next()?.to_owned();
                let group: u32 = words.nth(1)?.parse().ok()?;
                (state != "Z").then_some(group)
            });
            groups.filter(|group| *group == pid).count()
        };
        until("the end of its group", || sleeping() == 0).await;
        if let Some(daemon) = daemon {
            until("the end of the daemon", || !lives(daemon)).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_want_to_leave_is_made_to() {
    for with_keeper in [true, false] {
        let mut config = config(&["--fault", "stubborn"]);
        config.keeper = config.keeper.filter(|_| with_keeper);
        config.times.leave = Duration::from_millis(100);
        config.times.end = Duration::from_millis(100);
        let server = Server::new(config);
        let pid = pid_of(&server, "sleepless").await;
        server.stop().await;
        until("its end", || !lives(pid)).await;
    }
}

#[tokio::test]
async fn dropping_a_server_ends_it() {
    let server = server(&[]);
    let pid = pid_of(&server, "sleepless").await;
    drop(server);
    until("its end", || !lives(pid)).await;
}

/// Runs one test of this binary again, alone in a process, where it can count what is left.
fn alone(test: &str) -> Option<std::process::Output> {
    if std::env::var_os("REMIT_TEST_ALONE").is_some() {
        return None;
    }
    let me = std::env::current_exe().unwrap();
    let args = [test, "--exact", "--nocapture", "--test-threads=1"];
    let out = Command::new(me).args(args).env("REMIT_TEST_ALONE", "1").output().unwrap();
    let said =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("1 passed"), "{said}");
    Some(out)
}

#[test]
fn nothing_is_left_when_remit_is_killed() {
    if std::env::var_os("REMIT_TEST_ALONE").is_none() {
        let me = std::env::current_exe().unwrap();
        let test = "life::nothing_is_left_when_remit_is_killed";
        let args = [test, "--exact", "--nocapture", "--test-threads=1"];
        let out = Command::new(me).args(args).env("REMIT_TEST_ALONE", "1").output().unwrap();
        assert!(!out.status.success(), "it killed itself");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let pids: Vec<u32> = said
            .lines()
            .filter_map(|line| line.split("left: ").nth(1))
            .flat_map(|line| line.split(' ').map(|word| word.parse().unwrap()))
            .collect();
        assert_eq!(pids.len(), 2, "{said}");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(until("their end", || pids.iter().all(|pid| !lives(*pid))));
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // One that ignores both the end of its input and being told to end.
        let server = server(&["--fault", "stubborn"]);
        let (pid, daemon) = (pid_of(&server, "sleepless").await, pid_of(&server, "daemon").await);
        println!("left: {pid} {daemon}");
        let me = rustix::process::getpid();
        let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    });
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Counts the children of this process, those that wait to be reaped included.
fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    lists.map(|list| list.unwrap_or_default().split_whitespace().count()).sum()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Connects and disconnects; every third server crashes within a call.
async fn cycle(n: usize) {
    let mut config = config(&[]);
    config.keeper = config.keeper.filter(|_| n.is_multiple_of(2));
    let server = Server::new(config);
    works(&server).await;
    if n.is_multiple_of(3) {
        let error = call(&server, "crash", json!({})).await.unwrap_err();
        assert!(matches!(error, McpError::Ended { .. }), "{error}");
    }
    if n.is_multiple_of(5) {
        drop(server);
    } else {
        server.stop().await;
    }
}

#[test]
fn a_thousand_connections_leave_nothing_behind() {
    if let Some(out) = alone("life::a_thousand_connections_leave_nothing_behind") {
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let figures = said.lines().find(|line| line.contains("cycles:")).unwrap_or_default();
        println!("{figures}");
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let cycles = |from: usize, to: usize| async move {
            let mut running = tokio::task::JoinSet::new();
            for n in from..to {
                if running.len() == 8 {
                    running.join_next().await.unwrap().unwrap();
                }
                running.spawn(cycle(n));
            }
            while let Some(done) = running.join_next().await {
                done.unwrap();
            }
            until("the last child", || children() == 0).await;
        };
        // The first ones make what is kept for ever: threads, buffers.
        cycles(0, 50).await;
        let (fds, memory) = (descriptors(), resident_kib());
        cycles(50, 1_000).await;
        until("the last descriptor", || descriptors() <= fds).await;
        let grown = resident_kib().saturating_sub(memory);
        println!("cycles: 1000, descriptors {fds} then {}, grown by {grown} KiB", descriptors());
        assert!(grown < 16 << 10, "it grew by {grown} KiB");
    });
}

#[tokio::test]
async fn fifty_servers_start_side_by_side() {
    let servers = Servers::default();
    for n in 0..50 {
        let mut one = config(&[]);
        one.name = format!("s{n}");
        servers.add(Server::new(one));
    }
    let bad = Config { name: "bad".to_owned(), ..config(&["--fault", "dies"]) };
    servers.add(Server::new(bad));
    let failed = servers.start_all(&long()).await;
    let names: Vec<_> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bad"], "{failed:?}");
    let is_ready = |state: &State| matches!(state, State::Ready { .. });
    let ready = servers.states().iter().filter(|(_, state)| is_ready(state)).count();
    assert_eq!(ready, 50);
    works(&servers.get("s49").unwrap()).await;
    servers.stop_all().await;
    assert!(servers.all().is_empty());
}

#[tokio::test]
async fn one_process_serves_all_who_use_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("pids");
    let server = Arc::new(server(&["--pid", file.to_str().unwrap()]));
    let mut using = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let server = Arc::clone(&server);
        using.spawn(async move { works(&server).await });
    }
    while let Some(done) = using.join_next().await {
        done.unwrap();
    }
    let pids = std::fs::read_to_string(&file).unwrap();
    assert_eq!(pids.lines().count(), 1, "{pids}");
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_serves_http_itself_is_started_and_ended_too() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/web_server.py");
    let launch = remit_mcp::Launch {
        command: python().to_owned(),
        args: ["-I", "-S", file].map(ToOwned::to_owned).to_vec(),
        ..remit_mcp::Launch::default()
    };
    let mut config = config(&[]);
    config.transport = remit_mcp::Transport::LocalHttp(launch);
    let server = Server::new(config);
    let pid = pid_of(&server, "pid").await;
    assert!(lives(pid));
    // Killed from outside, it comes back.
    Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    reaches(&server, |state| !matches!(state, State::Ready { .. })).await;
    reaches(&server, |state| matches!(state, State::Ready { .. })).await;
    let again = tokio::time::timeout(LONG, pid_of(&server, "pid")).await.unwrap();
    assert_ne!(again, pid);
    server.stop().await;
    until("its end", || !lives(again)).await;
}
