//! A `tools/list` result into the model.

use remit_model::{Binding, Capability, Dialect, Manifest, Node, Permission};

use super::unwrapped;
use crate::dialect::text_of;

/// Turns a tree that was judged without errors into the model.
#[must_use]
pub fn lower(root: &Node) -> Manifest {
    let mut manifest = Manifest::new(Dialect::McpTools);
    let tools = unwrapped(root).get("tools").and_then(Node::as_array).unwrap_or_default();
    manifest.capabilities = tools
        .iter()
        .map(|tool| Capability {
            name: text_of(tool, "name"),
            description: text_of(tool, "description"),
            input_schema: tool.get("inputSchema").map(Node::to_json).unwrap_or_default(),
            output_schema: tool.get("outputSchema").filter(|s| !s.is_null()).map(Node::to_json),
            permission: Permission::Undeclared,
            sensitivity: None,
            timeout_ms: None,
            binding: Binding::Mcp,
        })
        .collect();
    manifest
}
