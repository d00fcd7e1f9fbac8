//! Two results of an MCP server's `tools/list`: what a pin holds against what the server says now.

use remit_model::Node;

use super::Changes;
use super::compare::{self, Item, Listing, field};
use super::rules;
use crate::dialect::mcp_tools::unwrapped;

pub(super) fn diff(old: &Node, new: &Node, changes: &mut Changes) {
    // The envelope of a JSON-RPC response differs from call to call and says nothing.
    let (old, new) = (result(old), result(new));
    let list = |result: &Item<'_>| format!("{}/tools", result.pointer);
    let (old_list, new_list) = (list(&old), list(&new));
    let mut matched = compare::matched(
        compare::items(old.node.get("tools"), "name", &old_list),
        compare::items(new.node.get("tools"), "name", &new_list),
    );
    compare::renames(&mut matched, same_tool);
    let listing = Listing {
        what: "tool",
        ordered_at: Some(&new_list),
        renamed: &rules::TOOL_RENAMED,
        removed: &|tool| (&rules::TOOL_REMOVED, format!("{} was removed", tool.named("tool"))),
        added: &|tool| {
            let name = tool.named("tool");
            let message = format!("{name} was added by a server that may be trusted already");
            (&rules::TOOL_ADDED_UNDER_KNOWN_SCOPE, message)
        },
    };
    listing.report(&matched, changes);
    for (before, after) in matched.both() {
        tool_pair(before, after, changes);
    }
    compare::item_fields(&old, &new, "the result", &[], &["tools"], changes);
}

fn result(root: &Node) -> Item<'_> {
    let result = unwrapped(root);
    Item::root(result, if std::ptr::eq(result, root) { "" } else { "/result" })
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
    let what = new.named("tool");
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
