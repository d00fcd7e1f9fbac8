//! The allowed directories, and opening what is below them.
//!
//! A path is judged by the kernel while it is opened: `openat2` resolves it below an allowed
//! directory that is already open, refuses links that lead out, and cannot be raced, because there is
//! no moment between a check and a use.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use remit_model::text;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::paths;
use crate::contract::{Failure, Settings};

/// Is how often an opening is tried again that lost a race with a rename.
const TRIES: usize = 64;

/// Holds the numbers of file systems whose files are no files: proc, sysfs, cgroup, debugfs and kin.
#[cfg(target_os = "linux")]
const NOT_FILES: &[i64] = &[
    0x9fa0,
    0x6265_6572,
    0x6367_7270,
    0x0027_e0eb,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x6165_676c,
    0xcafe_4a11,
    0x9fa2,
    0x1980,
    0x6e73_6673,
    0x5049_4446,
];

/// Is an allowed directory, open.
struct Root {
    /// Is its path as the operator wrote it.
    shown: PathBuf,
    /// Is its path without links, under which it may be asked for as well.
    real: PathBuf,
    directory: OwnedFd,
}

/// Holds the allowed directories.
pub(super) struct Roots(Vec<Root>);

/// Is a place below an allowed directory. Nothing is known yet about what is there.
pub(super) struct Place<'r> {
    root: &'r Root,
    /// Is the path below the directory, never empty.
    below: PathBuf,
}

impl Roots {
    /// Opens the allowed directories.
    pub(super) fn open(settings: &Settings) -> Result<Self, Failure> {
        let wanted = settings.list("allowed_directories")?;
        if wanted.is_empty() {
            return Err(Failure::new(
                "NOT_ALLOWED",
                "no directory is allowed; the operator can allow some with `allowed_directories` in configs/file_operator.yaml",
            ));
        }
        let mut roots = Vec::with_capacity(wanted.len());
        for path in &wanted {
            if !Path::new(path).is_absolute() {
                let what = format!("has {}, which is no absolute path", text::quoted(path));
                return Err(Failure::setting("allowed_directories", &what));
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            // A directory that is not there now allows nothing; the others still do.
            let Ok(directory) = rustix::fs::open(path.as_str(), flags, Mode::empty()) else {
                continue;
            };
            let shown: PathBuf = Path::new(path).components().collect();
            let real = std::fs::canonicalize(path).unwrap_or_else(|_| shown.clone());
            roots.push(Root { shown, real, directory });
        }
        if roots.is_empty() {
            let what = "names only directories that cannot be opened";
            return Err(Failure::setting("allowed_directories", what));
        }
        Ok(Self(roots))
    }

    /// Finds the allowed directory a path is below.
    pub(super) fn place(&self, written: &str) -> Result<Place<'_>, Failure> {
        let path = paths::clean(written)?;
        let found = if path.is_absolute() {
            // Of directories within each other the innermost is meant.
            self.0
                .iter()
                .flat_map(|root| [(root, &root.shown), (root, &root.real)])
                .filter_map(|(root, at)| path.strip_prefix(at).ok().map(|below| (root, below)))
                .min_by_key(|(_, below)| below.components().count())
        } else {
            match self.0.as_slice() {
                [only] => Some((only, path.as_path())),
                _ => None,
            }
        };
        let Some((root, below)) = found else {
            let message = format!(
                "{} is not below an allowed directory; allowed are {}",
                text::quoted(written),
                self.names()
            );
            return Err(Failure::new("NOT_ALLOWED", message));
        };
        let empty = below.as_os_str().is_empty();
        Ok(Place { root, below: if empty { PathBuf::from(".") } else { below.to_owned() } })
    }

    fn names(&self) -> String {
        const MOST: usize = 10;
        let mut names: Vec<String> =
            self.0.iter().take(MOST).map(|r| text::quoted(&r.shown.to_string_lossy())).collect();
        if self.0.len() > MOST {
            names.push("others".to_owned());
        }
        names.join(", ")
    }
}

impl<'r> Place<'r> {
    /// Gives the path to show.
    pub(super) fn shown(&self) -> String {
        let path = self.root.shown.join(&self.below);
        let path: PathBuf = path.components().collect();
        path.to_string_lossy().into_owned()
    }

    /// Gives the path in backticks.
    pub(super) fn quoted(&self) -> String {
        text::quoted(&self.shown())
    }

    /// Splits off the last part of the path.
    pub(super) fn split(&self) -> Option<(Place<'r>, String)> {
        let name = self.below.file_name()?.to_string_lossy().into_owned();
        if name == "." {
            return None;
        }
        let parent = self.below.parent().filter(|parent| !parent.as_os_str().is_empty());
        let below = parent.map_or_else(|| PathBuf::from("."), Path::to_owned);
        Some((Place { root: self.root, below }, name))
    }

