//! Two versions of a capability manifest: S0's rules to the letter, and the consent axis.

use std::collections::{HashMap, HashSet};

use remit_model::{Node, Sensitivity, text};
use serde_json::{Value, json};

use super::Changes;
use super::compare::{self, Item, field, field_or};
use super::rules;

pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    compare::root_fields(
        old,
        new,
        "the manifest",
        &[
            field("schema_version", &rules::SCHEMA_VERSION_CHANGED),
            field("agent_version", &rules::VERSION_CHANGED),
        ],
        &["tools", "permission_scopes", "capability_flags"],
        changes,
    );
    let scopes = Scopes { old: sensitivities(old), new: sensitivities(new), places: places(new) };
    let moved = tools(old, new, &scopes, changes);
    scope_list(old, new, &scopes, &moved, changes);
    flags(old, new, changes);
}

/// Is the sensitivity of each scope, in both versions.
struct Scopes<'t> {
    old: HashMap<&'t str, Sensitivity>,
    new: HashMap<&'t str, Sensitivity>,
    /// Where each scope stands in the new version.
    places: HashMap<&'t str, usize>,
}

fn places(root: &Node) -> HashMap<&str, usize> {
    let scopes = root.get("permission_scopes").and_then(Node::as_array).unwrap_or_default();
    scopes
        .iter()
        .enumerate()
        .filter_map(|(i, scope)| Some((scope.get("id")?.as_str()?, i)))
        .collect()
}

fn sensitivities(root: &Node) -> HashMap<&str, Sensitivity> {
    let scopes = root.get("permission_scopes").and_then(Node::as_array).unwrap_or_default();
    scopes
        .iter()
        .filter_map(|scope| {
            let sensitivity = Sensitivity::parse(scope.get("sensitivity")?.as_str()?)?;
            Some((scope.get("id")?.as_str()?, sensitivity))
        })
        .collect()
}

/// Compares the tools; gives back the scopes that some tool uses in both versions.
fn tools<'t>(
    old: &'t Node,
    new: &'t Node,
    scopes: &Scopes<'t>,
    changes: &mut Changes,
) -> HashSet<&'t str> {
    let mut matched = compare::matched(
        compare::items(old.get("tools"), "name", "/tools"),
        compare::items(new.get("tools"), "name", "/tools"),
    );
    let renamed = compare::renames(&mut matched, same_tool);
    for (before, after) in &renamed {
        compare::renamed(&rules::TOOL_RENAMED, "tool", before, after, changes);
    }
    for tool in &matched.removed {
        compare::removed(
            &rules::TOOL_REMOVED,
            tool,
            format!("the tool {} was removed", text::quoted(tool.key)),
            changes,
        );
    }
    for tool in &matched.added {
        added_tool(tool, scopes, changes);
    }
    if matched.reordered {
        compare::reordered("/tools", "the tools", changes);
    }
    let mut steady = HashSet::new();
    for (before, after) in matched.kept.iter().chain(&renamed) {
        if let Some(scope) = tool_pair(before, after, scopes, changes) {
            steady.insert(scope);
        }
    }
    steady
}

fn same_tool(old: &Item<'_>, new: &Item<'_>) -> Option<u32> {
    let same = |field: &str| match (old.node.get(field), new.node.get(field)) {
        (Some(a), Some(b)) => a.same(b),
        _ => false,
    };
    if !same("input_schema") || !same("permission_scope") {
        return None;
    }
    match (same("description_i18n_key"), compare::names_alike(old.key, new.key)) {
        (true, true) => Some(3),
        (true, false) => Some(2),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

fn scope_of<'t>(tool: &Item<'t>) -> &'t str {
    tool.node.get("permission_scope").and_then(Node::as_str).unwrap_or_default()
}

