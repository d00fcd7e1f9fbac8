//! Two versions of a capability manifest: S0's rules to the letter, and the consent axis.

use std::collections::{HashMap, HashSet};

use remit_model::{Node, Sensitivity, text};
use serde_json::json;

use super::Changes;
use super::compare::{self, Item, Listing, Matched, field, field_or};
use super::rules::{self, ChangeRule};

/// Is the field of a tool that names its scope.
const SCOPE: &str = "permission_scope";

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
    let list = scope_list(old, new);
    let scopes = Scopes::new(old, new, &list);
    let steady = tools(old, new, &scopes, changes);
    scope_changes(&list, &scopes, &steady, changes);
    flags(old, new, changes);
}

/// Is what there is to know of each scope, by its id.
struct Scopes<'t> {
    old: HashMap<&'t str, Sensitivity>,
    /// With where it stands.
    new: HashMap<&'t str, (Sensitivity, usize)>,
    /// The old id of each scope of the new version that the old one has too. Who granted it then
    /// has granted it still, whatever its name is now.
    known: HashMap<&'t str, &'t str>,
}

impl<'t> Scopes<'t> {
    fn new(old: &'t Node, new: &'t Node, list: &Matched<'t>) -> Self {
        Self {
            old: readable(old).map(|(id, level, _)| (id, level)).collect(),
            new: readable(new).map(|(id, level, at)| (id, (level, at))).collect(),
            known: list.both().map(|(old, new)| (new.key, old.key)).collect(),
        }
    }

    /// Tells whether two tools are under one scope, which may have a new name.
    fn same(&self, old: &Item<'t>, new: &Item<'t>) -> bool {
        let (old, new) = (scope_of(old), scope_of(new));
        old.is_some() && (old == new || new.and_then(|id| self.known.get(id).copied()) == old)
    }
}

/// Gives the scopes with a sensitivity that can be read, and where they stand.
fn readable(root: &Node) -> impl Iterator<Item = (&str, Sensitivity, usize)> {
    let scopes = root.get("permission_scopes").and_then(Node::as_array).unwrap_or_default();
    scopes.iter().enumerate().filter_map(|(i, scope)| {
        let sensitivity = Sensitivity::parse(scope.get("sensitivity")?.as_str()?)?;
        Some((scope.get("id")?.as_str()?, sensitivity, i))
    })
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
    compare::renames(&mut matched, |old, new| same_tool(old, new, scopes));
    let listing = Listing {
        what: "tool",
        ordered_at: Some("/tools"),
        renamed: &rules::TOOL_RENAMED,
        removed: &|tool| (&rules::TOOL_REMOVED, format!("{} was removed", tool.named("tool"))),
        added: &|tool| added_tool(tool, scopes),
    };
    listing.report(&matched, changes);
    matched.both().filter_map(|(before, after)| tool_pair(before, after, scopes, changes)).collect()
}

/// Tells whether two elements have a field, and with the same value.
fn agree(old: &Item<'_>, new: &Item<'_>, field: &str) -> bool {
    old.node.get(field).zip(new.node.get(field)).is_some_and(|(old, new)| old.same(new))
}

fn same_tool<'t>(old: &Item<'t>, new: &Item<'t>, scopes: &Scopes<'t>) -> Option<u32> {
    if !agree(old, new, "input_schema") || !scopes.same(old, new) {
        return None;
    }
    match (agree(old, new, "description_i18n_key"), compare::names_alike(old.key, new.key)) {
        (true, true) => Some(3),
        (true, false) => Some(2),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

fn scope_of<'t>(tool: &Item<'t>) -> Option<&'t str> {
    tool.node.get("permission_scope").and_then(Node::as_str)
}

fn added_tool(tool: &Item<'_>, scopes: &Scopes<'_>) -> (&'static ChangeRule, String) {
    let name = tool.named("tool");
    let known = scope_of(tool).and_then(|scope| Some((scope, *scopes.known.get(scope)?)));
    let Some((scope, old)) = known else {
        return (&rules::TOOL_ADDED, format!("{name} was added"));
    };
    let then = match old == scope {
        true => String::new(),
        false => format!("was called {} and which ", text::quoted(old)),
    };
    let scope = text::quoted(scope);
    let message = format!(
        "{name} was added under the scope {scope}, which {then}users may have granted already"
    );
    (&rules::TOOL_ADDED_UNDER_KNOWN_SCOPE, message)
}

/// Compares one tool in both versions; gives back its scope if it kept it.
fn tool_pair<'t>(
    old: &Item<'t>,
    new: &Item<'t>,
    scopes: &Scopes<'t>,
    changes: &mut Changes,
) -> Option<&'t str> {
    let what = new.named("tool");
    compare::item_fields(
        old,
        new,
        &what,
        &[
            field("description_i18n_key", &rules::CONSENT_TEXT_CHANGED),
            field_or("timeout_ms", &rules::TIMEOUT_CHANGED, "10000"),
        ],
        &["name", "input_schema", SCOPE],
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
    tool_scope(old, new, &what, scopes, changes);
    scope_of(new).filter(|_| agree(old, new, SCOPE))
}

