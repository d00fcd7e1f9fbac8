//! `remit mcp` as a client starts it: a real process at two pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::calls::house;
use crate::support::command;

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(place: &std::path::Path, more: &[&str]) -> Self {
        let mut command = command(place);
        command.args(["mcp", "--data", "data"]).args(more);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_client_lists_and_calls_what_is_in_the_tools_directory() {
    let place = house();
    let mut client = Client::start(place.path(), &[]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    let welcome = client.ask("initialize", hello);
    assert_eq!(welcome["result"]["serverInfo"]["name"], "remit");
    let list = client.ask("tools/list", json!({}));
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert!(names.contains(&"demo.echo"), "{list}");
    // Nothing is said of its sensitivity, so its user is asked, at the client.
    let call = json!({"name": "demo.echo", "arguments": {"text": "hi"}});
    let question = client.ask("tools/call", call);
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let said = json!({"action": "accept", "content": {"decision": "approve"}});
    let done = client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
    assert_eq!(done["result"]["structuredContent"], json!({"n": 7, "text": "hi"}), "{done}");
    let unknown = client.ask("tools/call", json!({"name": "no.such"}));
    assert_eq!(unknown["error"]["code"], -32602);
    client.end();
    let mut client = Client::start(place.path(), &["--project-cli"]);
    let list = client.ask("tools/list", json!({}));
    assert_eq!(list["result"]["tools"][0]["name"], "project_cli");
    client.end();
}
