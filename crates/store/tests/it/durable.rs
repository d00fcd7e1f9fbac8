//! The machine loses its power: what was acknowledged is on the disk.
//!
//! A child writes under `strace`, which notes each write and each sync. At each acknowledgement the
//! disk is put together from what had been synced by then, and a store is opened on it. The same
//! child without syncs must be found out, or the test would prove nothing.

use std::path::Path;
use std::process::{Command, Stdio};

use remit_store::sqlite::SqliteStore;

use crate::child::{self, FEW, Role};
use crate::kill::{Acknowledged, assert_proved};
use crate::trace;

/// Every way to change a file. What is not played is refused by the player.
const CALLS: &str = "trace=openat,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync,\
    ftruncate,fallocate,unlink,rename,renameat2";

/// Gives the log of a child's system calls.
fn traced(role: Role, directory: &Path) -> String {
    let log = directory.join("log");
    let mut command = Command::new("strace");
    // All threads, descriptors with their paths, every byte as two digits, writes as a whole.
    command.args([
        "-f",
        "-q",
        "-y",
        "-xx",
        "-s",
        "1048576",
        "-e",
        "signal=none",
        "-e",
        CALLS,
        "-o",
    ]);
    command.arg(&log).arg(std::env::current_exe().unwrap());
    child::prepare(&mut command, role, &directory.join("data"));
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!("this test needs strace (on Debian: apt install strace): {error}")
    });
    assert!(output.status.success(), "strace failed; may this user trace a child? {output:?}");
    std::fs::read_to_string(log).unwrap()
}

struct Findings {
    acknowledged: usize,
    power_cuts: usize,
    /// Of each power cut after which something acknowledged was missing, what.
    losses: Vec<Vec<String>>,
}

fn cut_the_power_everywhere(role: Role) -> Findings {
    let directory = tempfile::tempdir().unwrap();
    let log = traced(role, directory.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut acknowledged = Acknowledged::default();
    let (mut power_cuts, mut losses) = (0, Vec::new());
    let mut cut = |disk: &trace::Disk, acknowledged: &Acknowledged| {
        power_cuts += 1;
        let after = tempfile::tempdir().unwrap();
        disk.after_a_power_cut(directory.path(), after.path());
        let store = SqliteStore::open(&after.path().join("data")).unwrap();
        runtime.block_on(async {
            let missing = acknowledged.missing_in(&store).await;
            if !missing.is_empty() {
                losses.push(missing);
            }
            assert_proved(&store).await;
        });
    };
    let disk = trace::play(&log, directory.path(), |disk, said| {
        acknowledged.note(said);
        cut(disk, &acknowledged);
    });
    // Once more, when the store has been closed.
    cut(&disk, &acknowledged);
    let acknowledged = acknowledged.begun.len() + acknowledged.ended.len();
    Findings { acknowledged, power_cuts, losses }
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let found = cut_the_power_everywhere(Role::WriteFew);
    println!("{} acknowledgements, {} power cuts", found.acknowledged, found.power_cuts);
    assert_eq!(found.acknowledged, FEW * 2);
    assert_eq!(found.power_cuts, FEW * 2 + 1);
    assert_eq!(found.losses, Vec::<Vec<String>>::new());
}

#[test]
fn a_store_that_does_not_sync_is_found_out() {
    let found = cut_the_power_everywhere(Role::WriteFewUnsafely);
    println!("without syncs {} of {} power cuts lose", found.losses.len(), found.power_cuts);
    assert_eq!(found.acknowledged, FEW * 2);
    assert_eq!(found.losses.len(), found.power_cuts, "each of them loses what was acknowledged");
}
