//! The MCP servers of an agent: local ones with a command, remote ones with a URL.

use std::collections::HashMap;

use remit_model::{Member, Node, Object, Severity, name, text};
use url::Url;

use super::legacy::{self, Format};
use super::secrets;
use super::syntax::TRANSPORTS;
use crate::dialect::urls::is_loopback;
use crate::report::Report;
use crate::rules;
use crate::shape::HTTP_URL;

/// Judges all servers.
pub(super) fn check<'t>(root: &'t Node, format: Format, report: &mut Report<'t>) {
    let Some(servers) = root.get("mcpServers").and_then(Node::as_object) else { return };
    let mut seen: HashMap<String, &str> = HashMap::new();
    for member in servers.members() {
        check_name(member, &mut seen, format, report);
        if let Some(server) = member.value.as_object() {
            legacy::server_fields(server, format, report);
            check_kind(&member.value, server, format, report);
            secrets::check(&member.value, &member.key, report);
        }
    }
}

fn check_name<'t>(
    member: &'t Member,
    seen: &mut HashMap<String, &'t str>,
    format: Format,
    report: &mut Report<'t>,
) {
    let key = &*member.key;
    let shown = text::quoted(key);
    if key.trim().is_empty() || key.trim() != key || key.contains(text::is_hidden) {
        let shown = if key.is_empty() { "an empty text" } else { &shown };
        let message = format!("{shown} cannot be the name of a server");
        let finding = report.at_key(&rules::BAD_NAME, member, message);
        finding.help("use letters, digits, `-` and `_`");
        format.forgive(finding, Severity::Warning);
    } else if matches!(key, "native" | "builtin") {
        let message = format!("{shown} is reserved: `@{key}` means the native tools");
        let finding = report.at_key(&rules::RESERVED_NAME, member, message);
        format.forgive(finding, Severity::Warning);
    }
    if let Some(first) = seen.insert(name::folded(key), key) {
        let message = format!(
            "{shown} and {} are the same name when case, `-`, `_` and `.` are put aside",
            text::quoted(first)
        );
        let finding = report.at_key(&rules::DUPLICATE_NAME, member, message);
        finding.help("rename one of the two servers");
        format.forgive(finding, Severity::Warning);
    }
}

/// Gives a field's text if there is something in it.
pub(super) fn filled<'t>(server: &'t Object, field: &str) -> Option<&'t str> {
    server.get(field).and_then(Node::as_str).filter(|s| !s.trim().is_empty())
}

fn check_kind<'t>(node: &'t Node, server: &'t Object, format: Format, report: &mut Report<'t>) {
    let there = |field: &str| match format {
        Format::Current => server.get(field).is_some(),
        Format::Legacy => filled(server, field).is_some(),
    };
    match (there("command"), there("url")) {
        (true, true) => {
            report
                .at(&rules::SERVER_KIND, node, "this server has both a `command` and a `url`")
                .help("keep `command` if it runs here, `url` if it runs elsewhere");
        }
        (false, false) => {
            let finding = report.at(
                &rules::SERVER_KIND,
                node,
                "this server has neither a `command` nor a `url`",
            );
            finding.help("add `command` if it runs here, `url` if it runs elsewhere");
            format.forgive(finding, Severity::Warning);
        }
        (true, false) => check_local(node, server, format, report),
        (false, true) => check_remote(server, format, report),
    }
}

fn check_local<'t>(node: &'t Node, server: &'t Object, format: Format, report: &mut Report<'t>) {
    match server.get("transport") {
        None => {
            let finding = report.at(
                &rules::SERVER_TRANSPORT,
                node,
                match format {
                    Format::Current => "this local server does not say its `transport`",
                    Format::Legacy => {
                        "this local server does not say its `transport`; it is `stdio`"
                    }
                },
            );
            finding.help("add `transport`: \"stdio\" or \"streamable-http\"");
            format.forgive(finding, Severity::Note);
        }
        Some(transport) if format == Format::Legacy => {
            let known = |s: &str| TRANSPORTS.contains(&s) || s.contains("${");
            if transport.as_str().is_some_and(|s| !known(s)) {
                unknown_transport(transport, report);
            }
        }
        Some(_) => {}
    }
    misplaced(server, &["headers", "auth"], "a local server", format, report);
}

