//! Ways of comparing two trees that every dialect needs.

use remit_model::{Node, Object, Value, pointer, text};

use super::rules::{self, ChangeRule};
use super::{Change, Changes};
use crate::schema::witness;

pub(super) use super::listing::Listing;
pub(super) use super::matching::{
    Item, Matched, items, matched, members, names_alike, renames, words,
};

/// Says which rule a plain field changes under.
pub(super) struct FieldRule {
    pub(super) field: &'static str,
    pub(super) rule: &'static ChangeRule,
    /// What it means when left out, as JSON text.
    pub(super) default: Option<&'static str>,
}

/// Makes a row for a table of plain fields.
pub(super) const fn field(field: &'static str, rule: &'static ChangeRule) -> FieldRule {
    FieldRule { field, rule, default: None }
}

/// Makes a row for a field with a default.
pub(super) const fn field_or(
    field: &'static str,
    rule: &'static ChangeRule,
    default: &'static str,
) -> FieldRule {
    FieldRule { field, rule, default: Some(default) }
}

/// Is the same thing in both versions: what to call it, where it is, and both objects.
#[derive(Clone, Copy)]
pub(super) struct Pair<'t> {
    pub(super) what: &'t str,
    pub(super) old_pointer: &'t str,
    pub(super) new_pointer: &'t str,
    pub(super) old: &'t Object,
    pub(super) new: &'t Object,
}

/// Compares the fields of two objects. Fields in the table change under their rule; fields in
/// `handled` are somebody else's; all others under `rest`.
pub(super) fn fields(
    pair: Pair<'_>,
    table: &[FieldRule],
    handled: &[&str],
    rest: &'static ChangeRule,
    changes: &mut Changes,
) {
    let row = |key: &str| table.iter().find(|row| row.field == key);
    for member in pair.new.members().iter().filter(|m| !handled.contains(&&*m.key)) {
        let row = row(&member.key);
        let default = row.and_then(|r| r.default);
        let rule = row.map_or(rest, |r| r.rule);
        let before = pair.old.get(&member.key);
        one_field(pair, &member.key, before, Some(&member.value), default, rule, changes);
    }
    let gone = |key: &str| !handled.contains(&key) && pair.new.get(key).is_none();
    for member in pair.old.members().iter().filter(|m| gone(&m.key)) {
        let row = row(&member.key);
        let default = row.and_then(|r| r.default);
        let rule = row.map_or(rest, |r| r.rule);
        one_field(pair, &member.key, Some(&member.value), None, default, rule, changes);
    }
}

fn one_field(
    pair: Pair<'_>,
    key: &str,
    old: Option<&Node>,
    new: Option<&Node>,
    default: Option<&str>,
    rule: &'static ChangeRule,
    changes: &mut Changes,
) {
    let field = format!("{} of {}", text::quoted(key), pair.what);
    let (message, rule) = match (old, new) {
        (Some(old), Some(new)) if old.same(new) => return,
        (Some(old), Some(new)) => match (short(old), short(new)) {
            (Some(old), Some(new)) => (format!("{field} changed from {old} to {new}"), rule),
            _ => (format!("{field} changed"), rule),
        },
        (None, Some(new)) if is_default(new, default) => (
            format!("{field} is now written out; its value is the default"),
            &rules::DEFAULT_WRITTEN,
        ),
        (Some(old), None) if is_default(old, default) => (
            format!("{field} is no longer written out; its value was the default"),
            &rules::DEFAULT_WRITTEN,
        ),
        (None, Some(new)) => match short(new) {
            Some(new) => (format!("{field} was added: {new}"), rule),
            None => (format!("{field} was added"), rule),
        },
        (Some(_), None) => (format!("{field} was removed"), rule),
        (None, None) => return,
    };
    let base = if new.is_some() { pair.new_pointer } else { pair.old_pointer };
    let change = Change {
        rule: rule.id,
        pointer: pointer::join(base, key),
        message,
        before: old.map(Node::to_json),
        after: new.map(Node::to_json),
        witness: None,
    };
    changes.add(rule, change);
}

