//! Work that goes on by itself: seen, awaited and stopped from other processes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::calls::{call, house};
use crate::support::{Run, remit};

fn execution(place: &Path, arguments: &[&str]) -> Run {
    let mut all = vec!["execution"];
    all.extend(arguments);
    all.extend(["--data", "data", "--format", "json"]);
    remit(place, &all)
}

fn grants(place: &Path, arguments: &[&str]) -> Run {
    let mut all = vec!["grants"];
    all.extend(arguments);
    all.extend(["--data", "data", "--format", "json"]);
    remit(place, &all)
}

/// Starts work that takes a minute unless it is stopped; gives its id.
fn detached(place: &Path, seconds: &str) -> String {
    let input = format!("{{\"seconds\": {seconds}}}");
    let run = call(place, &["demo.slow", &input, "--approve", "--detach"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answer = run.json();
    assert_eq!(answer["status"], "success");
    assert_eq!(answer["result"]["status"], "running");
    answer["execution_id"].as_str().unwrap().to_owned()
}

/// Asks until the answer is as it is wanted; the tests' own limit ends what never is.
fn until(place: &Path, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let now = execution(place, &["status", id]).json();
        if wanted(&now) {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn detached_work_goes_on_shows_its_progress_and_can_be_cancelled() {
    let place = house();
    let place = place.path();
    let id = detached(place, "60");
    let now = until(place, &id, |now| now["progress"]["message"] == "step 2");
    assert_eq!((&now["status"], &now["capability"]), (&json!("running"), &json!("demo.slow")));
    let listed = execution(place, &[]).json();
    assert_eq!(listed["executions"][0]["execution_id"], json!(id));
    let stopped = execution(place, &["cancel", &id[..30]]);
    assert_eq!(stopped.code, 0, "{}", stopped.stderr);
    assert_eq!(stopped.json()["response"]["outcome"], "cancelled");
    assert_eq!(execution(place, &[]).json()["executions"], json!([]));
    let again = execution(place, &["cancel", &id]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("has ended already: cancelled"), "{}", again.stderr);
    let log = remit(place, &["log", "show", &id, "--data", "data"]).stdout;
    assert!(log.contains("call.stop") && log.contains("\"by\""), "{log}");
}

#[test]
fn detached_work_can_be_awaited() {
    let place = house();
    let place = place.path();
    let id = detached(place, "0.3");
    let done = execution(place, &["wait", &id]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = done.json();
    assert_eq!(
        (&done["status"], &done["response"]["result"]),
        (&json!("completed"), &json!("slept"))
    );
    let none = execution(place, &["status", "no-such-id"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("there is no call"), "{}", none.stderr);
}

#[test]
fn what_is_refused_is_not_detached() {
    let place = house();
    let place = place.path();
    for (name, input, flag, code) in [
        ("demo.slow", "{\"seconds\": \"x\"}", "--approve", "INVALID_INPUT"),
        ("demo.slow", "{}", "--deny", "DENIED"),
        ("demo.sloe", "{}", "--approve", "UNKNOWN_CAPABILITY"),
    ] {
        let run = call(place, &[name, input, flag, "--detach"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert_eq!(run.json()["code"], code);
    }
}

#[test]
fn a_detached_process_that_is_killed_leaves_an_unknown_outcome() {
    let place = house();
    let place = place.path();
    let id = detached(place, "60");
    let name = fs::read_dir(place.join("data/nodes")).unwrap().next();
    assert!(name.is_some(), "it is alive");
    let wanted = format!("--call-id\0{id}\0");
    let pid = fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let is_it = String::from_utf8_lossy(&line).contains(&wanted);
        is_it.then(|| entry.file_name().to_str()?.parse::<i32>().ok())?
    });
    let pid = rustix::process::Pid::from_raw(pid.unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let end = until(place, &id, |now| now["status"] == "failed");
    assert_eq!(end["response"]["outcome"], "outcome_unknown");
}

#[test]
fn what_was_granted_is_listed_and_can_be_taken_back() {
    let place = house();
    let place = place.path();
    let denied = |run: &Run| (run.code, run.json()["error"].clone());
    assert_eq!(call(place, &["demo.echo", "{}", "--approve"]).code, 0);
    let list = grants(place, &[]).json();
    let grant = &list["grants"][0];
    assert_eq!((&grant["source"], &grant["revoked"]), (&json!("demo"), &json!(false)));
    let scope = grant["scope"].as_str().unwrap();
    assert_eq!(grants(place, &["revoke", "demo", scope]).json(), json!({"revoked": 1}));
    let after = call(place, &["demo.echo", "{}", "--approve"]);
    assert_eq!(denied(&after), (1, json!("permission_revoked")));
    assert_eq!(grants(place, &["lift", "demo", scope]).json(), json!({"lifted": true}));
    assert_eq!(grants(place, &["lift", "demo", scope]).code, 1);
    assert_eq!(call(place, &["demo.echo", "{}", "--deny"]).json()["error"], "user_rejected");
    assert_eq!(call(place, &["demo.echo", "{}", "--approve"]).code, 0);
}
