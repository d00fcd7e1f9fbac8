//! Starts confined processes and ends them.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use remit_engine::visit::CREDENTIAL;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::confine::ConfineError;
use super::lines::{Lines, NoLine};
use super::plan::{Greeting, MOST_PLAN_BYTES, Outer, Plan};
use super::runtime;
use super::stage;
use super::tail::{Hear, Tail};

/// Is how long the layers may take to be put up.
const START: Duration = Duration::from_secs(20);
/// Is how long the keeper may take to end what it keeps before it is ended itself.
const END: Duration = Duration::from_millis(800);
/// Is how long a program that closed its answers may take to end by itself.
const FINISH: Duration = Duration::from_secs(2);
/// Is the longest greeting.
const MOST_GREETING_BYTES: usize = 16 << 10;

/// Knows which binary holds the stages.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    groups: bool,
    hear: Option<Hear>,
}

impl Default for Launcher {
    fn default() -> Self {
        // Not the path it was started by: that may name a newer binary by now.
        Self::new("/proc/self/exe")
    }
}

impl Launcher {
    /// Uses a binary that calls [`stage()`](super::stage()) first thing.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), groups: true, hear: None }
    }

    /// Makes no control groups, even where it could.
    #[must_use]
    pub fn without_groups(self) -> Self {
        Self { groups: false, ..self }
    }

    /// Tells somebody what programs write to standard error.
    #[must_use]
    pub fn heard_by(self, hear: Hear) -> Self {
        Self { hear: Some(hear), ..self }
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a program and returns when its confinement stands.
    pub async fn start(&self, plan: &Plan) -> Result<Process, StartError> {
        self.launch(plan, Stdio::piped(), None, self.hear.clone()).await
    }

    /// Starts a program that calls back on its standard input, with a credential in its environment.
    /// Nobody hears what it says, in case that is the credential.
    pub(super) async fn start_visiting(
        &self,
        plan: &Plan,
        input: UnixStream,
        credential: &str,
    ) -> Result<Process, StartError> {
        self.launch(plan, Stdio::from(OwnedFd::from(input)), Some(credential), None).await
    }

    async fn launch(
        &self,
        plan: &Plan,
        input: Stdio,
        credential: Option<&str>,
        hear: Option<Hear>,
    ) -> Result<Process, StartError> {
        plan.check().map_err(|ConfineError(why)| StartError(why))?;
        let mut plan = plan.clone();
        runtime::fit(&mut plan.program.args, &plan.confinement.limits);
        let outer = Outer { plan, remit: std::process::id(), groups: self.groups };
        let text = serde_json::to_string(&outer)
            .map_err(|error| StartError(format!("a path in the plan is not text: {error}")))?;
        if text.len() > MOST_PLAN_BYTES {
            let why = format!(
                "the plan has {} bytes, more than {MOST_PLAN_BYTES}; lend fewer files, or the directories they are in",
                text.len()
            );
            return Err(StartError(why));
        }
        let mut command = Command::new(&self.program);
        command.arg(stage::OUTER).arg(text).process_group(0).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some(credential) = credential {
            // Not in the plan: that is an argument, which everybody on the machine can read.
            command.env(CREDENTIAL, credential);
        }
        let pipes = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = pipes.spawn().map_err(|error| {
            StartError(format!("cannot start `{}`: {error}", self.program.display()))
        })?;
        // Ours of the other's end is closed with it.
        drop(command);
        let mut process = Process::new(child, Tail::heard_by(hear))?;
        match timeout(START, process.greeting()).await {
            Ok(Ok(pid)) => {
                process.pid = pid;
                Ok(process)
            }
            Ok(Err(why)) => {
                process.end().await;
                Err(why)
            }
            Err(_) => {
                process.end().await;
                Err(StartError(format!(
                    "the confinement did not stand within {} s",
                    START.as_secs()
                )))
            }
        }
    }
}

/// Says why a program was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(pub String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tool cannot be started confined: {}", self.0)
    }
}

impl std::error::Error for StartError {}

