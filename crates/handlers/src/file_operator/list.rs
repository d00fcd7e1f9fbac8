//! `list_directory`: what is in one directory.

use std::ffi::CStr;
use std::os::fd::AsFd;

use jiff::Timestamp;
use rustix::fs::{AtFlags, Dir, FileType};
use serde_json::{Map, Value, json};

use super::roots::Roots;
use crate::contract::{Call, Done, Failure};
use crate::text::fit;

/// Is the most entries an answer holds.
pub(super) const ENTRIES: usize = 2000;

/// Is the most entries that are looked at.
const LOOKED_AT: usize = 200_000;

/// Runs the command.
pub(super) fn run(call: &Call) -> Result<Done, Failure> {
    let hidden = call.flag("showHidden");
    let roots = Roots::open(&call.settings)?;
    let place = roots.place(call.text("directoryPath")?)?;
    let directory = place.open_directory()?;
    let mut names = Vec::new();
    let mut hidden_count = 0_usize;
    let mut more = false;
    for entry in Dir::read_from(&directory).map_err(|e| place.failure(e))? {
        let entry = entry.map_err(|e| place.failure(e))?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() >= LOOKED_AT {
            more = true;
            break;
        }
        if name.starts_with(b".") && !hidden {
            hidden_count += 1;
        } else {
            names.push(entry.file_name().to_owned());
        }
    }
    names.sort_unstable();
    let total = names.len();
    let entries = fit::items(names.iter().take(ENTRIES).map(|name| describe(&directory, name)));
    let shown = entries.len();
    let result = json!({
        "path": place.shown(),
        "entries": entries,
        "total": total,
        "hidden": hidden_count,
    });
    let done = Done::new(result);
    Ok(if more {
        done.partial(format!(
            "the directory has more than {LOOKED_AT} entries; these are {shown} of them"
        ))
    } else if shown < total {
        done.partial(format!(
            "these are the first {shown} of {total} entries; find others with search_files"
        ))
    } else {
        done.message(format!("{total} entries in {}", place.quoted()))
    })
}

/// Describes an entry by what it is itself, not by what it links to.
fn describe(directory: impl AsFd, name: &CStr) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), name.to_string_lossy().into());
    let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
        entry.insert("type".to_owned(), "unknown".into());
        return Value::Object(entry);
    };
    let kind = FileType::from_raw_mode(stat.st_mode);
    entry.insert("type".to_owned(), name_of(kind).into());
    if kind == FileType::RegularFile {
        entry.insert("size".to_owned(), stat.st_size.into());
    }
    if let Ok(moment) = Timestamp::from_second(stat.st_mtime) {
        entry.insert("modified".to_owned(), moment.to_string().into());
    }
    Value::Object(entry)
}

/// Gives the word for a kind of file.
pub(super) fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "unknown",
    }
}
