//! The references in `tools` and `allowedTools`, and those that `toolsSettings` has as keys.

use remit_model::{Member, Node, Severity, text};

use super::legacy::Format;
use super::native::{NATIVE, Native, native_of_file};
use super::reference::{Reference, Servers, Unreadable};
use crate::report::{Finding, Report};
use crate::rules::{self, Rule};

/// Says where a reference stands, and so how much it matters.
#[derive(Clone, Copy)]
pub(super) enum Place<'t> {
    /// In a list of tools.
    Listed(&'t Node),
    /// As the key of a tool's settings, which do nothing where there is no such tool.
    Key(&'t Member),
}

/// Is what references are judged with.
pub(super) struct Judge<'s> {
    pub(super) format: Format,
    pub(super) servers: &'s Servers<'s>,
}

/// Judges the two lists.
pub(super) fn check<'t>(root: &'t Node, judge: &Judge<'_>, report: &mut Report<'t>) {
    for field in ["tools", "allowedTools"] {
        let Some(list) = root.get(field) else { continue };
        let mut older: Vec<&str> = Vec::new();
        for node in list.as_array().unwrap_or_default() {
            let Some(written) = node.as_str().filter(|s| !s.contains("${")) else { continue };
            let reference = judge.read(written, Place::Listed(node), &mut older, report);
            if field == "allowedTools" && reference == Some(Reference::Everything) {
                report
                    .at(&rules::ALLOWS_EVERYTHING, node, "every tool runs without asking")
                    .help("name the tools that may run without asking");
            }
        }
        older_names(list, &older, report);
    }
}

/// Reports a file whose wildcards are more than can be looked at: none of them must count as good.
pub(super) fn check_wildcards<'t>(root: &'t Node, judge: &Judge<'_>, report: &mut Report<'t>) {
    if judge.servers.is_exhausted() {
        report
            .at(
                &rules::OUT_OF_BOUNDS,
                root,
                "the wildcards in this file are more than can be looked at",
            )
            .help("use fewer references with `*` and `?`");
    }
}

/// Says once a list that it names native tools as the older format does.
fn older_names<'t>(list: &'t Node, older: &[&str], report: &mut Report<'t>) {
    const SHOWN: usize = 3;
    if older.is_empty() {
        return;
    }
    let mut names =
        older.iter().take(SHOWN).map(|n| text::quoted(n)).collect::<Vec<_>>().join(", ");
    if older.len() > SHOWN {
        names = format!("{names} and {} more", older.len() - SHOWN);
    }
    report
        .at(&rules::LEGACY_NAME, list, format!("names of the older format: {names}"))
        .severity(Severity::Note)
        .strict()
        .help(format!("the native tools of the agent format are {}", native_names()));
}

fn native_names() -> String {
    NATIVE.map(|name| format!("`{name}`")).join(", ")
}

