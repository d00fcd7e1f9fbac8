//! `search_files`: files below a directory whose names match a pattern.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};
use remit_model::text::quoted;
use rustix::fs::{AtFlags, Dir, FileType};
use serde_json::{Value, json};

use super::list::name_of;
use super::roots::{Place, Roots};
use crate::contract::{Call, Done, Failure};
use crate::text::fit;

/// Is the most files an answer holds.
pub(super) const MATCHES: usize = 2000;

/// Is how many directories deep the search goes.
pub(super) const DEPTH: usize = 32;

/// Is the most entries that are looked at.
const LOOKED_AT: usize = 500_000;

/// Is the longest pattern.
pub(super) const PATTERN_BYTES: usize = 1000;

/// Runs the command.
pub(super) fn run(call: &Call) -> Result<Done, Failure> {
    let pattern = Pattern::new(call.text("pattern")?)?;
    let roots = Roots::open(&call.settings)?;
    let place = roots.place(call.text("searchPath")?)?;
    let mut search = Search {
        pattern,
        deadline: call.deadline(),
        waiting: VecDeque::new(),
        found: Vec::new(),
        looked_at: 0,
        unread: 0,
        stopped: None,
    };
    // The place asked for must be there; what is below it may come and go.
    search.read(Path::new(""), 0, &place.open_directory()?);
    while let (None, Some((below, depth))) = (search.stopped, search.waiting.pop_front()) {
        // Opened through the start: a link put in its place meanwhile leads nowhere else.
        match place.join(&below).try_directory() {
            Ok(directory) => search.read(&below, depth, &directory),
            Err(_) => search.unread += 1,
        }
    }
    Ok(search.finish(&place))
}

/// Matches names, or whole paths below the start when it has a `/`.
struct Pattern {
    glob: GlobMatcher,
    whole: bool,
}

impl Pattern {
    fn new(written: &str) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            let message =
                format!("the pattern {} {why}; write one such as `*.txt`", quoted(written));
            Failure::new("INVALID_PARAMETER", message)
        };
        if written.is_empty() || written.len() > PATTERN_BYTES {
            return Err(refuse("is empty or too long"));
        }
        let pattern = written.strip_prefix("./").unwrap_or(written);
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            return Err(refuse("must stay below searchPath"));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|_| refuse("is no pattern"))?.compile_matcher();
        Ok(Self { glob, whole: pattern.contains('/') })
    }

    fn matches(&self, below: &Path, name: &OsStr) -> bool {
        if self.whole { self.glob.is_match(below.join(name)) } else { self.glob.is_match(name) }
    }
}

#[derive(Clone, Copy)]
enum Stop {
    Matches,
    LookedAt,
    Time,
}

struct Search {
    pattern: Pattern,
    deadline: Instant,
    /// Holds the directories still to look into, by their path below the start, and their depth.
    waiting: VecDeque<(PathBuf, usize)>,
    found: Vec<(PathBuf, Value)>,
    looked_at: usize,
    /// Is how many directories were too deep, or not to be read.
    unread: usize,
    stopped: Option<Stop>,
}

impl Search {
    fn read(&mut self, below: &Path, depth: usize, directory: &OwnedFd) {
        let Ok(entries) = Dir::read_from(directory) else {
            self.unread += 1;
            return;
        };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.looked_at += 1;
            if self.looked_at > LOOKED_AT {
                self.stopped = Some(Stop::LookedAt);
                return;
            }
            if self.looked_at.is_multiple_of(256) && Instant::now() >= self.deadline {
                self.stopped = Some(Stop::Time);
                return;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
                    stat.map_or(FileType::Unknown, |s| FileType::from_raw_mode(s.st_mode))
                }
                kind => kind,
            };
            if kind == FileType::Directory {
                if depth < DEPTH {
                    self.waiting.push_back((below.join(name), depth + 1));
                } else {
                    self.unread += 1;
                }
            } else if self.pattern.matches(below, name) {
                if self.found.len() >= MATCHES {
                    self.stopped = Some(Stop::Matches);
                    return;
                }
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
                let size = stat.ok().filter(|_| kind == FileType::RegularFile).map(|s| s.st_size);
                self.found.push((below.join(name), json!({"type": name_of(kind), "size": size})));
            }
        }
    }

    fn finish(mut self, start: &Place<'_>) -> Done {
        self.found.sort_by(|a, b| a.0.cmp(&b.0));
        let count = self.found.len();
        let matches = fit::items(self.found.into_iter().map(|(below, mut entry)| {
            if let Some(map) = entry.as_object_mut() {
                map.retain(|_, value| !value.is_null());
                map.insert("path".to_owned(), start.join(&below).shown().into());
            }
            entry
        }));
        let shown = matches.len();
        let result =
            json!({"path": start.shown(), "matches": matches, "looked_at": self.looked_at});
        let done = Done::new(result);
        let advice = "search a smaller directory or use a narrower pattern";
        match self.stopped {
            Some(Stop::Matches) => {
                done.partial(format!("these are the first {MATCHES} files found; {advice}"))
            }
            Some(Stop::LookedAt) => {
                done.partial(format!("the search stopped after {LOOKED_AT} entries; {advice}"))
            }
            Some(Stop::Time) => done.partial(format!("the search ran out of time; {advice}")),
            None if shown < count => {
                done.partial(format!("these are {shown} of {count} files that match; {advice}"))
            }
            None if self.unread > 0 => done.partial(format!(
                "{count} files match; {} directories could not be read or are too deep",
                self.unread
            )),
            None => done.message(format!("{count} files match below {}", start.quoted())),
        }
    }
}
