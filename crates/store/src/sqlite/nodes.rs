//! Who is alive: each open store holds a lock on a file of its own for as long as its process lives.
//!
//! A call carries the name of the store that has it. Whoever can take the lock of another store, or
//! finds its file gone, knows that nobody will end that store's calls any more.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use remit_engine::ports::StoreError;

use super::fault::shown;

const ENDING: &str = "lock";

/// Is a living store.
pub(crate) struct Node {
    name: String,
    directory: PathBuf,
    lock: Option<File>,
}

/// Proves that a store is gone, and keeps others from finding out at the same time.
pub(crate) struct Gone {
    name: String,
    lock: Option<File>,
}

impl Node {
    /// Takes a name that nobody has.
    pub(crate) fn enter(data: &Path) -> Result<Self, StoreError> {
        let directory = data.join("nodes");
        let said = |error: &io::Error| {
            StoreError::new(format!(
                "cannot take a lock in {} ({error}): see that this user may write there",
                shown(&directory)
            ))
        };
        match fs::DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(said(&error)),
            _ => {}
        }
        loop {
            let name = uuid::Uuid::now_v7().simple().to_string();
            let path = path(&directory, &name);
            let lock = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .and_then(|file| Ok(hold(&file)?.then_some(file)))
                .map_err(|error| said(&error))?;
            // Between its making and its locking somebody may have taken the file for a dead one's.
            if let Some(lock) = lock
                && is_at(&lock, &path)
            {
                return Ok(Self { name, directory, lock: Some(lock) });
            }
        }
    }

    /// Gives its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether another store is gone; itself it never takes for gone.
    pub(crate) fn gone(&self, name: &str) -> Option<Gone> {
        if name == self.name {
            return None;
        }
        // A name of another form was never a store's, and must not become a path.
        if !is_name(name) {
            return Some(Gone { name: String::new(), lock: None });
        }
        let lock = match File::open(path(&self.directory, name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(Gone { name: name.to_owned(), lock: None });
            }
            // What cannot be asked may be alive.
            Err(_) => return None,
        };
        let free = hold(&lock).unwrap_or(false);
        free.then(|| Gone { name: name.to_owned(), lock: Some(lock) })
    }

    /// Removes what is left of a store that is gone and has no calls.
    pub(crate) fn bury(&self, gone: &Gone) {
        if gone.lock.is_some() {
            // If this fails, the next one who looks removes it.
            let _ = fs::remove_file(path(&self.directory, &gone.name));
        }
    }

    /// Finds the stores that are gone, whether they left calls or not.
    pub(crate) fn all_gone(&self) -> Vec<Gone> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            Some(name.to_str()?.strip_suffix(ENDING)?.strip_suffix('.')?.to_owned())
        });
        names.filter_map(|name| self.gone(&name)).collect()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = fs::remove_file(path(&self.directory, &self.name));
        self.lock = None;
    }
}

fn is_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.{ENDING}"))
}

fn hold(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