/// Is a confined process and the pipes to it.
///
/// Dropping it ends it too, but [`Process::end`] returns only when nothing is left.
pub struct Process {
    child: Child,
    pid: u32,
    /// Where requests are written; `None` once closed, and if it calls back.
    pub(super) requests: Option<ChildStdin>,
    /// Where answers are read.
    pub(super) answers: Lines<ChildStdout>,
    tail: Tail,
    drain: Option<JoinHandle<()>>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Process {
    fn new(mut child: Child, tail: Tail) -> Result<Self, StartError> {
        let (Some(answers), Some(words)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(StartError("the pipes to the process are missing".to_owned()));
        };
        let drain = Some(drain(words, tail.clone()));
        let answers = Lines::new(answers);
        let requests = child.stdin.take();
        Ok(Self { child, pid: 0, requests, answers, tail, drain })
    }

    async fn greeting(&mut self) -> Result<u32, StartError> {
        let line = match self.answers.next(MOST_GREETING_BYTES).await {
            Ok(line) => line,
            Err(NoLine::TooLong) => return Err(StartError("the stages speak nonsense".to_owned())),
            Err(NoLine::Broken(error)) => return Err(StartError(error.to_string())),
            Err(NoLine::End) => {
                let how = self.end().await;
                return Err(StartError(format!("the stages ended early ({how}) {}", self.said())));
            }
        };
        match serde_json::from_slice(line) {
            Ok(Greeting::Ready { pid }) => Ok(pid),
            Ok(Greeting::Refused(why)) => Err(StartError(why)),
            Err(_) => Err(StartError("the stages speak nonsense".to_owned())),
        }
    }

    /// Gives the program's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Gives the last part of what the program wrote to standard error.
    pub fn said(&self) -> String {
        self.tail.text()
    }

    /// Forgets that.
    pub(super) fn forget_said(&self) {
        self.tail.clear();
    }

    /// Tells whether the program lives and has said nothing that was not asked for.
    ///
    /// The kernel is asked, not the runtime, which may not have heard of it yet.
    pub(super) fn is_silent(&self) -> bool {
        let mut answers = [PollFd::new(self.answers.source(), PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.answers.is_empty() && poll(&mut answers, Some(&now)) == Ok(0)
    }

    /// Ends the program and all it started, and returns when they are gone.
    pub async fn end(&mut self) -> Ending {
        self.requests = None;
        self.ask_to_end();
        let status = match timeout(END, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                let _ = self.child.start_kill();
                self.child.wait().await
            }
        };
        self.hear_out().await;
        Ending::of(status)
    }

    /// Closes the requests and waits for the program to end by itself, but not for long: a program
    /// that holds its own end of the pipe never sees it closed.
    pub async fn finish(&mut self) -> Ending {
        self.requests = None;
        let Ok(status) = timeout(FINISH, self.child.wait()).await else { return self.end().await };
        self.hear_out().await;
        Ending::of(status)
    }

    /// Takes in the last words. All who could add to them are gone.
    async fn hear_out(&mut self) {
        if let Some(drain) = self.drain.take() {
            let _ = timeout(Duration::from_millis(100), drain).await;
        }
    }

    fn ask_to_end(&self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ask_to_end();
    }
}

fn drain(mut words: ChildStderr, tail: Tail) -> JoinHandle<()> {
    tokio::spawn(async move { tail.fill(&mut words).await })
}

/// Says how a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its exit code, or 128 and the signal that ended it.
    pub code: Option<i32>,
}

impl Ending {
    fn of(status: io::Result<ExitStatus>) -> Self {
        Self { code: status.ok().and_then(|status| status.code()) }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            // The kernel does not tell these apart.
            Some(137) => f.write_str(
                "killed by signal 9: it reached `cpu_seconds` or `memory_bytes` of the operator's limits, or somebody killed it",
            ),
            Some(153) => {
                f.write_str("it wrote a file larger than `file_bytes` of the operator's limits")
            }
            Some(127) => f.write_str("exit code 127: a program it starts was not found"),
            Some(code @ 129..=192) => write!(f, "killed by signal {}", code - 128),
            Some(code) => write!(f, "exit code {code}"),
            None => f.write_str("killed"),
        }
    }
}
