//! `write_file`: a new file, never an old one.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use remit_model::text::quoted;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde_json::json;

use super::roots::{Place, Roots};
use super::{most_bytes, paths};
use crate::contract::{Call, Done, Failure};
use crate::text::charset;

/// Is how many names are tried.
pub(super) const TRIES: usize = 1000;

/// Is the longest name a file can have, in bytes.
const NAME_BYTES: usize = 255;

/// Runs the command.
pub(super) fn run(call: &Call) -> Result<Done, Failure> {
    let bytes = encoded(call.text("content")?, call.text_or("encoding", "utf8")?)?;
    let most = most_bytes(call);
    if bytes.len() as u64 > most {
        let size = bytes.len();
        let message =
            format!("the content has {size} bytes; at most {most} are written (max_file_size)");
        return Err(Failure::new("TOO_LARGE", message));
    }
    let roots = Roots::open(&call.settings)?;
    let place = roots.place(call.text("filePath")?)?;
    let Some((parent, name)) = place.split() else {
        let message = format!("{} is a directory; name the file to write in it", place.quoted());
        return Err(Failure::new("INVALID_PATH", message));
    };
    paths::new_name(&name)?;
    let (directory, made) = open_parent(&parent, call.flag("createDirectories"))?;
    let (file, written) = create(&directory, &parent, &name)?;
    if let Err(error) = fill(file, &directory, &bytes) {
        // Half a file is worse than none, and this one is ours.
        let _ = rustix::fs::unlinkat(&directory, written.as_str(), AtFlags::empty());
        return Err(parent.join(written.as_ref()).failure(error));
    }
    let path = parent.join(written.as_ref()).shown();
    let mut result = json!({
        "path": path,
        "size": bytes.len(),
        "renamed": written != name,
    });
    if let (false, Some(map)) = (made.is_empty(), result.as_object_mut()) {
        map.insert("created_directories".to_owned(), made.into());
    }
    let message = if written == name {
        format!("wrote {} bytes to {}", bytes.len(), quoted(&path))
    } else {
        let asked = place.quoted();
        format!(
            "{asked} exists and was left alone; wrote {} bytes to {}",
            bytes.len(),
            quoted(&path)
        )
    };
    Ok(Done::new(result).message(message))
}

fn encoded(content: &str, label: &str) -> Result<Vec<u8>, Failure> {
    if label.eq_ignore_ascii_case("base64") {
        return STANDARD.decode(content.trim()).map_err(|_| {
            Failure::new(
                "INVALID_PARAMETER",
                "the content is no base64; encode it or leave the encoding out",
            )
        });
    }
    let charset =
        charset::by_label(label).filter(|c| c.output_encoding() == *c).ok_or_else(|| {
            let message =
                format!("{} is no encoding to write; use utf8, gbk, … or base64", quoted(label));
            Failure::new("INVALID_PARAMETER", message)
        })?;
    let (bytes, _, lossy) = charset.encode(content);
    if lossy {
        let message =
            format!("the content has characters that {} lacks; write it as utf8", charset.name());
        return Err(Failure::new("INVALID_PARAMETER", message));
    }
    Ok(bytes.into_owned())
}

/// Opens the directory to write into; makes it only when asked to.
fn open_parent(parent: &Place<'_>, make: bool) -> Result<(OwnedFd, Vec<String>), Failure> {
    match parent.try_directory() {
        Err(Errno::NOENT) if make => {}
        Err(Errno::NOENT) => {
            let shown = parent.quoted();
            let message =
                format!("there is no directory {shown}; set createDirectories to make it");
            return Err(Failure::new("NOT_FOUND", message));
        }
        Err(_) | Ok(_) => return Ok((parent.open_directory()?, Vec::new())),
    }
    let mut made = Vec::new();
    for step in parent.steps() {
        if !matches!(step.try_directory(), Err(Errno::NOENT)) {
            continue;
        }
        let Some((above, name)) = step.split() else { continue };
        paths::new_name(&name)?;
        let directory = above.open_directory()?;
        match rustix::fs::mkdirat(&directory, name.as_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) => made.push(step.shown()),
            // Somebody else was quicker, and that is as good.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(step.failure(errno)),
        }
    }
    Ok((parent.open_directory()?, made))
}

/// Makes a file under the name, or under the first free one after it.
fn create(directory: &OwnedFd, parent: &Place<'_>, name: &str) -> Result<(File, String), Failure> {
    // With these two the kernel makes a new file or refuses; it follows no link and opens no old one.
    let new = OFlags::CREATE | OFlags::EXCL;
    let flags = new | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 0..TRIES {
        let candidate = numbered(name, number);
        match rustix::fs::openat(directory, candidate.as_str(), flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((File::from(file), candidate)),
            Err(Errno::EXIST | Errno::INTR) => {}
            Err(errno) => return Err(parent.join(candidate.as_ref()).failure(errno)),
        }
    }
    let shown = quoted(name);
    let message = format!("{shown} and {TRIES} names after it exist; choose another name");
    Err(Failure::new("NAME_TAKEN", message))
}

/// Gives `name (2).ext` for `name.ext`, cut to what a name can hold.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 {
        return name.to_owned();
    }
    let (stem, ending) = parts(name);
    let suffix = format!(" ({number}){ending}");
    let room = NAME_BYTES.saturating_sub(suffix.len());
    let stem = stem.get(..stem.floor_char_boundary(room)).unwrap_or_default();
    format!("{stem}{suffix}")
}

/// Splits a name before its ending; `.tar.gz` is one ending, and `.env` is none.
fn parts(name: &str) -> (&str, &str) {
    let at = name.rfind('.').filter(|at| *at > 0 && name.len() - at <= 16);
    let Some(at) = at else { return (name, "") };
    let at = name.get(..at).and_then(|stem| stem.strip_suffix(".tar")).map_or(at, str::len);
    if at == 0 { (name, "") } else { name.split_at(at) }
}

/// Writes the file so that it is there after a crash.
fn fill(mut file: File, directory: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let number = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    file.write_all(bytes).map_err(number)?;
    file.sync_all().map_err(number)?;
    rustix::fs::fsync(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_ending() {
        assert_eq!(numbered("a.txt", 0), "a.txt");
        assert_eq!(numbered("a.txt", 1), "a (1).txt");
        assert_eq!(numbered("a", 12), "a (12)");
        assert_eq!(numbered(".env", 1), ".env (1)");
        assert_eq!(numbered("a.tar.gz", 1), "a (1).tar.gz");
        assert_eq!(numbered(".tar.gz", 1), ".tar.gz (1)");
        assert_eq!(numbered("v1.not an ending at all", 1), "v1.not an ending at all (1)");
    }

    #[test]
    fn a_name_stays_as_long_as_a_name_can_be() {
        let long = format!("{}.txt", "文".repeat(83));
        assert_eq!(long.len(), 253);
        let numbered = numbered(&long, 1);
        assert!(numbered.len() <= NAME_BYTES && numbered.ends_with("文 (1).txt"), "{numbered}");
    }
}
