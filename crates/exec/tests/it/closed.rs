//! Where a layer is missing, nothing runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use remit_exec::process::{Launcher, Worker, WorkerError};

use crate::support::{launcher, misbehave, offers_of};

/// Takes one system call away, as an old kernel or a strict container does, and goes on as the stages.
const WITHOUT: &str = r#"#!/usr/bin/env python3
import ctypes, os, struct, sys
number, answer = CALL, ANSWER
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | answer), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
assert libc.prctl(22, 2, program, 0, 0) == 0
os.execv("LAUNCHER", ["LAUNCHER"] + sys.argv[1:])
"#;

/// Gives a launcher for which one system call answers with an error.
fn without(call: i64, answer: i32) -> (tempfile::TempDir, Launcher) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("launcher");
    let script = WITHOUT
        .replace("CALL", &call.to_string())
        .replace("ANSWER", &answer.to_string())
        .replace("LAUNCHER", env!("CARGO_BIN_EXE_remit-launch"));
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (place, Launcher::new(path))
}

#[tokio::test]
async fn a_missing_layer_is_named_and_nothing_is_run() {
    let plan = misbehave().await;
    for (call, answer, named) in [
        (libc::SYS_unshare, libc::EPERM, "namespaces"),
        (libc::SYS_landlock_create_ruleset, libc::ENOSYS, "Landlock"),
        (libc::SYS_landlock_restrict_self, libc::EPERM, "Landlock"),
        (libc::SYS_seccomp, libc::ENOSYS, "seccomp"),
        (libc::SYS_pivot_root, libc::EPERM, "private root"),
        (libc::SYS_move_mount, libc::ENOSYS, "private root"),
        (libc::SYS_open_tree, libc::ENOSYS, "cannot be lent"),
        (libc::SYS_capset, libc::EPERM, "capabilities"),
        (libc::SYS_setsid, libc::EPERM, "session"),
    ] {
        let (_place, launcher) = without(call, answer);
        match Worker::start(&launcher, &plan).await {
            Err(WorkerError::NotStarted(why)) => assert!(why.contains(named), "{named}: {why}"),
            other => panic!("without {named}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_missing_layer_is_seen_by_the_doctor() {
    let (_place, launcher) = without(libc::SYS_landlock_create_ruleset, libc::ENOSYS);
    let offers = offers_of(&launcher).await;
    assert!(!offers.landlock.available && offers.landlock.detail.contains("5.13"), "{offers:?}");
    assert!(offers.seccomp.available);
    assert!(!offers.confinement.available && offers.confinement.detail.contains("Landlock"));
    let (_place, launcher) = without(libc::SYS_unshare, libc::EPERM);
    let offers = offers_of(&launcher).await;
    assert!(!offers.user_namespaces.available && !offers.network_namespaces.available);
    assert!(offers.landlock.available);
}

#[tokio::test]
async fn a_call_that_takes_nothing_away_changes_nothing() {
    let (_place, same) = without(libc::SYS_vhangup, libc::EPERM);
    for launcher in [launcher(), same] {
        Worker::start(&launcher, &misbehave().await).await.unwrap().end().await;
    }
}
