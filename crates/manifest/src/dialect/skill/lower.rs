//! A good descriptor as one capability.

use remit_model::{Binding, Capability, Dialect, Manifest, Node, Permission};
use serde_json::{Map, Value, json};

use super::find;
use super::syntax::{BACKOFF_MS, MAX_ATTEMPTS, METHOD, TIMEOUT_MS};

/// Turns a descriptor that was judged without errors into the model.
#[must_use]
pub fn lower(root: &Node) -> Manifest {
    let mut manifest = Manifest::new(Dialect::Skill);
    let id = owned(root, &["id"]).unwrap_or_default();
    manifest.version = owned(root, &["version"]);
    manifest.capabilities.push(Capability {
        name: format!("skill:{id}"),
        description: owned(root, &["description"]).unwrap_or_default(),
        input_schema: input_schema(root),
        output_schema: find(root, &["output", "schema"]).map(Node::to_json),
        permission: Permission::Undeclared,
        sensitivity: None,
        timeout_ms: Some(number(root, &["endpoint", "timeout_ms"], TIMEOUT_MS)),
        binding: binding(root),
    });
    manifest.name = Some(id);
    manifest
}

fn binding(root: &Node) -> Binding {
    Binding::Http {
        url: owned(root, &["endpoint", "url"]).unwrap_or_default(),
        method: owned(root, &["endpoint", "method"])
            .or_else(|| serde_json::from_str(METHOD).ok())
            .unwrap_or_default(),
        status_url: owned(root, &["endpoint", "status_url"]),
        result_url: owned(root, &["endpoint", "result_url"]),
        max_attempts: number(root, &["endpoint", "retry", "max_attempts"], MAX_ATTEMPTS),
        backoff_ms: number(root, &["endpoint", "retry", "backoff_ms"], BACKOFF_MS),
    }
}

fn owned(root: &Node, path: &[&str]) -> Option<String> {
    find(root, path)?.as_str().map(str::to_owned)
}

fn number(root: &Node, path: &[&str], default: &str) -> u64 {
    find(root, path)
        .and_then(Node::as_integer)
        .and_then(|n| u64::try_from(n).ok())
        .or_else(|| serde_json::from_str(default).ok())
        .unwrap_or_default()
}

/// Gives the schema that the inputs of a call are validated by.
pub(crate) fn input_schema(root: &Node) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for input in root.get("inputs").and_then(Node::as_array).unwrap_or_default() {
        let Some(name) = input.get("name").and_then(Node::as_str) else { continue };
        properties.insert(name.to_owned(), input_property(input));
        if input.get("required").and_then(Node::as_bool) == Some(true) {
            required.push(name);
        }
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let (Value::Object(schema), false) = (&mut schema, required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Gives the schema of one input: its fragment, with what the descriptor says beside it.
pub(crate) fn input_property(input: &Node) -> Value {
    let fragment = input.get("schema");
    let mut property = match fragment.map(Node::to_json) {
        Some(Value::Object(fragment)) => fragment,
        _ => Map::new(),
    };
    // Only a root names its draft, and the fragment is no longer one.
    property.remove("$schema");
    if let Some(name) = input.get("name").and_then(Node::as_str)
        && !property.contains_key("$id")
        && fragment.is_some_and(refers)
    {
        // `#/$defs/…` of a fragment starts at the fragment; an id of its own keeps it that way.
        property.insert("$id".to_owned(), json!(format!("urn:remit:input:{name}")));
    }
    if let Some(declared) = input.get("type").and_then(Node::as_str) {
        let own = property.get("type").and_then(Value::as_str);
        let narrower = own.filter(|own| *own == "integer" && declared == "number");
        let narrower = narrower.unwrap_or(declared).to_owned();
        property.insert("type".to_owned(), Value::String(narrower));
    }
    if let Some(description) = input.get("description").and_then(Node::as_str) {
        property.insert("description".to_owned(), json!(description));
    }
    if let Some(default) = input.get("default").filter(|default| !default.is_null()) {
        property.insert("default".to_owned(), default.to_json());
    }
    Value::Object(property)
}

/// Tells whether a fragment may refer to a part of itself. A key that only looks like a reference
/// counts too: an id too many does no harm.
fn refers(node: &Node) -> bool {
    if let Some(items) = node.as_array() {
        return items.iter().any(refers);
    }
    let members = node.as_object().map(remit_model::Object::members).unwrap_or_default();
    members.iter().any(|m| {
        matches!(&*m.key, "$ref" | "$dynamicRef" | "$anchor" | "$dynamicAnchor") || refers(&m.value)
    })
}
