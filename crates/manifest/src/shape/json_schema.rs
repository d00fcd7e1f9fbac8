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
    let forms = record.fields.iter().find_map(|field| match field.need {
        Need::Else(other) => Some((field.name, other)),
        _ => None,
    });
    let Some((name, other)) = forms else { return Value::Object(of_fields(record)) };
    let mut form = of_fields(record);
    // What a field is for holds in either form, and an editor shows it before it can tell which.
    let mut described = Map::new();
    if let Some(Value::Object(fields)) = form.get_mut("properties") {
        for (name, field) in fields {
            let text = field.as_object_mut().and_then(|field| field.remove("description"));
            described.insert(name.clone(), json!({"description": text}));
        }
    }
    json!({
        "type": "object",
        "properties": described,
        "if": {"properties": {name: {"not": {"type": "null"}}}, "required": [name]},
        "then": form,
        "else": of_record(other),
    })
}

fn of_fields(record: &Record) -> Map<String, Value> {
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
    let needed = record.fields.iter().filter(|f| matches!(f.need, Need::Required));
    let required: Vec<_> = needed.map(|f| f.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    if record.unknown == Unknown::Error {
        schema.insert("additionalProperties".into(), json!(false));
    }
    schema
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Any | Shape::Advised(_) => json!({}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Text(kind) => parsed(kind.schema),
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
        Shape::Templated(inner) => {
            json!({"anyOf": [of(inner), {"type": "string", "pattern": "\\$\\{"}]})
        }
        Shape::Also(inner, more) => {
            let mut schema = of(inner);
            if let Value::Object(map) = &mut schema {
                map.insert("allOf".into(), json!([parsed(more)]));
            }
            schema
        }
    }
}

/// Reads a part of a schema that a table holds as text.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;
    use crate::shape::Field;

    /// Calls back with every text of a table that is read as JSON.
    fn texts(record: &'static Record, found: &mut dyn FnMut(&'static str)) {
        for Field { shape, need, .. } in record.fields {
            match need {
                Need::Default(text) => found(text),
                Need::Else(other) => texts(other, found),
                Need::Required | Need::Optional => {}
            }
            in_shape(shape, found);
        }
    }

    fn in_shape(shape: &'static Shape, found: &mut dyn FnMut(&'static str)) {
        match shape {
            Shape::Text(kind) => found(kind.schema),
            Shape::Record(record) => texts(record, found),
            Shape::Also(inner, more) => {
                found(more);
                in_shape(inner, found);
            }
            Shape::Either(first, second) => {
                in_shape(first, found);
                in_shape(second, found);
            }
            Shape::List(inner)
            | Shape::Map(inner)
            | Shape::Nullable(inner)
            | Shape::Templated(inner)
            | Shape::Advised(inner) => in_shape(inner, found),
            Shape::Any
            | Shape::Bool
            | Shape::Enum(_)
            | Shape::Integer { .. }
            | Shape::Schema
            | Shape::ClosedSchema => {}
        }
    }

    #[test]
    fn every_text_in_a_table_is_json() {
        let mut seen = 0;
        for dialect in remit_model::Dialect::ALL {
            texts(dialect::syntax(dialect), &mut |text| {
                assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
                seen += 1;
            });
        }
        assert!(seen > 50, "{seen}");
    }
}
