//! The fields of an agent manifest, as S4 lists them.

use super::legacy;
use crate::rules;
use crate::shape::{ANY_TEXT, FILLED, Field, HTTP_URL, Record, SEMVER, Shape, Text, Unknown};

/// An agent's name. The table takes any text, because the older format does; `identity` judges it.
pub(super) static AGENT_NAME: Text = Text {
    what: "a name of 1 to 64 ASCII letters, digits and `-`",
    rule: &rules::BAD_NAME,
    test: |_| true,
    schema: concat!(
        r#"{"type":"string","pattern":"^[A-Za-z0-9-]{1,64}$","not":{"pattern":"^("#,
        "[Nn][Aa][Tt][Ii][Vv][Ee]|[Bb][Uu][Ii][Ll][Tt][Ii][Nn]|[Mm][Cc][Pp]|",
        "[Rr][Ee][Mm][Ii][Tt]|[Ss][Ee][Ll][Ff]|[Ss][Yy][Ss][Tt][Ee][Mm]|",
        "[Aa][Gg][Ee][Nn][Tt]|[Tt][Oo][Oo][Ll]|[Ss][Kk][Ii][Ll][Ll]|[Aa][Ll][Ll]|",
        "[Nn][Oo][Nn][Ee]|[Cc][Oo][Nn]|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|",
        r#"([Cc][Oo][Mm]|[Ll][Pp][Tt])[0-9])$"}}"#
    ),
};

/// The text of a reference; `tools` judges what it names.
static REFERENCE: Text = Text {
    what: "a reference to a tool",
    rule: &rules::BAD_REFERENCE,
    test: |_| true,
    schema: r#"{"type":"string","pattern":"\\$\\{|^(@.|#.|[^@#\\s])"}"#,
};

/// The text of a resource; `resources` judges what it names.
static RESOURCE_TEXT: Text = Text {
    what: "a resource",
    rule: &rules::BAD_RESOURCE,
    test: |_| true,
    schema: r#"{"type":"string","not":{"pattern":"^(file|skill)://\\s*$"}}"#,
};

/// A schema that says nothing but true or false takes any call or none; another is of an object.
pub(super) const INPUT_SCHEMA: Shape = Shape::Also(
    &Shape::Schema,
    r#"{"properties":{"type":{"const":"object"}},"if":{"type":"object"},"then":{"required":["type"]}}"#,
);

/// The whole manifest. Fields outside the table are sorted into older and unknown ones by `legacy`.
pub static MANIFEST: Record = Record {
    what: "an agent manifest",
    fields: &[
        Field::required("name", Shape::Text(&AGENT_NAME), "The agent's name, as in `#name`."),
        // Without it a file is judged by the older format, so the table cannot require it.
        Field::or_else("version", Shape::Text(&SEMVER), &legacy::OLDER, "The agent's own version."),
        Field::optional(
            "description",
            Shape::Text(&ANY_TEXT),
            "What the agent does, in few words: a model reads it when the agent is a tool.",
        ),
        Field::optional("model", Shape::Text(&FILLED), "The id of the model the agent asks."),
        Field::optional(
            "inputSchema",
            INPUT_SCHEMA,
            "What the agent takes when it is called as a tool; each property can be used as ${name}.",
        ),
        Field::optional(
            "mcpServers",
            Shape::Also(&Shape::Map(&ONE_SERVER), SERVER_NAMES),
            "The MCP servers the agent can reach, by name.",
        ),
        Field::optional(
            "tools",
            Shape::List(&Shape::Text(&REFERENCE)),
            "The tools the agent sees: `fs-read`, `@server`, `@server/tool`, `#agent`.",
        ),
        Field::optional(
            "allowedTools",
            Shape::List(&Shape::Text(&REFERENCE)),
            "The tools that run without asking.",
        ),
        Field::optional(
            "toolsSettings",
            Shape::Also(&Shape::Map(&Shape::Map(&Shape::Any)), NATIVE_SETTINGS),
            "Settings of single tools, by reference.",
        ),
        Field::optional(
            "resources",
            Shape::List(&Shape::Either(&Shape::Text(&RESOURCE_TEXT), &ONE_RESOURCE)),
            "What the agent knows from the start: prompts, `file://` paths, MCP resources.",
        ),
        Field::optional("$schema", Shape::Any, "The schema editors check this file by."),
    ],
    unknown: Unknown::Allowed,
};

