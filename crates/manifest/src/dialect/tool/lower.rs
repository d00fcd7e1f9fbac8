//! Tool manifests into the model.

use remit_model::{
    Binding, Capability, Dialect, Execution, Manifest, Node, Object, Permission, Runtime,
    SettingField,
};
use serde_json::{Map, Value, json};

use super::syntax::DEFAULT_TIMEOUT_MS;
use crate::dialect::{text_of, timeout_of};

/// Turns a tree that was judged without errors into the model.
#[must_use]
pub fn lower(root: &Node) -> Manifest {
    let mut manifest = Manifest::new(Dialect::Tool);
    let name = text_of(root, "name");
    let version = root.get("version").and_then(Node::as_str).unwrap_or("1.0.0");
    manifest.version = Some(version.to_owned());
    manifest.enabled = root.get("enabled").and_then(Node::as_bool).unwrap_or(true);
    manifest.config_schema = root.get("config_schema").filter(|c| !c.is_null()).map(config_schema);
    manifest.settings = settings(root);
    manifest.dependencies =
        root.get("dependencies").into_iter().flat_map(Node::strings).map(str::to_owned).collect();
    let commands = root.get("commands").and_then(Node::as_array).unwrap_or_default();
    manifest.capabilities = commands
        .iter()
        .map(|command| {
            let own = text_of(command, "name");
            Capability {
                name: format!("{name}.{own}"),
                description: text_of(command, "description"),
                input_schema: command_schema(command),
                output_schema: None,
                permission: Permission::Undeclared,
                sensitivity: None,
                timeout_ms: Some(timeout_of(root, "timeout", DEFAULT_TIMEOUT_MS)),
                binding: Binding::Process {
                    runtime: runtime(root),
                    execution: execution(root),
                    entry: text_of(root, "entry"),
                    command: own,
                },
            }
        })
        .collect();
    manifest.name = Some(name);
    manifest
}

fn runtime(root: &Node) -> Runtime {
    match root.get("runtime").and_then(Node::as_str) {
        Some("javascript") => Runtime::Javascript,
        Some("native") => Runtime::Native,
        _ => Runtime::Python,
    }
}

fn execution(root: &Node) -> Execution {
    match root.get("type").and_then(Node::as_str) {
        Some("async") => Execution::Async,
        Some("service") => Execution::Service,
        _ => Execution::Sync,
    }
}

/// Gives the schema of a command's input: its parameters, with both lists of required names in one.
pub(crate) fn command_schema(command: &Node) -> Value {
    let parameters = command.get("parameters").filter(|p| !p.is_null());
    let mut schema = match parameters.map(Node::to_json) {
        Some(Value::Object(map)) => map,
        // `parameters: true` and `false` are schemas too.
        Some(other) if other.is_boolean() => return other,
        _ => Map::from_iter([("properties".to_owned(), json!({}))]),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    let beside = command.get("required").into_iter().flat_map(Node::strings);
    let inside = parameters.and_then(|p| p.get("required")).into_iter().flat_map(Node::strings);
    let mut seen = std::collections::HashSet::new();
    let required: Vec<Value> =
        inside.chain(beside).filter(|name| seen.insert(*name)).map(Value::from).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(schema)
}

/// Gives the schema of a tool's configuration: the map of settings as properties, with those marked
/// required listed, and closed, so that a misspelt setting is seen.
pub(crate) fn config_schema(settings: &Node) -> Value {
    let members = settings.as_object().map(Object::members).unwrap_or_default();
    let mut properties = Map::new();
    let mut required = Vec::new();
    for member in members {
        let mut schema = member.value.to_json();
        if let Value::Object(map) = &mut schema {
            map.remove("secret");
            // A list belongs to the schema of an object; a boolean speaks of the setting itself.
            if let Some(Value::Bool(needed)) = map.get("required") {
                if *needed {
                    required.push(Value::from(&*member.key));
                }
                map.remove("required");
            }
        }
        properties.insert(member.key.to_string(), schema);
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let (false, Value::Object(map)) = (required.is_empty(), &mut schema) {
        map.insert("required".to_owned(), Value::Array(required));
    }
    schema
}

fn settings(root: &Node) -> Vec<SettingField> {
    let members = root.get("config_schema").and_then(Node::as_object).map(Object::members);
    members
        .unwrap_or_default()
        .iter()
        .map(|member| SettingField {
            name: member.key.to_string(),
            secret: member.value.get("secret").and_then(Node::as_bool) == Some(true)
                || crate::diff::is_secret_name(&member.key),
        })
        .collect()
}
