//! Capability manifests into the model.

use std::collections::HashMap;

use remit_model::{
    Binding, Capability, Dialect, Manifest, Node, Object, Permission, Scope, Sensitivity,
};

use super::DEFAULT_TIMEOUT_MS;
use crate::dialect::{text_of, timeout_of};

/// Turns a tree that was judged without errors into the model.
#[must_use]
pub fn lower(root: &Node) -> Manifest {
    let mut manifest = Manifest::new(Dialect::Capability);
    manifest.version = root.get("agent_version").and_then(Node::as_str).map(str::to_owned);
    let scopes = root.get("permission_scopes").and_then(Node::as_array).unwrap_or_default();
    manifest.scopes = scopes.iter().filter_map(lower_scope).collect();
    let flags = root.get("capability_flags").and_then(Node::as_object);
    manifest.flags = flags
        .into_iter()
        .flat_map(Object::members)
        .filter_map(|m| Some((m.key.to_string(), m.value.as_bool()?)))
        .collect();
    let sensitivities: HashMap<&str, Sensitivity> =
        manifest.scopes.iter().map(|s| (s.id.as_str(), s.sensitivity)).collect();
    let tools = root.get("tools").and_then(Node::as_array).unwrap_or_default();
    manifest.capabilities = tools
        .iter()
        .map(|tool| {
            let scope = text_of(tool, "permission_scope");
            Capability {
                name: text_of(tool, "name"),
                description: text_of(tool, "description_i18n_key"),
                input_schema: tool.get("input_schema").map(Node::to_json).unwrap_or_default(),
                output_schema: None,
                sensitivity: sensitivities.get(scope.as_str()).copied(),
                permission: Permission::Scope(scope),
                timeout_ms: Some(timeout_of(tool, "timeout_ms", DEFAULT_TIMEOUT_MS)),
                binding: Binding::Device,
            }
        })
        .collect();
    manifest
}

fn lower_scope(scope: &Node) -> Option<Scope> {
    Some(Scope {
        id: text_of(scope, "id"),
        label_i18n_key: text_of(scope, "label_i18n_key"),
        sensitivity: Sensitivity::parse(scope.get("sensitivity")?.as_str()?)?,
    })
}
