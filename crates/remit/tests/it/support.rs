//! Runs the binary and keeps what it said.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Is what a run of the binary left behind.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by a signal"),
            stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }

    /// Gives the rules of all diagnostics of `check --format json`.
    pub(crate) fn rules(&self) -> Vec<String> {
        let report = self.json();
        let files = report["files"].as_array().unwrap();
        files
            .iter()
            .flat_map(|file| file["diagnostics"].as_array().unwrap().iter())
            .map(|d| d["rule"].as_str().unwrap().to_owned())
            .collect()
    }
}

pub(crate) fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remit"));
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// Runs `remit` with these arguments in this directory.
pub(crate) fn remit(directory: &Path, arguments: &[&str]) -> Run {
    Run::new(command(directory).args(arguments).output().unwrap())
}

/// Runs `remit` with something on standard input.
pub(crate) fn remit_with_input(directory: &Path, arguments: &[&str], input: &[u8]) -> Run {
    let mut command = command(directory);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The binary may stop reading early; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    Run::new(child.wait_with_output().unwrap())
}

/// Gives a path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

pub(crate) const TOOL: &str = "name: greeter\ndisplay_name: Greeter\ndescription: Greets.\nentry: greeter.py\ncommands:\n  - name: greet\n    description: Greets.\n";

/// Makes a directory with files in it.
pub(crate) fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}
