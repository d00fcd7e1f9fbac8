//! The inputs of the methods of contacts and memory.

use serde_json::{Value, json};

use super::{object, text};
use crate::limits::{
    FACT_CHARS, FACT_KEY_CHARS, FACTS, ID_CHARS, MEMORY_OPERATIONS, PAGE, PAGE_MOST, SEARCH_CHARS,
};

/// Writes the input of `contacts.read`.
pub(super) fn contacts_read() -> Value {
    let mut schema = object(
        "Finds people the user knows: by text, by id, or all of them",
        &json!({
            "contact_id": text("The `id` of one contact, to read it in full", ID_CHARS),
            "query": text("Words that all must occur in name, address, number, organisation or user id", SEARCH_CHARS),
            "limit": {
                "type": "integer", "minimum": 1, "maximum": PAGE_MOST,
                "description": format!("How many items a page holds; {PAGE} if left out")
            },
            "cursor": {
                "type": "string", "maxLength": 4000,
                "description": "`nextCursor` of the page before; repeat the other fields as they were"
            },
        }),
        &[],
    );
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "dependentSchemas".to_owned(),
            json!({ "contact_id": { "properties": { "query": false, "limit": false, "cursor": false } } }),
        );
    }
    schema
}

fn key() -> Value {
    json!({
        "type": "string", "maxLength": FACT_KEY_CHARS, "pattern": "^[a-z0-9][a-z0-9_.-]*$",
        "description": "The name of a fact: lower-case letters, digits and _ . - , such as diet or family.daughter"
    })
}

/// Writes the input of `memory.read`.
pub(super) fn memory_read() -> Value {
    object(
        "Reads what is remembered of the user: all facts, some keys, or those that start alike",
        &json!({
            "keys": {
                "type": "array", "minItems": 1, "maxItems": FACTS, "items": key(),
                "description": "Only these facts"
            },
            "prefix": text("Only facts whose key starts with this", FACT_KEY_CHARS),
        }),
        &[],
    )
}

/// Writes the input of `memory.update`.
pub(super) fn memory_update() -> Value {
    let value = text("What to remember", FACT_CHARS);
    let operation = |op: &str, what: &str, with_value: bool| {
        let mut properties = json!({ "op": { "const": op, "description": what }, "key": key() });
        let mut required = vec!["op", "key"];
        if with_value {
            required.push("value");
            if let Some(object) = properties.as_object_mut() {
                object.insert("value".to_owned(), value.clone());
            }
        }
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        })
    };
    object(
        "Changes what is remembered of the user; all operations happen, or none",
        &json!({
            "operations": {
                "type": "array", "minItems": 1, "maxItems": MEMORY_OPERATIONS,
                "description": "What to do, in order",
                "items": {
                    "oneOf": [
                        operation("set", "Remembers a fact, in place of what the key held", true),
                        operation("append", "Adds a line to a fact, or begins it", true),
                        operation("remove", "Forgets a fact; one that is not there is no failure", false),
                    ],
                },
            },
        }),
        &["operations"],
    )
}
