//! A person at a terminal: what they are asked, and what outlives the terminal.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::calls::{call, house};
use crate::support::remit;

/// Runs a command as the leader of a terminal's session, as a terminal emulator does. Types the first
/// text before the command starts, and each other one when its sign has appeared; prints all that was
/// shown, after the exit code. When the command has ended, the terminal is closed.
const DRIVER: &str = r#"
import json, os, pty, sys
steps, command = json.loads(sys.argv[1]), sys.argv[2:]
go, start = os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.close(start)
    os.read(go, 1)
    os.execv(command[0], command)
os.close(go)
shown, at = "", 0
def typed(text):
    os.write(terminal, text.encode())
if steps and steps[0][0] == "":
    typed(steps.pop(0)[1])
os.write(start, b"x")
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk.decode("utf-8", "replace")
    while steps and steps[0][0] in shown[at:]:
        at = shown.index(steps[0][0], at) + len(steps[0][0])
        typed(steps.pop(0)[1])
_, status = os.waitpid(pid, 0)
os.close(terminal)
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "shown": shown}))
"#;

/// Gives the exit code and what was shown.
fn at_terminal(place: &Path, steps: &[(&str, &str)], arguments: &[&str]) -> (i64, String) {
    let output = Command::new("python3")
        .args(["-c", DRIVER, &json!(steps).to_string(), env!("CARGO_BIN_EXE_remit")])
        .args(arguments)
        .args(["--data", "data"])
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    (told["code"].as_i64().unwrap(), told["shown"].as_str().unwrap().to_owned())
}

const ECHO: [&str; 3] = ["call", "demo.echo", "{}"];

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let dir = house();
    let (code, shown) = at_terminal(dir.path(), &[("", "y\ny\n"), ("Run it?", "n\n")], &ECHO);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("user_rejected"), "{shown}");
    let (code, shown) = at_terminal(dir.path(), &[("Run it?", "y\n")], &ECHO);
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_slip_of_the_finger_is_asked_about_again() {
    let dir = house();
    let steps = [("Run it?", "u\n"), ("no answer. Run it?", "y\n")];
    let (code, shown) = at_terminal(dir.path(), &steps, &ECHO);
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn once_is_for_once() {
    let dir = house();
    let (code, shown) = at_terminal(dir.path(), &[("Run it?", "o\n")], &ECHO);
    assert_eq!(code, 0, "{shown}");
    let (code, shown) = at_terminal(dir.path(), &[("Run it?", "n\n")], &ECHO);
    assert_eq!(code, 1, "it is asked again: {shown}");
}

/// Finds the id of the work that was let go and waits for its end.
fn end_of(place: &Path, shown: &str) -> serde_json::Value {
    let (_, id) = shown.split_once("execution ").unwrap_or_else(|| panic!("{shown}"));
    let id: String = id.chars().take(36).collect();
    let wait = ["execution", "wait", &id, "--data", "data", "--format", "json"];
    remit(place, &wait).json()
}

const SLOW: [&str; 4] = ["call", "demo.slow", r#"{"seconds": 1}"#, "--detach"];

#[test]
fn detached_work_outlives_its_terminal_after_a_question() {
    let dir = house();
    let (code, shown) = at_terminal(dir.path(), &[("Run it?", "y\n")], &SLOW);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(end_of(dir.path(), &shown)["response"]["result"], "slept");
}

#[test]
fn detached_work_outlives_its_terminal_under_a_standing_grant() {
    let dir = house();
    assert_eq!(call(dir.path(), &["demo.echo", "--approve"]).code, 0);
    let (code, shown) = at_terminal(dir.path(), &[], &SLOW);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(end_of(dir.path(), &shown)["response"]["result"], "slept");
}

#[test]
fn detached_work_outlives_its_terminal_when_a_script_answers() {
    let dir = house();
    let arguments = [SLOW.as_slice(), &["--approve"]].concat();
    let (code, shown) = at_terminal(dir.path(), &[], &arguments);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(end_of(dir.path(), &shown)["response"]["result"], "slept");
}
