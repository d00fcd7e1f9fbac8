//! The JSON Schemas of the inputs, as models see them.

mod calendar;
mod other;

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::action::Action;
use crate::failure::Failure;

struct Compiled {
    schema: Value,
    validator: Option<Validator>,
}

static SCHEMAS: LazyLock<Vec<(Action, Compiled)>> = LazyLock::new(|| {
    Action::ALL
        .iter()
        .map(|action| {
            let schema = write(*action);
            let validator = jsonschema::draft202012::new(&schema).ok();
            (*action, Compiled { schema, validator })
        })
        .collect()
});

fn write(action: Action) -> Value {
    match action {
        Action::CalendarRead => calendar::read(),
        Action::CalendarCreate => calendar::create(),
        Action::CalendarUpdate => calendar::update(),
        Action::CalendarDelete => calendar::delete(),
        Action::CalendarShare => calendar::share(),
        Action::CalendarAcceptInvite => calendar::answer("Accepts"),
        Action::CalendarRejectInvite => calendar::answer("Rejects"),
        Action::ContactsRead => other::contacts_read(),
        Action::MemoryRead => other::memory_read(),
        Action::MemoryUpdate => other::memory_update(),
    }
}

/// Gives the schema of an action's input.
pub(crate) fn of(action: Action) -> &'static Value {
    static NONE: Value = Value::Null;
    find(action).map_or(&NONE, |compiled| &compiled.schema)
}

fn find(action: Action) -> Option<&'static Compiled> {
    SCHEMAS.iter().find(|(other, _)| *other == action).map(|(_, compiled)| compiled)
}

/// Holds an input against the schema of its action. Values are not repeated in the message.
pub(crate) fn check(action: Action, input: &Value) -> Result<(), Failure> {
    let Some(validator) = find(action).and_then(|compiled| compiled.validator.as_ref()) else {
        return Err(Failure::input("", "the schema of this method cannot be read"));
    };
    match validator.validate(input) {
        Ok(()) => Ok(()),
        Err(error) => {
            let pointer = error.instance_path().to_string();
            let place =
                if pointer.is_empty() { "the input".to_owned() } else { format!("`{pointer}`") };
            // Of alternatives the words of the schema say more than that none of them fits.
            let reason = match (error.kind().keyword(), of(action).get("description")) {
                ("oneOf" | "anyOf", Some(Value::String(words))) if pointer.is_empty() => {
                    format!("it fits none of the alternatives; it {}", lower_first(words))
                }
                _ => crate::failure::shown(&error.masked().to_string()),
            };
            let message = format!(
                "{}.{} input does not match its schema: {place}: {reason}",
                action.module(),
                action.method()
            );
            Err(Failure::input(pointer, message))
        }
    }
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// Writes a text with a length.
fn text(description: &str, most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": description })
}

/// Writes an input object.
fn object(description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
