//! What a tool's process is given, and how much of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::guard::{Way, follow, unplanted};

/// Is the directory a confined process finds in `TMPDIR` and `HOME`. It is a file system of its own
/// that vanishes with the process.
pub const SCRATCH: &str = "/.scratch";

/// Are the trees that are never lent: they show other processes, or are the machine itself.
const NEVER: [&str; 4] = ["/proc", "/sys", "/dev", SCRATCH];

/// Tells whether tools are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// Every layer stands, or the process does not start.
    #[default]
    On,
    /// The operator chose to run tools with all that Remit itself may do. Limits still hold (that of
    /// processes only where control groups can be had), and what a tool started still ends with it.
    Off,
}

/// Is what a process may reach. Whatever is not here it cannot see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Confinement {
    /// Files and directories it may read.
    pub read: Vec<PathBuf>,
    /// Files and directories it may read and write.
    pub write: Vec<PathBuf>,
    /// Files and directories that stay out of reach even inside the ones above: Remit's own data and
    /// configuration.
    pub hidden: Vec<PathBuf>,
    /// Other names of what is lent: the name as the operator wrote it, and the place it led to when
    /// [`Confinement::resolved`] looked.
    pub aliases: BTreeMap<PathBuf, PathBuf>,
    /// Whether it may open connections.
    pub network: bool,
    /// How much it may use.
    pub limits: Limits,
}

/// Is how much one process may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Processor time of each process, in seconds.
    pub cpu_seconds: u64,
    /// Memory of each process; of all of them together where control groups can be had.
    pub memory_bytes: u64,
    /// Processes and threads that live at the same time.
    pub processes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// The largest file it may write; its `TMPDIR` holds as much in all.
    pub file_bytes: u64,
    /// The longest line it may answer with; its progress lines together may be as long again.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_seconds: 60,
            memory_bytes: 1 << 30,
            processes: 64,
            open_files: 256,
            file_bytes: 128 << 20,
            output_bytes: 1 << 20,
        }
    }
}

/// Says why something cannot be lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfineError(pub(crate) String);

impl fmt::Display for ConfineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfineError {}

impl Confinement {
    /// Follows every symbolic link once, now, while the paths are the operator's.
    ///
    /// A process is started with the places found here and a link met on the way then is refused, and
    /// so is one that lies inside what is lent for writing already now. So a tool that may write into
    /// one of them cannot put a link there that lends it something else the next time.
    pub fn resolved(self) -> Result<Self, ConfineError> {
        self.resolved_beside(&[])
    }

    /// Does the same where other tools may write these places.
    pub fn resolved_beside(mut self, others: &[PathBuf]) -> Result<Self, ConfineError> {
        let names: Vec<PathBuf> = self.read.iter().chain(&self.write).cloned().collect();
        let ways: Vec<Way> = names.iter().map(|name| follow(name)).collect();
        let mut aliases = std::mem::take(&mut self.aliases);
        let mut ends = ways.iter().map(|way| &way.end);
        for list in [&mut self.read, &mut self.write] {
            for path in list.iter_mut() {
                let real = real(path)?;
                if ends.next() != Some(&real) {
                    return Err(refused(path, "changed while it was looked at; try again"));
                }
                if real != *path {
                    aliases.insert(std::mem::replace(path, real.clone()), real);
                }
            }
            list.sort();
            list.dedup();
        }
        let writable: Vec<PathBuf> =
            others.iter().map(|path| nearest_real(path)).chain(self.write.clone()).collect();
        unplanted(&names, &ways, &writable)?;
        // What does not exist yet cannot be covered; the parts that do exist are still resolved.
        self.hidden = self.hidden.iter().map(|path| nearest_real(path)).collect();
        self.hidden.sort();
        self.hidden.dedup();
        self.aliases = aliases;
        Ok(self)
    }

    /// Tells what is wrong with the paths, if anything. [`Confinement::resolved`] leaves nothing.
    pub(crate) fn check(&self) -> Result<(), ConfineError> {
        self.read.iter().chain(&self.write).try_for_each(|path| lendable(path))?;
        self.hidden.iter().chain(self.aliases.keys()).try_for_each(|path| plain(path))
    }
}

fn real(path: &Path) -> Result<PathBuf, ConfineError> {
    if !path.is_absolute() {
        return Err(refused(path, "is not absolute; write the whole path"));
    }
    let real = path.canonicalize().map_err(|error| {
        refused(path, &format!("cannot be opened ({error}); create it, or lend something else"))
    })?;
    lendable(&real)?;
    Ok(real)
}

/// Tells whether a place may be lent at all.
pub(super) fn lendable(path: &Path) -> Result<(), ConfineError> {
    plain(path)?;
    if path == Path::new("/") {
        return Err(refused(path, "holds the whole machine; lend the directories in it instead"));
    }
    match NEVER.iter().find(|never| path.starts_with(never)) {
        Some(never) => Err(refused(path, &format!("is part of `{never}`, which is never lent"))),
        None => Ok(()),
    }
}

fn plain(path: &Path) -> Result<(), ConfineError> {
    let ordinary = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if path.is_absolute() && path.components().all(ordinary) {
        Ok(())
    } else {
        Err(refused(path, "is not an absolute path without `..`; write the whole path"))
    }
}

/// Resolves as much of a path as there is and keeps the rest as it is written.
fn nearest_real(path: &Path) -> PathBuf {
    for here in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (here.canonicalize(), path.strip_prefix(here)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

fn refused(path: &Path, why: &str) -> ConfineError {
    ConfineError(format!("`{}` {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(path: &str) -> Confinement {
        Confinement { read: vec![path.into()], ..Confinement::default() }
    }

    #[test]
    fn links_are_followed_once_and_remembered() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::os::unix::fs::symlink(base.join("real"), base.join("link")).unwrap();
        let mut asked = reading(base.join("link").to_str().unwrap());
        asked.hidden = vec![base.join("link/later/data.db")];
        let got = asked.resolved().unwrap();
        assert_eq!(got.read, [base.join("real")]);
        assert_eq!(got.aliases[&base.join("link")], base.join("real"));
        assert_eq!(got.hidden, [base.join("real/later/data.db")]);
        assert_eq!(got.clone().resolved().unwrap(), got);
        assert_eq!(got.check(), Ok(()));
    }

    #[test]
    fn some_places_are_never_lent() {
        for path in ["/", "/proc", "/proc/self", "/sys", "/dev/null", "relative", "/no/such/thing"]
        {
            assert!(reading(path).resolved().is_err(), "{path}");
        }
        for path in ["/", "/proc", "/tmp/../etc", "relative", "/.scratch/x"] {
            assert!(reading(path).check().is_err(), "{path}");
        }
        assert!(reading("/procedures").check().is_ok());
    }

    #[test]
    fn what_is_not_written_has_a_default() {
        let got: Confinement = serde_json::from_str(r#"{"limits": {"processes": 3}}"#).unwrap();
        assert_eq!(got.limits, Limits { processes: 3, ..Limits::default() });
        assert!(!got.network && got.read.is_empty());
        assert!(serde_json::from_str::<Confinement>(r#"{"reed": []}"#).is_err());
    }
}
