//! The text of a path, before any file is opened.
//!
//! Nothing here decides what may be reached: that is judged on the opened file. But a path that
//! tries to climb, or hides what it is, is not a mistake to be put right, and is refused as it is.

use std::path::{Component, Path, PathBuf};

use remit_model::text;

use crate::contract::Failure;

/// Is the longest path; the kernel takes no longer one.
const LONGEST: usize = 4095;

/// Lists what separators, dots and NUL look like when encoded, in lower case.
const ENCODED: &[&str] = &[
    "%2f", "%5c", "%00", "%2e", "%c0%af", "%c0%ae", "%c1%9c", "%e0%80", "%u2215", "%u2216",
    "%u002e", "%u002f", "%uff0e", "%252", "%255c", "%c0%2f", "%c0%5c", "0x2e", "0x2f", "0x5c",
];

/// Reads the text of a path: absolute or relative, without anything that climbs.
pub(super) fn clean(written: &str) -> Result<PathBuf, Failure> {
    let refuse = |why: &str| {
        let shown = text::quoted(written);
        Err(Failure::new("INVALID_PATH", format!("the path {shown} {why}")))
    };
    if written.is_empty() {
        return refuse("is empty; write the whole path");
    }
    if written.len() > LONGEST {
        return refuse("is too long");
    }
    if written.chars().any(char::is_control) {
        return refuse("has a control character in it; write it without");
    }
    if written.starts_with('~') || written.contains("://") {
        return refuse("is no path of the file system; write the whole path from `/` on");
    }
    let lower = written.to_ascii_lowercase();
    if ENCODED.iter().any(|encoded| lower.contains(encoded)) {
        return refuse("has encoded separators or dots in it; write it as it is");
    }
    for part in written.split(['/', '\\']) {
        if part == ".." {
            return refuse("has `..` in it; write the path it leads to");
        }
        let bare = part.trim_matches([' ', '.']);
        if bare.is_empty() && !part.is_empty() && part != "." {
            return refuse("has a part of nothing but dots and spaces; write the path it leads to");
        }
    }
    Ok(Path::new(written).components().filter(|part| *part != Component::CurDir).collect())
}

/// Judges the name of a file to be made: one that other systems read as another is refused.
pub(super) fn new_name(name: &str) -> Result<(), Failure> {
    let odd = name.ends_with(['.', ' '])
        || name.starts_with(' ')
        || name.starts_with("..")
        || name.contains('\\')
        || name.contains(text::is_hidden);
    if odd {
        let message = format!(
            "the name {} has dots, spaces or other characters that mislead; choose a plain one",
            text::quoted(name)
        );
        return Err(Failure::new("INVALID_PATH", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_pass() {
        for (written, clean) in [
            ("/data/a.txt", "/data/a.txt"),
            ("/data//./a.txt", "/data/a.txt"),
            ("/data/a b/文件.pdf", "/data/a b/文件.pdf"),
            ("a/b", "a/b"),
            ("/data/...a/b...", "/data/...a/b..."),
            ("/data/100%/x", "/data/100%/x"),
            (".", ""),
        ] {
            assert_eq!(super::clean(written).unwrap(), Path::new(clean), "{written}");
        }
    }

    #[test]
    fn what_climbs_or_hides_is_refused_even_where_it_would_stay_inside() {
        for written in [
            "",
            "/data/a/../b",
            "..",
            "a\\..\\b",
            "/data/...",
            "/data/. ./x",
            "/data/ /x",
            "~/x",
            "~x",
            "file:///data/x",
            "/data/%2e%2e/x",
            "/data/a%2Fb",
            "/data/a%00",
            "/data/a\0",
            "/data/a\nb",
            "/data/%252e%252e",
            "/data/%c0%ae",
            "/data/%u2215x",
            "/data/0x2e0x2e",
        ] {
            assert_eq!(clean(written).unwrap_err().code, "INVALID_PATH", "{written:?}");
        }
    }

    #[test]
    fn a_path_as_long_as_the_kernel_takes_passes_and_a_longer_one_does_not() {
        assert!(clean(&"x".repeat(LONGEST)).is_ok());
        assert!(clean(&"x".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn names_that_change_on_other_systems_are_refused() {
        assert!(new_name("a.txt").is_ok());
        assert!(new_name(".env").is_ok());
        for name in ["a.", "a ", " a", "a\\b", "..;", "a\u{202e}txt"] {
            assert!(new_name(name).is_err(), "{name:?}");
        }
    }
}
