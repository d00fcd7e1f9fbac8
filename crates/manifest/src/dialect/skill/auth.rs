//! How callers prove who they are, and whether that fits who may call.

use remit_model::{Node, Object, Severity, text};

use super::syntax::{AUTH, OAUTH2};
use crate::diff::is_secret_name;
use crate::report::Report;
use crate::rules;
use crate::shape::Record;

/// Says which fields belong to a type of `auth`.
struct Form {
    kind: &'static str,
    needs: Option<(&'static str, &'static str)>,
    refuses: &'static [&'static str],
}

static FORMS: &[Form] = &[
    Form {
        kind: "api_key",
        needs: Some(("header", "the HTTP header that carries the key, such as `X-API-Key`")),
        refuses: &["oauth2"],
    },
    Form {
        kind: "oauth2",
        needs: Some(("oauth2", "an object with the `token_url`")),
        refuses: &["header"],
    },
    Form { kind: "custom", needs: None, refuses: &["oauth2"] },
    Form { kind: "none", needs: None, refuses: &["header", "oauth2"] },
];

/// Judges `auth`, and `access` beside it.
pub(super) fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    let Some(auth) = root.get("auth").and_then(Node::as_object) else { return };
    scopes(auth, report);
    secrets(auth, &AUTH, report);
    if let Some(oauth2) = auth.get("oauth2").and_then(Node::as_object) {
        secrets(oauth2, &OAUTH2, report);
    }
    let Some(kind) = auth.get("type") else { return };
    if let Some(form) = FORMS.iter().find(|form| kind.as_str() == Some(form.kind)) {
        fields(auth, kind, form, report);
        access(root, form, report);
    }
}

fn fields<'t>(auth: &'t Object, kind: &'t Node, form: &Form, report: &mut Report<'t>) {
    if let Some((field, doc)) = form.needs.filter(|(field, _)| auth.get(field).is_none()) {
        let message = format!("`auth` of the type `{}` needs the field `{field}`", form.kind);
        report.at(&rules::AUTH_MISMATCH, kind, message).help(format!("add `{field}`: {doc}"));
    }
    for member in form.refuses.iter().filter_map(|field| auth.member(field)) {
        let message = format!("`auth` of the type `{}` has no field `{}`", form.kind, member.key);
        report
            .at_key(&rules::AUTH_MISMATCH, member, message)
            .help("remove it, or change the type to the one it belongs to");
    }
}

fn access<'t>(root: &'t Node, form: &Form, report: &mut Report<'t>) {
    let Some(node) = root.get("access") else { return };
    let (message, help) = match (node.as_str(), form.kind) {
        (Some("public"), "none") => return,
        (Some("public"), kind) => (
            format!("anyone may call a public skill, but `auth` asks for `{kind}`"),
            "make it restricted, or set the type of `auth` to `none`",
        ),
        (Some(access @ ("restricted" | "private")), "none") => (
            format!(
                "a {access} skill asks callers to prove who they are, but `auth` asks for nothing"
            ),
            "make it public, or give `auth` another type",
        ),
        _ => return,
    };
    report.at(&rules::ACCESS_MISMATCH, node, message).help(help);
}

/// Scopes are joined with spaces on the wire (RFC 6749, 3.3), so that none can have one.
fn scopes<'t>(auth: &'t Object, report: &mut Report<'t>) {
    let scopes = auth.get("oauth2").and_then(|oauth2| oauth2.get("scopes"));
    for member in scopes.and_then(Node::as_object).map(Object::members).unwrap_or_default() {
        let allowed = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
        if member.key.is_empty() || !member.key.bytes().all(allowed) {
            report
                .at_key(
                    &rules::BAD_NAME,
                    member,
                    format!("{} is not an OAuth 2.0 scope", text::quoted(&member.key)),
                )
                .help("write it in visible ASCII characters, without spaces, `\"` and `\\`");
        }
    }
}

/// A descriptor is published. A field the table does not know, with the name of a secret and a text
/// in it, is somebody's key about to be.
fn secrets<'t>(object: &'t Object, record: &'static Record, report: &mut Report<'t>) {
    for member in object.members().iter().filter(|m| is_secret_name(&m.key)) {
        let known = record.fields.iter().any(|field| field.name == &*member.key);
        if !known && member.value.as_str().is_some_and(|value| !value.is_empty()) {
            report
                .at(
                    &rules::SECRET_IN_MANIFEST,
                    &member.value,
                    format!("{} looks like a secret in the open", text::quoted(&member.key)),
                )
                .severity(Severity::Error)
                .help("take it out; callers bring their own credentials");
        }
    }
}