fn added_tool(tool: &Item<'_>, scopes: &Scopes<'_>, changes: &mut Changes) {
    let scope = scope_of(tool);
    let name = text::quoted(tool.key);
    if scopes.old.contains_key(scope) {
        let message = format!(
            "the tool {name} was added under the scope {}, which users may have granted already",
            text::quoted(scope)
        );
        compare::added(&rules::TOOL_ADDED_UNDER_KNOWN_SCOPE, tool, message, changes);
    } else {
        compare::added(&rules::TOOL_ADDED, tool, format!("the tool {name} was added"), changes);
    }
}

/// Compares one tool in both versions; gives back its scope if it kept it.
fn tool_pair<'t>(
    old: &Item<'t>,
    new: &Item<'t>,
    scopes: &Scopes<'t>,
    changes: &mut Changes,
) -> Option<&'t str> {
    let what = format!("the tool {}", text::quoted(new.key));
    compare::item_fields(
        old,
        new,
        &what,
        &[
            field("description_i18n_key", &rules::CONSENT_TEXT_CHANGED),
            field_or("timeout_ms", &rules::TIMEOUT_CHANGED, "10000"),
        ],
        &["name", "input_schema", "permission_scope"],
        changes,
    );
    compare::schema_field(
        &rules::INPUT_SCHEMA_CHANGED,
        "input_schema",
        &format!("the input of {what}"),
        old,
        new,
        changes,
    );
    let (before, after) = (scope_of(old), scope_of(new));
    let levels = (scopes.old.get(before).copied(), scopes.new.get(after).copied());
    let pointer = format!("{}/permission_scope", new.pointer);
    if let (Some(was), Some(is)) = levels
        && is > was
    {
        // The place is what was edited: the scope, if the tool kept it.
        let place = scopes.places.get(after).filter(|_| before == after);
        let pointer = place.map_or(pointer, |i| format!("/permission_scopes/{i}/sensitivity"));
        let message = format!(
            "{what} takes more care now: its sensitivity rose from {} to {}",
            was.as_str(),
            is.as_str()
        );
        compare::changed(
            &rules::SENSITIVITY_RAISED,
            pointer,
            message,
            level(was),
            level(is),
            changes,
        );
    } else if before != after {
        let message = format!(
            "{what} moved from the scope {} to {}",
            text::quoted(before),
            text::quoted(after)
        );
        compare::changed(
            &rules::TOOL_REPOINTED,
            pointer.clone(),
            message,
            json!(before),
            json!(after),
            changes,
        );
        if let (Some(was), Some(is)) = levels
            && is < was
        {
            let message = format!(
                "{what} takes less care now: its sensitivity fell from {} to {}",
                was.as_str(),
                is.as_str()
            );
            compare::changed(
                &rules::SENSITIVITY_LOWERED,
                pointer,
                message,
                level(was),
                level(is),
                changes,
            );
        }
    }
    (before == after).then_some(after)
}

fn level(sensitivity: Sensitivity) -> Value {
    json!(sensitivity.as_str())
}

fn scope_list(
    old: &Node,
    new: &Node,
    scopes: &Scopes<'_>,
    steady: &HashSet<&str>,
    changes: &mut Changes,
) {
    let mut matched = compare::matched(
        compare::items(old.get("permission_scopes"), "id", "/permission_scopes"),
        compare::items(new.get("permission_scopes"), "id", "/permission_scopes"),
    );
    let renamed = compare::renames(&mut matched, |old, new| {
        let same = |field: &str| match (old.node.get(field), new.node.get(field)) {
            (Some(a), Some(b)) => a.same(b),
            _ => false,
        };
        (same("label_i18n_key") && same("sensitivity")).then_some(1)
    });
    for (before, after) in &renamed {
        compare::renamed(&rules::SCOPE_RENAMED, "scope", before, after, changes);
    }
    for scope in &matched.removed {
        let message = format!(
            "the scope {} was removed and can no longer be granted",
            text::quoted(scope.key)
        );
        compare::removed(&rules::SCOPE_REMOVED, scope, message, changes);
    }
    for scope in &matched.added {
        let name = text::quoted(scope.key);
        if scopes.new.get(scope.key) == Some(&Sensitivity::Low) {
            let message = format!(
                "the scope {name} was added with low sensitivity: calls under it run silently"
            );
            compare::added(&rules::LOW_SCOPE_ADDED, scope, message, changes);
        } else {
            let message = format!("the scope {name} was added; nobody has granted it yet");
            compare::added(&rules::SCOPE_ADDED, scope, message, changes);
        }
    }
    if matched.reordered {
        compare::reordered("/permission_scopes", "the scopes", changes);
    }
    for (before, after) in matched.kept.iter().chain(&renamed) {
        scope_pair(before, after, steady, changes);
    }
}

