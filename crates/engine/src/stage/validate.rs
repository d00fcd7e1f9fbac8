//! Holds the input against the schema.

use remit_model::{Failure, Outcome};
use serde_json::{Value, json};

use super::{Refused, Resolved, Valid};

/// How many errors are told; more would not help.
const MOST_ERRORS: usize = 50;

/// Fills in the defaults and validates. All errors come at once, with the schema, so that a model
/// can correct itself.
pub(crate) fn validate(resolved: Resolved) -> Result<Valid, Box<Refused>> {
    let Resolved { mut call, entry } = resolved;
    let schema = &entry.capability.input_schema;
    fill_defaults(&mut call.input, schema);
    let errors = match entry.validator() {
        Some(validator) if validator.is_valid(&call.input) => {
            return Ok(Valid { call: call.into(), entry });
        }
        Some(validator) => validator.errors(&call.input),
        None => vec![(String::new(), "the input schema cannot be used".to_owned())],
    };
    let told = errors.iter().take(MOST_ERRORS);
    let list: Vec<Value> =
        told.map(|(path, message)| json!({"path": path, "message": message})).collect();
    let summary: Vec<String> = errors
        .iter()
        .take(3)
        .map(|(path, message)| match path.as_str() {
            "" => message.clone(),
            path => format!("{path}: {message}"),
        })
        .collect();
    let message = format!("the input does not fit: {}", summary.join("; "));
    let details = json!({"errors": list, "input_schema": schema});
    let outcome = Outcome::Failed(Failure::new("INVALID_INPUT", message).with_details(details));
    Err(Box::new(Refused { call: call.into(), entry: Some(entry), rule: "invalid-input", outcome }))
}

/// Puts in the defaults of properties that were left out, in objects that are there.
fn fill_defaults(input: &mut Value, schema: &Value) {
    let (Some(object), Some(properties)) =
        (input.as_object_mut(), schema.get("properties").and_then(Value::as_object))
    else {
        return;
    };
    for (name, property) in properties {
        match object.get_mut(name) {
            Some(value) => fill_defaults(value, property),
            None => {
                if let Some(default) = property.get("default") {
                    object.insert(name.clone(), default.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_fill_what_was_left_out_and_nothing_else() {
        let schema = json!({"properties": {
            "a": {"default": 1}, "b": {"default": 2},
            "c": {"properties": {"d": {"default": "x"}}}, "e": {},
        }});
        let mut input = json!({"a": null, "c": {}});
        fill_defaults(&mut input, &schema);
        assert_eq!(input, json!({"a": null, "b": 2, "c": {"d": "x"}}));
        let mut text = json!("text");
        fill_defaults(&mut text, &schema);
        assert_eq!(text, json!("text"));
    }
}
