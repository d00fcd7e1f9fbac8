//! The fields of a `tools/list` result.

use crate::shape::{ANY_TEXT, Field, Record, Shape, TOOL_NAME, Unknown};

/// Is the whole result.
pub static RESULT: Record = Record {
    what: "a tools/list result",
    unknown: Unknown::Allowed,
    fields: &[
        Field::required(
            "tools",
            Shape::List(&Shape::Record(&TOOL)),
            "The tools the server offers.",
        ),
        Field::optional(
            "nextCursor",
            Shape::Nullable(&Shape::Text(&ANY_TEXT)),
            "Where the next page of the list starts.",
        ),
    ],
};

/// An input is an object, and its schema says so.
const INPUT_SCHEMA: Shape = Shape::Also(
    &Shape::Schema,
    r#"{"type":"object","properties":{"type":{"const":"object"}},"required":["type"]}"#,
);

static TOOL: Record = Record {
    what: "a tool",
    unknown: Unknown::Allowed,
    fields: &[
        Field::required("name", Shape::Text(&TOOL_NAME), "The tool's name, unique in the list."),
        Field::optional("title", Shape::Nullable(&Shape::Text(&ANY_TEXT)), "A name for people."),
        Field::optional(
            "description",
            Shape::Nullable(&Shape::Text(&ANY_TEXT)),
            "What the tool does, for the model.",
        ),
        Field::required("inputSchema", INPUT_SCHEMA, "What the tool takes: an object."),
        Field::optional(
            "outputSchema",
            Shape::Nullable(&Shape::Schema),
            "What the tool gives back.",
        ),
        Field::optional(
            "annotations",
            Shape::Nullable(&Shape::Map(&Shape::Any)),
            "Hints about what the tool does.",
        ),
    ],
};
