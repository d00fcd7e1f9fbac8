//! `resources`: prompts as plain text, files, skills, and MCP resources.

use remit_model::{Node, Object, Severity, text};

use super::legacy::Format;
use super::reference::Servers;
use super::settings::{bad_glob, parse_glob};
use super::tools::Judge;
use crate::report::Report;
use crate::rules;

/// Is what a resource written as text means.
#[derive(Debug, PartialEq, Eq)]
pub enum Resource<'r> {
    /// A prompt.
    Prompt(&'r str),
    /// Files by path, which may be a pattern; read through a server if one is named.
    File {
        /// The path.
        path: &'r str,
        /// The server.
        server: Option<&'r str>,
    },
    /// Skills by path, which may be a pattern.
    Skill {
        /// The path.
        path: &'r str,
    },
    /// Anything else with a scheme.
    Other(&'r str),
}

impl<'r> Resource<'r> {
    /// Reads a text. The last `@` of a file starts a server's name if that server is declared, or
    /// if what follows could be one and the agent format is asked about.
    #[must_use]
    pub fn read(written: &'r str, servers: &Servers<'_>, any_server: bool) -> Self {
        if let Some(path) = written.strip_prefix("file://") {
            let server = path.rsplit_once('@').filter(|(_, server)| {
                servers.declares(server)
                    || (any_server && !server.is_empty() && !server.contains(['/', '}', ' ']))
            });
            return match server {
                Some((path, server)) => Self::File { path, server: Some(server) },
                None => Self::File { path, server: None },
            };
        }
        if let Some(path) = written.strip_prefix("skill://") {
            return Self::Skill { path };
        }
        let scheme = written.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some(scheme) if is_scheme(scheme) => Self::Other(written),
            _ => Self::Prompt(written),
        }
    }
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Judges all resources.
pub(super) fn check<'t>(root: &'t Node, judge: &Judge<'_>, report: &mut Report<'t>) {
    let resources = root.get("resources").and_then(Node::as_array).unwrap_or_default();
    for node in resources {
        if let Some(written) = node.as_str() {
            check_text(node, written, judge, report);
        } else if let Some(object) = node.as_object() {
            check_object(node, object, judge, report);
        }
    }
}

fn check_text<'t>(node: &'t Node, written: &'t str, judge: &Judge<'_>, report: &mut Report<'t>) {
    match Resource::read(written, judge.servers, judge.format == Format::Current) {
        Resource::Prompt(prompt) => check_prompt(node, prompt, judge.format, report),
        Resource::Other(_) => {}
        Resource::Skill { path } => check_path(node, path, judge.format, report),
        Resource::File { path, server } => {
            if let Some(server) = server.filter(|server| !judge.servers.declares(server)) {
                let meant = report.suggest(server, judge.servers.some());
                let message = format!("no server {} is declared here", text::quoted(server));
                let finding = report.at(&rules::UNKNOWN_SERVER, node, message);
                finding.severity(Severity::Warning);
                finding.help(match meant {
                    Some(meant) => format!("did you mean {}?", text::quoted(meant)),
                    None => "declare it in mcpServers".to_owned(),
                });
            }
            check_path(node, path, judge.format, report);
        }
    }
}

fn check_prompt<'t>(node: &'t Node, prompt: &str, format: Format, report: &mut Report<'t>) {
    if prompt.trim().is_empty() {
        let finding = report.at(&rules::BAD_RESOURCE, node, "this resource is empty");
        finding.severity(Severity::Warning).help("remove it");
        format.forgive(finding, Severity::Note);
    } else if looks_like_path(prompt) {
        let message = format!("{} is taken as a prompt, not as a path", text::quoted(prompt));
        report
            .at(&rules::BAD_RESOURCE, node, message)
            .severity(Severity::Note)
            .help(format!("for the file write {}", text::quoted(&format!("file://{prompt}"))));
    }
}

fn looks_like_path(prompt: &str) -> bool {
    let name = prompt.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    !prompt.contains(char::is_whitespace)
        && !prompt.contains("${")
        && (prompt.contains("**")
            || prompt.starts_with(['.', '/', '~'])
            || ((1..=5).contains(&extension.len())
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())))
}

