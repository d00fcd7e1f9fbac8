//! `remit serve` as an operator runs it: real processes, real tools, real signals.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::calls::house;
use crate::support::command;

/// Is a server in a process of its own.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Serving {
    pub(crate) fn start(place: &Path, more: &[&str]) -> Self {
        Self::start_with(place, more, &[])
    }

    /// Starts one with variables of the environment.
    pub(crate) fn start_with(place: &Path, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command(place);
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").envs(variables.iter().copied());
        command.args(["serve", "--listen", "127.0.0.1:0", "--data", "data"]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| {
            let mut said = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("{line:?}: {said}")
        });
        let token = fs::read_to_string(place.join("data/admin.token")).unwrap();
        Self { address: address.to_owned(), child, token: token.trim().to_owned() }
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.request_as(&self.token, "", method, path, body)
    }

    /// Makes a request with another token and more lines in its head.
    pub(crate) fn request_as(
        &self,
        token: &str,
        head: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    pub(crate) fn call(&self, capability: &str, input: Value) -> Value {
        let body = json!({"capability": capability, "input": input, "thread_id": "t"});
        self.request("POST", "/calls", &body).1
    }

    /// Answers the first question with yes.
    pub(crate) fn approve(&self) {
        for _ in 0..3_000 {
            let waiting = self.request("GET", "/approvals", &Value::Null).1;
            if let Some(id) = waiting["approvals"][0]["id"].as_str() {
                let yes = json!({"decision": "approve"});
                assert_eq!(self.request("POST", &format!("/approvals/{id}"), &yes).0, 204);
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("nobody was asked");
    }

    pub(crate) fn stop(mut self) -> String {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{said}");
        said
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_starts_calls_real_tools_and_stops_cleanly() {
    let place = house();
    let place = place.path();
    let server = Serving::start(place, &[]);
    let mode = fs::metadata(place.join("data/admin.token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| server.call("demo.echo", json!({"text": "hi"})));
        server.approve();
        call.join().unwrap()
    });
    assert_eq!(answer["result"], json!({"text": "hi", "n": 7}), "{answer}");
    let silent = server.call("demo.echo", json!({"text": "again"}));
    assert_eq!(silent["outcome"], "succeeded", "a yes holds for the conversation");
    let token = server.token.clone();
    let said = server.stop();
    assert!(!said.contains(&token), "the log holds no token");
    let again = Serving::start(place, &["--log", "json"]);
    assert_eq!(again.token, token, "the token stays");
    assert_eq!(
        again.request("GET", "/calls", &Value::Null).1["calls"].as_array().unwrap().len(),
        2
    );
    let said = again.stop();
    assert!(said.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{said}");
    let log = crate::support::remit(place, &["log", "verify", "--data", "data"]);
    assert_eq!(log.code, 0, "{}", log.stdout);
}

#[test]
fn changes_are_taken_up_while_it_runs_and_what_is_broken_leaves_the_last_good_one() {
    let place = house();
    let place = place.path();
    let server = Serving::start(place, &[]);
    let state = |name: &str| server.request("GET", &format!("/tools/{name}"), &Value::Null).1;
    let until = |is_so: &dyn Fn() -> bool| {
        let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
        assert!((0..600).any(|_| is_so() || (wait(), false).1), "it never came to be");
    };
    assert_eq!(state("demo.echo")["sensitivity"], "medium");
    let policy = "capabilities:\n  - {match: demo.*, sensitivity: low}\n";
    fs::write(place.join("remit.yaml"), policy).unwrap();
    until(&|| state("demo.echo")["sensitivity"] == "low");
    assert_eq!(server.call("demo.echo", json!({}))["outcome"], "succeeded", "nobody is asked");
    let manifest = fs::read_to_string(place.join("tools/demo.yaml")).unwrap();
    fs::write(place.join("tools/demo.yaml"), manifest.replace("commands:", "commands: [")).unwrap();
    until(&|| state("demo.echo")["state"] == "stale");
    assert_eq!(server.call("demo.echo", json!({}))["outcome"], "succeeded");
    fs::write(place.join("tools/demo.yaml"), manifest.replace("name: fail", "name: flail"))
        .unwrap();
    until(&|| state("demo.flail")["state"] == "ready");
    assert_eq!(state("demo.fail")["error"]["code"], "NOT_FOUND");
}

#[test]
fn what_stands_in_the_way_is_said() {
    let place = house();
    let place = place.path();
    let first = Serving::start(place, &[]);
    let taken =
        crate::support::remit(place, &["serve", "--listen", &first.address, "--data", "data"]);
    assert_eq!(taken.code, 2);
    assert!(taken.stderr.contains("cannot listen on"), "{}", taken.stderr);
    fs::write(place.join("data/admin.token"), "not one").unwrap();
    let bad = crate::support::remit(place, &["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("does not hold an operator's token"), "{}", bad.stderr);
}