fn unknown_transport<'t>(transport: &'t Node, report: &mut Report<'t>) {
    let message = format!(
        "{} is not one of `stdio`, `streamable-http`",
        text::quoted(transport.as_str().unwrap_or_default())
    );
    report.at(&rules::UNKNOWN_VALUE, transport, message).severity(Severity::Warning);
}

fn check_remote<'t>(server: &'t Object, format: Format, report: &mut Report<'t>) {
    misplaced(server, &["args", "env"], "a remote server", format, report);
    if let Some(member) = server.member("transport") {
        report
            .at_key(
                &rules::SERVER_TRANSPORT,
                member,
                "a remote server is always spoken to by streamable HTTP",
            )
            .severity(Severity::Note)
            .help("leave `transport` out");
    }
    let Some(node) = server.get("url") else { return };
    let Some(written) = node.as_str().filter(|s| !s.contains("${")) else { return };
    if !(HTTP_URL.test)(written) {
        // The table has said so of files in the agent format.
        if format == Format::Legacy {
            report
                .at(&rules::BAD_URL, node, format!("this is not {}", HTTP_URL.what))
                .severity(Severity::Warning);
        }
        return;
    }
    let Ok(url) = Url::parse(written) else { return };
    if !url.username().is_empty() || url.password().is_some() {
        report
            .at(&rules::SECRET_IN_MANIFEST, node, "this URL carries a user name or a password")
            .help("take out what stands before `@`, and send it in `headers` from the environment");
    }
    if url.scheme() == "http" && !is_loopback(&url) {
        report
            .at(&rules::INSECURE_URL, node, "what is sent to this URL can be read on its way")
            .help("use https");
    }
}

