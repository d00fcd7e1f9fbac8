//! Files and directories: the only place that reads them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use remit_manifest::read::Format;

use crate::paths;

/// Directories that hold other people's files, or none at all.
const PASSED_OVER: [&str; 7] =
    [".git", ".hg", ".svn", "node_modules", "target", "__pycache__", ".venv"];

/// Files that look like manifests by their ending and never are.
const NOT_MANIFESTS: [&str; 8] = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "jsconfig.json",
    "composer.json",
    "deno.json",
    "pnpm-lock.yaml",
    ".pre-commit-config.yaml",
];

/// Is a file to look at.
#[derive(Debug)]
pub(crate) struct Found {
    /// Where it is; `-` is standard input.
    pub(crate) path: PathBuf,
    /// Whether the user named it, rather than a directory it lies in.
    pub(crate) named: bool,
}

/// Is a path that could not be read, and why.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// Finds the files behind the given paths. Directories are walked, links followed; what cannot be
/// walked is reported and the rest goes on. A file that is reached in two ways is found once, in the
/// first of them.
pub(crate) fn find(paths: &[PathBuf]) -> (Vec<Found>, Vec<Unreadable>) {
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    let mut ways = paths.len();
    for path in paths {
        if path.as_os_str() != "-" && fs::metadata(path).is_ok_and(|m| m.is_dir()) {
            ways += walk(path, &mut |_| true, &mut found, &mut unreadable);
        } else {
            found.push(Found { path: path.clone(), named: true });
        }
    }
    // Without a link there is one way to each file of a directory, and nothing to look up.
    if ways > 1 {
        found = each_once(found);
        let mut seen = HashSet::new();
        unreadable.retain(|bad: &Unreadable| seen.insert(real_place(&bad.path)));
    }
    (found, unreadable)
}

/// Finds the files in a directory that is not to be left: links to directories elsewhere are not
/// followed, and each directory inside is entered by a link once.
pub(crate) fn find_inside(root: &Path) -> (Vec<Found>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let real = real_path(root);
    let mut entered = HashSet::new();
    let mut enter = |path: &Path| {
        let target = real_path(path);
        target.starts_with(&real) && entered.insert(target)
    };
    walk(root, &mut enter, &mut found, &mut unreadable);
    (each_once(found), unreadable)
}

/// Leaves out the files that stand there already by another path. It was named if it was ever named.
fn each_once(found: Vec<Found>) -> Vec<Found> {
    // Only where the numbers are the same can the files be; two hard links are two files.
    let numbers: Vec<_> = found.iter().map(|file| number(&file.path)).collect();
    let mut uses: HashMap<_, usize> = HashMap::new();
    for number in numbers.iter().flatten() {
        *uses.entry(*number).or_default() += 1;
    }
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    let mut once: Vec<Found> = Vec::with_capacity(found.len());
    for (file, number) in found.into_iter().zip(numbers) {
        let single = number.is_some_and(|number| uses.get(&number) == Some(&1));
        if !single {
            let at = *places.entry(real_path(&file.path)).or_insert(once.len());
            if let Some(first) = once.get_mut(at) {
                first.named |= file.named;
                continue;
            }
        }
        once.push(file);
    }
    once
}

/// Gives the numbers of the device and the file, which all paths to a file share.
#[cfg(unix)]
fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn number(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Walks a directory, and those behind links that `enter` lets it into. Tells how many links it came
/// by.
fn walk(
    root: &Path,
    enter: &mut dyn FnMut(&Path) -> bool,
    found: &mut Vec<Found>,
    unreadable: &mut Vec<Unreadable>,
) -> usize {
    let mut links = 0;
    let walker = walkdir::WalkDir::new(root).follow_links(true).sort_by_file_name();
    let entries = walker.into_iter().filter_entry(|entry| {
        entry.depth() == 0
            || !entry.file_type().is_dir()
            || (!entry.file_name().to_str().is_some_and(|name| PASSED_OVER.contains(&name))
                && (!entry.path_is_symlink() || enter(entry.path())))
    });
    for entry in entries {
        links += usize::from(entry.as_ref().is_ok_and(walkdir::DirEntry::path_is_symlink));
        match entry {
            Ok(entry) if entry.file_type().is_file() && may_be_manifest(entry.path()) => {
                found.push(Found { path: entry.into_path(), named: false });
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().map_or_else(|| root.to_owned(), Path::to_owned);
                let reason = match error.loop_ancestor() {
                    Some(ancestor) => {
                        format!("the link leads back to {}", paths::for_programs(ancestor))
                    }
                    None => error.io_error().map_or_else(|| error.to_string(), why),
                };
                // A dangling or looping link that is not named like a manifest concerns nobody.
                if error.loop_ancestor().is_some()
                    || may_be_manifest(&path)
                    || path.is_dir()
                    || path == root
                {
                    unreadable.push(Unreadable { path, reason });
                }
            }
        }
    }
    links
}

fn may_be_manifest(path: &Path) -> bool {
    format_of(path).is_some()
        && !path.file_name().and_then(|n| n.to_str()).is_some_and(|n| NOT_MANIFESTS.contains(&n))
}

/// Tells the format from a file's ending.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    path.extension().and_then(|e| e.to_str()).and_then(Format::of_extension)
}

/// Gives the path of a file without links and detours, or the path itself.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Gives the same of a file that cannot be read, by the directory it stands in.
fn real_place(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
            real_path(parent).join(name)
        }
        _ => path.to_owned(),
    }
}

/// Lists the files beside a manifest that may be manifests too.
pub(crate) fn siblings(path: &Path) -> Vec<PathBuf> {
    const MOST: usize = 2_000;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| may_be_manifest(path) && path.is_file())
        .take(MOST)
        .collect();
    files.sort();
    files
}

/// Says whether to wait for a file that has nothing to give yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A file the user named, perhaps a pipe from another program.
    Wait,
    /// A file that was only found somewhere.
    GoOn,
}

fn open(path: &Path, patience: Patience) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    if patience == Patience::GoOn {
        const O_NONBLOCK: i32 = 0o4000;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, O_NONBLOCK);
    }
    options.open(path)
}

/// Reads a file, but never more of it than one byte past `most`: more would be refused unseen.
pub(crate) fn read(path: &Path, most: usize, patience: Patience) -> Result<Vec<u8>, String> {
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let result = if path.as_os_str() == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        open(path, patience).and_then(|file| {
            if let Ok(metadata) = file.metadata() {
                if metadata.is_dir() {
                    return Err(io::Error::from(io::ErrorKind::IsADirectory));
                }
                let size = metadata.len().min(limit);
                bytes.reserve_exact(usize::try_from(size).unwrap_or_default().saturating_add(1));
            }
            file.take(limit).read_to_end(&mut bytes)
        })
    };
    result.map(|_| bytes).map_err(|error| why(&error))
}

/// Reads a file that must be an ordinary one: a pipe or a device would be waited for, or never end.
pub(crate) fn read_ordinary(path: &Path, most: usize) -> Result<Vec<u8>, String> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err("it is no ordinary file".to_owned())
        }
        _ => read(path, most, Patience::GoOn),
    }
}

/// Says why, without the jargon.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ if error.raw_os_error() == Some(40) => "its links lead in a circle".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a new file; one that exists is never touched.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(path).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => "it exists already and is left alone".to_owned(),
        _ => why(&e),
    })?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(|e| why(&e))
}
