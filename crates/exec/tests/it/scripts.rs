//! A script's first line lends its interpreter and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use remit_exec::process::{Confinement, Kind, Plan, Worker, WorkerError};
use serde_json::{Value, json};

use crate::support::{launcher, plan_in, result, start};

struct Tools {
    _directory: tempfile::TempDir,
    base: PathBuf,
}

impl Tools {
    /// Makes a directory of tools, a secret outside of it and one in a directory that is hidden.
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["tools/configs", "outside/bin"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let made = Self { _directory: directory, base };
        for name in ["outside/secret.txt", "outside/bin/private", "tools/configs/key.yaml"] {
            made.write(name, "canary");
        }
        fs::set_permissions(made.at("outside/bin/private"), fs::Permissions::from_mode(0o700))
            .unwrap();
        made
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Gives a plan for a script with a first line in which `TOOLS` stands for the directory.
    async fn script(&self, line: &str) -> Plan {
        let line = line.replace("TOOLS", self.at("tools").to_str().unwrap());
        self.write("tools/tool", &format!("{line}\n"));
        let hidden = vec![self.at("tools/configs")];
        Plan {
            confinement: Confinement { hidden, ..Confinement::default() },
            ..plan_in(&self.at("tools"), Kind::Native, "tool").await
        }
    }

    fn attempt(&self) -> Value {
        json!({"secret": self.at("outside/secret.txt")})
    }
}

#[tokio::test]
async fn what_the_kernel_does_not_read_as_a_name_is_not_lent() {
    let tools = Tools::new();
    symlink(tools.at("outside"), tools.at("tools/link")).unwrap();
    let probe = env!("CARGO_BIN_EXE_remit-native-probe");
    fs::copy(probe, tools.at("tools/link\u{b}x")).unwrap();
    let plan = tools.script("#!TOOLS/link\u{b}x").await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "read_outside", tools.attempt()).await[0], "refused");
}

#[tokio::test]
async fn a_first_line_lends_nothing_but_programs_that_anybody_may_run() {
    let tools = Tools::new();
    tools.write("outside/secret.txt", "canary");
    for (to, why) in [
        ("outside", "not a program"),
        ("outside/bin/private", "not a program"),
        ("outside/secret.txt", "no directory of programs"),
        ("tools/configs/key.yaml", "must stay out of reach"),
        ("/proc/self/environ", "cannot be lent"),
    ] {
        let link = tools.at("tools/link");
        let _ = fs::remove_file(&link);
        symlink(tools.at(to), &link).unwrap();
        let plan = tools.script("#!TOOLS/link").await;
        match Worker::start(&launcher(), &plan).await {
            Err(WorkerError::NotStarted(said)) => assert!(said.contains(why), "{to}: {said}"),
            other => panic!("{to}: {other:?}"),
        }
    }
    let plan = tools.script("#!/../bin/sh").await;
    assert!(Worker::start(&launcher(), &plan).await.is_err());
}

#[tokio::test]
async fn an_interpreter_among_the_tools_or_behind_a_link_to_a_system_program_works() {
    let tools = Tools::new();
    let probe = env!("CARGO_BIN_EXE_remit-native-probe");
    fs::copy(probe, tools.at("tools/own")).unwrap();
    let mut worker = start(&tools.script("#!TOOLS/own").await).await;
    assert_eq!(result(&mut worker, "read_outside", tools.attempt()).await[0], "refused");
    let shell = fs::canonicalize("/bin/sh").unwrap();
    symlink(shell, tools.at("tools/shell")).unwrap();
    let plan = tools
        .script("#!TOOLS/shell\nread line\necho '{\"id\":\"1\",\"result\":7}'\nread line")
        .await;
    assert_eq!(result(&mut start(&plan).await, "any", json!({})).await, 7);
}
