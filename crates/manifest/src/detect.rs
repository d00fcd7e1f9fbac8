//! Which dialect a tree is written in, told from its fields.

use remit_model::{Dialect, Node, Object};

/// Is how much a top-level field speaks for a dialect. Fields that several dialects have, such as
/// `name`, say nothing.
static SIGNS: &[(&str, Dialect, u32)] = &[
    ("schema_version", Dialect::Capability, 3),
    ("agent_version", Dialect::Capability, 3),
    ("permission_scopes", Dialect::Capability, 4),
    ("capability_flags", Dialect::Capability, 4),
    ("manifest_version", Dialect::Tool, 4),
    ("commands", Dialect::Tool, 3),
    ("entry", Dialect::Tool, 2),
    ("runtime", Dialect::Tool, 2),
    ("display_name", Dialect::Tool, 2),
    ("config_schema", Dialect::Tool, 3),
    ("capability_type", Dialect::Skill, 4),
    ("endpoint", Dialect::Skill, 3),
    ("inputs", Dialect::Skill, 2),
    ("output", Dialect::Skill, 1),
    ("access", Dialect::Skill, 2),
    ("protocol", Dialect::Skill, 2),
    ("provider", Dialect::Skill, 2),
    ("auth", Dialect::Skill, 1),
    ("mcpServers", Dialect::Agent, 4),
    ("allowedTools", Dialect::Agent, 4),
    ("toolsSettings", Dialect::Agent, 4),
    ("toolAliases", Dialect::Agent, 3),
    ("inputSchema", Dialect::Agent, 2),
    ("model", Dialect::Agent, 2),
    ("prompt", Dialect::Agent, 2),
    ("resources", Dialect::Agent, 2),
    ("hooks", Dialect::Agent, 2),
    ("includeMcpJson", Dialect::Agent, 3),
    ("useLegacyMcpJson", Dialect::Agent, 3),
    ("welcomeMessage", Dialect::Agent, 2),
    ("keyboardShortcut", Dialect::Agent, 2),
    ("nextCursor", Dialect::McpTools, 4),
];

/// Tells the dialect, or nothing if no field speaks for one.
#[must_use]
pub fn detect(root: &Node) -> Option<Dialect> {
    told(root).map(|(dialect, _)| dialect)
}

/// Tells whether a file that nobody called a manifest is one: a single common field is not enough.
#[must_use]
pub fn is_surely_a_manifest(root: &Node) -> bool {
    told(root).is_some_and(|(_, points)| points >= 3)
}

fn told(root: &Node) -> Option<(Dialect, u32)> {
    let object = root.as_object()?;
    let mut scores = [0u32; Dialect::ALL.len()];
    let mut give = |dialect: Dialect, points: u32| {
        if let Some(score) =
            Dialect::ALL.iter().position(|d| *d == dialect).and_then(|i| scores.get_mut(i))
        {
            *score += points;
        }
    };
    for member in object.members() {
        if let Some((_, dialect, points)) = SIGNS.iter().find(|(field, ..)| *field == &*member.key)
            && !belongs_elsewhere(&member.key, &member.value)
        {
            give(*dialect, *points);
        }
    }
    if let Some(dialect) = told_by_tools(object) {
        give(dialect, 3);
    }
    if object.len() <= 3
        && told_by_tools(crate::dialect::mcp_tools::unwrapped(root).as_object()?)
            == Some(Dialect::McpTools)
    {
        give(Dialect::McpTools, 4);
    }
    if scores.iter().all(|score| *score == 0) {
        return told_by_little(object);
    }
    let best = *scores.iter().max()?;
    let at = scores.iter().position(|score| *score == best && best > 0)?;
    Some((*Dialect::ALL.get(at)?, best))
}

/// A manifest of few fields, or of misspelt ones: an agent needs no more than a name, and `tools` is
/// nobody's else.
fn told_by_little(object: &Object) -> Option<(Dialect, u32)> {
    let misspelt = object.members().iter().take(64).find_map(|member| {
        let meant = crate::report::closest(&member.key, SIGNS.iter().map(|(field, ..)| *field))?;
        SIGNS.iter().find(|(field, ..)| *field == meant)
    });
    if let Some((_, dialect, points)) = misspelt.filter(|(_, _, points)| *points >= 3) {
        return Some((*dialect, points - 1));
    }
    let tools = object.get("tools");
    if let Some(list) = tools.and_then(Node::as_array)
        && !list.is_empty()
        && list.iter().all(|tool| tool.as_object().is_some())
    {
        return Some((Dialect::McpTools, 2));
    }
    object.get("name").filter(|name| name.as_str().is_some())?;
    let known = ["$schema", "name", "version", "description", "tools"];
    let only_known = object.members().iter().all(|m| known.contains(&&*m.key));
    let points = if tools.is_some() { 3 } else { 1 };
    (only_known && object.len() > 1).then_some((Dialect::Agent, points))
}

/// Some files of other programs share a field's name and hold something else in it: browser
/// extensions have a number in `manifest_version`, workflow actions an object in `inputs`.
fn belongs_elsewhere(field: &str, value: &Node) -> bool {
    match field {
        "manifest_version" => value.as_number().is_some_and(|n| n == 2.0 || n == 3.0),
        "commands" | "inputs" => value.as_object().is_some(),
        "model" | "prompt" | "entry" | "runtime" => value.as_object().is_some(),
        _ => false,
    }
}

/// `tools` stands in three dialects and looks different in each.
fn told_by_tools(object: &Object) -> Option<Dialect> {
    let tools = object.get("tools")?.as_array()?;
    let Some(first) = tools.first() else {
        return (object.len() == 1).then_some(Dialect::McpTools);
    };
    if first.as_str().is_some() {
        return Some(Dialect::Agent);
    }
    let has = |field: &str| tools.iter().any(|tool| tool.get(field).is_some());
    if has("inputSchema") {
        Some(Dialect::McpTools)
    } else if has("input_schema") || has("permission_scope") {
        Some(Dialect::Capability)
    } else {
        None
    }
}

/// Tells whether a text that cannot be read names a field that only manifests have.
#[must_use]
pub fn mentions_a_manifest(text: &str) -> bool {
    SIGNS.iter().any(|(field, _, points)| *points >= 3 && text.contains(field))
}
