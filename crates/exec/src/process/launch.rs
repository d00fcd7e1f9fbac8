//! Starts confined processes and ends them.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::confine::{ConfineError, Confinement, Limits, Sandbox};
use super::lines::{Lines, NoLine};
use super::plan::{Ahead, Greeting, MOST_PLAN_BYTES, Order, Outer, Plan};
use super::runtime;
use super::spare::{Shelf, Spares};
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
    shelf: Shelf,
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
        Self { program: program.into(), groups: true, hear: None, shelf: Shelf::default() }
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

    /// Makes starts ahead.
    #[must_use]
    pub fn with_spares(self, when: Spares) -> Self {
        Self { shelf: Shelf::new(when), ..self }
    }

    /// Makes a start ahead for plans that are confined like this. Must be called inside a runtime.
    pub fn prepare(&self, sandbox: Sandbox, network: bool, limits: Limits) {
        self.shelf.make(self, Ahead { sandbox, network, limits, groups: self.groups });
    }

    /// Tells how many starts made ahead wait for a plan.
    pub fn spares(&self) -> usize {
        self.shelf.count()
    }

    /// Ends what was started ahead. Nothing is from now on.
    pub async fn end_spares(&self) {
        self.shelf.close().await;
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a program and returns when its confinement stands.
    pub async fn start(&self, plan: &Plan) -> Result<Process, StartError> {
        let (ahead, order) = self.order(plan, None)?;
        let process = match self.shelf.take(&ahead) {
            Some(spare) => spare,
            None => self.begin(&ahead)?,
        };
        let started = process.go_on(&order, None).await?;
        self.shelf.make_later(self, ahead);
        Ok(started)
    }

    /// Starts a program that calls back on its standard input, with a credential in its environment,
    /// and gives the other end of that. Nobody hears what it says, in case that is the credential.
    pub(super) async fn start_visiting(
        &self,
        plan: &Plan,
        credential: &str,
    ) -> Result<(Process, UnixStream), StartError> {
        let (ahead, order) = self.order(plan, Some(credential))?;
        let cannot = |error: io::Error| {
            StartError(format!("no connection to the process can be made: {error}"))
        };
        let (mut ours, theirs) = UnixStream::pair().map_err(cannot)?;
        let theirs = theirs.into_std().map_err(cannot)?;
        theirs.set_nonblocking(false).map_err(cannot)?;
        let process = self.spawn(&ahead, Stdio::from(OwnedFd::from(theirs)), None)?;
        Ok((process.go_on(&order, Some(&mut ours)).await?, ours))
    }

    /// Writes down what is to run, and what can be done before that is known.
    fn order(&self, plan: &Plan, credential: Option<&str>) -> Result<(Ahead, Vec<u8>), StartError> {
        plan.check().map_err(|ConfineError(why)| StartError(why))?;
        let mut plan = plan.clone();
        let Confinement { network, limits, .. } = &plan.confinement;
        runtime::fit(&mut plan.program.args, limits);
        let (sandbox, network, limits) = (plan.sandbox, *network, limits.clone());
        let ahead = Ahead { sandbox, network, limits, groups: self.groups };
        let order = Order { plan, credential: credential.map(str::to_owned) };
        let text = serde_json::to_vec(&order)
            .map_err(|error| StartError(format!("a path in the plan is not text: {error}")))?;
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if text.len() > MOST_PLAN_BYTES {
            let why = format!(
                "the plan has {length} bytes, more than {MOST_PLAN_BYTES}; lend fewer files, or the directories they are in",
            );
            return Err(StartError(why));
        }
        Ok((ahead, [&length.to_le_bytes(), text.as_slice()].concat()))
    }

    /// Starts the stages, which wait for a plan.
    pub(super) fn begin(&self, ahead: &Ahead) -> Result<Process, StartError> {
        self.spawn(ahead, Stdio::piped(), self.hear.clone())
    }

    fn spawn(
        &self,
        ahead: &Ahead,
        input: Stdio,
        hear: Option<Hear>,
    ) -> Result<Process, StartError> {
        let outer = Outer { ahead: ahead.clone(), remit: std::process::id() };
        let text = serde_json::to_string(&outer).map_err(|error| StartError(error.to_string()))?;
        let mut command = Command::new(&self.program);
        command.arg(stage::OUTER).arg(text).process_group(0).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let pipes = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = pipes.spawn().map_err(|error| {
            StartError(format!("cannot start `{}`: {error}", self.program.display()))
        })?;
        // Ours of the other's end is closed with it.
        drop(command);
        Process::new(child, Tail::heard_by(hear))
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

    /// Hands the stages their order, where nothing else is their input, and returns when the
    /// confinement stands.
    async fn go_on(
        mut self,
        order: &[u8],
        input: Option<&mut UnixStream>,
    ) -> Result<Self, StartError> {
        let go_on = async {
            // If it cannot be written they have been refused something, and say what.
            let _ = match (input, &mut self.requests) {
                (Some(input), _) => input.write_all(order).await,
                (None, Some(input)) => input.write_all(order).await,
                (None, None) => Ok(()),
            };
            self.greeting().await
        };
        match timeout(START, go_on).await {
            Ok(Ok(pid)) => {
                self.pid = pid;
                Ok(self)
            }
            Ok(Err(why)) => {
                self.end().await;
                Err(why)
            }
            Err(_) => {
                self.end().await;
                let why = format!("the confinement did not stand within {} s", START.as_secs());
                Err(StartError(why))
            }
        }
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
