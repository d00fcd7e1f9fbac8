//! The dialects, and what each gives the compiler.
//!
//! A dialect is a folder: `syntax.rs` is its table of fields, `lower.rs` turns a good tree into the
//! model, and `mod.rs` judges what a table cannot say. Nothing outside this folder and `diff/`
//! mentions a dialect's field by name.

pub mod agent;
pub mod capability;
pub mod mcp_tools;
pub mod skill;
pub mod tool;
mod urls;

use remit_model::{Dialect, Manifest, Node};

use crate::report::Report;
use crate::shape::{self, Record};

/// Gives the table of a dialect's fields.
#[must_use]
pub fn syntax(dialect: Dialect) -> &'static Record {
    match dialect {
        Dialect::Capability => &capability::MANIFEST,
        Dialect::Tool => &tool::MANIFEST,
        Dialect::Skill => &skill::MANIFEST,
        Dialect::Agent => &agent::MANIFEST,
        Dialect::McpTools => &mcp_tools::RESULT,
    }
}

/// Gives a dialect's JSON Schema, for editors.
#[must_use]
pub fn json_schema(dialect: Dialect) -> serde_json::Value {
    let title = match dialect {
        Dialect::Capability => "Capability manifest",
        Dialect::Tool => "Tool manifest",
        Dialect::Skill => "Skill descriptor",
        Dialect::Agent => "Agent manifest",
        Dialect::McpTools => "Result of MCP tools/list",
    };
    shape::json_schema(title, syntax(dialect))
}

/// Gives a manifest to start from, in YAML with comments that teach.
#[must_use]
pub fn scaffold(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Capability => Some(include_str!("capability/scaffold.yaml")),
        Dialect::Tool => Some(include_str!("tool/scaffold.yaml")),
        Dialect::Skill => Some(include_str!("skill/scaffold.yaml")),
        Dialect::Agent => Some(include_str!("agent/scaffold.yaml")),
        Dialect::McpTools => None,
    }
}

/// Judges a tree by the rules of a dialect.
pub fn check<'t>(dialect: Dialect, root: &'t Node, report: &mut Report<'t>) {
    match dialect {
        Dialect::Capability => capability::check(root, report),
        Dialect::Tool => tool::check(root, report),
        Dialect::Skill => skill::check(root, report),
        Dialect::Agent => agent::check(root, report),
        Dialect::McpTools => mcp_tools::check(root, report),
    }
}

/// Turns a tree that was judged without errors into the model.
#[must_use]
pub fn lower(dialect: Dialect, root: &Node) -> Manifest {
    match dialect {
        Dialect::Capability => capability::lower(root),
        Dialect::Tool => tool::lower(root),
        Dialect::Skill => skill::lower(root),
        Dialect::Agent => agent::lower(root),
        Dialect::McpTools => mcp_tools::lower(root),
    }
}

/// Gives a field's text, or nothing's.
fn text_of(node: &Node, field: &str) -> String {
    node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned()
}

/// Gives a field's milliseconds, or the default.
fn timeout_of(node: &Node, field: &str, default: u64) -> u64 {
    node.get(field)
        .and_then(Node::as_integer)
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or(default)
}

/// Gives the field by which other manifests know one of this dialect.
pub(crate) fn name_field(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Tool | Dialect::Agent => Some("name"),
        Dialect::Skill => Some("id"),
        Dialect::Capability | Dialect::McpTools => None,
    }
}

/// Tells whether a manifest claims to follow the current format, not an older, laxer one.
pub(crate) fn is_current_format(dialect: Dialect, root: &Node) -> bool {
    dialect != Dialect::Agent || root.get("version").is_some()
}

/// Gives the name that a scaffold has where its author's goes.
#[must_use]
pub fn scaffold_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Capability => "my_agent",
        Dialect::Tool => "my_tool",
        Dialect::Skill => "com.example.my-skill",
        Dialect::Agent => "my-agent",
        Dialect::McpTools => "tools",
    }
}
