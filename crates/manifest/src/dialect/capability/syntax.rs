//! The fields of a capability manifest (S0).

use crate::shape::{FILLED, Field, Record, SEMVER, SNAKE_CASE, Shape, Unknown};

/// Lists the words for sensitivity.
pub(crate) static SENSITIVITIES: &[&str] = &["low", "medium", "high"];

/// Is how long a tool may run when it does not say.
pub(crate) const DEFAULT_TIMEOUT_MS: u64 = 10_000;

/// Is the longest time a manifest may ask for: a day.
pub(crate) const LONGEST_MS: i64 = 86_400_000;

/// Is the whole manifest.
pub static MANIFEST: Record = Record {
    what: "a capability manifest",
    unknown: Unknown::Error,
    fields: &[
        Field::required(
            "schema_version",
            Shape::Enum(&["1.0"]),
            "The version of this format, always \"1.0\".",
        ),
        Field::required(
            "agent_version",
            Shape::Text(&SEMVER),
            "The agent's own version, for its author.",
        ),
        Field::required(
            "tools",
            Shape::List(&Shape::Record(&TOOL)),
            "What the agent can call on the user's device.",
        ),
        Field::required(
            "permission_scopes",
            Shape::List(&ONE_SCOPE),
            "The permissions the tools need.",
        ),
        Field::required("capability_flags", Shape::Record(&FLAGS), "What else the agent can do."),
    ],
};

static TOOL: Record = Record {
    what: "a tool",
    unknown: Unknown::Error,
    fields: &[
        Field::required(
            "name",
            Shape::Text(&SNAKE_CASE),
            "The tool's name, unique in the manifest.",
        ),
        Field::required(
            "description_i18n_key",
            Shape::Text(&FILLED),
            "The key of the text shown to the user.",
        ),
        Field::required(
            "input_schema",
            Shape::ClosedSchema,
            "What the tool takes: an object, closed by additionalProperties: false.",
        ),
        Field::required(
            "permission_scope",
            Shape::Text(&FILLED),
            "The id of a scope declared in permission_scopes.",
        ),
        Field::default(
            "timeout_ms",
            Shape::Integer { min: 1, max: LONGEST_MS },
            "10000",
            "How long a call may take, in milliseconds.",
        ),
    ],
};

/// A standard scope is never declared less sensitive than it is.
static ONE_SCOPE: Shape = Shape::Also(
    &Shape::Record(&SCOPE),
    concat!(
        r#"{"allOf":["#,
        r#"{"if":{"properties":{"id":{"pattern":"^([Ff][Ii][Ll][Ee][Ss][Yy][Ss][Tt][Ee][Mm]|[Cc][Ll][Ii][Pp][Bb][Oo][Aa][Rr][Dd]):[Rr][Ee][Aa][Dd]$"}},"required":["id"]},"#,
        r#""then":{"properties":{"sensitivity":{"not":{"const":"low"}}}}},"#,
        r#"{"if":{"properties":{"id":{"pattern":"^[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]:[Rr][Ee][Aa][Dd]$"}},"required":["id"]},"#,
        r#""then":{"properties":{"sensitivity":{"not":{"enum":["low","medium"]}}}}}]}"#
    ),
);

static SCOPE: Record = Record {
    what: "a permission scope",
    unknown: Unknown::Error,
    fields: &[
        Field::required("id", Shape::Text(&FILLED), "The scope's id, best as <domain>:<action>."),
        Field::required(
            "label_i18n_key",
            Shape::Text(&FILLED),
            "The key of the text shown when asking.",
        ),
        Field::required(
            "sensitivity",
            Shape::Enum(SENSITIVITIES),
            "low runs silently, medium asks once a day, high asks every time.",
        ),
    ],
};

static FLAGS: Record = Record {
    what: "capability_flags",
    unknown: Unknown::Error,
    fields: &[
        Field::required("supports_streaming", Shape::Bool, "Whether the agent streams its output."),
        Field::required(
            "supports_artifacts",
            Shape::Bool,
            "Whether the agent sends and updates artifacts.",
        ),
        Field::required("supports_voice", Shape::Bool, "Whether the agent takes and gives voice."),
        Field::required("supports_group_chat", Shape::Bool, "Whether the agent can join a group."),
    ],
};
