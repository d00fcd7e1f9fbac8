//! The process between Remit and a local server, which sees to it that nothing is left.
//!
//! A server may start programs of its own, and those may leave its process group; and Remit may be
//! killed without a chance to end anything. So Remit starts itself once more as a *keeper*, which starts
//! the server, adopts whatever the server leaves behind, and ends it all when the server ends, when it is
//! told to, or when Remit is gone. The pipes go past it: they are the server's, and cost nothing more.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, kill_process, pidfd_open, pidfd_send_signal};

/// Is the first argument of a keeper; then come the number of Remit's process, the program, and its
/// arguments.
pub(crate) const WORD: &str = "remit-mcp:keeper";
/// How long a server may go on after it was told to end, before it is killed.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// How long what outlives the server is hunted.
const HUNT: Duration = Duration::from_secs(2);
/// Is the exit code where the program cannot be started, as shells have it.
const NOT_FOUND: u8 = 127;

/// Runs the keeper if this process was started as one, and gives its exit code. The binary calls this
/// before anything else.
#[must_use]
pub fn stage() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != WORD {
        return None;
    }
    Some(keep(args).unwrap_or_else(|why| {
        // Standard error is where Remit reads why.
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{why}");
        ExitCode::from(NOT_FOUND)
    }))
}

fn keep(mut args: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let fail = |what: &'static str| move |error: rustix::io::Errno| format!("{what}: {error}");
    let remit = args.next().and_then(|text| text.to_str()?.parse().ok());
    let remit = watch_parent(remit.ok_or("the keeper is not told who started it")?)?;
    let program = args.next().ok_or("the keeper is not told what to start")?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(fail("cannot become the parent of orphans"))?;
    let name = program.to_string_lossy().into_owned();
    let child = Command::new(&program)
        .args(args)
        .spawn()
        .map_err(|error| format!("cannot start `{name}`: {error}"))?;
    // Not before: a program inherits which signals are blocked. Until then one that comes ends this
    // process and, as it is sent to the group, the program too.
    let mask: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    mask.thread_block().map_err(|error| format!("cannot block signals: {error}"))?;
    let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC)
        .map_err(|error| format!("cannot wait for signals: {error}"))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("no process id")?;
    let gone = pidfd_open(pid, PidfdFlags::empty()).map_err(fail("cannot watch the server"))?;
    let_go_of_the_pipes();
    Ok(Keeper { child, gone, remit, signals }.keep())
}

/// Opens Remit's process to learn of its end.
fn watch_parent(remit: i32) -> Result<OwnedFd, String> {
    let gone = || "Remit is gone".to_owned();
    let parent = rustix::process::getppid().ok_or_else(gone)?;
    let watched = pidfd_open(parent, PidfdFlags::empty())
        .map_err(|error| format!("cannot watch Remit's process: {error}"))?;
    // Looked at again: if it ended before it was opened, the number is another's by now.
    let still = rustix::process::getppid();
    let is_remit = still == Some(parent) && parent.as_raw_nonzero().get() == remit;
    is_remit.then_some(watched).ok_or_else(gone)
}

/// Leaves the pipes to the server alone, so that each side sees it when the other closes them.
fn let_go_of_the_pipes() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

struct Keeper {
    child: Child,
    gone: OwnedFd,
    remit: OwnedFd,
    signals: SignalFd,
}

impl Keeper {
    fn keep(mut self) -> ExitCode {
        let asked = [&self.gone, &self.remit];
        let is_over = wait(&asked, Some(&self.signals), None);
        if !is_over.first().is_some_and(|gone| *gone) {
            let _ = pidfd_send_signal(&self.gone, rustix::process::Signal::TERM);
            wait(&[&self.gone], None, Some(GRACE));
            let _ = pidfd_send_signal(&self.gone, rustix::process::Signal::KILL);
        }
        let status = self.child.wait();
        hunt();
        status.map_or(ExitCode::FAILURE, mirror)
    }
}

/// Waits until something happens to one of these, or for some time, and tells to which.
fn wait(on: &[&OwnedFd], signals: Option<&SignalFd>, within: Option<Duration>) -> Vec<bool> {
    let until = within.map(|within| Instant::now() + within);
    loop {
        let mut fds: Vec<_> = on.iter().map(|fd| PollFd::new(*fd, PollFlags::IN)).collect();
        fds.extend(signals.map(|signals| PollFd::new(signals, PollFlags::IN)));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut fds, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) | Ok(_) => return fds.iter().map(|fd| !fd.revents().is_empty()).collect(),
        }
    }
}

/// Ends every descendant. They all come to this process when their parents end.
fn hunt() {
    let until = Instant::now() + HUNT;
    while Instant::now() < until {
        for pid in children() {
            let _ = kill_process(pid, rustix::process::Signal::KILL);
        }
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => return,
        }
    }
}

fn children() -> Vec<Pid> {
    let me = std::process::id();
    let list = std::fs::read_to_string(format!("/proc/self/task/{me}/children"));
    let to_pid = |word: &str| word.parse().ok().and_then(Pid::from_raw);
    list.unwrap_or_default().split_whitespace().filter_map(to_pid).collect()
}

/// Gives the exit code that says the same as a status, a signal as shells say it.
fn mirror(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
