//! Agent manifests (S4): a model, MCP servers, tools by reference, and what they may do.
//!
//! A file with a `version` is judged by S4, one without by the older format that real users have
//! today (`legacy`). References and templates are read by the same code at call time.

mod identity;
mod legacy;
mod lower;
pub mod native;
pub mod reference;
mod resources;
pub(crate) mod secrets;
mod servers;
mod settings;
mod syntax;
pub mod templates;
mod tools;
pub mod wildcards;

use remit_model::{Node, Object, Severity};

use crate::report::Report;
use crate::schema;
use crate::shape::{self, Manner, Shape};

use legacy::Format;
use reference::Servers;

pub(crate) use lower::input_schema;
pub use lower::lower;
pub use resources::Resource;
pub use settings::{CommandPattern, command_pattern};
pub use syntax::MANIFEST;

/// Judges an agent manifest.
pub fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    static SHAPE: Shape = Shape::Record(&MANIFEST);
    let format = Format::of(root);
    let schemas = schema::Manner { other_draft: Severity::Warning };
    let Some(object) = root.as_object() else {
        shape::check(root, &SHAPE, Manner::default(), report);
        return;
    };
    match format {
        Format::Current => shape::check(root, &SHAPE, Manner { templates: true, schemas }, report),
        Format::Legacy => legacy::check(root, report),
    }
    legacy::other_fields(object, &MANIFEST, legacy::OLDER.fields, format, report);
    identity::check(root, format, report);
    if let Some(schema) = root.get("inputSchema").filter(|schema| schema.as_object().is_some()) {
        schema::expect_object(schema, Severity::Error, report);
    }
    servers::check(root, format, report);
    let servers = declared(root);
    let judge = tools::Judge { format, servers: &servers };
    tools::check(root, &judge, report);
    settings::check(root, &judge, report);
    resources::check(root, &judge, report);
    tools::check_wildcards(root, &judge, report);
    templates::check(root, format, report);
}

/// Gives the servers that a manifest declares.
pub(crate) fn declared(root: &Node) -> Servers<'_> {
    let members = root.get("mcpServers").and_then(Node::as_object).map(Object::members);
    Servers::new(members.unwrap_or_default().iter().map(|m| &*m.key))
}

#[cfg(test)]
pub(crate) mod tests;
