//! The difference of two agent manifests, in either of their formats.
//!
//! A caller of an agent relies on its input and on what it can do. A user relies on knowing which
//! programs it starts, whom it talks to, what it does without asking, and what it is told: a change
//! to any of that needs consent, whether it breaks callers or not.

mod lists;
mod servers;

use remit_model::{Node, text};

use super::Changes;
use super::compare::{self, FieldRule, Item, changed, field, field_or, matched, members};
use super::rules::{self, ChangeRule};
use crate::dialect::agent::input_schema;

/// What plain fields change under; all others change under the general rule.
const FIELDS: &[FieldRule] = &[
    field("name", &rules::NAME_CHANGED),
    field("version", &rules::VERSION_CHANGED),
    field("description", &rules::DESCRIPTION_CHANGED),
    field("model", &rules::MODEL_CHANGED),
    field("prompt", &rules::PROMPT_CHANGED),
    field("promptFile", &rules::PROMPT_CHANGED),
    field("systemPrompt", &rules::PROMPT_CHANGED),
    field("instructions", &rules::PROMPT_CHANGED),
    field_or("hooks", &rules::HOOKS_CHANGED, "{}"),
    field_or("toolAliases", &rules::TOOL_SETTINGS_CHANGED, "{}"),
    field("toolSchema", &rules::TOOL_SETTINGS_CHANGED),
    field_or("includeMcpJson", &rules::TOOL_SETTINGS_CHANGED, "false"),
    field_or("useLegacyMcpJson", &rules::TOOL_SETTINGS_CHANGED, "false"),
    field("welcomeMessage", &rules::TEXT_CHANGED),
    field("tags", &rules::TAGS_CHANGED),
];

/// Is a field that is compared part by part.
struct Part {
    field: &'static str,
    /// What it changes under as a whole, if one version has it in another form.
    rule: &'static ChangeRule,
    /// Whether it has the form that can be taken apart.
    fits: fn(&Node) -> bool,
    compare: fn(&Node, &Node, &mut Changes),
}

const PARTS: &[Part] = &[
    Part {
        field: "inputSchema",
        rule: &rules::INPUT_SCHEMA_CHANGED,
        fits: |_| true,
        compare: schema,
    },
    Part {
        field: "mcpServers",
        rule: &rules::SERVER_CHANGED,
        fits: |node| node.as_object().is_some(),
        compare: servers::compare,
    },
    Part {
        field: "tools",
        rule: &rules::TOOL_REFERENCE_ADDED,
        fits: lists::is_texts,
        compare: lists::tools,
    },
    Part {
        field: "allowedTools",
        rule: &rules::AUTO_APPROVAL_ADDED,
        fits: lists::is_texts,
        compare: lists::allowed_tools,
    },
    Part {
        field: "toolsSettings",
        rule: &rules::TOOL_SETTINGS_CHANGED,
        fits: |node| node.as_object().is_some(),
        compare: settings,
    },
    Part {
        field: "resources",
        rule: &rules::RESOURCE_ADDED,
        fits: |node| node.as_array().is_some(),
        compare: lists::resources,
    },
];

/// Compares two agents.
pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    let mut handled: Vec<&str> = PARTS.iter().map(|part| part.field).collect();
    if old.get("version").is_some() != new.get("version").is_some() {
        // It decides by which format, and how strictly, the whole file is judged.
        handled.push("version");
        let table = [field("version", &rules::FORMAT_CHANGED)];
        compare::only_fields(old, new, "the agent", &table, changes);
    }
    compare::root_fields(old, new, "the agent", FIELDS, &handled, changes);
    for part in PARTS {
        one_part(part, old, new, changes);
    }
}

fn one_part(part: &Part, old: &Node, new: &Node, changes: &mut Changes) {
    let both = [old.get(part.field), new.get(part.field)];
    let whole = |rule, changes: &mut Changes| {
        compare::only_fields(old, new, "the agent", &[field(part.field, rule)], changes);
    };
    // What is written the same is compared too: a reference may have come to mean something else.
    if both.iter().all(Option::is_none) {
        return;
    }
    if !both.iter().flatten().all(|node| node.is_null() || (part.fits)(node)) {
        whole(part.rule, changes);
        return;
    }
    let before = count(changes);
    (part.compare)(old, new, changes);
    if count(changes) == before {
        // Nothing in it changed: it was empty, or null, and is gone, or the other way round.
        whole(&rules::FIELD_CHANGED, changes);
    }
}

fn count(changes: &Changes) -> usize {
    changes.breaking.len() + changes.non_breaking.len()
}

fn schema(old: &Node, new: &Node, changes: &mut Changes) {
    const FIELD: &str = "inputSchema";
    let (before, after) = (input_schema(old), input_schema(new));
    if before == after {
        let empty = r#"{"type":"object","properties":{}}"#;
        let table = [field_or(FIELD, &rules::FIELD_CHANGED, empty)];
        compare::only_fields(old, new, "the agent", &table, changes);
        return;
    }
    compare::lowered_changed(
        &rules::INPUT_SCHEMA_CHANGED,
        &[FIELD],
        "the input of the agent",
        (&Item::root(old, ""), &before),
        (&Item::root(new, ""), &after),
        changes,
    );
}

/// Compares the settings of tools. None is too small to matter: what looks like a narrower
/// pattern may be a wider one.
fn settings(old: &Node, new: &Node, changes: &mut Changes) {
    const BASE: &str = "/toolsSettings";
    let rule = &rules::TOOL_SETTINGS_CHANGED;
    let matched =
        matched(members(old.get("toolsSettings"), BASE), members(new.get("toolsSettings"), BASE));
    let what = |key: &str| format!("the settings of {}", text::quoted(key));
    for item in &matched.removed {
        compare::removed(rule, item, format!("{} were removed", what(item.key)), changes);
    }
    for item in &matched.added {
        compare::added(rule, item, format!("{} were added", what(item.key)), changes);
    }
    for (old, new) in &matched.kept {
        if old.node.as_object().is_some() && new.node.as_object().is_some() {
            compare::item_fields_under(old, new, &what(new.key), &[], &[], rule, changes);
        } else if !old.node.same(new.node) {
            let (before, after) = (old.node.to_json(), new.node.to_json());
            let message = format!("{} changed", what(new.key));
            changed(rule, new.pointer.clone(), message, before, after, changes);
        }
    }
}

#[cfg(test)]
mod tests;
