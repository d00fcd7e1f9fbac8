//! What `tools`, `allowedTools` and the keys of `toolsSettings` refer to.
//!
//! A pure reading of one text against the declared servers, the same when a file is judged and
//! when a call is made. Server names may contain dots and slashes, so the declared servers decide
//! where a name ends: the longest one wins, and what can still be read in two ways is refused.

use std::cell::Cell;
use std::collections::HashSet;

use remit_model::text;

use super::native::{Native, named};
use super::wildcards::{compare, has_wildcard};

/// Is what a reference names. Names may hold the wildcards `*` and `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference<'r> {
    /// `*`: every tool.
    Everything,
    /// `@native`, and `@builtin` in the older format: every native tool.
    Builtin,
    /// `fs-read`, `@native/fs-read`, and the older format's `shell:git`.
    Native {
        /// The tool, as written.
        name: &'r str,
        /// The one command it is limited to.
        only: Option<&'r str>,
    },
    /// `@server`: every tool of a server.
    Server {
        /// The server.
        server: &'r str,
    },
    /// `@server/tool` or `@server.tool`.
    ServerTool {
        /// The server.
        server: &'r str,
        /// The tool.
        tool: &'r str,
    },
    /// `#agent`.
    Agent {
        /// The agent.
        name: &'r str,
    },
}

/// Says why a text is no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable<'r> {
    /// It has no form that means anything.
    Odd(&'static str),
    /// It names a whole server as well as one tool of another.
    Ambiguous {
        /// The server it names as a whole.
        whole: &'r str,
        /// The server it may name a tool of.
        server: &'r str,
        /// That tool.
        tool: &'r str,
    },
}

/// Is the longest reference that is looked at.
const LONGEST: usize = 512;

/// Is how many slashes or dots a reference may have. At each the name of a server could end.
const MOST_SEPARATORS: usize = 32;

/// Is how many servers a wildcard is tried on while a file is judged.
const MOST_TRIED: usize = 64;

/// Is how many characters all wildcards of a file are compared with. A file that takes more is
/// refused, so that it does not matter what is made of the rest of it.
const MOST_COMPARED: usize = 1 << 21;

/// Is the set of declared servers, and what has been spent on comparing wildcards with them.
#[derive(Clone, Debug, Default)]
pub struct Servers<'r> {
    names: HashSet<&'r str>,
    tried: Vec<&'r str>,
    compared: Cell<usize>,
}

impl<'r> Servers<'r> {
    /// Takes the names.
    pub fn new(names: impl IntoIterator<Item = &'r str>) -> Self {
        let mut servers = Self::default();
        for name in names {
            if servers.tried.len() < MOST_TRIED && name.len() <= LONGEST {
                servers.tried.push(name);
            }
            servers.names.insert(name);
        }
        servers
    }

    /// Tells whether a name, or a name with wildcards, is that of a declared server. Wildcards
    /// get the benefit of the doubt where there are too many servers to try.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.names.contains(name)
            || (has_wildcard(name)
                && (self.names.len() > self.tried.len()
                    || self.fits_one(name)
                    || self.is_exhausted()))
    }

    /// Tells whether the wildcards of a file are more than can be looked at.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.compared.get() > MOST_COMPARED
    }

    /// Tells whether a name fits a pattern, as [`matches`](super::wildcards::matches) does, unless too much was spent already.
    pub(super) fn fits(&self, pattern: &str, name: &str) -> bool {
        let mut compared = self.compared.get();
        let fits = !self.is_exhausted() && compare(pattern, name, &mut compared);
        self.compared.set(compared);
        fits
    }

    /// Gives the names in the order of the file, up to a number that is worth searching.
    pub fn some(&self) -> impl Iterator<Item = &'r str> {
        self.tried.iter().copied()
    }

    fn fits_one(&self, pattern: &str) -> bool {
        self.tried.iter().any(|server| self.fits(pattern, server))
    }
}

