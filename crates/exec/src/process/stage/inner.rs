//! What becomes the program: puts up the layers, says so, executes.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::SigSet;
use remit_engine::visit::CREDENTIAL;
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::super::confine::{SCRATCH, Sandbox};
use super::super::plan::{Ahead, Greeting, Inner, MOST_ORDER_BYTES, Order, Plan};
use super::syscalls::Filters;
use super::{files, limits, mounts, privileges, root, while_};

/// Is where a confined process looks for programs. Few of them exist for it.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Says that the kernel exempts the program from the limit on processes and nothing else holds it.
const UNBOUNDED: &str = "processes of root cannot be limited here: run Remit as another user, or give it a control group it may write, or Linux 6.14";

/// Runs the inner stage. Does not return unless something is missing.
pub(super) fn run(text: &OsStr) -> ExitCode {
    match prepare(text) {
        Ok((inner, order, pid)) => become_program(&inner, &order, pid),
        Err(why) => super::refuse(&why),
    }
}

fn prepare(text: &OsStr) -> Result<(Inner, Order, u32), String> {
    let text = text.to_str().ok_or("what is asked is not text")?;
    let inner: Inner =
        serde_json::from_str(text).map_err(while_("what is asked cannot be read"))?;
    let pid = die_with_parent(inner.parent)?;
    // A signal to its own group must not reach the keeper, nor may it have the keeper's terminal.
    rustix::process::setsid().map_err(while_("cannot leave the first stage's session"))?;
    let filters = match inner.ahead.sandbox {
        Sandbox::On => Some(ready(&inner.ahead)?),
        Sandbox::Off => None,
    };
    // Nothing above depends on the plan, and all of it may have happened long before there is one.
    let order = take_order()?;
    let plan = &order.plan;
    if !inner.ahead.fits(plan) {
        return Err("the plan is for another process".to_owned());
    }
    plan.check().map_err(|error| error.to_string())?;
    if inner.namespaced {
        let cannot = while_("mount namespaces cannot be made");
        unshare(CloneFlags::CLONE_NEWNS).map_err(cannot)?;
    }
    let bounded = match filters {
        Some(filters) => confine(&inner, plan, &filters)?,
        None => {
            if inner.namespaced {
                mounts::renew_proc()?;
            }
            limits::apply(&plan.confinement.limits, Sandbox::Off)?;
            true
        }
    };
    let grouped = super::outer::wait_for_word()?;
    if !bounded && !grouped {
        return Err(UNBOUNDED.to_owned());
    }
    SigSet::empty().thread_set_mask().map_err(while_("cannot unblock signals"))?;
    let program = &plan.program.path;
    rustix::fs::access(program, rustix::fs::Access::EXEC_OK).map_err(|error| {
        format!("`{}` cannot be executed ({error}); check its mode and place", program.display())
    })?;
    Ok((inner, order, pid))
}

/// Reads the order from standard input, and not a byte of what follows it: that is the program's.
fn take_order() -> Result<Order, String> {
    let mut length = [0; 4];
    take(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MOST_ORDER_BYTES {
        return Err("the plan is too long".to_owned());
    }
    let mut text = vec![0; length];
    take(&mut text)?;
    serde_json::from_slice(&text).map_err(while_("the plan cannot be read"))
}

fn take(mut into: &mut [u8]) -> Result<(), String> {
    // The handle of the standard library reads ahead.
    let input = std::io::stdin();
    while !into.is_empty() {
        match rustix::io::read(&input, &mut *into) {
            Ok(0) => return Err("there is no plan".to_owned()),
            Ok(count) => into = into.get_mut(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(format!("the plan cannot be read: {error}")),
        }
    }
    Ok(())
}

/// Does what of the confinement does not depend on the plan: gives the filters of system calls.
fn ready(ahead: &Ahead) -> Result<Filters, String> {
    rustix::system::sethostname(b"remit").map_err(while_("cannot set the host name"))?;
    // A process that waits for a plan keeps nobody from unmounting what it happens to stand in.
    rustix::process::chdir("/").map_err(while_("cannot enter the root"))?;
    Filters::new(ahead.network)
}

/// Puts up the layers, and tells whether the number of processes is bounded by them.
fn confine(inner: &Inner, plan: &Plan, filters: &Filters) -> Result<bool, String> {
    let bounds = &plan.confinement.limits;
    let bounded = !inner.unlimited || limits::bound_namespace(bounds);
    if !bounded && !inner.grouped {
        return Err(UNBOUNDED.to_owned());
    }
    let lent = root::enter(plan)?;
    limits::apply(bounds, Sandbox::On)?;
    privileges::drop_all()?;
    files::restrict(&lent, &plan.confinement)?;
    std::env::set_current_dir(&plan.program.directory)
        .map_err(while_("cannot enter the tool's directory"))?;
    filters.apply(plan.program.is_built_in())?;
    Ok(bounded)
}

/// Arranges that this process ends with its parent, and gives this process's number outside.
fn die_with_parent(parent: u32) -> Result<u32, String> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(while_("cannot ask to end with the first stage"))?;
    // The parent may have ended before it was asked for. `/proc` is still the one outside, so it
    // knows both of us.
    let me = std::fs::read_link("/proc/self").map_err(while_("cannot read /proc/self"))?;
    if super::outer::parent_in("/proc/self/stat") != Some(parent) {
        return Err("the first stage is gone".to_owned());
    }
    me.to_str().and_then(|me| me.parse().ok()).ok_or_else(|| "no process id".to_owned())
}

fn become_program(inner: &Inner, order: &Order, pid: u32) -> ExitCode {
    let program = &order.plan.program;
    let mut command = Command::new(&program.path);
    command.args(&program.args).env_clear().env("LANG", "C.UTF-8");
    match &inner.scratch {
        None => command.env("PATH", PATH).env("HOME", SCRATCH).env("TMPDIR", SCRATCH),
        Some(scratch) => {
            let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
            command.env("PATH", path).env("HOME", scratch).env("TMPDIR", scratch);
            command.current_dir(existing(&program.directory))
        }
    };
    if let Some(credential) = &order.credential {
        command.env(CREDENTIAL, credential);
    }
    super::greet(&Greeting::Ready { pid });
    let error = command.exec();
    let why = format!("cannot execute `{}`: {error}\n", program.path.display());
    let _ = rustix::io::write(std::io::stderr(), why.as_bytes());
    ExitCode::from(127)
}

fn existing(directory: &Path) -> &Path {
    if directory.is_dir() { directory } else { Path::new("/") }
}
