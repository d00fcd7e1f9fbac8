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
    /// Takes what it says, so that it never has to wait for a reader.
    said: Option<std::thread::JoinHandle<String>>,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Serving {
    pub(crate) fn start(place: &Path, more: &[&str]) -> Self {
        Self::start_with(place, more, &[] as &[(&str, &str)])
    }

    /// Starts one with variables in its environment.
    pub(crate) fn start_with(
        place: &Path,
        more: &[&str],
        variables: &[(impl AsRef<str>, impl AsRef<str>)],
    ) -> Self {
        let mut command = command(place);
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        command.envs(variables.iter().map(|(name, value)| (name.as_ref(), value.as_ref())));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data", "data"]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stderr.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            panic!("{line:?}: {}", said.join().unwrap());
        };
        let token = fs::read_to_string(place.join("data/admin.token")).unwrap();
        let (address, token) = (address.to_owned(), token.trim().to_owned());
        Self { address, child, said: Some(said), token }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
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
        let answer = self.raw_as(token, head, method, path, &body.to_string());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// Sends a request and gives all that comes back.
    pub(crate) fn raw(&self, method: &str, path: &str, body: &str) -> String {
        self.raw_as(&self.token, "", method, path, body)
    }

    fn raw_as(&self, token: &str, head: &str, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
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
        let said = self.said.take().unwrap().join().unwrap();
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
