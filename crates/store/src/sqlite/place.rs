//! The data directory: made private, opened by one at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remit_engine::ports::StoreError;

use super::fault::shown;

const DATABASE: &str = "remit.db";
const LOCK: &str = "open.lock";

/// Is a data directory that nobody else opens at the moment.
pub(crate) struct Place {
    /// The directory, as an absolute path.
    pub(crate) directory: PathBuf,
    /// The database in it.
    pub(crate) database: PathBuf,
    _lock: File,
}

impl Place {
    /// Makes the directory and an empty database if they are not there. What is made will still be
    /// there after a crash of the machine.
    pub(crate) fn enter(directory: &Path, patience: Duration) -> Result<Self, StoreError> {
        let said = |error: io::Error| {
            let place = shown(directory);
            StoreError::new(match error.kind() {
                io::ErrorKind::StorageFull => {
                    format!("the disk that holds {place} is full: make room and try again")
                }
                _ => format!(
                    "cannot use {place} as the data directory ({error}): name a directory that this user may write"
                ),
            })
        };
        make_directory(directory).map_err(said)?;
        // Absolute, so that no name can be taken for a URI.
        let directory = fs::canonicalize(directory).map_err(said)?;
        let lock = lock(&directory.join(LOCK), patience).map_err(said)?.ok_or_else(|| {
            StoreError::new(format!(
                "the data directory {} is being opened by another program that does not let go: \
                 end that program, or try again when it is done",
                shown(&directory)
            ))
        })?;
        let database = directory.join(DATABASE);
        make_database(&directory, &database).map_err(said)?;
        Ok(Self { directory, database, _lock: lock })
    }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    match directory.parent() {
        Some(parent) if parent != Path::new("") => sync(parent),
        _ => sync(Path::new(".")),
    }
}

fn make_database(directory: &Path, database: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(database) {
        Ok(_) => sync(directory),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::metadata(database)?;
            // The database gives its own rights to the files beside it.
            if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(database, Permissions::from_mode(0o600))?;
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Makes what was put into a directory last.
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

fn lock(path: &Path, patience: Duration) -> io::Result<Option<File>> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if began.elapsed() >= patience => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
