//! The MCP servers of two agents.

use remit_model::{Node, pointer, text};

use super::super::Changes;
use super::super::compare::{
    self, Item, Listing, changed, field, field_or, matched, members, words,
};
use super::super::rules;
use super::lists::{self, Speech};

const BASE: &str = "/mcpServers";

/// Lists the fields of the older format that name tools which run without asking.
const APPROVED: [&str; 2] = ["autoApprove", "alwaysAllow"];

pub(super) fn compare(old: &Node, new: &Node, changes: &mut Changes) {
    let mut matched =
        matched(members(old.get("mcpServers"), BASE), members(new.get("mcpServers"), BASE));
    compare::renames(&mut matched, |old, new| old.node.same(new.node).then_some(1));
    let listing = Listing {
        what: "server",
        ordered_at: None,
        renamed: &rules::SERVER_RENAMED,
        removed: &|server| {
            // Nothing can have been called on a server that was switched off.
            let off = is_off(server.node);
            let rule = if off { &rules::FIELD_CHANGED } else { &rules::SERVER_REMOVED };
            (rule, format!("{} was removed", server.named("server")))
        },
        added: &|server| (&rules::SERVER_ADDED, format!("{} was added", server.named("server"))),
    };
    listing.report(&matched, changes);
    for (old, new) in &matched.kept {
        one_server(old, new, changes);
    }
}

fn is_off(server: &Node) -> bool {
    server.get("disabled").and_then(Node::as_bool) == Some(true)
}

fn one_server(old: &Item<'_>, new: &Item<'_>, changes: &mut Changes) {
    if old.node.same(new.node) {
        return;
    }
    let what = new.named("server");
    if old.node.as_object().is_none() || new.node.as_object().is_none() {
        let (before, after) = (old.node.to_json(), new.node.to_json());
        let message = format!("{what} changed");
        let rule = &rules::SERVER_CHANGED;
        changed(rule, new.pointer.clone(), message, before, after, changes);
        return;
    }
    let switched = match (is_off(old.node), is_off(new.node)) {
        (true, false) => &rules::SERVER_ENABLED,
        (false, true) => &rules::SERVER_DISABLED,
        _ => &rules::FIELD_CHANGED,
    };
    let rule = &rules::SERVER_CHANGED;
    let is_local = old.node.get("command").is_some() && new.node.get("command").is_some();
    let transport =
        if is_local { field_or("transport", rule, "\"stdio\"") } else { field("transport", rule) };
    let table = [
        transport,
        field_or("args", rule, "[]"),
        field_or("env", rule, "{}"),
        field_or("headers", rule, "{}"),
        field_or("disabled", switched, "false"),
        field("timeout", &rules::TIMEOUT_CHANGED),
        field("initTimeout", &rules::TIMEOUT_CHANGED),
        // In place of a list of names; lists are compared by name below.
        field_or("autoApprove", &rules::AUTO_APPROVAL_ADDED, "[]"),
        field_or("alwaysAllow", &rules::AUTO_APPROVAL_ADDED, "[]"),
    ];
    let by_name = |key: &&&str| {
        let list = |server: &Item<'_>| server.node.get(key).is_none_or(lists::is_texts);
        let is_empty = |server: &Item<'_>| {
            server.node.get(key).is_none_or(|n| n.as_array().is_some_and(<[_]>::is_empty))
        };
        list(old) && list(new) && !(is_empty(old) && is_empty(new))
    };
    let approved: Vec<&str> = APPROVED.iter().filter(by_name).copied().collect();
    compare::item_fields_under(old, new, &what, &table, &approved, rule, changes);
    for key in approved {
        approvals(old, new, key, &what, changes);
    }
}

fn approvals(old: &Item<'_>, new: &Item<'_>, key: &str, what: &str, changes: &mut Changes) {
    let speech = Speech {
        added: &rules::AUTO_APPROVAL_ADDED,
        removed: &rules::AUTO_APPROVAL_REMOVED,
        say_added: &|name| format!("{} of {what} runs without asking now", text::quoted(name)),
        say_removed: &|name| {
            format!("{} of {what} no longer runs without asking", text::quoted(name))
        },
        what: "the approved tools",
    };
    let (old_base, new_base) = (pointer::join(&old.pointer, key), pointer::join(&new.pointer, key));
    lists::names(
        words(old.node.get(key), &old_base),
        words(new.node.get(key), &new_base),
        &new_base,
        &speech,
        changes,
    );
}