impl<'r> Reference<'r> {
    /// Reads a text.
    ///
    /// # Errors
    /// Says why it is no reference. A server that nobody declared is no reason: ask
    /// [`Servers::declares`].
    pub fn read(written: &'r str, servers: &Servers<'_>) -> Result<Self, Unreadable<'r>> {
        if written.len() > LONGEST {
            return Err(Unreadable::Odd("it is longer than any name"));
        }
        if written.contains(text::is_hidden) {
            return Err(Unreadable::Odd("it holds characters that cannot be seen"));
        }
        match written.split_at_checked(1) {
            None => Err(Unreadable::Odd("it is empty")),
            Some(("@", rest)) => Self::read_at(rest, servers),
            Some(("#", "")) => Err(Unreadable::Odd("no agent is named after the `#`")),
            Some(("#", name)) => no_space(name).map(|name| Self::Agent { name }),
            _ if written == "*" => Ok(Self::Everything),
            _ => Self::read_native(written),
        }
    }

    fn read_native(name: &'r str) -> Result<Self, Unreadable<'r>> {
        let name = no_space(name)?;
        match name.split_once(':') {
            None if name.is_empty() => Err(Unreadable::Odd("no tool is named")),
            None => Ok(Self::Native { name, only: None }),
            Some(("", _) | (_, "")) => Err(Unreadable::Odd("one side of the `:` is empty")),
            Some((name, only)) => Ok(Self::Native { name, only: Some(only) }),
        }
    }

    /// Reads what follows an `@`.
    fn read_at(rest: &'r str, servers: &Servers<'_>) -> Result<Self, Unreadable<'r>> {
        if rest.is_empty() {
            return Err(Unreadable::Odd("no server is named after the `@`"));
        }
        if rest.matches(['/', '.']).nth(MOST_SEPARATORS).is_some() {
            return Err(Unreadable::Odd("it has more parts than any name"));
        }
        let split = declared_split(rest, servers);
        let no_slash = !rest.contains('/');
        let is_whole = servers.names.contains(rest)
            || (no_slash && has_wildcard(rest) && servers.fits_one(rest));
        if let Some(native) = native_part(rest) {
            let (space, name) = native;
            return match (servers.names.contains(space), name) {
                (true, name) => {
                    Err(Unreadable::Ambiguous { whole: space, server: space, tool: name })
                }
                (false, "") if space == rest => Ok(Self::Builtin),
                (false, "*") => Ok(Self::Builtin),
                (false, name) => Self::read_native(name),
            };
        }
        match split {
            Some((server, tool)) if is_whole => {
                Err(Unreadable::Ambiguous { whole: rest, server, tool })
            }
            Some((server, tool)) => no_space(tool).map(|tool| Self::ServerTool { server, tool }),
            None if is_whole => Ok(Self::Server { server: rest }),
            None => match no_space(rest)?.split_once('/') {
                None => Ok(Self::Server { server: rest }),
                Some(("", _)) => Err(Unreadable::Odd("no server is named before the `/`")),
                Some((_, "")) => Err(Unreadable::Odd("no tool is named after the `/`")),
                Some((server, tool)) => Ok(Self::ServerTool { server, tool }),
            },
        }
    }

    /// Gives the one spelling that all spellings of a reference share.
    #[must_use]
    pub fn canonical(&self) -> String {
        match self {
            Self::Everything => "*".to_owned(),
            Self::Builtin => "@native".to_owned(),
            Self::Native { name, only } => {
                let name = match named(name) {
                    Native::Respelt(now) => now,
                    Native::Known | Native::Gone | Native::Unknown => name,
                };
                match only {
                    None => name.to_owned(),
                    Some(only) => format!("{name}:{only}"),
                }
            }
            Self::Server { server } => format!("@{server}"),
            Self::ServerTool { server, tool } => format!("@{server}/{tool}"),
            Self::Agent { name } => format!("#{name}"),
        }
    }
}

/// Splits off the name space of the native tools.
fn native_part(rest: &str) -> Option<(&str, &str)> {
    ["native", "builtin"].iter().find_map(|space| {
        let (space, name) = rest.split_at_checked(space.len()).filter(|(head, _)| head == space)?;
        match name.strip_prefix(['/', '.']) {
            Some(name) => Some((space, name)),
            None => name.is_empty().then_some((space, name)),
        }
    })
}

/// Finds the longest declared server that the text starts with, and the tool after it. A slash
/// says where the server ends; only without one does a dot.
fn declared_split<'r>(rest: &'r str, servers: &Servers<'_>) -> Option<(&'r str, &'r str)> {
    let separator = if rest.contains('/') { '/' } else { '.' };
    rest.rmatch_indices(separator).find_map(|(at, _)| {
        let server = rest.get(..at)?;
        let tool = rest.get(at + 1..).filter(|tool| !tool.is_empty())?;
        servers.names.contains(server).then_some((server, tool))
    })
}

