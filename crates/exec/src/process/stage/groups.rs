//! Control groups: what all processes of a tool may use together, where Remit may make groups.
//!
//! They are a second belt. Without them each process is limited, and how many there are.
//!
//! Moving a process into a group can take ten milliseconds, in which the kernel does nothing but wait.
//! So the keeper stays outside and moves only the program, while that puts up its other layers.

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

/// Are the groups of one program and all it starts.
pub(super) struct Group {
    made: Vec<Made>,
}

/// Is one group, held by what is open: the inner stage takes the file system's names away from this
/// process too.
struct Made {
    name: String,
    home: OwnedFd,
    processes: File,
    limits_processes: bool,
}

/// Is one hierarchy of groups: where this process is in it and what is set in a new group.
struct Hierarchy {
    home: PathBuf,
    settings: Vec<(&'static str, u64)>,
}

impl Group {
    /// Makes new groups wherever that is allowed.
    pub(super) fn make(limits: &Limits) -> Option<Self> {
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        let made: Vec<Made> = hierarchies(&text, limits).into_iter().filter_map(make).collect();
        if made.is_empty() { None } else { Some(Self { made }) }
    }

    /// Moves a process into them. A group that does not take it is given up.
    pub(super) fn take(&mut self, process: u32) {
        let number = process.to_string();
        let refuses = |made: &mut Made| made.processes.write_all(number.as_bytes()).is_err();
        for made in self.made.extract_if(.., refuses) {
            remove(&made.home, &made.name);
        }
    }

    /// Tells whether there are none left.
    pub(super) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Tells whether the number of processes is limited by one of the groups.
    pub(super) fn limits_processes(&self) -> bool {
        self.made.iter().any(|made| made.limits_processes)
    }

    /// Removes the groups. Nothing is in them any more.
    pub(super) fn remove(self) {
        for made in self.made {
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
    let pids = ("pids.max", limits.processes);
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
    // Where the other version is mounted this is an ordinary directory, in which anything can be made.
    if !home.join("cgroup.procs").is_file() {
        return None;
    }
    sweep(&home);
    let name = format!("{PREFIX}{}", std::process::id());
    let directory = home.join(&name);
    fs::create_dir(&directory).ok()?;
    let set = |(name, value): &(&str, u64)| fs::write(directory.join(name), value.to_string());
    let processes = settings
        .iter()
        .try_for_each(set)
        .and_then(|()| File::options().write(true).open(directory.join("cgroup.procs")));
    let (Ok(processes), Ok(home)) = (processes, File::open(&home)) else {
        let _ = fs::remove_dir(&directory);
        return None;
    };
    let limits_processes = settings.iter().any(|(name, _)| *name == "pids.max");
    Some(Made { name, home: home.into(), processes, limits_processes })
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
            [("/sys/fs/cgroup/user.slice/a".into(), vec![("pids.max", 9), ("memory.max", 77)])]
        );
        assert_eq!(
            shown("8:pids:/x\n6:cpu,cpuacct:/\n4:memory:/\n"),
            [
                ("/sys/fs/cgroup/pids/x".into(), vec![("pids.max", 9)]),
                ("/sys/fs/cgroup/memory/".into(), vec![("memory.limit_in_bytes", 77)]),
            ]
        );
        assert!(shown("nonsense").is_empty());
    }
}