fn scope_pair(old: &Item<'_>, new: &Item<'_>, steady: &HashSet<&str>, changes: &mut Changes) {
    let what = format!("the scope {}", text::quoted(new.key));
    let parse = |item: &Item<'_>| Sensitivity::parse(item.node.get("sensitivity")?.as_str()?);
    let levels = parse(old).zip(parse(new));
    let mut handled = vec!["id"];
    if let Some((was, is)) = levels {
        handled.push("sensitivity");
        let pointer = format!("{}/sensitivity", new.pointer);
        if is < was {
            let message = format!(
                "{what} takes less care now: its sensitivity fell from {} to {}",
                was.as_str(),
                is.as_str()
            );
            compare::changed(
                &rules::SENSITIVITY_LOWERED,
                pointer,
                message,
                level(was),
                level(is),
                changes,
            );
        } else if is > was && !steady.contains(new.key) {
            let message = format!(
                "the sensitivity of {what} rose from {} to {}; no tool kept it",
                was.as_str(),
                is.as_str()
            );
            compare::changed(
                &rules::UNUSED_SCOPE_RAISED,
                pointer,
                message,
                level(was),
                level(is),
                changes,
            );
        }
    }
    compare::item_fields(
        old,
        new,
        &what,
        &[
            field("label_i18n_key", &rules::CONSENT_TEXT_CHANGED),
            // A sensitivity that cannot be read is not a smaller one.
            field("sensitivity", &rules::SENSITIVITY_UNREADABLE),
        ],
        &handled,
        changes,
    );
}

fn flags(old: &Node, new: &Node, changes: &mut Changes) {
    let matched = compare::matched(
        compare::members(old.get("capability_flags"), "/capability_flags"),
        compare::members(new.get("capability_flags"), "/capability_flags"),
    );
    let on = |item: &Item<'_>| item.node.as_bool() == Some(true);
    for (before, after) in matched.kept.iter().filter(|(b, a)| !b.node.same(a.node)) {
        let name = text::quoted(after.key);
        let (rule, message) = match (on(before), on(after)) {
            (true, false) => (&rules::FLAG_WITHDRAWN, format!("{name} was withdrawn")),
            (false, true) => (&rules::FLAG_RAISED, format!("{name} was switched on")),
            _ => (&rules::UNKNOWN_FIELD_CHANGED, format!("{name} changed")),
        };
        compare::changed(
            rule,
            after.pointer.clone(),
            message,
            before.node.to_json(),
            after.node.to_json(),
            changes,
        );
    }
    for flag in &matched.removed {
        let rule = if on(flag) { &rules::FLAG_WITHDRAWN } else { &rules::UNKNOWN_FIELD_CHANGED };
        compare::removed(
            rule,
            flag,
            format!("{} is no longer stated", text::quoted(flag.key)),
            changes,
        );
    }
    for flag in &matched.added {
        let rule = if on(flag) { &rules::FLAG_RAISED } else { &rules::UNKNOWN_FIELD_CHANGED };
        compare::added(rule, flag, format!("{} is stated now", text::quoted(flag.key)), changes);
    }
}