/// Compares the scopes of one tool, and how much care it takes by them.
fn tool_scope(
    old: &Item<'_>,
    new: &Item<'_>,
    what: &str,
    scopes: &Scopes<'_>,
    changes: &mut Changes,
) {
    let (before, after) = (scope_of(old), scope_of(new));
    let was = before.and_then(|id| scopes.old.get(id).copied());
    let is = after.and_then(|id| scopes.new.get(id).copied());
    let kept = agree(old, new, SCOPE);
    let pointer = format!("{}/{SCOPE}", new.pointer);
    if let (Some(was), Some((is, at))) = (was, is)
        && is > was
    {
        // The place is what was edited: the scope, if the tool kept it.
        let pointer = if kept { format!("/permission_scopes/{at}/sensitivity") } else { pointer };
        sensitivity(&rules::SENSITIVITY_RAISED, pointer, what, (was, is), changes);
        return;
    }
    if kept || old.node.get(SCOPE).is_none() && new.node.get(SCOPE).is_none() {
        return;
    }
    let message = match (before, after) {
        (Some(before), Some(after)) => {
            let (before, after) = (text::quoted(before), text::quoted(after));
            format!("{what} moved from the scope {before} to {after}")
        }
        (Some(before), None) => {
            format!("{what} no longer names a scope; it was under {}", text::quoted(before))
        }
        (None, Some(after)) => format!("{what} is under the scope {} now", text::quoted(after)),
        (None, None) => format!("the scope of {what} changed"),
    };
    compare::field_changed(&rules::TOOL_REPOINTED, SCOPE, message, old, new, changes);
    if let (Some(was), Some((is, _))) = (was, is)
        && is < was
    {
        sensitivity(&rules::SENSITIVITY_LOWERED, pointer, what, (was, is), changes);
    }
}

/// Reports that something takes more or less care than before.
fn sensitivity(
    rule: &'static ChangeRule,
    pointer: String,
    what: &str,
    (was, is): (Sensitivity, Sensitivity),
    changes: &mut Changes,
) {
    let (much, went) = if is > was { ("more", "rose") } else { ("less", "fell") };
    let (was, is) = (was.as_str(), is.as_str());
    let message =
        format!("{what} takes {much} care now: its sensitivity {went} from {was} to {is}");
    compare::changed(rule, pointer, message, json!(was), json!(is), changes);
}

fn scope_list<'t>(old: &'t Node, new: &'t Node) -> Matched<'t> {
    let mut list = compare::matched(
        compare::items(old.get("permission_scopes"), "id", "/permission_scopes"),
        compare::items(new.get("permission_scopes"), "id", "/permission_scopes"),
    );
    compare::renames(&mut list, |old, new| {
        (agree(old, new, "label_i18n_key") && agree(old, new, "sensitivity")).then_some(1)
    });
    list
}

fn scope_changes(
    list: &Matched<'_>,
    scopes: &Scopes<'_>,
    steady: &HashSet<&str>,
    changes: &mut Changes,
) {
    let listing = Listing {
        what: "scope",
        ordered_at: Some("/permission_scopes"),
        renamed: &rules::SCOPE_RENAMED,
        removed: &|scope| {
            let name = scope.named("scope");
            (&rules::SCOPE_REMOVED, format!("{name} was removed and can no longer be granted"))
        },
        added: &|scope| {
            let name = scope.named("scope");
            let low =
                scopes.new.get(scope.key).is_some_and(|(level, _)| *level == Sensitivity::Low);
            if low {
                let silent = "was added with low sensitivity: calls under it run silently";
                (&rules::LOW_SCOPE_ADDED, format!("{name} {silent}"))
            } else {
                (&rules::SCOPE_ADDED, format!("{name} was added; nobody has granted it yet"))
            }
        },
    };
    listing.report(list, changes);
    for (before, after) in list.both() {
        scope_pair(before, after, steady, changes);
    }
}

fn scope_pair(old: &Item<'_>, new: &Item<'_>, steady: &HashSet<&str>, changes: &mut Changes) {
    let what = new.named("scope");
    let parse = |item: &Item<'_>| Sensitivity::parse(item.node.get("sensitivity")?.as_str()?);
    let levels = parse(old).zip(parse(new));
    let mut handled = vec!["id"];
    if let Some((was, is)) = levels {
        handled.push("sensitivity");
        let pointer = format!("{}/sensitivity", new.pointer);
        if is < was {
            sensitivity(&rules::SENSITIVITY_LOWERED, pointer, &what, (was, is), changes);
        } else if is > was && !steady.contains(new.key) {
            let (was, is) = (was.as_str(), is.as_str());
            let message =
                format!("the sensitivity of {what} rose from {was} to {is}; no tool kept it");
            let rule = &rules::UNUSED_SCOPE_RAISED;
            compare::changed(rule, pointer, message, json!(was), json!(is), changes);
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
