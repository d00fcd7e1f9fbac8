//! The difference of two skill descriptors.
//!
//! A caller relies on what goes in, what comes out and how to prove who it is; a user relies on
//! knowing whom the calls and the credentials go to.

mod inputs;

use remit_model::{Node, Object, pointer, text};

use super::Changes;
use super::compare::{
    self, FieldRule, Pair, added, changed, field, field_or, matched, members, removed,
};
use super::rules::{self, ChangeRule};
use crate::dialect::skill::{ACCESS, BACKOFF_MS, CONTENT_TYPE, MAX_ATTEMPTS, METHOD, TIMEOUT_MS};

/// Compares two descriptors.
pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    let (Some(old_fields), Some(new_fields)) = (old.as_object(), new.as_object()) else {
        let message = "the descriptor changed".to_owned();
        let (before, after) = (old.to_json(), new.to_json());
        changed(&rules::FIELD_CHANGED, String::new(), message, before, after, changes);
        return;
    };
    let pair = Pair {
        what: "the skill",
        old_pointer: "",
        new_pointer: "",
        old: old_fields,
        new: new_fields,
    };
    let mut handled = sections(pair, SECTIONS, changes);
    let both_lists = [old, new]
        .iter()
        .all(|root| root.get("inputs").is_some_and(|inputs| inputs.as_array().is_some()));
    if both_lists {
        inputs::compare(old, new, changes);
        handled.push("inputs");
    }
    let table = table(access_rule(old_fields, new_fields));
    compare::fields(pair, &table, &handled, &rules::FIELD_CHANGED, changes);
}

/// What changes under which rule. For a field that is compared part by part, the rule holds when
/// one version does not have it as an object.
fn table(access: &'static ChangeRule) -> [FieldRule; 13] {
    [
        field("id", &rules::ID_CHANGED),
        field("name", &rules::TEXT_CHANGED),
        field("version", &rules::VERSION_CHANGED),
        field("capability_type", &rules::CAPABILITY_TYPE_CHANGED),
        field("description", &rules::DESCRIPTION_CHANGED),
        field("protocol", &rules::PROTOCOL_CHANGED),
        field("provider", &rules::PROVIDER_CHANGED),
        field("endpoint", &rules::ENDPOINT_CONTRACT_CHANGED),
        field("inputs", &rules::INPUT_SCHEMA_CHANGED),
        field("output", &rules::OUTPUT_CHANGED),
        field("auth", &rules::AUTH_CHANGED),
        field("tags", &rules::TAGS_CHANGED),
        field("access", access),
    ]
}

/// Is a field whose value is an object with fields of its own.
struct Section {
    field: &'static str,
    what: &'static str,
    compare: fn(Pair<'_>, &mut Changes),
}

const SECTIONS: &[Section] = &[
    Section { field: "protocol", what: "the protocol", compare: protocol },
    Section { field: "provider", what: "the provider", compare: provider },
    Section { field: "endpoint", what: "the endpoint", compare: endpoint },
    Section { field: "output", what: "the output", compare: output },
    Section { field: "auth", what: "the authentication", compare: auth },
];

/// Compares the sections that are objects in both versions, and tells which they were.
fn sections(pair: Pair<'_>, table: &[Section], changes: &mut Changes) -> Vec<&'static str> {
    let mut handled = Vec::new();
    for section in table {
        let (old, new) = (pair.old.get(section.field), pair.new.get(section.field));
        let (old, new) = (old.and_then(Node::as_object), new.and_then(Node::as_object));
        let (Some(old), Some(new)) = (old, new) else { continue };
        let nested = Pair {
            what: section.what,
            old_pointer: &pointer::join(pair.old_pointer, section.field),
            new_pointer: &pointer::join(pair.new_pointer, section.field),
            old,
            new,
        };
        (section.compare)(nested, changes);
        handled.push(section.field);
    }
    handled
}

fn protocol(pair: Pair<'_>, changes: &mut Changes) {
    let major = |protocol: &Object| {
        let version = protocol.get("version")?.as_str()?;
        Some(semver::Version::parse(version).ok()?.major)
    };
    let same_major = major(pair.old).is_some_and(|old| major(pair.new) == Some(old));
    let rule = if same_major { &rules::FIELD_CHANGED } else { &rules::PROTOCOL_CHANGED };
    compare::fields(pair, &[field("version", rule)], &[], &rules::FIELD_CHANGED, changes);
}

fn provider(pair: Pair<'_>, changes: &mut Changes) {
    compare::fields(pair, &[], &[], &rules::PROVIDER_CHANGED, changes);
}

fn endpoint(pair: Pair<'_>, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field("url", &rules::ENDPOINT_MOVED),
        field("status_url", &rules::ENDPOINT_MOVED),
        field("result_url", &rules::ENDPOINT_MOVED),
        field_or("method", &rules::ENDPOINT_CONTRACT_CHANGED, METHOD),
        field_or("content_type", &rules::ENDPOINT_CONTRACT_CHANGED, CONTENT_TYPE),
        field_or("timeout_ms", &rules::TIMEOUT_CHANGED, TIMEOUT_MS),
    ];
    const RETRY: Section = Section { field: "retry", what: "`retry`", compare: retry };
    let handled = sections(pair, &[RETRY], changes);
    compare::fields(pair, TABLE, &handled, &rules::FIELD_CHANGED, changes);
}

fn retry(pair: Pair<'_>, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field_or("max_attempts", &rules::FIELD_CHANGED, MAX_ATTEMPTS),
        field_or("backoff_ms", &rules::FIELD_CHANGED, BACKOFF_MS),
    ];
    compare::fields(pair, TABLE, &[], &rules::FIELD_CHANGED, changes);
}

