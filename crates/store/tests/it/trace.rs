//! What a process wrote and what of it was synced, from the log of its system calls.
//!
//! `strace` writes down every write and every sync. Played again, with all that was not synced thrown
//! away, that is what a disk holds after the machine lost its power.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Is what a disk holds, and what the kernel had not given to it yet.
#[derive(Default)]
pub(crate) struct Disk {
    files: BTreeMap<PathBuf, File>,
}

#[derive(Clone, Default)]
struct File {
    /// As programs see it.
    seen: Vec<u8>,
    /// As it is on the disk.
    synced: Vec<u8>,
    /// Whether its directory on the disk has it.
    is_listed: bool,
}

/// Plays the log of a process below a directory; what it told the world is given to `told`, with the
/// disk as it was when the telling began.
pub(crate) fn play(log: &str, below: &Path, mut told: impl FnMut(&Disk, &str)) -> Disk {
    let mut disk = Disk::default();
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    for line in log.lines() {
        let (process, rest) = line.split_once(' ').expect("a process id");
        let rest = rest.trim_start();
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if let Some(start) = rest.strip_suffix("<unfinished ...>") {
            if let Some(words) = said(start) {
                told(&disk, &words);
            }
            begun.insert(process, start.to_owned());
            continue;
        }
        let is_resumed = rest.starts_with("<... ");
        let whole = match rest.strip_prefix("<... ").and_then(|r| r.split_once(" resumed>")) {
            Some((_, end)) => begun.remove(process).expect("a call that was begun") + end,
            None => rest.to_owned(),
        };
        if !is_resumed && let Some(words) = said(&whole) {
            told(&disk, &words);
        }
        disk.apply(&whole, below);
    }
    disk
}

/// Gives what a call tells the world, if it does.
fn said(call: &str) -> Option<String> {
    let arguments = call.strip_prefix("write(1<")?;
    let text = String::from_utf8(quoted(arguments)?).ok()?;
    text.split_once("said ").map(|(_, said)| said.trim_end().to_owned())
}

impl Disk {
    fn apply(&mut self, call: &str, below: &Path) {
        let (name, arguments) = call.split_once('(').expect("a system call");
        let (arguments, result) = arguments.rsplit_once(" = ").expect("a result");
        let arguments = arguments.trim_end().strip_suffix(')').expect("an end");
        if result.starts_with('-') || result.starts_with('?') {
            return;
        }
        let path = match name {
            "openat" => descriptor(result),
            "unlink" => quoted(arguments).map(path),
            _ => descriptor(arguments),
        };
        let Some(path) = path.filter(|path| path.starts_with(below)) else { return };
        // What is shared between processes through memory is made anew after a crash.
        if path.to_string_lossy().ends_with("-shm") {
            return;
        }
        match name {
            "openat" => {
                if arguments.contains("O_CREAT") {
                    self.files.entry(path).or_default();
                }
            }
            "pwrite64" => {
                let numbers: Vec<usize> = arguments
                    .rsplit(", ")
                    .take(2)
                    .map(|number| number.trim().parse().expect("a number"))
                    .collect();
                let bytes = quoted(arguments).expect("what is written");
                assert_eq!(bytes.len(), numbers[1], "strace shows it whole");
                self.write(path, numbers[0], &bytes);
            }
            "ftruncate" => {
                let length = arguments.rsplit(", ").next().and_then(|n| n.trim().parse().ok());
                let file = self.files.entry(path).or_default();
                file.seen.resize(length.expect("a length"), 0);
            }
            "fsync" | "fdatasync" => self.sync(&path),
            "unlink" => {
                self.files.remove(&path);
            }
            "write" | "fallocate" | "writev" | "pwritev" | "pwritev2" | "rename" | "renameat2" => {
                panic!("a way to write that is not played: {call}");
            }
            other => panic!("{other} was not asked for"),
        }
    }

    fn write(&mut self, path: PathBuf, offset: usize, bytes: &[u8]) {
        let seen = &mut self.files.entry(path).or_default().seen;
        let end = offset + bytes.len();
        if seen.len() < end {
            seen.resize(end, 0);
        }
        seen[offset..end].copy_from_slice(bytes);
    }

    fn sync(&mut self, path: &Path) {
        if let Some(file) = self.files.get_mut(path) {
            file.synced.clone_from(&file.seen);
            return;
        }
        for (name, file) in &mut self.files {
            if name.parent() == Some(path) {
                file.is_listed = true;
            }
        }
    }

    /// Writes what the disk holds to a directory, in place of the one it was written below.
    pub(crate) fn after_a_power_cut(&self, below: &Path, to: &Path) {
        for (path, file) in self.files.iter().filter(|(_, file)| file.is_listed) {
            let there = to.join(path.strip_prefix(below).expect("below"));
            std::fs::create_dir_all(there.parent().expect("a directory")).expect("a directory");
            std::fs::write(there, &file.synced).expect("a file");
        }
    }
}

/// Gives the first text in quotation marks; all of it is written as `\x00`.
fn quoted(arguments: &str) -> Option<Vec<u8>> {
    let (_, rest) = arguments.split_once('"')?;
    let (text, _) = rest.split_once('"')?;
    Some(bytes(text))
}

/// Gives the path of the first descriptor, `3<path>`.
fn descriptor(text: &str) -> Option<PathBuf> {
    let (_, rest) = text.split_once('<')?;
    let (text, _) = rest.split_once('>')?;
    Some(path(bytes(text)))
}

fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = text.split("\\x").skip(1);
    digits.map(|pair| u8::from_str_radix(&pair[..2], 16).expect("two digits")).collect()
}
