//! The native tools, under their names and those they had in the older format.

use super::reference::Servers;
use super::wildcards::{has_wildcard, matches};

/// Lists the native tools.
pub const NATIVE: [&str; 3] = ["fs-read", "fs-write", "execute-bash"];

/// Lists the native tools of the older format, with the name each has now, if it is still there.
static OLDER: &[(&str, Option<&str>)] = &[
    ("read", Some("fs-read")),
    ("fs_read", Some("fs-read")),
    ("fsRead", Some("fs-read")),
    ("read_file", Some("fs-read")),
    ("readFile", Some("fs-read")),
    ("write", Some("fs-write")),
    ("fs_write", Some("fs-write")),
    ("fsWrite", Some("fs-write")),
    ("fsReplace", Some("fs-write")),
    ("fsAppend", Some("fs-write")),
    ("write_file", Some("fs-write")),
    ("writeFile", Some("fs-write")),
    ("strReplace", Some("fs-write")),
    ("shell", Some("execute-bash")),
    ("bash", Some("execute-bash")),
    ("execute_bash", Some("execute-bash")),
    ("executeBash", Some("execute-bash")),
    ("execute_cmd", Some("execute-bash")),
    ("executeCmd", Some("execute-bash")),
    ("execute_bash_readonly", Some("execute-bash")),
    ("aws", None),
    ("code", None),
    ("delegate", None),
    ("fileSearch", None),
    ("fs_list", None),
    ("gh_issue", None),
    ("glob", None),
    ("grep", None),
    ("image_read", None),
    ("introspect", None),
    ("knowledge", None),
    ("listDirectory", None),
    ("ls", None),
    ("report", None),
    ("report_issue", None),
    ("session", None),
    ("subagent", None),
    ("task", None),
    ("thinking", None),
    ("todo", None),
    ("todo_list", None),
    ("use_aws", None),
    ("use_mcp", None),
    ("use_subagent", None),
    ("web_fetch", None),
    ("web_search", None),
];

/// Says what a native name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// A tool of the agent format, or a pattern that fits one.
    Known,
    /// Another spelling of this tool.
    Respelt(&'static str),
    /// A tool of the older format that is gone.
    Gone,
    /// Nothing known.
    Unknown,
}

/// Looks a native name up, or a pattern.
#[must_use]
pub fn native(name: &str) -> Native {
    if has_wildcard(name) { fitting(|known| matches(name, known)) } else { named(name) }
}

/// Looks a native name or a pattern of a file up. What is spent on patterns counts with what is
/// spent on those of servers; when that was too much, there is nothing more to say about any.
pub(super) fn native_of_file(name: &str, servers: &Servers<'_>) -> Native {
    if !has_wildcard(name) {
        return named(name);
    }
    let found = fitting(|known| servers.fits(name, known));
    if servers.is_exhausted() { Native::Known } else { found }
}

fn fitting(fits: impl Fn(&str) -> bool) -> Native {
    if NATIVE.iter().any(|known| fits(known)) {
        Native::Known
    } else if OLDER.iter().any(|(known, _)| fits(known)) {
        Native::Gone
    } else {
        Native::Unknown
    }
}

/// Looks a name up that is taken as it stands: a wildcard in it means nothing.
pub(super) fn named(name: &str) -> Native {
    if NATIVE.contains(&name) {
        return Native::Known;
    }
    match OLDER.iter().find(|(older, _)| *older == name) {
        Some((_, Some(now))) => Native::Respelt(now),
        Some((_, None)) => Native::Gone,
        None => Native::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_are_looked_up() {
        for (name, wanted) in [
            ("fs-read", Native::Known),
            ("fs-*", Native::Known),
            ("shell", Native::Respelt("execute-bash")),
            ("use_aws", Native::Gone),
            ("web_*", Native::Gone),
            ("nope", Native::Unknown),
            ("x*", Native::Unknown),
        ] {
            assert_eq!(native(name), wanted, "{name}");
        }
    }

    #[test]
    fn older_names_lead_to_names_that_exist() {
        for (older, now) in OLDER {
            assert!(!NATIVE.contains(older), "{older}");
            assert!(now.is_none_or(|now| NATIVE.contains(&now)), "{older}");
        }
    }
}
