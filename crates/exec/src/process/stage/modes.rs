//! The system calls that give a file its mode.
//!
//! A tool that may write somewhere must not leave a program there that runs as Remit's user, whoever
//! starts it. Nothing may be executed from there inside the confinement; outside it may.

use libc::*;

/// Are the calls that set the mode of a file, and which argument is the mode.
pub(super) const MODES: &[(i64, u8)] =
    &[(SYS_fchmod, 1), (SYS_fchmodat, 2), (SYS_mknodat, 2), (SYS_mkdirat, 2)];
/// Are such calls of this machine alone.
#[cfg(target_arch = "x86_64")]
pub(super) const MODES_HERE: &[(i64, u8)] =
    &[(SYS_chmod, 1), (SYS_fchmodat2, 2), (SYS_creat, 1), (SYS_mknod, 1), (SYS_mkdir, 1)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const MODES_HERE: &[(i64, u8)] = &[];

/// Are the calls that have a mode only where their flags make a file: which argument the flags are.
/// The mode follows them.
pub(super) const OPENS: &[(i64, u8)] = &[(SYS_openat, 2)];
/// Are such calls of this machine alone.
#[cfg(target_arch = "x86_64")]
pub(super) const OPENS_HERE: &[(i64, u8)] = &[(SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OPENS_HERE: &[(i64, u8)] = &[];

/// Are the bits of a mode that make a program run as its owner or group, whoever starts it.
pub(super) const RAISING: &[u64] = &[0o4000, 0o2000];

/// Are the flags that make a file; of `O_TMPFILE` the part that no other flag has.
pub(super) const MAKING: &[i32] = &[O_CREAT, O_TMPFILE & !O_DIRECTORY];