fn is_default(node: &Node, default: Option<&str>) -> bool {
    default
        .and_then(|text| serde_json::from_str(text).ok())
        .is_some_and(|default: serde_json::Value| Node::from_json(&default).same(node))
}

/// Gives a scalar in few words.
pub(super) fn short(node: &Node) -> Option<String> {
    const LONGEST: usize = 60;
    match &node.value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Number(n) => Some(remit_model::canonical::number(*n)),
        Value::String(s) | Value::Template(s) => {
            (s.chars().count() <= LONGEST && !s.contains('\n')).then(|| text::quoted(s))
        }
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reports a thing that is only in the new version.
pub(super) fn added(
    rule: &'static ChangeRule,
    item: &Item<'_>,
    message: String,
    changes: &mut Changes,
) {
    changes.add(
        rule,
        Change {
            rule: rule.id,
            pointer: item.pointer.clone(),
            message,
            before: None,
            after: Some(item.node.to_json()),
            witness: None,
        },
    );
}

/// Reports a thing that is only in the old version.
pub(super) fn removed(
    rule: &'static ChangeRule,
    item: &Item<'_>,
    message: String,
    changes: &mut Changes,
) {
    changes.add(
        rule,
        Change {
            rule: rule.id,
            pointer: item.pointer.clone(),
            message,
            before: Some(item.node.to_json()),
            after: None,
            witness: None,
        },
    );
}

/// Reports that a value became another.
pub(super) fn changed(
    rule: &'static ChangeRule,
    pointer: String,
    message: String,
    before: serde_json::Value,
    after: serde_json::Value,
    changes: &mut Changes,
) {
    let (before, after) = (Some(before), Some(after));
    changes.add(rule, Change { rule: rule.id, pointer, message, before, after, witness: None });
}

/// Reports what became of one field of a thing, as it is written. What is gone is found in the old
/// version.
pub(super) fn field_changed(
    rule: &'static ChangeRule,
    key: &str,
    message: String,
    old: &Item<'_>,
    new: &Item<'_>,
    changes: &mut Changes,
) {
    let (before, after) = (old.node.get(key), new.node.get(key));
    let base = if after.is_some() { &new.pointer } else { &old.pointer };
    changes.add(
        rule,
        Change {
            rule: rule.id,
            pointer: pointer::join(base, key),
            message,
            before: before.map(Node::to_json),
            after: after.map(Node::to_json),
            witness: None,
        },
    );
}

/// Reports that a schema changed, with a witness and a sentence that says which way.
/// The schemas are given in lowered form, which is what calls are validated by.
pub(super) fn schema_changed(
    rule: &'static ChangeRule,
    pointer: String,
    what: &str,
    old: &serde_json::Value,
    new: &serde_json::Value,
    changes: &mut Changes,
) {
    let (message, witness) = told_apart(what, old, new, changes);
    let (before, after) = (Some(old.clone()), Some(new.clone()));
    changes.add(rule, Change { rule: rule.id, pointer, message, before, after, witness });
}

/// Reports that the schema made of some fields changed. A version that has none of them has a
/// schema too, but none that could be pointed at.
pub(super) fn lowered_changed(
    rule: &'static ChangeRule,
    keys: &[&str],
    what: &str,
    (old, before): (&Item<'_>, &serde_json::Value),
    (new, after): (&Item<'_>, &serde_json::Value),
    changes: &mut Changes,
) {
    let place = |item: &Item<'_>| {
        let key = keys.iter().find(|key| item.node.get(key).is_some())?;
        Some(pointer::join(&item.pointer, key))
    };
    let (was, is) = (place(old), place(new));
    let (message, witness) = told_apart(what, before, after, changes);
    let (before, after) =
        (was.is_some().then(|| before.clone()), is.is_some().then(|| after.clone()));
    let pointer = is.or(was).unwrap_or_else(|| new.pointer.clone());
    changes.add(rule, Change { rule: rule.id, pointer, message, before, after, witness });
}

fn told_apart(
    what: &str,
    old: &serde_json::Value,
    new: &serde_json::Value,
    changes: &mut Changes,
) -> (String, Option<serde_json::Value>) {
    let found = witness::find_within(old, new, &mut changes.budget);
    let message = match &found {
        Some(w) if w.accepted_before => {
            format!("{what} changed: the example input was accepted before and is refused now")
        }
        Some(_) => {
            format!("{what} changed: the example input was refused before and is accepted now")
        }
        None => format!("{what} changed"),
    };
    (message, found.map(|w| w.input))
}

/// Compares the plain fields of two whole manifests.
pub(super) fn root_fields(
    old: &Node,
    new: &Node,
    what: &str,
    table: &[FieldRule],
    handled: &[&str],
    changes: &mut Changes,
) {
    let empty = Object::default();
    let pair = Pair {
        what,
        old_pointer: "",
        new_pointer: "",
        old: old.as_object().unwrap_or(&empty),
        new: new.as_object().unwrap_or(&empty),
    };
    fields(pair, table, handled, &rules::UNKNOWN_FIELD_CHANGED, changes);
}

/// Compares the plain fields of one element in both versions.
pub(super) fn item_fields(
    old: &Item<'_>,
    new: &Item<'_>,
    what: &str,
    table: &[FieldRule],
    handled: &[&str],
    changes: &mut Changes,
) {
    item_fields_under(old, new, what, table, handled, &rules::UNKNOWN_FIELD_CHANGED, changes);
}

/// Compares one field that holds a schema, if it is in either version.
pub(super) fn schema_field(
    rule: &'static ChangeRule,
    key: &str,
    what: &str,
    old: &Item<'_>,
    new: &Item<'_>,
    changes: &mut Changes,
) {
    let (before, after) = (old.node.get(key), new.node.get(key));
    match (before, after) {
        (Some(before), Some(after)) if before.same(after) => {}
        (Some(before), Some(after)) => {
            let pointer = pointer::join(&new.pointer, key);
            schema_changed(rule, pointer, what, &before.to_json(), &after.to_json(), changes);
        }
        (None, None) => {}
        (_, after) => {
            let verb = if after.is_some() { "is declared now" } else { "is no longer declared" };
            field_changed(rule, key, format!("{what} {verb}"), old, new, changes);
        }
    }
}

/// Reports that a list has the same elements in another order.
pub(super) fn reordered(pointer: &str, what: &str, changes: &mut Changes) {
    changes.add(
        &rules::ORDER_CHANGED,
        Change {
            rule: rules::ORDER_CHANGED.id,
            pointer: pointer.to_owned(),
            message: format!("{what} stand in another order"),
            before: None,
            after: None,
            witness: None,
        },
    );
}

/// Compares the plain fields of one element, with another rule for what the table does not list.
pub(super) fn item_fields_under(
    old: &Item<'_>,
    new: &Item<'_>,
    what: &str,
    table: &[FieldRule],
    handled: &[&str],
    rest: &'static ChangeRule,
    changes: &mut Changes,
) {
    let empty = Object::default();
    let pair = Pair {
        what,
        old_pointer: &old.pointer,
        new_pointer: &new.pointer,
        old: old.node.as_object().unwrap_or(&empty),
        new: new.node.as_object().unwrap_or(&empty),
    };
    fields(pair, table, handled, rest, changes);
}

/// Compares only the fields of a whole manifest that the table lists.
pub(super) fn only_fields(
    old: &Node,
    new: &Node,
    what: &str,
    table: &[FieldRule],
    changes: &mut Changes,
) {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return };
    let pair = Pair { what, old_pointer: "", new_pointer: "", old, new };
    for row in table {
        let (before, after) = (old.get(row.field), new.get(row.field));
        one_field(pair, row.field, before, after, row.default, row.rule, changes);
    }
}
