//! A dialect's table as a JSON Schema, for editors.

use serde_json::{Map, Value, json};

use super::{Need, Record, Shape, Unknown};

/// Gives the JSON Schema of a record, complete with the texts editors show.
#[must_use]
pub fn json_schema(title: &str, record: &Record) -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!(title));
    if let Value::Object(body) = of_record(record) {
        schema.extend(body);
    }
    Value::Object(schema)
}

fn of_record(record: &Record) -> Value {
    let mut properties = Map::new();
    for field in record.fields {
        let mut schema = of(&field.shape);
        if let Value::Object(map) = &mut schema {
            map.insert("description".into(), json!(field.doc));
            if let Need::Default(text) = field.need {
                let default = serde_json::from_str(text).unwrap_or(Value::Null);
                map.insert("default".into(), default);
            }
        }
        properties.insert(field.name.into(), schema);
    }
    let required: Vec<_> =
        record.fields.iter().filter(|f| f.need == Need::Required).map(|f| f.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if let Value::Object(map) = &mut schema {
        if !required.is_empty() {
            map.insert("required".into(), json!(required));
        }
        if record.unknown == Unknown::Error {
            map.insert("additionalProperties".into(), json!(false));
        }
    }
    schema
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Any => json!({}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Text(kind) => serde_json::from_str(kind.schema).unwrap_or_else(|_| json!({})),
        Shape::Enum(words) => json!({"type": "string", "enum": words}),
        Shape::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::List(inner) => json!({"type": "array", "items": of(inner)}),
        Shape::Map(inner) => json!({"type": "object", "additionalProperties": of(inner)}),
        Shape::Record(record) => of_record(record),
        Shape::Schema => json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        Shape::ClosedSchema => json!({
            "$ref": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"type": {"const": "object"}, "additionalProperties": {"const": false}},
            "required": ["type", "additionalProperties"],
        }),
        Shape::Nullable(inner) => json!({"anyOf": [of(inner), {"type": "null"}]}),
        Shape::Either(first, second) => json!({"anyOf": [of(first), of(second)]}),
    }
}
