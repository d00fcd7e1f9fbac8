//! An input that fits a schema, to start from.

use remit_manifest::schema::validator::Validator;
use serde_json::{Map, Value, json};

/// How deep objects are filled in.
const DEEPEST: usize = 6;

/// Gives the least input that a schema accepts, if a simple one does. It was tried.
pub(super) fn input(schema: &Value) -> Option<Value> {
    let value = value(schema, 0);
    let validator = Validator::compile(schema).ok()?;
    validator.is_valid(&value).then_some(value)
}

fn value(schema: &Value, depth: usize) -> Value {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|list| list.first());
    let said = schema.get("const").or_else(|| first("examples")).or_else(|| schema.get("default"));
    if let Some(value) = said.or_else(|| first("enum")) {
        return value.clone();
    }
    let kind = schema.get("type");
    let kind = kind.and_then(Value::as_array).and_then(|list| list.first()).or(kind);
    match kind.and_then(Value::as_str) {
        Some("string") => json!(text(schema)),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        Some("array") => {
            match (schema.get("minItems").and_then(Value::as_u64), schema.get("items")) {
                (Some(1..), Some(items)) if depth < DEEPEST => json!([value(items, depth + 1)]),
                _ => json!([]),
            }
        }
        _ => Value::Object(required(schema, depth)),
    }
}

fn text(schema: &Value) -> &'static str {
    match schema.get("format").and_then(Value::as_str) {
        Some("uri" | "url") => "https://example.org/",
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("email") => "ada@example.org",
        _ => "text",
    }
}

fn required(schema: &Value, depth: usize) -> Map<String, Value> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let properties = schema.get("properties");
    names
        .filter_map(Value::as_str)
        .filter(|_| depth < DEEPEST)
        .map(|name| {
            let property = properties.and_then(|all| all.get(name)).unwrap_or(&Value::Null);
            (name.to_owned(), value(property, depth + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_fits_or_nothing_is() {
        let schema = json!({"type": "object", "required": ["city", "days", "mode"], "properties": {
            "city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "minimum": 2},
            "mode": {"enum": ["short", "long"]}, "other": {"type": "string"}}});
        assert_eq!(input(&schema).unwrap(), json!({"city": "text", "days": 2, "mode": "short"}));
        let odd = json!({"type": "object", "required": ["id"],
            "properties": {"id": {"type": "string", "pattern": "^[0-9]{9}$"}}});
        assert_eq!(input(&odd), None);
        let endless = json!({"$defs": {}, "type": "object", "required": ["a"]});
        assert_eq!(input(&endless).unwrap(), json!({"a": {}}));
    }
}
