//! Two results of an MCP server's `tools/list`: what a pin holds against what the server says now.

use remit_model::{Node, text};

use super::Changes;
use super::compare::{self, Item, field};
use super::rules;
use crate::dialect::mcp_tools::unwrapped;

pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    // The envelope of a JSON-RPC response differs from call to call and says nothing.
    let base =
        |root: &Node| if std::ptr::eq(unwrapped(root), root) { "/tools" } else { "/result/tools" };
    let mut matched = compare::matched(
        compare::items(unwrapped(old).get("tools"), "name", base(old)),
        compare::items(unwrapped(new).get("tools"), "name", base(new)),
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
        let message = format!(
            "the tool {} was added by a server that may be trusted already",
            text::quoted(tool.key)
        );
        compare::added(&rules::TOOL_ADDED_UNDER_KNOWN_SCOPE, tool, message, changes);
    }
    if matched.reordered {
        compare::reordered(base(new), "the tools", changes);
    }
    for (before, after) in matched.kept.iter().chain(&renamed) {
        tool_pair(before, after, changes);
    }
    compare::root_fields(unwrapped(old), unwrapped(new), "the result", &[], &["tools"], changes);
}

fn same_tool(old: &Item<'_>, new: &Item<'_>) -> Option<u32> {
    let same = |field: &str| match (old.node.get(field), new.node.get(field)) {
        (Some(a), Some(b)) => a.same(b),
        (None, None) => true,
        _ => false,
    };
    match (same("inputSchema"), same("description"), compare::names_alike(old.key, new.key)) {
        (true, true, true) => Some(3),
        (true, true, false) => Some(2),
        (true, false, true) => Some(1),
        _ => None,
    }
}

fn tool_pair(old: &Item<'_>, new: &Item<'_>, changes: &mut Changes) {
    let what = format!("the tool {}", text::quoted(new.key));
    compare::schema_field(
        &rules::INPUT_SCHEMA_CHANGED,
        "inputSchema",
        &format!("the input of {what}"),
        old,
        new,
        changes,
    );
    compare::schema_field(
        &rules::OUTPUT_SCHEMA_CHANGED,
        "outputSchema",
        &format!("the output of {what}"),
        old,
        new,
        changes,
    );
    compare::item_fields(
        old,
        new,
        &what,
        &[
            field("description", &rules::DESCRIPTION_CHANGED),
            field("title", &rules::DESCRIPTION_CHANGED),
            field("annotations", &rules::ANNOTATIONS_CHANGED),
        ],
        &["name", "inputSchema", "outputSchema"],
        changes,
    );
}
