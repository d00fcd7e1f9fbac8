//! The lists of an agent: tools, what runs without asking, resources.

use std::collections::HashSet;

use remit_model::{Node, pointer, text};

use super::super::Changes;
use super::super::compare::{self, Item, changed, matched};
use super::super::rules::{self, ChangeRule};
use crate::dialect::agent::declared;
use crate::dialect::agent::reference::Reference;

/// Tells whether a value is a list of texts.
pub(super) fn is_texts(node: &Node) -> bool {
    node.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
}

/// Says how a list of names is spoken of.
pub(super) struct Speech<'s> {
    pub(super) added: &'static ChangeRule,
    pub(super) removed: &'static ChangeRule,
    /// What is said of an element that is only in one version.
    pub(super) say_added: &'s dyn Fn(&str) -> String,
    pub(super) say_removed: &'s dyn Fn(&str) -> String,
    /// What the elements are, in the plural.
    pub(super) what: &'s str,
}

pub(super) fn tools(old: &Node, new: &Node, changes: &mut Changes) {
    let speech = Speech {
        added: &rules::TOOL_REFERENCE_ADDED,
        removed: &rules::TOOL_REFERENCE_REMOVED,
        say_added: &|name| format!("the agent can use {} now", text::quoted(name)),
        say_removed: &|name| format!("the agent can no longer use {}", text::quoted(name)),
        what: "the tools",
    };
    references(old, new, "tools", &speech, changes);
}

pub(super) fn allowed_tools(old: &Node, new: &Node, changes: &mut Changes) {
    let speech = Speech {
        added: &rules::AUTO_APPROVAL_ADDED,
        removed: &rules::AUTO_APPROVAL_REMOVED,
        say_added: &|name| format!("{} runs without asking now", text::quoted(name)),
        say_removed: &|name| format!("{} no longer runs without asking", text::quoted(name)),
        what: "the allowed tools",
    };
    references(old, new, "allowedTools", &speech, changes);
}

/// Compares lists of references by what they mean in their own version: one spelling may come to
/// mean another server, and another spelling may mean the same tool.
fn references(old: &Node, new: &Node, field: &str, speech: &Speech<'_>, changes: &mut Changes) {
    let (old_keys, new_keys) = (meanings(old, field), meanings(new, field));
    let base = pointer::join("", field);
    let old = keyed(old.get(field), &base, old_keys.iter().map(String::as_str));
    let new = keyed(new.get(field), &base, new_keys.iter().map(String::as_str));
    names(old, new, &base, speech, changes);
}

fn meanings(root: &Node, field: &str) -> Vec<String> {
    let servers = declared(root);
    let texts = root.get(field).map(Node::strings).into_iter().flatten();
    texts
        .map(|written| match Reference::read(written, &servers) {
            Ok(reference) => reference.canonical(),
            Err(_) => written.to_owned(),
        })
        .collect()
}

/// Gives the elements of a list with these keys.
fn keyed<'t>(
    list: Option<&'t Node>,
    base: &str,
    keys: impl Iterator<Item = &'t str>,
) -> Vec<Item<'t>> {
    let nodes = list.and_then(Node::as_array).unwrap_or_default();
    nodes
        .iter()
        .zip(keys)
        .enumerate()
        .map(|(i, (node, key))| Item { key, pointer: pointer::index(base, i), node })
        .collect()
}

/// Compares two lists of names.
pub(super) fn names<'t>(
    old: Vec<Item<'t>>,
    new: Vec<Item<'t>>,
    base: &str,
    speech: &Speech<'_>,
    changes: &mut Changes,
) {
    let matched = matched(old, new);
    let kept: HashSet<&str> = matched.kept.iter().map(|(_, new)| new.key).collect();
    for item in &matched.removed {
        if kept.contains(item.key) {
            let message = format!("{} is listed fewer times", text::quoted(item.key));
            compare::removed(&rules::FIELD_CHANGED, item, message, changes);
        } else {
            compare::removed(speech.removed, item, (speech.say_removed)(item.key), changes);
        }
    }
    let mut seen = kept;
    for item in &matched.added {
        if seen.insert(item.key) {
            compare::added(speech.added, item, (speech.say_added)(item.key), changes);
        } else {
            let message = format!("{} is listed more than once", text::quoted(item.key));
            compare::added(&rules::FIELD_CHANGED, item, message, changes);
        }
    }
    for (old, new) in matched.kept.iter().filter(|(old, new)| !old.node.same(new.node)) {
        let message = format!(
            "{} is now written {}",
            text::quoted(old.node.as_str().unwrap_or_default()),
            text::quoted(new.node.as_str().unwrap_or_default())
        );
        respelt(old, new, message, changes);
    }
    if matched.reordered {
        compare::reordered(base, speech.what, changes);
    }
}

fn respelt(old: &Item<'_>, new: &Item<'_>, message: String, changes: &mut Changes) {
    let (before, after) = (old.node.to_json(), new.node.to_json());
    changed(&rules::FIELD_CHANGED, new.pointer.clone(), message, before, after, changes);
}

pub(super) fn resources(old: &Node, new: &Node, changes: &mut Changes) {
    const BASE: &str = "/resources";
    let items = |root: &'_ Node| -> Vec<String> {
        let list = root.get("resources").and_then(Node::as_array).unwrap_or_default();
        list.iter().map(resource_key).collect()
    };
    let (old_keys, new_keys) = (items(old), items(new));
    let matched = matched(
        keyed(old.get("resources"), BASE, old_keys.iter().map(String::as_str)),
        keyed(new.get("resources"), BASE, new_keys.iter().map(String::as_str)),
    );
    for item in &matched.removed {
        let message = format!("the resource {} was removed", text::quoted(item.key));
        compare::removed(&rules::RESOURCE_REMOVED, item, message, changes);
    }
    for item in &matched.added {
        let message = format!("the resource {} was added", text::quoted(item.key));
        compare::added(&rules::RESOURCE_ADDED, item, message, changes);
    }
    for (old, new) in matched.kept.iter().filter(|(old, new)| !old.node.same(new.node)) {
        let message = format!("the resource {} changed", text::quoted(new.key));
        let (before, after) = (old.node.to_json(), new.node.to_json());
        changed(&rules::RESOURCE_CHANGED, new.pointer.clone(), message, before, after, changes);
    }
    if matched.reordered {
        compare::reordered(BASE, "the resources", changes);
    }
}

/// Gives what a resource is known by in both versions.
fn resource_key(node: &Node) -> String {
    let field = |key: &str| node.get(key).and_then(Node::as_str);
    let known = node.as_str().or_else(|| field("uri")).or_else(|| field("source"));
    match known.or_else(|| field("name")) {
        Some(key) => key.to_owned(),
        None => remit_model::canonical::canonical(node),
    }
}
