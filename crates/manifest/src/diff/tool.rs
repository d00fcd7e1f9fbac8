//! Two versions of a tool manifest.

use remit_model::{Node, text};
use serde_json::Value;

use super::Changes;
use super::compare::{self, Item, Listing, field, field_or};
use super::rules;
use crate::dialect::tool::command_schema;

pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    compare::root_fields(
        old,
        new,
        "the tool",
        &[
            field_or("manifest_version", &rules::FIELD_CHANGED, "\"1.0.0\""),
            field("name", &rules::NAME_CHANGED),
            field("display_name", &rules::TEXT_CHANGED),
            field("description", &rules::DESCRIPTION_CHANGED),
            field("author", &rules::TEXT_CHANGED),
            field_or("version", &rules::VERSION_CHANGED, "\"1.0.0\""),
            field_or("type", &rules::EXECUTION_CHANGED, "\"sync\""),
            field_or("runtime", &rules::ENTRY_CHANGED, "\"python\""),
            field("entry", &rules::ENTRY_CHANGED),
            field_or("timeout", &rules::TIMEOUT_CHANGED, "30000"),
            field("tags", &rules::TAGS_CHANGED),
        ],
        &["commands", "config_schema", "dependencies", "enabled"],
        changes,
    );
    enabled(old, new, changes);
    commands(old, new, changes);
    settings(old, new, changes);
    dependencies(old, new, changes);
}

fn enabled(old: &Node, new: &Node, changes: &mut Changes) {
    let on = |root: &Node| root.get("enabled").and_then(Node::as_bool).unwrap_or(true);
    let rule = match (on(old), on(new)) {
        (true, false) => &rules::TOOL_DISABLED,
        (false, true) => &rules::TOOL_ENABLED,
        _ => {
            // Whether it is written out or not, it means the same.
            let table = [field_or("enabled", &rules::FIELD_CHANGED, "true")];
            compare::only_fields(old, new, "the tool", &table, changes);
            return;
        }
    };
    let state = |on: bool| if on { "enabled" } else { "disabled" };
    let message = format!("the tool was {}", state(on(new)));
    let (old, new) = (Item::root(old, ""), Item::root(new, ""));
    compare::field_changed(rule, "enabled", message, &old, &new, changes);
}

fn commands(old: &Node, new: &Node, changes: &mut Changes) {
    let mut matched = compare::matched(
        compare::items(old.get("commands"), "name", "/commands"),
        compare::items(new.get("commands"), "name", "/commands"),
    );
    compare::renames(&mut matched, |old, new| {
        let same_schema = command_schema(old.node) == command_schema(new.node);
        let same_text = match (old.node.get("description"), new.node.get("description")) {
            (Some(a), Some(b)) => a.same(b),
            _ => false,
        };
        match (same_schema, same_text, compare::names_alike(old.key, new.key)) {
            (true, true, true) => Some(3),
            (true, true, false) => Some(2),
            (true, false, true) => Some(1),
            _ => None,
        }
    });
    let listing = Listing {
        what: "command",
        ordered_at: Some("/commands"),
        renamed: &rules::COMMAND_RENAMED,
        removed: &|command| {
            (&rules::COMMAND_REMOVED, format!("{} was removed", command.named("command")))
        },
        added: &|command| {
            (&rules::COMMAND_ADDED, format!("{} was added", command.named("command")))
        },
    };
    listing.report(&matched, changes);
    for (before, after) in matched.both() {
        command_pair(before, after, changes);
    }
}

fn command_pair(old: &Item<'_>, new: &Item<'_>, changes: &mut Changes) {
    let what = new.named("command");
    let (before, after) = (command_schema(old.node), command_schema(new.node));
    let mut handled = vec!["name"];
    if !same_contract(&before, &after) {
        let made_of = ["parameters", "required"];
        handled.extend(made_of);
        compare::lowered_changed(
            &rules::INPUT_SCHEMA_CHANGED,
            &made_of,
            &format!("the input of {what}"),
            (old, &before),
            (new, &after),
            changes,
        );
    }
    // Where the contract is the same, a name may still have moved from one list to the other.
    compare::item_fields(
        old,
        new,
        &what,
        &[
            field("description", &rules::DESCRIPTION_CHANGED),
            field("example", &rules::DESCRIPTION_CHANGED),
        ],
        &handled,
        changes,
    );
}

