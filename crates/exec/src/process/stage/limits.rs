//! How much the program may use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::super::confine::{Limits, Sandbox};
use super::{mounts, while_};

/// Is the smallest number the kernel takes for the highest process id.
const LEAST_PID_MAX: u64 = 301;

/// Is too little for a core dump in a file. Where the machine hands cores to a program this number,
/// and no other, keeps the kernel from doing so.
const NO_CORES: u64 = 1;

/// Sees to it that no core of this process is written: it may hold a credential, or a token.
pub fn without_cores() {
    // Where that is refused less is allowed already.
    let _ = set("core dumps", Resource::Core, NO_CORES);
}

/// Sets the limits of this process, which all that it starts inherit.
pub(super) fn apply(limits: &Limits, sandbox: Sandbox) -> Result<(), String> {
    set("core dumps", Resource::Core, NO_CORES)?;
    set("file size", Resource::Fsize, limits.file_bytes)?;
    set("open files", Resource::Nofile, limits.open_files)?;
    // Outside a user namespace this would count every process of the user. Inside, the keeper is one.
    if sandbox == Sandbox::On {
        set("processes", Resource::Nproc, limits.processes.saturating_add(1))?;
    }
    // Not the address space: JavaScript engines reserve far more of it than they ever use.
    set("memory", Resource::Data, limits.memory_bytes)?;
    set("processor time", Resource::Cpu, limits.cpu_seconds)?;
    set("stack", Resource::Stack, limits.memory_bytes.min(8 << 20))?;
    set("locked memory", Resource::Memlock, 64 << 10)?;
    set("message queues", Resource::Msgqueue, 0)
}

fn set(what: &str, resource: Resource, most: u64) -> Result<(), String> {
    // Whoever started Remit may have set less, and less it stays.
    let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(while_(&format!("cannot limit {what}")))
}

/// Bounds the ids of this process namespace and tells whether that worked.
///
/// Root of the machine is exempt from the limit above, but not from running out of ids.
pub(super) fn bound_namespace(limits: &Limits) -> bool {
    mounts::set_pid_max(limits.processes.saturating_add(1).max(LEAST_PID_MAX)).is_ok()
}