/// Reports fields that belong to the other kind of server.
fn misplaced<'t>(
    server: &'t Object,
    fields: &[&str],
    what: &str,
    format: Format,
    report: &mut Report<'t>,
) {
    for member in fields.iter().filter_map(|field| server.member(field)) {
        let finding = report.at_key(
            &rules::UNKNOWN_FIELD,
            member,
            format!("{what} makes no use of `{}`", member.key),
        );
        finding.severity(Severity::Warning).help("remove it");
        format.forgive(finding, Severity::Note);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, valid_with};

    fn server(json: &str) -> Vec<String> {
        lines(&valid_with(&format!(r#""mcpServers": {{"s": {json}}}"#)))
    }

    fn legacy(json: &str) -> Vec<String> {
        let found = lines(&format!(
            r#"{{"name": "a", "description": "d", "mcpServers": {{"s": {json}}}}}"#
        ));
        found.into_iter().filter(|l| !l.contains("legacy-format")).collect()
    }

    #[test]
    fn good_servers_pass() {
        for good in [
            r#"{"command": "c", "args": ["${x}"], "transport": "stdio", "env": {"A": "b"}}"#,
            r#"{"command": "c", "transport": ${t}}"#,
            r#"{"url": "https://a.example/mcp", "headers": {"A": "${B}"}, "auth": {"type": "oauth2"}}"#,
            r#"{"url": "https://${HOST}/mcp"}"#,
            r#"{"url": "http://localhost:8080/mcp"}"#,
            r#"{"url": "http://[::1]:8080/mcp"}"#,
        ] {
            assert_eq!(server(good), [] as [&str; 0], "{good}");
        }
    }

    #[test]
    fn a_server_is_local_or_remote() {
        for (json, wanted) in [
            (r#"{"command": "c", "url": "https://a.example"}"#, "error server-kind /mcpServers/s"),
            ("{}", "error server-kind /mcpServers/s"),
            (r#"{"command": "c"}"#, "error server-transport /mcpServers/s"),
            (
                r#"{"command": "c", "transport": "sse"}"#,
                "error unknown-value /mcpServers/s/transport",
            ),
            (r#"{"command": "", "transport": "stdio"}"#, "error empty-text /mcpServers/s/command"),
            (
                r#"{"command": "c", "transport": "stdio", "args": [1]}"#,
                "error wrong-type /mcpServers/s/args/0",
            ),
            (
                r#"{"command": "c", "transport": "stdio", "env": {"A": 1}}"#,
                "error wrong-type /mcpServers/s/env/A",
            ),
            (
                r#"{"command": "c", "transport": "stdio", "headers": {}}"#,
                "warning unknown-field /mcpServers/s/headers",
            ),
            (
                r#"{"command": "c", "transport": "stdio", "comand": 1}"#,
                "warning unknown-field /mcpServers/s/comand",
            ),
            (
                r#"{"command": "c", "transport": "stdio", "disabled": true}"#,
                "warning legacy-field /mcpServers/s/disabled",
            ),
            (r#"{"url": "ftp://a"}"#, "error bad-url /mcpServers/s/url"),
            (r#"{"url": "http://a.example"}"#, "warning insecure-url /mcpServers/s/url"),
            (r#"{"url": "https://a:b@c.example"}"#, "warning secret-in-manifest /mcpServers/s/url"),
            (
                r#"{"url": "https://c.example", "env": {}}"#,
                "warning unknown-field /mcpServers/s/env",
            ),
            (
                r#"{"url": "https://c.example", "transport": "streamable-http"}"#,
                "note server-transport /mcpServers/s/transport",
            ),
            ("1", "error wrong-type /mcpServers/s"),
        ] {
            let found = server(json);
            assert!(found.iter().any(|l| l.starts_with(wanted)), "{json} {found:?}");
        }
    }

    #[test]
    fn servers_of_the_older_format_load() {
        for (json, wanted) in [
            (r#"{"command": "c"}"#, "note server-transport"),
            (r#"{"command": "", "url": "https://a.example"}"#, ""),
            ("{}", "warning server-kind"),
            (r#"{"disabled": true}"#, "warning server-kind"),
            (
                r#"{"command": "c", "env": {"PORT": 8080}}"#,
                "warning wrong-type /mcpServers/s/env/PORT",
            ),
            (
                r#"{"command": "c", "args": ["-p", 8080]}"#,
                "warning wrong-type /mcpServers/s/args/1",
            ),
            (
                r#"{"command": "c", "timeout": 1, "autoApprove": []}"#,
                "note legacy-field /mcpServers/s/timeout",
            ),
            (r#"{"type": "sse", "url": "x"}"#, "warning bad-url"),
            (r#"{"command": "c", "transport": "sse"}"#, "warning unknown-value"),
            (
                r#"{"command": "c", "oauth": {"oauthScopes": []}}"#,
                "note legacy-field /mcpServers/s/oauth",
            ),
            ("null", "warning wrong-type"),
        ] {
            let found = legacy(json);
            assert!(
                wanted.is_empty() || found.iter().any(|l| l.starts_with(wanted)),
                "{json} {found:?}"
            );
            assert!(!found.iter().any(|l| l.starts_with("error")), "{json} {found:?}");
        }
        let both = legacy(r#"{"command": "c", "url": "https://a.example"}"#);
        assert!(both.iter().any(|l| l.starts_with("error server-kind")));
    }

    #[test]
    fn names_of_servers_are_usable_and_different() {
        let of = |names: [&str; 2]| {
            let one = r#"{"url": "https://a.example"}"#;
            let json = format!(r#""mcpServers": {{"{}": {one}, "{}": {one}}}"#, names[0], names[1]);
            lines(&valid_with(&json))
        };
        assert!(of(["a", " b"]).iter().any(|l| l.starts_with("error bad-name")));
        assert!(of(["", "b"]).iter().any(|l| l.starts_with("error bad-name")));
        assert!(of(["native", "b"]).iter().any(|l| l.starts_with("error reserved-name")));
        assert!(of(["git-hub", "git_hub"]).iter().any(|l| l.starts_with("error duplicate-name")));
        assert_eq!(of(["awslabs.docs", "b"]), [] as [&str; 0]);
    }
}
