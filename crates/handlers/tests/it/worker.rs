//! A worker under test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_remit-handlers-worker");

/// Is a handler in a process of its own, which ends with it.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Is an answer and the progress before it.
pub struct Answer {
    pub value: Value,
    pub progress: Vec<Value>,
}

impl Worker {
    pub fn start(handler: &str) -> Self {
        Self::start_with(handler, &[])
    }

    pub fn start_with(handler: &str, environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(BINARY);
        command.arg(handler).env_clear().envs(environment.iter().copied());
        Self::spawn(&mut command)
    }

    /// Starts a worker after some commands of a shell, such as limits.
    pub fn start_in_shell(before: &str, handler: &str) -> Self {
        let script = format!("{before}; exec {BINARY} {handler}");
        Self::spawn(Command::new("/bin/sh").arg("-c").arg(script).env_clear())
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    pub fn ask(&mut self, command: &str, parameters: Value, settings: Value) -> Answer {
        self.ask_within(command, parameters, settings, 60_000)
    }

    pub fn ask_within(
        &mut self,
        command: &str,
        parameters: Value,
        settings: Value,
        timeout_ms: u64,
    ) -> Answer {
        let request = json!({
            "id": "1", "command": command, "parameters": parameters, "settings": settings,
            "context": {"call_id": "test", "timeout_ms": timeout_ms},
        });
        self.send(&request.to_string());
        let mut progress = Vec::new();
        loop {
            let line = self.line().expect("the worker ended without an answer");
            assert_eq!(line["id"], "1");
            if line.get("progress").is_some() {
                progress.push(line);
            } else {
                return Answer { value: line, progress };
            }
        }
    }

    /// Closes the input and gives the exit code.
    pub fn finish(mut self) -> i32 {
        self.input = None;
        self.child.wait().unwrap().code().unwrap_or(-1)
    }

    /// Waits for the worker to end by itself.
    pub fn ended(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Gives the code of the error, or nothing.
    pub fn code(&self) -> &str {
        self.value["error"]["code"].as_str().unwrap_or_default()
    }

    /// Gives the result of a call that worked.
    pub fn result(&self) -> &Value {
        assert!(self.value.get("error").is_none(), "{}", self.value);
        &self.value["result"]
    }

    pub fn message(&self) -> &str {
        self.value["message"].as_str().unwrap_or_default()
    }

    pub fn partial(&self) -> bool {
        self.value["partial"].as_bool().unwrap_or(false)
    }
}

/// Asks the file operator something about files below a directory.
pub fn files(directory: &Path, command: &str, parameters: Value) -> Answer {
    let settings = json!({"allowed_directories": directory.to_str().unwrap()});
    Worker::start("file_operator").ask(command, parameters, settings)
}

/// Reads a file below a directory.
pub fn read(directory: &Path, path: &Path) -> Answer {
    files(directory, "read_file", json!({"filePath": path.to_str().unwrap(), "encoding": "utf8"}))
}
