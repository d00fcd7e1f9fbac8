//! The URLs of a descriptor: none carries a secret, none goes over an open wire, and those of an
//! execution have one place for its id.

use remit_model::{Node, Severity, text};
use url::Url;

use super::find;
use crate::dialect::urls::is_loopback;
use crate::diff::is_secret_name;
use crate::report::Report;
use crate::rules;
use crate::shape::HTTP_URL;

/// What the id of an execution takes the place of.
const PLACEHOLDER: &str = "{execution_id}";

/// From how many characters on a value in a query is taken for a secret.
const SECRET_LENGTH: usize = 8;

/// Lists the fields that hold a plain URL; their shape is judged by the table of fields.
const PLAIN: &[&[&str]] = &[
    &["protocol", "changelog_url"],
    &["provider", "url"],
    &["endpoint", "url"],
    &["auth", "oauth2", "authorization_url"],
    &["auth", "oauth2", "token_url"],
    &["documentation_url"],
];

/// Judges every URL of a descriptor.
pub(super) fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    for path in PLAIN {
        let Some(node) = find(root, path) else { continue };
        if let Some(url) = node.as_str().filter(|s| (HTTP_URL.test)(s)).and_then(parsed) {
            safe(node, &url, report);
        }
    }
    for field in ["status_url", "result_url"] {
        if let Some(node) = find(root, &["endpoint", field]) {
            of_execution(node, report);
        }
    }
    half_async(root, report);
}

fn parsed(text: &str) -> Option<Url> {
    Url::parse(text).ok()
}

fn safe<'t>(node: &'t Node, url: &Url, report: &mut Report<'t>) {
    if !url.username().is_empty() || url.password().is_some() {
        report
            .at(&rules::SECRET_IN_MANIFEST, node, "this URL carries a user name or a password")
            .severity(Severity::Error)
            .help("take out what stands before `@`; callers bring their own credentials");
    }
    if url.query_pairs().any(|(key, value)| is_secret_name(&key) && value.len() >= SECRET_LENGTH) {
        report
            .at(&rules::SECRET_IN_MANIFEST, node, "this URL seems to carry a secret in its query")
            .help("take it out; a key goes into the header that `auth` names");
    }
    if url.scheme() == "http" && !is_loopback(url) {
        report
            .at(&rules::INSECURE_URL, node, "this URL is not encrypted on its way")
            .help("use https");
    }
}

/// Judges a URL with a place for the id of an execution, or a prefix the id is added to.
fn of_execution<'t>(node: &'t Node, report: &mut Report<'t>) {
    let Some(template) = node.as_str() else { return };
    let places = template.matches(PLACEHOLDER).count();
    if places > 1 || template.replace(PLACEHOLDER, "").contains(['{', '}']) {
        report
            .at(
                &rules::BAD_URL_TEMPLATE,
                node,
                format!("this URL has other braces than one `{PLACEHOLDER}`"),
            )
            .help(format!(
                "write `{PLACEHOLDER}` where the id goes, or no braces to have it added at the end"
            ));
        return;
    }
    let filled = |id: &str| template.replace(PLACEHOLDER, id);
    let (one, other) = (filled("1"), filled("2"));
    let Some(url) = parsed(&one).filter(|_| (HTTP_URL.test)(&one)) else {
        let message = format!("{} is not an absolute http or https URL", text::quoted(template));
        report.at(&rules::BAD_URL, node, message);
        return;
    };
    safe(node, &url, report);
    if parsed(&other).is_none_or(|other| beside_path(&other) != beside_path(&url)) {
        report
            .at(
                &rules::BAD_URL_TEMPLATE,
                node,
                format!("`{PLACEHOLDER}` stands outside the path and the query of this URL"),
            )
            .help("an id must not choose the host, and what follows `#` is never sent");
    }
}

/// Gives what no id may change: who is asked, and what the asked never see.
fn beside_path(url: &Url) -> (&str, Option<&str>) {
    (url.authority(), url.fragment())
}

fn half_async<'t>(root: &'t Node, report: &mut Report<'t>) {
    let Some(endpoint) = root.get("endpoint").and_then(Node::as_object) else { return };
    let (status, result) = (endpoint.member("status_url"), endpoint.member("result_url"));
    let (there, missing) = match (status, result) {
        (Some(status), None) => (status, "result_url"),
        (None, Some(result)) => (result, "status_url"),
        _ => return,
    };
    report
        .at_key(&rules::HALF_ASYNC, there, format!("`{}` stands without `{missing}`", there.key))
        .help(format!("add `{missing}`, or leave out both if calls are answered at once"));
}