/// The order of required names comes from merging two lists and means nothing.
fn same_contract(a: &Value, b: &Value) -> bool {
    let sorted = |schema: &Value| {
        let mut schema = schema.clone();
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        schema
    };
    sorted(a) == sorted(b)
}

fn settings(old: &Node, new: &Node, changes: &mut Changes) {
    let matched = compare::matched(
        compare::members(old.get("config_schema"), "/config_schema"),
        compare::members(new.get("config_schema"), "/config_schema"),
    );
    for setting in &matched.removed {
        let message = format!("the setting {} was removed", text::quoted(setting.key));
        compare::removed(&rules::SETTING_REMOVED, setting, message, changes);
    }
    for setting in &matched.added {
        let name = text::quoted(setting.key);
        if is_required(setting) {
            let message = format!("the setting {name} was added and must be made");
            compare::added(&rules::SETTING_REQUIRED, setting, message, changes);
        } else {
            compare::added(
                &rules::SETTING_ADDED,
                setting,
                format!("the setting {name} was added"),
                changes,
            );
        }
    }
    for (before, after) in &matched.kept {
        setting_pair(before, after, changes);
    }
    let (before, after) = (old.get("config_schema"), new.get("config_schema"));
    let is_map =
        |node: Option<&Node>| node.is_some_and(|n| n.as_object().is_some_and(|o| !o.is_empty()));
    if !is_map(before) && !is_map(after) {
        compare::only_fields(
            old,
            new,
            "the tool",
            &[field("config_schema", &rules::FIELD_CHANGED)],
            changes,
        );
    }
}

fn is_required(setting: &Item<'_>) -> bool {
    setting.node.get("required").and_then(Node::as_bool) == Some(true)
}

fn setting_pair(old: &Item<'_>, new: &Item<'_>, changes: &mut Changes) {
    let what = new.named("setting");
    let mut handled = vec![];
    let flips = [
        (
            "required",
            &rules::SETTING_REQUIRED,
            &rules::SETTING_OPTIONAL,
            ["must be made now", "need not be made any more"],
        ),
        (
            "secret",
            &rules::SECRET_MARKED,
            &rules::SECRET_UNMARKED,
            ["is a secret now", "is no longer a secret"],
        ),
    ];
    for (key, raised, lowered, words) in flips {
        let on = |item: &Item<'_>| item.node.get(key).and_then(Node::as_bool) == Some(true);
        if on(old) == on(new) {
            continue;
        }
        handled.push(key);
        let (rule, verb) = if on(new) { (raised, words[0]) } else { (lowered, words[1]) };
        compare::field_changed(rule, key, format!("{what} {verb}"), old, new, changes);
    }
    let table = [
        field_or("required", &rules::FIELD_CHANGED, "false"),
        field_or("secret", &rules::FIELD_CHANGED, "false"),
        field("description", &rules::TEXT_CHANGED),
        field("default", &rules::SETTING_DEFAULT_CHANGED),
    ];
    compare::item_fields_under(old, new, &what, &table, &handled, &rules::SETTING_CHANGED, changes);
}

fn dependencies(old: &Node, new: &Node, changes: &mut Changes) {
    let matched = compare::matched(
        compare::words(old.get("dependencies"), "/dependencies"),
        compare::words(new.get("dependencies"), "/dependencies"),
    );
    for word in &matched.removed {
        let message = format!("the tool no longer depends on {}", text::quoted(word.key));
        compare::removed(&rules::DEPENDENCY_REMOVED, word, message, changes);
    }
    for word in &matched.added {
        let message = format!("the tool now depends on {}", text::quoted(word.key));
        compare::added(&rules::DEPENDENCY_ADDED, word, message, changes);
    }
    if matched.reordered {
        compare::reordered("/dependencies", "the dependencies", changes);
    }
    let empty = |root: &Node| {
        root.get("dependencies").and_then(Node::as_array).is_none_or(<[Node]>::is_empty)
    };
    if empty(old) && empty(new) {
        compare::only_fields(
            old,
            new,
            "the tool",
            &[field_or("dependencies", &rules::FIELD_CHANGED, "[]")],
            changes,
        );
    }
}
