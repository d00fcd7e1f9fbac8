//! The result of an MCP server's `tools/list`: what pinning compares.
//!
//! It is judged by S0's rules for tools, softened where those ask for more than MCP does: a server
//! is not ours to correct, but the user should know that it takes arguments it does not declare.

mod lower;
mod syntax;

use remit_model::{Node, Severity};

use crate::dialect::capability;
use crate::report::Report;
use crate::rules;
use crate::schema;
use crate::shape::{self, Manner, Shape};

pub use lower::lower;
pub use syntax::RESULT;

/// Finds the result inside a JSON-RPC response, or takes the tree as the result itself.
#[must_use]
pub fn unwrapped(root: &Node) -> &Node {
    root.get("result").filter(|_| root.get("tools").is_none()).unwrap_or(root)
}

/// Judges a `tools/list` result.
pub fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    static SHAPE: Shape = Shape::Record(&RESULT);
    let result = unwrapped(root);
    let schemas = schema::Manner { other_draft: Severity::Warning };
    shape::check(result, &SHAPE, Manner { schemas, templates: false }, report);
    let tools = result.get("tools").and_then(Node::as_array).unwrap_or_default();
    capability::unique(tools, "name", "tool", report);
    for tool in tools {
        let Some(schema) = tool.get("inputSchema") else { continue };
        schema::expect_object(schema, Severity::Error, report);
        let additional = schema.get("additionalProperties");
        if schema.as_object().is_some() && additional.and_then(Node::as_bool) != Some(false) {
            report
                .at(
                    &rules::OPEN_SCHEMA,
                    additional.unwrap_or(schema),
                    "the tool takes arguments that it does not declare",
                )
                .severity(Severity::Note);
        }
    }
    if let Some(cursor) = result.get("nextCursor").filter(|c| c.as_str().is_some()) {
        report
            .at(&rules::PARTIAL_LIST, cursor, "the list goes on: this is only one page of it")
            .help("follow nextCursor and put all tools in one list");
    }
}
