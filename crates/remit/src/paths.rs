//! The names of files as they are shown. A name is bytes: not all of them need be text, and what is
//! text may be meant to deceive.

use std::fmt::Write as _;
use std::path::Path;

use remit_model::text;

/// Gives a path for a person to read: nothing in it steers a terminal, and no two paths look alike.
pub(crate) fn for_people(path: &Path) -> String {
    text::visible(&escaped(path)).into_owned()
}

/// Gives a path for programs: as it is if it is text, else with every byte that is not as `\xff`.
pub(crate) fn for_programs(path: &Path) -> String {
    path.to_str().map_or_else(|| escaped(path), str::to_owned)
}

/// Writes bytes that are no text as `\xff`. A backslash that is part of the name is doubled, where
/// backslashes can be.
fn escaped(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        if cfg!(windows) {
            shown.push_str(chunk.valid());
        } else {
            shown.push_str(&chunk.valid().replace('\\', "\\\\"));
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Gives a path as a URI reference: relative stays relative, and what a URI cannot hold is encoded.
pub(crate) fn uri(path: &Path) -> String {
    let mut uri = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn no_two_paths_look_alike() {
        let cases: [(&[u8], &str, &str, &str); 6] = [
            (b"a/b c.yaml", "a/b c.yaml", "a/b c.yaml", "a/b%20c.yaml"),
            ("文/é".as_bytes(), "文/é", "文/é", "%E6%96%87/%C3%A9"),
            (b"a\xff.yaml", "a\\xff.yaml", "a\\xff.yaml", "a%FF.yaml"),
            (b"a\xfe\x80", "a\\xfe\\x80", "a\\xfe\\x80", "a%FE%80"),
            (b"a\\xff.yaml", "a\\\\xff.yaml", "a\\xff.yaml", "a%5Cxff.yaml"),
            (b"\x1b[2J\xff", "\\u{1b}[2J\\xff", "\u{1b}[2J\\xff", "%1B%5B2J%FF"),
        ];
        let mut seen = std::collections::HashSet::new();
        for (bytes, people, programs, as_uri) in cases {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(for_people(path), people);
            assert_eq!(for_programs(path), programs);
            assert_eq!(uri(path), as_uri);
            assert!(seen.insert(people) && seen.insert(as_uri) | (people == as_uri));
        }
    }
}
