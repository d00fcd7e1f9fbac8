//! Tells whether anybody has committed, without asking the database.
//!
//! Beside a database with a write-ahead log lies an index of that log, which all processes share. Its
//! head is 48 bytes that differ after every commit (the format is part of SQLite's file formats). One
//! small read tells whether it is still the same; a query would take locks and read pages.
//!
//! Most of what is committed is this process's own, and most of that changes nothing that is
//! remembered. Whoever writes notes it here, so that what is remembered is not read again for that.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The head of the index: a version, a count of commits, the end of the log, checksums.
const HEAD: usize = 48;
/// Where the head has the count of commits.
const COUNT: std::ops::Range<usize> = 8..12;
/// Where the head says whether it is filled in.
const IS_FILLED: usize = 12;

/// Is what the head looked like at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat([u8; HEAD]);

impl Beat {
    fn count(&self) -> Option<u32> {
        self.0.get(COUNT)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
    }
}

/// Watches one database.
pub(crate) struct Pulse {
    index: PathBuf,
    file: OnceLock<&'static File>,
    own: Mutex<Own>,
}

/// Is what this process committed last.
#[derive(Default)]
struct Own {
    beat: Option<Beat>,
    /// Goes up when anything was committed that may change what is remembered.
    epoch: u64,
}

impl Pulse {
    pub(crate) fn new(database: &Path) -> Self {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        Self { index: index.into(), file: OnceLock::new(), own: Mutex::default() }
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the present head; none if it cannot be told, and the database must be asked. Whoever asks
    /// has a connection open, which keeps the file in its place.
    pub(crate) fn beat(&self) -> Option<Beat> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = kept(&self.index)?;
                self.file.get_or_init(|| file)
            }
        };
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        (head.get(IS_FILLED) == Some(&1)).then_some(Beat(head))
    }

    /// Gives the epoch to which a head belongs: what was read in it stands in all of it. None if what
    /// was committed last is not, or not yet, known to be this process's own.
    pub(crate) fn epoch(&self, beat: &Beat) -> Option<u64> {
        let own = self.own();
        (own.beat.as_ref() == Some(beat)).then_some(own.epoch)
    }

    /// Notes what this process has committed. `before` is the head when nobody else could write any
    /// more; `is_harmless` says that nothing that is remembered was changed.
    pub(crate) fn committed(&self, before: Option<Beat>, is_harmless: bool) {
        let after = self.beat();
        let mut own = self.own();
        let (count, counted) = (before.and_then(|b| b.count()), after.and_then(|b| b.count()));
        // One more and it is this commit, none and there was nothing to write; else somebody else has
        // committed behind it.
        let is_ours = match (count, counted) {
            (Some(count), Some(counted)) => {
                counted == count.wrapping_add(1) || (before == after && counted == count)
            }
            _ => false,
        };
        let goes_on = before.is_some() && own.beat == before;
        if !(is_ours && is_harmless && goes_on) {
            own.epoch += 1;
        }
        own.beat = after.filter(|_| is_ours);
    }
}

/// Opens the index of a log, once for as long as the process lives. SQLite's locks are on this file, and
/// a process that closes any handle of a file loses all its locks on it: so it is never closed.
fn kept(index: &Path) -> Option<&'static File> {
    static OPEN: Mutex<BTreeMap<(u64, u64), &'static File>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = std::fs::metadata(index).ok()?;
    if let Some(file) = open.get(&(place.dev(), place.ino())) {
        return Some(file);
    }
    let file: &'static File = Box::leak(Box::new(File::open(index).ok()?));
    let place = file.metadata().ok()?;
    open.insert((place.dev(), place.ino()), file);
    Some(file)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rusqlite::Connection;

    use super::super::{Options, connect};
    use super::*;

    struct House {
        _directory: tempfile::TempDir,
        writer: Connection,
        reader: Connection,
        pulse: Pulse,
    }

    fn house() -> House {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("remit.db");
        File::create(&database).unwrap();
        let writer = connect::writer(&database, &Options::default()).unwrap();
        let reader = connect::reader(&database, Duration::ZERO).unwrap();
        let pulse = Pulse::new(&database);
        House { _directory: directory, writer, reader, pulse }
    }

    impl House {
        fn write(&self, name: &str) {
            self.writer.execute("INSERT INTO users VALUES (?1, '', 0)", [name]).unwrap();
        }

        /// Commits as the ledger does.
        fn commit(&self, name: &str, is_harmless: bool) {
            self.writer.execute_batch("BEGIN IMMEDIATE").unwrap();
            let before = self.pulse.beat();
            self.write(name);
            self.writer.execute_batch("COMMIT").unwrap();
            self.pulse.committed(before, is_harmless);
        }

        fn epoch(&self) -> Option<u64> {
            self.pulse.epoch(&self.pulse.beat().unwrap())
        }
    }

    #[test]
    fn every_commit_is_felt_and_nothing_else_is() {
        let House { _directory, writer, reader, pulse } = house();
        let count =
            || reader.query_row("SELECT count(*) FROM users", [], |row| row.get::<_, i64>(0));
        let mut last = pulse.beat().unwrap();
        for n in 1..=100 {
            writer.execute("INSERT INTO users VALUES (?1, '', 0)", [n.to_string()]).unwrap();
            let beat = pulse.beat().unwrap();
            assert_ne!(beat, last, "commit {n}");
            assert_eq!(count().unwrap(), n);
            assert_eq!(pulse.beat(), Some(beat), "a look changes nothing");
            last = beat;
        }
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        writer.execute("INSERT INTO users VALUES ('last', '', 0)", []).unwrap();
        assert_ne!(pulse.beat(), Some(last), "also when the log begins anew");
    }

    #[test]
    fn own_commits_that_change_nothing_remembered_leave_the_epoch() {
        let house = house();
        house.commit("first", true);
        let epoch = house.epoch().unwrap();
        for n in 0..50 {
            house.commit(&format!("own {n}"), true);
            assert_eq!(house.epoch(), Some(epoch), "commit {n}");
        }
        house.writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        house.commit("in a new log", true);
        assert_eq!(house.epoch(), Some(epoch));
        house.commit("of a permission", false);
        assert_ne!(house.epoch().unwrap(), epoch);
    }

    #[test]
    fn what_others_commit_ends_the_epoch_whenever_it_comes() {
        let house = house();
        house.commit("first", true);
        let epoch = house.epoch().unwrap();
        house.write("another's");
        assert_eq!(house.epoch(), None, "before anything of our own");
        house.commit("own", true);
        assert_ne!(house.epoch().unwrap(), epoch, "and behind it");

        let epoch = house.epoch().unwrap();
        house.writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let before = house.pulse.beat();
        house.write("own again");
        house.writer.execute_batch("COMMIT").unwrap();
        house.write("another's, before ours was noted");
        house.pulse.committed(before, true);
        assert_eq!(house.epoch(), None);
        house.commit("the last", true);
        assert!(house.epoch().unwrap() > epoch);
    }
}
