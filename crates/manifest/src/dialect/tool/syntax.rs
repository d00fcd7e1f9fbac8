//! The fields of a tool manifest (S2).

use crate::dialect::capability::LONGEST_MS;
use crate::shape::{ANY_TEXT, FILLED, FORMAT_VERSION, Field, IDENTIFIER, Record, Shape, Unknown};

/// Lists the ways a tool runs.
pub(crate) static EXECUTIONS: &[&str] = &["sync", "async", "service"];

/// Lists what runs a tool's entry.
pub(crate) static RUNTIMES: &[&str] = &["python", "javascript", "native"];

/// Is how long a call may take when the manifest does not say.
pub(crate) const DEFAULT_TIMEOUT_MS: u64 = 30_000;

static TEXT: Shape = Shape::Text(&ANY_TEXT);
static NAMES: Shape = Shape::List(&Shape::Text(&FILLED));

/// Is the whole manifest.
pub static MANIFEST: Record = Record {
    what: "a tool manifest",
    unknown: Unknown::Warning,
    fields: &[
        Field::optional(
            "$schema",
            Shape::Text(&ANY_TEXT),
            "The JSON Schema an editor checks the file by.",
        ),
        Field::default(
            "manifest_version",
            Shape::Text(&FORMAT_VERSION),
            "\"1.0.0\"",
            "The version of this format.",
        ),
        Field::required("name", Shape::Text(&IDENTIFIER), "The tool's name, unique among tools."),
        Field::required("display_name", Shape::Text(&FILLED), "The name people see."),
        Field::required("description", Shape::Text(&FILLED), "What the tool does."),
        Field::optional("author", Shape::Nullable(&TEXT), "Who wrote it."),
        Field::default("version", Shape::Text(&FILLED), "\"1.0.0\"", "The tool's own version."),
        Field::default(
            "type",
            Shape::Enum(EXECUTIONS),
            "\"sync\"",
            "sync waits for the result, async hands out an execution id, service keeps one process.",
        ),
        Field::default("runtime", Shape::Enum(RUNTIMES), "\"python\"", "What runs the entry."),
        Field::required(
            "entry",
            Shape::Text(&FILLED),
            "The file inside the tools directory, or for native tools a command.",
        ),
        Field::default(
            "timeout",
            Shape::Integer { min: 1, max: LONGEST_MS },
            "30000",
            "How long a call may take, in milliseconds.",
        ),
        Field::optional(
            "config_schema",
            Shape::Nullable(&SETTINGS),
            "The settings the tool takes, by name.",
        ),
        Field::default(
            "commands",
            Shape::List(&Shape::Record(&COMMAND)),
            "[]",
            "What can be called.",
        ),
        Field::optional("tags", Shape::Nullable(&NAMES), "Words to find the tool by."),
        Field::optional(
            "dependencies",
            Shape::Nullable(&NAMES),
            "Names of other tools this one needs.",
        ),
        Field::default("enabled", Shape::Bool, "true", "Whether the tool is offered at all."),
    ],
};

/// Parameters are an object, and their schema is no map of parameters: all its values would have a
/// type.
static PARAMETERS: Shape = Shape::Also(
    &Shape::Schema,
    r#"{"properties":{"type":{"const":"object"}},"not":{"type":"object","minProperties":1,"additionalProperties":{"type":"object","required":["type"]}}}"#,
);

/// A schema in place of the map would have `properties` that are no setting of that name.
static SETTINGS: Shape = Shape::Also(
    &Shape::Map(&ONE_SETTING),
    r#"{"properties":{"properties":{"properties":{"type":{"type":"string"}},"required":["type"]}}}"#,
);

/// A setting is a schema, but for `required`: a list of names only where it has fields to name.
static ONE_SETTING: Shape = Shape::Also(
    &Shape::Record(&SETTING),
    concat!(
        r#"{"allOf":["#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/0"},"#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/1"},"#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/2"},"#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/4"},"#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/5"},"#,
        r#"{"$ref":"https://json-schema.org/draft/2020-12/schema#/allOf/6"}],"#,
        r#""properties":{"#,
        r#""type":{"$ref":"https://json-schema.org/draft/2020-12/meta/validation#/properties/type"},"#,
        r#""enum":{"type":"array"},"#,
        r#""multipleOf":{"type":"number","exclusiveMinimum":0},"#,
        r#""minimum":{"type":"number"},"maximum":{"type":"number"},"#,
        r#""exclusiveMinimum":{"type":"number"},"exclusiveMaximum":{"type":"number"},"#,
        r#""minLength":{"type":"integer","minimum":0},"maxLength":{"type":"integer","minimum":0},"#,
        r#""minItems":{"type":"integer","minimum":0},"maxItems":{"type":"integer","minimum":0},"#,
        r#""minProperties":{"type":"integer","minimum":0},"#,
        r#""maxProperties":{"type":"integer","minimum":0},"#,
        r#""pattern":{"type":"string"},"uniqueItems":{"type":"boolean"}},"#,
        r#""if":{"properties":{"required":{"type":"array"}},"required":["required"]},"#,
        r#""then":{"properties":{"type":{"const":"object"}},"required":["type"]}}"#
    ),
);

static COMMAND: Record = Record {
    what: "a command",
    unknown: Unknown::Warning,
    fields: &[
        Field::required(
            "name",
            Shape::Text(&IDENTIFIER),
            "The command's name, unique in the tool.",
        ),
        Field::required(
            "description",
            Shape::Text(&FILLED),
            "What the command does, for the model.",
        ),
        Field::optional(
            "parameters",
            Shape::Nullable(&PARAMETERS),
            "What the command takes, as JSON Schema.",
        ),
        Field::optional(
            "required",
            Shape::Nullable(&NAMES),
            "Parameters that must be given, beside those in `parameters`.",
        ),
        Field::optional("example", Shape::Nullable(&TEXT), "An example of a call."),
    ],
};

/// Is one setting. Beside these fields it may hold any schema keyword, so it is judged as a schema
/// elsewhere; `required` and `secret` are what a schema does not have.
static SETTING: Record = Record {
    what: "a setting",
    unknown: Unknown::Allowed,
    fields: &[
        Field::optional("description", Shape::Text(&ANY_TEXT), "What the setting is for."),
        Field::default(
            "required",
            Shape::Either(&Shape::Bool, &NAMES),
            "false",
            "Whether the tool cannot run without it; for an object, a list names its own required fields.",
        ),
        Field::default("secret", Shape::Bool, "false", "Whether its value must never be shown."),
    ],
};