fn output(pair: Pair<'_>, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field_or("content_type", &rules::OUTPUT_CHANGED, CONTENT_TYPE),
        field("schema", &rules::OUTPUT_CHANGED),
        field("description", &rules::TEXT_CHANGED),
    ];
    compare::fields(pair, TABLE, &[], &rules::FIELD_CHANGED, changes);
}

fn auth(pair: Pair<'_>, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field("type", &rules::AUTH_CHANGED),
        field("header", &rules::AUTH_CHANGED),
        field("oauth2", &rules::AUTH_CHANGED),
        field("description", &rules::TEXT_CHANGED),
    ];
    const OAUTH2: Section = Section { field: "oauth2", what: "`oauth2`", compare: oauth2 };
    let handled = sections(pair, &[OAUTH2], changes);
    compare::fields(pair, TABLE, &handled, &rules::FIELD_CHANGED, changes);
    if handled.is_empty() {
        // The block came or went as a whole; the user still has to hear of each scope in it.
        let (old, new) = (pair.old.get("oauth2"), pair.new.get("oauth2"));
        let (old_base, new_base) =
            (pointer::join(pair.old_pointer, "oauth2"), pointer::join(pair.new_pointer, "oauth2"));
        let (old, new) = (old.and_then(|o| o.get("scopes")), new.and_then(|o| o.get("scopes")));
        scopes((old, &old_base), (new, &new_base), changes);
    }
}

fn oauth2(pair: Pair<'_>, changes: &mut Changes) {
    const TABLE: &[FieldRule] = &[
        field("authorization_url", &rules::AUTH_MOVED),
        field("token_url", &rules::AUTH_MOVED),
        field_or("scopes", &rules::FIELD_CHANGED, "{}"),
    ];
    let (old, new) = (pair.old.get("scopes"), pair.new.get("scopes"));
    let listed = |scopes: Option<&Node>| scopes.map_or(Some(0), |s| s.as_object().map(Object::len));
    // An empty list beside none has no scope to tell of; the table has the field.
    let handled: &[&str] = if listed(old).zip(listed(new)).is_some_and(|(old, new)| old + new > 0) {
        scopes((old, pair.old_pointer), (new, pair.new_pointer), changes);
        &["scopes"]
    } else {
        &[]
    };
    compare::fields(pair, TABLE, handled, &rules::FIELD_CHANGED, changes);
}

fn scopes(old: (Option<&Node>, &str), new: (Option<&Node>, &str), changes: &mut Changes) {
    let items = |(scopes, base): (Option<_>, &str)| members(scopes, &pointer::join(base, "scopes"));
    let (old, new) = (items(old), items(new));
    let pairs = matched(old, new);
    for scope in &pairs.added {
        let message = format!("a token may now have the scope {}", text::quoted(scope.key));
        added(&rules::AUTH_SCOPE_ADDED, scope, message, changes);
    }
    for scope in &pairs.removed {
        let message = format!("a token no longer has the scope {}", text::quoted(scope.key));
        removed(&rules::AUTH_SCOPE_REMOVED, scope, message, changes);
    }
    for (old, new) in pairs.kept.iter().filter(|(old, new)| !old.node.same(new.node)) {
        let message = format!("the text of the scope {} changed", text::quoted(new.key));
        let (before, after) = (old.node.to_json(), new.node.to_json());
        let rule = &rules::CONSENT_TEXT_CHANGED;
        changed(rule, new.pointer.clone(), message, before, after, changes);
    }
}

/// An access policy that Remit does not know is taken for one that shuts callers out.
fn access_rule(old: &Object, new: &Object) -> &'static ChangeRule {
    let width = |fields: &Object| {
        let word = fields.get("access")?.as_str()?;
        ACCESS.iter().position(|access| *access == word)
    };
    match width(old).zip(width(new)) {
        Some((old, new)) if new < old => &rules::ACCESS_WIDENED,
        _ => &rules::ACCESS_NARROWED,
    }
}

#[cfg(test)]
mod tests;
