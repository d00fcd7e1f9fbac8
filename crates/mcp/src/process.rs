//! A local server's process: started in a group of its own, ended for good.
//!
//! It is asked to leave by closing its input, then told by SIGTERM, then killed. With a keeper
//! ([`crate::keeper`]) that includes whatever it started, also when Remit itself is killed; without one
//! it includes its process group.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::McpError;
use crate::keeper;
use crate::launch::{Launch, Surroundings};
use crate::limits::Times;
use crate::tail::Tail;

/// How long the last words of a process are waited for. Whoever inherited its standard error may hold
/// it open for ever.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(100);

/// Is a running program. Dropping it kills its group; [`Process::end`] is kinder and waits.
pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    pub(crate) tail: Tail,
    drain: Option<JoinHandle<()>>,
}

/// Is the pipes to a program.
pub(crate) struct Ends {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

impl Process {
    /// Starts a program.
    pub(crate) fn start(
        launch: &Launch,
        around: &Surroundings,
        keeper: Option<&PathBuf>,
        tail: Tail,
    ) -> Result<(Self, Ends), McpError> {
        let program = launch.program(around)?;
        let mut command = match keeper {
            Some(keeper) => {
                let mut command = Command::new(keeper);
                command.arg(keeper::WORD).arg(std::process::id().to_string()).arg(&program);
                command
            }
            None => Command::new(&program),
        };
        command.args(&launch.args).env_clear().envs(launch.environment(around)).process_group(0);
        command.current_dir(launch.directory.as_deref().unwrap_or(std::path::Path::new("/")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| McpError::NotStarted {
            why: format!("{}: {error}", remit_model::text::quoted(&program.to_string_lossy())),
        })?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (input, output, words) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let drain = words.map(|mut words| {
            let tail = tail.clone();
            tokio::spawn(async move { tail.fill(&mut words).await })
        });
        let process = Self { child, group, tail, drain };
        match (input, output) {
            (Some(input), Some(output)) => Ok((process, Ends { input, output })),
            _ => Err(McpError::NotStarted { why: "its pipes are missing".to_owned() }),
        }
    }

    /// Waits for the program to end by itself.
    pub(crate) async fn ended(&mut self) {
        let _ = self.child.wait().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends it, whose input was closed before, and says how it ended.
    pub(crate) async fn end(mut self, times: &Times) -> String {
        let mut status = timeout(times.leave, self.child.wait()).await;
        if status.is_err() {
            self.signal(Signal::TERM);
            // A keeper needs a moment more than what it keeps.
            status = timeout(times.end + keeper::GRACE, self.child.wait()).await;
        }
        self.signal(Signal::KILL);
        let status = match status {
            Ok(status) => status,
            Err(_) => self.child.wait().await,
        };
        self.group = None;
        if let Some(drain) = self.drain.take() {
            let stop = drain.abort_handle();
            let _ = timeout(LAST_WORDS, drain).await;
            stop.abort();
        }
        status.map_or_else(|error| error.to_string(), how)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The runtime reaps it.
        self.signal(Signal::KILL);
        if let Some(drain) = self.drain.take() {
            drain.abort();
        }
    }
}

/// Says how a process ended. A keeper says it as shells do.
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(127), _) => "exit code 127: a program was not found".to_owned(),
        (Some(code @ 129..=192), _) => format!("killed by signal {}", code - 128),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "killed".to_owned(),
    }
}
