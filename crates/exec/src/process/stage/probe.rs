//! Tries one layer of confinement in a process of its own and says how it went.

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;

use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus};
use nix::sched::{CloneFlags, unshare};
use serde::{Deserialize, Serialize};

use super::super::confine::Limits;
use super::groups::Group;
use super::syscalls::Filters;

/// Is one thing to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::process) enum Layer {
    User,
    Processes,
    Network,
    Mounts,
    Landlock,
    Seccomp,
    Groups,
    /// Nothing: it is there until its input ends.
    Wait,
}

/// Is how a try went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::process) struct Tried {
    pub(in crate::process) available: bool,
    pub(in crate::process) detail: String,
}

/// Runs one try and writes its result to standard output.
pub(super) fn run(text: &OsStr) -> ExitCode {
    let layer = text.to_str().and_then(|text| serde_json::from_str(text).ok());
    let Some(layer) = layer else { return ExitCode::FAILURE };
    let tried = match attempt(layer) {
        Ok(detail) => Tried { available: true, detail },
        Err(detail) => Tried { available: false, detail },
    };
    let line = serde_json::to_string(&tried).unwrap_or_default();
    match std::io::stdout().write_all(line.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn attempt(layer: Layer) -> Result<String, String> {
    match layer {
        Layer::User => {
            // Some systems allow the namespace and then take its powers away: try to use one too.
            let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
            unshare(flags).map_err(|error| format!("user namespaces are refused ({error})"))?;
            Ok("user namespaces can be made".to_owned())
        }
        Layer::Processes => namespace("process", CloneFlags::CLONE_NEWPID),
        Layer::Network => namespace("network", CloneFlags::CLONE_NEWNET),
        Layer::Mounts => namespace("mount", CloneFlags::CLONE_NEWNS),
        Layer::Landlock => landlock(),
        Layer::Seccomp => {
            Filters::new(false)?.apply(false)?;
            Ok("system calls can be filtered".to_owned())
        }
        Layer::Groups => groups(),
        Layer::Wait => std::io::copy(&mut std::io::stdin(), &mut std::io::sink())
            .map(|_| String::new())
            .map_err(|error| error.to_string()),
    }
}

fn groups() -> Result<String, String> {
    let cannot = || "control groups cannot be written; each process is limited alone".to_owned();
    let mut group = Group::make(&Limits::default()).ok_or_else(cannot)?;
    // Not this process: it could not leave again. This one is ended by the closing of its input.
    let child = std::process::Command::new("/proc/self/exe")
        .args([super::PROBE, "\"wait\""])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        group.remove();
        return Err(cannot());
    };
    group.take(child.id());
    drop(child.stdin.take());
    let _ = child.wait();
    let what = if group.limits_processes() { "processes and memory" } else { "memory" };
    let found = if group.is_empty() { Err(cannot()) } else { Ok(()) };
    group.remove();
    found.map(|()| format!("control groups limit {what} of a tool as a whole"))
}

fn namespace(name: &str, flag: CloneFlags) -> Result<String, String> {
    match unshare(flag | CloneFlags::CLONE_NEWUSER) {
        Ok(()) => Ok(format!("{name} namespaces can be made inside a user namespace")),
        Err(first) => match unshare(flag) {
            Ok(()) => Ok(format!("{name} namespaces can be made by root")),
            Err(_) => Err(format!("{name} namespaces are refused ({first})")),
        },
    }
}

fn landlock() -> Result<String, String> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| format!("Landlock cannot be used ({error})"))?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi }
            if status.ruleset != RulesetStatus::NotEnforced =>
        {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            Ok(format!("Landlock restricts files (interface {version})"))
        }
        LandlockStatus::NotEnabled => {
            Err("Landlock is built into this kernel and switched off; add `landlock` to `lsm=`"
                .to_owned())
        }
        LandlockStatus::NotImplemented | LandlockStatus::Available { .. } => {
            Err("Landlock is not in this kernel; Linux 5.13 or newer has it".to_owned())
        }
    }
}
