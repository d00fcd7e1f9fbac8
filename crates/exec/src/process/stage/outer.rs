//! The keeper: makes the namespaces, starts the inner stage in them, and ends it all.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, kill_process, pidfd_open, pidfd_send_signal};

use super::super::confine::Sandbox;
use super::super::plan::{Ahead, Inner, Outer};
use super::groups::Group;
use super::while_;

/// Is how long a program may go on after Remit has closed its standard input.
const GRACE: Duration = Duration::from_millis(500);
/// Is how long what outlives the program is hunted where no namespace ends it.
const HUNT: Duration = Duration::from_secs(2);

/// Tells the second stage that the program may start.
const GO: rustix::process::Signal = rustix::process::Signal::USR1;
/// Tells it the same, and that a control group limits its processes.
const GO_GROUPED: rustix::process::Signal = rustix::process::Signal::USR2;

/// Gives the two words as a set to wait for.
fn words() -> SigSet {
    [Signal::SIGUSR1, Signal::SIGUSR2].into_iter().collect()
}

/// Waits for the first stage's word, and tells whether a control group limits the processes. Both
/// stages have these signals blocked, so that the kernel keeps them.
pub(super) fn wait_for_word() -> Result<bool, String> {
    let word = words().wait().map_err(while_("cannot wait for the first stage"))?;
    Ok(word == Signal::SIGUSR2)
}

/// Runs the outer stage.
pub(super) fn run(text: &OsStr) -> ExitCode {
    match Keeper::start(text) {
        Ok(keeper) => keeper.keep(),
        Err(why) => super::refuse(&why),
    }
}

struct Keeper {
    child: Child,
    gone: OwnedFd,
    /// Remit itself. The pipe of requests alone does not tell that it is gone: the program can hold
    /// that open for as long as it likes.
    remit: OwnedFd,
    signals: SignalFd,
    namespaced: bool,
    group: Option<Group>,
    scratch: Option<PathBuf>,
}

impl Keeper {
    fn start(text: &OsStr) -> Result<Self, String> {
        close_strays();
        let signals = listen()?;
        let text = text.to_str().ok_or("what is asked is not text")?;
        let Outer { ahead, remit } =
            serde_json::from_str(text).map_err(while_("what is asked cannot be read"))?;
        let remit = watch_parent(remit)?;
        let unlimited = is_root_of_the_machine();
        let mut group = if ahead.groups { Group::make(&ahead.limits) } else { None };
        let namespaced = separate(&ahead)?;
        let scratch = match ahead.sandbox {
            Sandbox::On => None,
            Sandbox::Off => Some(make_scratch()?),
        };
        // Where no namespace does it, orphans come to this process to be ended.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(while_("cannot become the parent of orphans"))?;
        let inner = Inner {
            ahead,
            parent: std::process::id(),
            namespaced,
            unlimited,
            grouped: group.is_some(),
            scratch: scratch.clone(),
        };
        let child = spawn(&inner)?;
        let gone = pidfd_open(pid_of(&child)?, PidfdFlags::empty())
            .map_err(while_("cannot watch the program"))?;
        if let Some(group) = &mut group {
            group.take(child.id());
        }
        let word = match &group {
            Some(group) if group.limits_processes() => GO_GROUPED,
            _ => GO,
        };
        // It waits for this, and if it cannot be told it is gone, which is noticed below.
        let _ = pidfd_send_signal(&gone, word);
        Ok(Self { child, gone, remit, signals, namespaced, group, scratch })
    }

    fn keep(mut self) -> ExitCode {
        self.wait_for_the_end();
        // Ends the namespace, if the program did not end by itself.
        let _ = pidfd_send_signal(&self.gone, rustix::process::Signal::KILL);
        let status = self.child.wait();
        if !self.namespaced {
            hunt();
        }
        if let Some(scratch) = &self.scratch {
            let _ = std::fs::remove_dir_all(scratch);
        }
        if let Some(group) = self.group {
            group.remove();
        }
        status.map_or(ExitCode::FAILURE, mirror)
    }

    /// Returns when the program has ended, or when it is to end now.
    fn wait_for_the_end(&self) {
        let mut until: Option<Instant> = None;
        let stdin = std::io::stdin();
        loop {
            let mut fds = vec![
                PollFd::new(&self.gone, PollFlags::IN),
                PollFd::new(&self.signals, PollFlags::IN),
                PollFd::new(&self.remit, PollFlags::IN),
            ];
            if until.is_none() {
                // Asks for nothing but the hang-up: what is in the pipe is the program's to read.
                fds.push(PollFd::new(&stdin, PollFlags::empty()));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut fds, left.as_ref()) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) | Ok(0) => return,
                Ok(_) => {}
            }
            let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
            if happened.by_ref().take(3).any(|so| so) {
                return;
            }
            if happened.next() == Some(true) {
                until = Some(Instant::now() + GRACE);
            }
        }
    }
}