fn check_path<'t>(node: &'t Node, path: &'t str, format: Format, report: &mut Report<'t>) {
    if path.trim().is_empty() {
        let finding = report.at(&rules::BAD_RESOURCE, node, "no path follows the `://`");
        finding.help("write `file://` and a path, such as `file://README.md`");
        format.forgive(finding, Severity::Warning);
    } else if !path.contains("${")
        && let Err(error) = parse_glob(path)
    {
        // Nothing is protected by it, so the older format may have what it never found.
        let finding = bad_glob(node, path, &error, report);
        format.forgive(finding, Severity::Warning);
    }
}

fn check_object<'t>(
    node: &'t Node,
    object: &'t Object,
    judge: &Judge<'_>,
    report: &mut Report<'t>,
) {
    if object.get("uri").is_some() {
        return;
    }
    if object.get("source").is_some() || object.get("type").is_some() {
        let finding =
            report.at(&rules::LEGACY_FIELD, node, "this is a resource of the older format");
        finding.severity(Severity::Warning);
        judge.format.forgive(finding, Severity::Note);
        return;
    }
    let finding = report.at(&rules::MISSING_FIELD, node, "a resource needs the field `uri`");
    finding.help("add `uri`, or write the resource as a string");
    judge.format.forgive(finding, Severity::Warning);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, valid_with};
    use super::*;

    fn current(resource: &str) -> Vec<String> {
        let server = r#""mcpServers": {"builder": {"url": "https://b.example"}}"#;
        lines(&valid_with(&format!(r#"{server}, "resources": [{resource}]"#)))
    }

    fn legacy(resource: &str) -> Vec<String> {
        let text = format!(r#"{{"name": "x", "description": "d", "resources": [{resource}]}}"#);
        lines(&text).into_iter().filter(|l| l.contains("/resources")).collect()
    }

    #[test]
    fn texts_are_read_by_their_scheme() {
        let servers = Servers::new(["2x.png"]);
        let file = |path, server| Resource::File { path, server };
        let read = |written| Resource::read(written, &servers, true);
        assert_eq!(read("file://a.md@srv"), file("a.md", Some("srv")));
        assert_eq!(read("file://node_modules/@x/y"), file("node_modules/@x/y", None));
        assert_eq!(read("file://a@"), file("a@", None));
        assert_eq!(Resource::read("file://a@3x.png", &servers, false), file("a@3x.png", None));
        assert_eq!(Resource::read("file://a@2x.png", &servers, false), file("a", Some("2x.png")));
        assert_eq!(read("skill://x/SKILL.md"), Resource::Skill { path: "x/SKILL.md" });
        assert_eq!(read("repo://a"), Resource::Other("repo://a"));
        assert_eq!(read("Be brief :// x"), Resource::Prompt("Be brief :// x"));
    }

    #[test]
    fn good_resources_pass() {
        for good in [
            r#""file://README.md""#,
            r#""file://docs/**/*.md@builder""#,
            r#""file://${workspace}""#,
            r#""skill://.kiro/skills/*/SKILL.md""#,
            r#""postgres://db/table""#,
            r#""Be brief.""#,
            r#"{"uri": "file://x", "name": "x"}"#,
            "${context}",
        ] {
            assert_eq!(current(good), [] as [&str; 0], "{good}");
        }
    }

    #[test]
    fn odd_resources_are_reported_by_format() {
        for (resource, now, before) in [
            (r#""file://x@bulider""#, "warning unknown-server", ""),
            (r#""file://""#, "error bad-resource", "warning bad-resource"),
            (r#""skill://""#, "error bad-resource", "warning bad-resource"),
            (r#""file://@builder""#, "error bad-resource", ""),
            (r#""file://a/[b""#, "error bad-glob", "warning bad-glob"),
            (r#""""#, "warning bad-resource", "note bad-resource"),
            (r#""README.md""#, "note bad-resource", "note bad-resource"),
            (r#""docs/**""#, "note bad-resource", "note bad-resource"),
            ("{}", "error missing-field", "warning missing-field"),
            (
                r#"{"type": "knowledgeBase", "source": "file://x"}"#,
                "warning legacy-field",
                "note legacy-field",
            ),
            ("1", "error wrong-type", "warning wrong-type"),
        ] {
            for (found, wanted) in [(current(resource), now), (legacy(resource), before)] {
                let fits = match wanted {
                    "" => found.is_empty(),
                    _ => found.iter().any(|l| l.starts_with(&format!("{wanted} /resources/0"))),
                };
                assert!(fits, "{resource} {found:?}");
            }
        }
    }
}