impl Judge<'_> {
    /// Reads and judges one reference. Names that only the older format has are collected there.
    pub(super) fn read<'t>(
        &self,
        written: &'t str,
        place: Place<'t>,
        older: &mut Vec<&'t str>,
        report: &mut Report<'t>,
    ) -> Option<Reference<'t>> {
        let reference = match Reference::read(written, self.servers) {
            Ok(reference) => reference,
            Err(why) => {
                self.unreadable(written, why, place, report);
                return None;
            }
        };
        let is_builtin = written.starts_with("@builtin");
        match reference {
            Reference::Everything | Reference::Agent { .. } => {}
            Reference::Builtin if is_builtin => {
                self.older(written, "`@native/*`", place, older, report);
            }
            Reference::Builtin => {}
            Reference::Native { name, only } => {
                self.native(written, name, only.is_some(), place, older, report);
            }
            Reference::Server { server } | Reference::ServerTool { server, .. } => {
                if !self.servers.declares(server) {
                    self.unknown_server(server, place, report);
                }
            }
        }
        Some(reference)
    }

    fn unreadable<'t>(
        &self,
        written: &str,
        why: Unreadable<'_>,
        place: Place<'t>,
        report: &mut Report<'t>,
    ) {
        let shown = if written.is_empty() { "this".to_owned() } else { text::quoted(written) };
        match why {
            Unreadable::Odd(why) => {
                let message = format!("{shown} is not a reference to a tool: {why}");
                let finding = place.add(&rules::BAD_REFERENCE, message, report);
                finding.help("write `tool`, `@server`, `@server/tool` or `#agent`");
                self.format.forgive(finding, Severity::Warning);
            }
            Unreadable::Ambiguous { whole, server, tool } => {
                let (message, help) = if whole == server {
                    let message = format!(
                        "{shown} can mean a native tool and the server {}",
                        text::quoted(server)
                    );
                    (message, "rename the server".to_owned())
                } else {
                    let message = format!(
                        "{shown} can mean the server {} and the tool {} of the server {}",
                        text::quoted(whole),
                        text::quoted(tool),
                        text::quoted(server)
                    );
                    let help = format!(
                        "write {} for the tool, or rename one of the servers",
                        text::quoted(&format!("@{server}/{tool}"))
                    );
                    (message, help)
                };
                place.add(&rules::AMBIGUOUS_REFERENCE, message, report).help(help);
            }
        }
    }

    fn native<'t>(
        &self,
        written: &'t str,
        name: &'t str,
        limited: bool,
        place: Place<'t>,
        older: &mut Vec<&'t str>,
        report: &mut Report<'t>,
    ) {
        let builtin = written.starts_with("@builtin");
        match native_of_file(name, self.servers) {
            Native::Known if !limited && !builtin => {}
            Native::Known => self.older(written, &format!("`{name}`"), place, older, report),
            Native::Respelt(now) => self.older(written, &format!("`{now}`"), place, older, report),
            Native::Gone if self.format == Format::Legacy => older.push(written),
            Native::Gone | Native::Unknown => self.unknown_native(name, place, report),
        }
    }

    /// Reports a spelling of the older format: singly here, in one note in a file of that format.
    fn older<'t>(
        &self,
        written: &'t str,
        now: &str,
        place: Place<'t>,
        older: &mut Vec<&'t str>,
        report: &mut Report<'t>,
    ) {
        match self.format {
            Format::Legacy => older.push(written),
            Format::Current => {
                let message = format!("{} is a name of the older format", text::quoted(written));
                place.add(&rules::LEGACY_NAME, message, report).help(format!("write {now}"));
            }
        }
    }

    fn unknown_native<'t>(&self, name: &str, place: Place<'t>, report: &mut Report<'t>) {
        let server = name.split(['/', '.']).next().filter(|head| self.servers.declares(head));
        let help = match (server, report.suggest(name, NATIVE)) {
            (Some(_), _) => format!("did you mean {}?", text::quoted(&format!("@{name}"))),
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => format!("the native tools are {}", native_names()),
        };
        let message = format!("there is no native tool {}", text::quoted(name));
        let finding = place.add(&rules::UNKNOWN_TOOL, message, report);
        finding.help(help);
        self.format.forgive(finding, Severity::Note);
    }

    fn unknown_server<'t>(&self, server: &str, place: Place<'t>, report: &mut Report<'t>) {
        let meant = report.suggest(server, self.servers.some());
        let help = match (meant, self.format) {
            (Some(meant), _) => format!("did you mean {}?", text::quoted(&format!("@{meant}"))),
            (None, Format::Current) => "declare it in mcpServers".to_owned(),
            (None, Format::Legacy) => "it has to come from an mcp.json file".to_owned(),
        };
        let message = format!("no server {} is declared here", text::quoted(server));
        let finding = place.add(&rules::UNKNOWN_SERVER, message, report);
        finding.help(help);
        self.format.forgive(finding, Severity::Note);
    }
}

