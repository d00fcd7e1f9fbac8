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