fn no_space(name: &str) -> Result<&str, Unreadable<'_>> {
    if name.contains(char::is_whitespace) {
        return Err(Unreadable::Odd("it holds spaces"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'r>(written: &'r str, servers: &[&'r str]) -> Result<Reference<'r>, Unreadable<'r>> {
        Reference::read(written, &Servers::new(servers.iter().copied()))
    }

    fn canonical(written: &str, servers: &[&str]) -> Option<String> {
        let servers = Servers::new(servers.iter().copied());
        Reference::read(written, &servers).ok().map(|r| r.canonical())
    }

    #[test]
    fn every_form_is_read() {
        let native = |name| Ok(Reference::Native { name, only: None });
        assert_eq!(read("fs-read", &[]), native("fs-read"));
        assert_eq!(read("@native/execute-bash", &[]), native("execute-bash"));
        assert_eq!(read("@builtin/fs_read", &[]), native("fs_read"));
        assert_eq!(
            read("shell:git", &[]),
            Ok(Reference::Native { name: "shell", only: Some("git") })
        );
        assert_eq!(read("@git", &["git"]), Ok(Reference::Server { server: "git" }));
        let status = Ok(Reference::ServerTool { server: "git", tool: "status" });
        assert_eq!(read("@git/status", &["git"]), status);
        assert_eq!(read("@git.status", &["git"]), status);
        assert_eq!(read("#helper", &[]), Ok(Reference::Agent { name: "helper" }));
        assert_eq!(read("*", &[]), Ok(Reference::Everything));
        for all in ["@builtin", "@native", "@native/*"] {
            assert_eq!(read(all, &[]), Ok(Reference::Builtin), "{all}");
        }
    }

    #[test]
    fn declared_servers_decide_where_a_name_ends_and_the_longest_wins() {
        let tool = |server, tool| Ok(Reference::ServerTool { server, tool });
        assert_eq!(read("@a.b.c", &["a", "a.b"]), tool("a.b", "c"));
        assert_eq!(read("@a.b.c", &["a"]), tool("a", "b.c"));
        assert_eq!(read("@a.b/c", &["a", "a.b"]), tool("a.b", "c"));
        assert_eq!(read("@org/srv/tool", &["org/srv"]), tool("org/srv", "tool"));
        assert_eq!(read("@my server/x", &["my server"]), tool("my server", "x"));
        // A slash says where the server ends, so this is no tool of `a`.
        assert_eq!(read("@a.b/c", &["a"]), tool("a.b", "c"));
        assert_eq!(read("@a.b", &["a.b"]), Ok(Reference::Server { server: "a.b" }));
        // Nobody declared it: the whole may be a server, a slash still separates.
        assert_eq!(read("@x.y", &[]), Ok(Reference::Server { server: "x.y" }));
        assert_eq!(read("@x/y", &[]), tool("x", "y"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_ambiguous() {
        let ambiguous = |r| matches!(r, Err(Unreadable::Ambiguous { .. }));
        assert!(ambiguous(read("@a.b", &["a", "a.b"])));
        assert!(ambiguous(read("@x/y", &["x", "x/y"])));
        assert!(ambiguous(read("@git.*", &["git", "git.hub"])));
        assert!(ambiguous(read("@native/fs-read", &["native"])));
        assert!(!ambiguous(read("@git.*", &["git", "hub"])));
    }

    #[test]
    fn odd_forms_are_unreadable() {
        let long = "x".repeat(513);
        for odd in [
            "",
            "@",
            "#",
            "@/x",
            "@x/",
            "@native/",
            " ",
            "fs read",
            "a\u{7}",
            "#a b",
            ":x",
            "x:",
            "@a b",
            "fs-read\u{200b}",
            &long,
        ] {
            assert!(matches!(read(odd, &["git"]), Err(Unreadable::Odd(_))), "{odd:?}");
        }
    }

    #[test]
    fn all_spellings_of_one_reference_share_a_canonical_one() {
        for (written, shared) in [
            ("@git.status", "@git/status"),
            ("@git/status", "@git/status"),
            ("@native/fs-read", "fs-read"),
            ("fs_read", "fs-read"),
            ("shell:git", "execute-bash:git"),
            ("@builtin", "@native"),
        ] {
            assert_eq!(canonical(written, &["git"]).as_deref(), Some(shared));
        }
    }

    #[test]
    fn wildcards_stay_within_their_segment() {
        let servers = Servers::new(["git-hub", "git-lab"]);
        assert!(servers.declares("git-*") && servers.declares("*") && servers.declares("git-la?"));
        assert!(!servers.declares("svn-*") && !servers.declares("git-hu?b"));
        assert_eq!(
            read("@git-*/get_*", &["git-hub"]),
            Ok(Reference::ServerTool { server: "git-*", tool: "get_*" })
        );
    }

    #[test]
    fn a_reference_ends_at_its_parts() {
        let name = |parts: usize| format!("@{}", vec!["a"; parts].join("."));
        assert!(read(&name(33), &[]).is_ok());
        assert!(matches!(read(&name(34), &[]), Err(Unreadable::Odd(_))));
    }

    #[test]
    fn wildcards_are_not_tried_on_names_longer_than_a_reference() {
        let (longest, longer) = ("s".repeat(LONGEST), "s".repeat(LONGEST + 1));
        assert!(Servers::new([longest.as_str()]).fits_one("s*"));
        let servers = Servers::new([longer.as_str()]);
        assert!(!servers.fits_one("s*") && servers.declares("s*"));
    }

    #[test]
    fn wildcards_are_compared_up_to_a_limit() {
        let servers = Servers::new(["server"]);
        // The first character differs, so that one is all that is looked at.
        for _ in 0..MOST_COMPARED {
            assert!(!servers.declares("x*"));
        }
        assert!(!servers.is_exhausted());
        assert!(servers.declares("x*") && servers.is_exhausted());
        // What is named outright is known without looking at anything.
        assert!(!servers.declares("other") && servers.declares("server"));
    }
}