impl<'t> Place<'t> {
    fn add<'r>(
        self,
        rule: &'static Rule,
        message: String,
        report: &'r mut Report<'t>,
    ) -> &'r mut Finding<'t> {
        match self {
            Self::Listed(node) => report.at(rule, node, message),
            Self::Key(member) => {
                // A restriction on a tool that does not exist restricts nothing.
                report.at_key(rule, member, message)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, strict_lines, valid_with};

    const SERVERS: &str = r#""mcpServers": {"git": {"command": "g", "transport": "stdio"}, "a": {"url": "https://a.example"}, "a.b": {"url": "https://b.example"}}"#;

    fn current(field: &str, reference: &str) -> Vec<String> {
        let reference = serde_json::to_string(reference).unwrap();
        lines(&valid_with(&format!(r#"{SERVERS}, "{field}": [{reference}]"#)))
    }

    fn legacy(reference: &str) -> Vec<String> {
        let reference = serde_json::to_string(reference).unwrap();
        let servers = SERVERS.replace(r#", "transport": "stdio""#, "");
        let text =
            format!(r#"{{"name": "x", "description": "d", {servers}, "tools": [{reference}]}}"#);
        lines(&text).into_iter().filter(|l| l.contains("/tools")).collect()
    }

    #[test]
    fn good_references_pass_in_both_lists() {
        for good in [
            "fs-read",
            "@native/execute-bash",
            "@native",
            "@native/*",
            "@git",
            "@git/status",
            "@git.status",
            "#other",
            "*",
            "fs-*",
            "@g*",
            "@*/read_?",
            "@a.b/c",
            "@a.b.c",
            "${x}",
        ] {
            assert_eq!(current("tools", good), [] as [&str; 0], "{good}");
        }
        let everything = current("allowedTools", "*");
        assert_eq!(
            everything,
            ["note allows-everything /allowedTools/0 every tool runs without asking"]
        );
    }

    #[test]
    fn bad_references_are_errors_in_the_agent_format() {
        for (reference, wanted) in [
            ("fs-raed", "error unknown-tool"),
            ("grep", "error unknown-tool"),
            ("web-*", "error unknown-tool"),
            ("@gti/status", "error unknown-server"),
            ("@svn-*", "error unknown-server"),
            ("@", "error bad-reference"),
            ("", "error bad-reference"),
            ("fs read", "error bad-reference"),
            ("@a.b", "error ambiguous-reference"),
            ("fs_read", "warning legacy-name"),
            ("shell:git", "warning legacy-name"),
            ("execute-bash:git", "warning legacy-name"),
            ("@builtin", "warning legacy-name"),
            ("@builtin/fs-read", "warning legacy-name"),
        ] {
            for field in ["tools", "allowedTools"] {
                let found = current(field, reference);
                assert!(
                    found.iter().any(|l| l.starts_with(&format!("{wanted} /{field}/0"))),
                    "{reference} {found:?}"
                );
            }
        }
    }

    #[test]
    fn the_older_format_forgives_all_but_ambiguity() {
        for (reference, wanted) in [
            ("read", "note legacy-name /tools"),
            ("grep", "note legacy-name /tools"),
            ("shell:git", "note legacy-name /tools"),
            ("@builtin", "note legacy-name /tools"),
            ("displayFindings", "note unknown-tool /tools/0"),
            ("@context7", "note unknown-server /tools/0"),
            ("@", "warning bad-reference /tools/0"),
            ("@a.b", "error ambiguous-reference /tools/0"),
        ] {
            let found = legacy(reference);
            assert!(found.iter().any(|l| l.starts_with(wanted)), "{reference} {found:?}");
        }
        let text = r#"{"name": "x", "description": "d", "tools": ["read", "@context7"]}"#;
        let strict = strict_lines(text);
        for rule in ["legacy-name", "unknown-server", "legacy-format"] {
            assert!(strict.iter().any(|l| l.starts_with(&format!("error {rule}"))), "{strict:?}");
        }
    }

    #[test]
    fn help_points_to_what_was_meant() {
        let help = |reference: &str| {
            let text = valid_with(&format!(r#"{SERVERS}, "tools": ["{reference}"]"#));
            let checked = super::super::tests::checked(&text, false);
            checked.diagnostics.into_iter().find_map(|d| d.help).unwrap_or_default()
        };
        assert_eq!(help("fs-raed"), "did you mean `fs-read`?");
        assert_eq!(help("git/status"), "did you mean `@git/status`?");
        assert_eq!(help("git"), "did you mean `@git`?");
        assert_eq!(help("@gti"), "did you mean `@git`?");
        assert_eq!(help("execute_bash"), "write `execute-bash`");
        assert_eq!(help("@a.b"), "write `@a/b` for the tool, or rename one of the servers");
    }
}