/// Names that no server can have, as `servers` judges them.
const SERVER_NAMES: &str =
    r#"{"propertyNames":{"pattern":"^\\S([\\s\\S]*\\S)?$","not":{"enum":["native","builtin"]}}}"#;

/// A server is local or remote, and a local one says how it is spoken to.
static ONE_SERVER: Shape = Shape::Also(
    &Shape::Record(&SERVER),
    r#"{"oneOf":[{"required":["command"]},{"required":["url"]}],"dependentRequired":{"command":["transport"]}}"#,
);

/// A resource has a URI, or the fields that the older format has in its place.
static ONE_RESOURCE: Shape = Shape::Also(
    &Shape::Record(&RESOURCE),
    r#"{"anyOf":[{"required":["uri"]},{"required":["source"]},{"required":["type"]}]}"#,
);

/// Settings stand under references, and under the name of a native tool those that hold patterns are
/// lists of texts.
const NATIVE_SETTINGS: &str = concat!(
    r#"{"propertyNames":{"pattern":"^(@.|#.|[^@#\\s])"},"#,
    r#""patternProperties":{"^([^@#*]|\\*.|@(native|builtin)[/.]([^*]|\\*.))":{"properties":{"#,
    r#""allowedPaths":{"type":"array","items":{"type":"string"}},"#,
    r#""deniedPaths":{"type":"array","items":{"type":"string"}},"#,
    r#""allowedCommands":{"type":"array","items":{"type":"string"}},"#,
    r#""deniedCommands":{"type":"array","items":{"type":"string"}}}}}}"#
);

/// The two ways a local server can be spoken to.
pub(super) const TRANSPORTS: &[&str] = &["stdio", "streamable-http"];

/// The fields of one MCP server; `servers` judges that they are those of a local or a remote one.
pub(super) static SERVER: Record = Record {
    what: "an MCP server",
    fields: &[
        Field::optional("command", Shape::Text(&FILLED), "The program of a local server."),
        Field::optional(
            "args",
            Shape::List(&Shape::Text(&ANY_TEXT)),
            "The arguments of that program.",
        ),
        Field::optional(
            "transport",
            Shape::Templated(&Shape::Enum(TRANSPORTS)),
            "How a local server is spoken to: `stdio` or `streamable-http`.",
        ),
        Field::optional(
            "env",
            Shape::Map(&Shape::Text(&ANY_TEXT)),
            "Environment variables of that program; ${NAME} takes a value from outside.",
        ),
        Field::optional(
            "url",
            Shape::Templated(&Shape::Text(&HTTP_URL)),
            "The address of a remote server.",
        ),
        Field::optional(
            "headers",
            Shape::Map(&Shape::Text(&ANY_TEXT)),
            "HTTP headers sent to a remote server.",
        ),
        Field::optional("auth", Shape::Map(&Shape::Any), "How to authenticate at a remote server."),
    ],
    unknown: Unknown::Allowed,
};

/// A resource written as an object, as MCP lists resources.
pub(super) static RESOURCE: Record = Record {
    what: "a resource",
    fields: &[
        Field::optional("uri", Shape::Text(&FILLED), "The URI of the resource."),
        Field::optional("name", Shape::Text(&ANY_TEXT), "Its name."),
        Field::optional("title", Shape::Text(&ANY_TEXT), "Its name for people."),
        Field::optional("description", Shape::Text(&ANY_TEXT), "What it holds."),
        Field::optional("mimeType", Shape::Text(&ANY_TEXT), "Its media type."),
        Field::optional("size", Shape::Any, "Its size in bytes."),
        Field::optional("annotations", Shape::Any, "Hints for clients."),
    ],
    unknown: Unknown::Allowed,
};