    /// Gives the place of something in this one.
    pub(super) fn join(&self, name: &Path) -> Place<'r> {
        let below =
            if self.below == Path::new(".") { name.to_owned() } else { self.below.join(name) };
        Place { root: self.root, below }
    }

    /// Gives the places from the allowed directory down to this one, without the directory itself.
    pub(super) fn steps(&self) -> Vec<Place<'r>> {
        let mut at = PathBuf::new();
        let mut steps = Vec::new();
        for part in self.below.components().filter(|part| part.as_os_str() != ".") {
            at.push(part);
            steps.push(Place { root: self.root, below: at.clone() });
        }
        steps
    }

    /// Opens an ordinary file for reading, and gives its size.
    pub(super) fn open_file(&self) -> Result<(File, u64), Failure> {
        // Without O_NONBLOCK opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file =
            beneath(&self.root.directory, &self.below, flags).map_err(|e| self.failure(e))?;
        let stat = rustix::fs::fstat(&file).map_err(|e| self.failure(e))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            let message = format!("{} is a directory; list it with list_directory", self.quoted());
            return Err(Failure::new("NOT_A_FILE", message));
        }
        if kind != FileType::RegularFile || !holds_files(&file) {
            let message = format!("{} is no ordinary file; it is not read", self.quoted());
            return Err(Failure::new("NOT_A_FILE", message));
        }
        Ok((File::from(file), u64::try_from(stat.st_size).unwrap_or_default()))
    }

    /// Opens a directory.
    pub(super) fn open_directory(&self) -> Result<OwnedFd, Failure> {
        let directory = self.try_directory().map_err(|errno| match errno {
            Errno::NOTDIR => {
                Failure::new("NOT_A_DIRECTORY", format!("{} is no directory", self.quoted()))
            }
            errno => self.failure(errno),
        })?;
        if holds_files(&directory) {
            Ok(directory)
        } else {
            let message = format!("{} does not hold ordinary files", self.quoted());
            Err(Failure::new("NOT_ALLOWED", message))
        }
    }

    /// Opens a directory, or gives the number of the error.
    pub(super) fn try_directory(&self) -> Result<OwnedFd, Errno> {
        beneath(&self.root.directory, &self.below, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Gives what an error of the system means for this place.
    pub(super) fn failure(&self, errno: Errno) -> Failure {
        let shown = self.quoted();
        match errno {
            Errno::NOENT | Errno::NOTDIR => Failure::new(
                "NOT_FOUND",
                format!("there is no {shown}; list its directory to see what is"),
            ),
            Errno::XDEV | Errno::LOOP => Failure::new(
                "NOT_ALLOWED",
                format!("{shown} leads out of the allowed directory; it is not followed"),
            ),
            Errno::ACCESS | Errno::PERM => {
                Failure::new("PERMISSION", format!("the system does not permit access to {shown}"))
            }
            Errno::NXIO | Errno::NODEV => {
                Failure::new("NOT_A_FILE", format!("{shown} is no ordinary file; it is not read"))
            }
            Errno::NAMETOOLONG => Failure::new(
                "INVALID_PATH",
                format!("the path {shown} is too long; use a shorter name"),
            ),
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => {
                Failure::new("NO_SPACE", format!("there is no space left to write {shown}"))
            }
            Errno::ROFS => Failure::new("PERMISSION", format!("{shown} can only be read")),
            Errno::NOSYS => Failure::new(
                "UNSUPPORTED",
                "this system cannot open files safely below a directory (it needs Linux 5.6 or later)",
            ),
            errno => Failure::new("IO", format!("the system could not use {shown}: {errno}")),
        }
    }
}

/// Opens below a directory, and nowhere else.
#[cfg(target_os = "linux")]
fn beneath(directory: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::CLOEXEC;
    let mut lost = Errno::AGAIN;
    for _ in 0..TRIES {
        match rustix::fs::openat2(directory.as_fd(), path, flags, Mode::empty(), resolve) {
            Err(errno @ (Errno::AGAIN | Errno::INTR)) => lost = errno,
            other => return other,
        }
    }
    Err(lost)
}

/// Refuses: without `openat2` a path cannot be opened safely.
#[cfg(not(target_os = "linux"))]
fn beneath(_: impl AsFd, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Tells whether a file system holds files, and not faces of the kernel.
#[cfg(target_os = "linux")]
fn holds_files(fd: impl AsFd) -> bool {
    rustix::fs::fstatfs(fd).is_ok_and(|stat| {
        #[expect(
            clippy::unnecessary_cast,
            reason = "the width of the number depends on the machine"
        )]
        let number = stat.f_type as i64;
        !NOT_FILES.contains(&(number & 0xffff_ffff))
    })
}

/// Tells nothing: nothing was opened.
#[cfg(not(target_os = "linux"))]
fn holds_files(_: impl AsFd) -> bool {
    false
}
