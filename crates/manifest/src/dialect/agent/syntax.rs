//! The fields of an agent manifest, as S4 lists them.

use crate::rules;
use crate::shape::{ANY_TEXT, FILLED, Field, HTTP_URL, Record, SEMVER, Shape, Text, Unknown};

/// An agent's name. The table takes any text, because the older format does; `identity` judges it.
pub(super) static AGENT_NAME: Text = Text {
    what: "a name of 1 to 64 ASCII letters, digits and `-`",
    rule: &rules::BAD_NAME,
    test: |_| true,
    schema: r#"{"type":"string","pattern":"^[A-Za-z0-9-]{1,64}$"}"#,
};

/// The whole manifest. Fields outside the table are sorted into older and unknown ones by `legacy`.
pub static MANIFEST: Record = Record {
    what: "an agent manifest",
    fields: &[
        Field::required("name", Shape::Text(&AGENT_NAME), "The agent's name, as in `#name`."),
        // Without it a file is judged by the older format, so the table cannot require it.
        Field::optional("version", Shape::Text(&SEMVER), "The agent's own version."),
        Field::optional(
            "description",
            Shape::Text(&ANY_TEXT),
            "What the agent does, in few words: a model reads it when the agent is a tool.",
        ),
        Field::optional("model", Shape::Text(&FILLED), "The id of the model the agent asks."),
        Field::optional(
            "inputSchema",
            Shape::Schema,
            "What the agent takes when it is called as a tool; each property can be used as ${name}.",
        ),
        Field::optional(
            "mcpServers",
            Shape::Map(&Shape::Record(&SERVER)),
            "The MCP servers the agent can reach, by name.",
        ),
        Field::optional(
            "tools",
            Shape::List(&Shape::Text(&ANY_TEXT)),
            "The tools the agent sees: `fs-read`, `@server`, `@server/tool`, `#agent`.",
        ),
        Field::optional(
            "allowedTools",
            Shape::List(&Shape::Text(&ANY_TEXT)),
            "The tools that run without asking.",
        ),
        Field::optional(
            "toolsSettings",
            Shape::Map(&Shape::Map(&Shape::Any)),
            "Settings of single tools, by reference.",
        ),
        Field::optional(
            "resources",
            Shape::List(&Shape::Either(&Shape::Text(&ANY_TEXT), &Shape::Record(&RESOURCE))),
            "What the agent knows from the start: prompts, `file://` paths, MCP resources.",
        ),
        Field::optional("$schema", Shape::Any, "The schema editors check this file by."),
    ],
    unknown: Unknown::Allowed,
};

/// The two ways a local server can be spoken to.
pub(super) const TRANSPORTS: &[&str] = &["stdio", "streamable-http"];

/// One MCP server, local or remote; `servers` judges that it is one of the two.
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
            Shape::Enum(TRANSPORTS),
            "How a local server is spoken to: `stdio` or `streamable-http`.",
        ),
        Field::optional(
            "env",
            Shape::Map(&Shape::Text(&ANY_TEXT)),
            "Environment variables of that program; ${NAME} takes a value from outside.",
        ),
        Field::optional("url", Shape::Text(&HTTP_URL), "The address of a remote server."),
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