/// Closes every file Remit may have left open in its child by accident.
fn close_strays() {
    let Ok(listed) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> =
        listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2) {
        // The listing's own number is among them and closed already.
        let _ = nix::unistd::close(number);
    }
}

/// Opens Remit's process to learn of its end.
fn watch_parent(remit: u32) -> Result<OwnedFd, String> {
    let gone = || "Remit is gone".to_owned();
    let parent = rustix::process::getppid().ok_or_else(gone)?;
    let watched =
        pidfd_open(parent, PidfdFlags::empty()).map_err(while_("cannot watch Remit's process"))?;
    // Looked at again: if it ended before it was opened, the number is another's by now.
    let is_remit = |pid: Pid| u32::try_from(pid.as_raw_nonzero().get()) == Ok(remit);
    let still = rustix::process::getppid();
    still.filter(|still| *still == parent && is_remit(*still)).map(|_| watched).ok_or_else(gone)
}

/// Turns the signals that end this process into something to wait for, before there is a child.
fn listen() -> Result<SignalFd, String> {
    let mask: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    mask.thread_block().map_err(while_("cannot block signals"))?;
    // The second stage inherits this, so that a word it does not wait for yet is not lost.
    words().thread_block().map_err(while_("cannot block signals"))?;
    SignalFd::with_flags(&mask, nix::sys::signalfd::SfdFlags::SFD_CLOEXEC)
        .map_err(while_("cannot wait for signals"))
}

/// Moves into new namespaces and tells whether processes have one of their own.
///
/// Mounts are not among them: the second stage moves into some of its own when it knows the plan, and
/// sees what is mounted then. Until then it holds nothing of the machine's.
fn separate(ahead: &Ahead) -> Result<bool, String> {
    let root = rustix::process::geteuid().is_root();
    match ahead.sandbox {
        Sandbox::On => separate_all(ahead, root).map(|()| true),
        // A user namespace would take powers away from the program, and the operator asked for none
        // to be taken: only root gets a process namespace here, others are hunted down at the end.
        Sandbox::Off => Ok(root && unshare(CloneFlags::CLONE_NEWPID).is_ok()),
    }
}

fn separate_all(ahead: &Ahead, root: bool) -> Result<(), String> {
    let mut flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    if !ahead.network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    match unshare(flags | CloneFlags::CLONE_NEWUSER) {
        Ok(()) => {
            let map = |file: &str, text: String| {
                std::fs::write(format!("/proc/self/{file}"), text)
                    .map_err(while_(&format!("user namespaces: cannot write {file}")))
            };
            map("setgroups", "deny".to_owned())?;
            map("uid_map", format!("0 {} 1", user.as_raw()))?;
            map("gid_map", format!("0 {} 1", group.as_raw()))
        }
        Err(_) if root => unshare(flags).map_err(|error| {
            format!("namespaces cannot be made even by root ({error}); give the container CAP_SYS_ADMIN or user namespaces")
        }),
        Err(error) => Err(format!(
            "user namespaces cannot be made by this user ({error}); allow them (`user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, `kernel.apparmor_restrict_unprivileged_userns`)"
        )),
    }
}

/// Tells whether the kernel exempts this process from the limit on processes: it does for user 0 of
/// the machine, whatever that user is called in the namespaces below.
fn is_root_of_the_machine() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut words = map.split_whitespace();
    rustix::process::geteuid().is_root() && words.next() == Some("0") && words.next() == Some("0")
}

fn make_scratch() -> Result<PathBuf, String> {
    use std::os::unix::fs::DirBuilderExt;
    let path = std::env::temp_dir().join(format!("remit-scratch-{}", std::process::id()));
    // Left over from a process of the same number, if it is there.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .map_err(while_("cannot make a temporary directory"))?;
    Ok(path)
}

fn spawn(inner: &Inner) -> Result<Child, String> {
    let text = serde_json::to_string(inner).map_err(while_("what is asked cannot be written"))?;
    let child = Command::new("/proc/self/exe")
        .arg(super::INNER)
        .arg(text)
        .spawn()
        .map_err(while_("cannot start the second stage"))?;
    // The pipes of answers are the program's alone, so that Remit sees it when it closes them.
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    Ok(child)
}

fn pid_of(child: &Child) -> Result<Pid, String> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| "no process id".to_owned())
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
    let to_pid = |word: &str| word.parse().ok().and_then(Pid::from_raw);
    if let Ok(list) = std::fs::read_to_string(format!("/proc/self/task/{me}/children")) {
        return list.split_whitespace().filter_map(to_pid).collect();
    }
    let Ok(listed) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_mine = |name: &str| parent_in(&format!("/proc/{name}/stat")) == Some(me);
    listed
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_mine(name))
        .filter_map(|name| to_pid(&name))
        .collect()
}

/// Gives the parent in a `stat` file of `/proc`.
pub(super) fn parent_in(file: &str) -> Option<u32> {
    let stat = std::fs::read_to_string(file).ok()?;
    // The name of the program is in parentheses and may hold anything, also a parenthesis.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Gives the exit code that says the same as a status, a signal as shells say it.
fn mirror(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
