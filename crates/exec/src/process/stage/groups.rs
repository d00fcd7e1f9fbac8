//! Control groups: what all processes of a tool may use together, where Remit may make groups.
//!
//! They are a second belt. Without them each process is limited, and how many there are.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::super::confine::Limits;

const TREE: &str = "/sys/fs/cgroup";
const PREFIX: &str = "remit-";
/// Is how often a group is tried to be removed. What is left is swept up by a later start.
const TRIES: u32 = 100;

/// Is membership of this process, and all it starts, in groups of its own.
pub(super) struct Group {
    made: Vec<Made>,
}

/// Is one group, held by what is open: the inner stage takes the file system's names away from this
/// process too.
struct Made {
    name: String,
    home: OwnedFd,
    processes_of_home: File,
    limits_processes: bool,
}

/// Is one hierarchy of groups: where this process is in it and what is set in a new group.
struct Hierarchy {
    home: PathBuf,
    settings: Vec<(&'static str, u64)>,
}

impl Group {
    /// Moves this process into new groups wherever that is allowed.
    pub(super) fn join(limits: &Limits) -> Option<Self> {
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        let made: Vec<Made> = hierarchies(&text, limits).into_iter().filter_map(make).collect();
        if made.is_empty() { None } else { Some(Self { made }) }
    }

    /// Tells whether the number of processes is limited by one of the groups.
    pub(super) fn limits_processes(&self) -> bool {
        self.made.iter().any(|made| made.limits_processes)
    }

    /// Moves back and removes the groups. Nothing else is in them by now.
    pub(super) fn leave(self) {
        for mut made in self.made {
            let _ = made.processes_of_home.write_all(b"0");
            remove(&made.home, &made.name);
        }
    }
}

/// Removes a group. Processes that have just ended still count for a moment.
fn remove(home: &OwnedFd, name: &str) {
    for _ in 0..TRIES {
        if unlinkat(home, name, AtFlags::REMOVEDIR) != Err(Errno::BUSY) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn hierarchies(text: &str, limits: &Limits) -> Vec<Hierarchy> {
    let tree = Path::new(TREE);
    // One more than asked for: the keeper is in the group too.
    let pids = ("pids.max", limits.processes.saturating_add(1));
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        let has = |name: &str| controllers.split(',').any(|one| one == name);
        if controllers.is_empty() {
            let settings = vec![pids, ("memory.max", limits.memory_bytes)];
            found.push(Hierarchy { home: tree.join(path), settings });
        } else if has("pids") {
            found.push(Hierarchy { home: tree.join("pids").join(path), settings: vec![pids] });
        } else if has("memory") {
            let settings = vec![("memory.limit_in_bytes", limits.memory_bytes)];
            found.push(Hierarchy { home: tree.join("memory").join(path), settings });
        }
    }
    found
}

fn make(hierarchy: Hierarchy) -> Option<Made> {
    let Hierarchy { home, settings } = hierarchy;
    let processes_of_home = File::options().write(true).open(home.join("cgroup.procs")).ok()?;
    sweep(&home);
    let name = format!("{PREFIX}{}", std::process::id());
    let directory = home.join(&name);
    fs::create_dir(&directory).ok()?;
    let set = |(name, value): &(&str, u64)| fs::write(directory.join(name), value.to_string());
    if settings.iter().try_for_each(set).is_err()
        || fs::write(directory.join("cgroup.procs"), "0").is_err()
    {
        let _ = fs::remove_dir(&directory);
        return None;
    }
    let limits_processes = settings.iter().any(|(name, _)| *name == "pids.max");
    Some(Made { name, home: File::open(home).ok()?.into(), processes_of_home, limits_processes })
}

/// Removes the groups of keepers that were killed before they could. Only empty ones can be removed.
fn sweep(home: &Path) {
    let Ok(listed) = fs::read_dir(home) else { return };
    for name in listed.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let Some(pid) = name.strip_prefix(PREFIX) else { continue };
        if pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir(home.join(&name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_the_list_are_read() {
        let limits = Limits { processes: 9, memory_bytes: 77, ..Limits::default() };
        let shown = |text| {
            let all = hierarchies(text, &limits);
            all.into_iter().map(|h| (h.home, h.settings)).collect::<Vec<_>>()
        };
        assert_eq!(
            shown("0::/user.slice/a\n"),
            [("/sys/fs/cgroup/user.slice/a".into(), vec![("pids.max", 10), ("memory.max", 77)])]
        );
        assert_eq!(
            shown("8:pids:/x\n6:cpu,cpuacct:/\n4:memory:/\n"),
            [
                ("/sys/fs/cgroup/pids/x".into(), vec![("pids.max", 10)]),
                ("/sys/fs/cgroup/memory/".into(), vec![("memory.limit_in_bytes", 77)]),
            ]
        );
        assert!(shown("nonsense").is_empty());
    }
}
