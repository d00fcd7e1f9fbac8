//! The fields of a skill descriptor, as S3 chapter 4 lists them.

use crate::rules;
use crate::shape::{
    ANY_TEXT, DATE_TIME, FILLED, Field, HTTP_URL, IDENTIFIER, MEDIA_TYPE, Record, SEMVER, Shape,
    Text, Unknown,
};

/// Is a skill descriptor.
pub static MANIFEST: Record = Record {
    what: "a skill descriptor",
    fields: &[
        Field::optional("$schema", Shape::Text(&ANY_TEXT), "the JSON Schema editors check it by"),
        Field::required(
            "protocol",
            Shape::Record(&PROTOCOL),
            "which version of the skill protocol it follows",
        ),
        Field::required(
            "id",
            Shape::Text(&SKILL_ID),
            "what the skill is called by, such as `com.example.translate-v1`",
        ),
        Field::required("name", Shape::Text(&FILLED), "what people call the skill"),
        Field::required("version", Shape::Text(&SEMVER), "the version of the skill"),
        Field::required(
            "capability_type",
            Shape::Enum(CAPABILITY_TYPES),
            "what kind of thing the skill is (plugin, api, knowledge or task)",
        ),
        Field::required("description", Shape::Text(&FILLED), "what the skill does"),
        Field::required("provider", Shape::Record(&PROVIDER), "who offers the skill"),
        Field::required("endpoint", Shape::Record(&ENDPOINT), "where and how the skill is called"),
        Field::required("inputs", Shape::List(&ONE_INPUT), "the inputs it takes"),
        Field::required("output", Shape::Record(&OUTPUT), "what it gives back"),
        Field::required("auth", AUTH_OF_ITS_TYPE, "how a caller proves who they are"),
        Field::required(
            "access",
            Shape::Enum(ACCESS),
            "who may find and call it (public, restricted or private)",
        ),
        Field::optional(
            "tags",
            Shape::List(&Shape::Text(&FILLED)),
            "words to search and sort skills by",
        ),
        Field::optional(
            "documentation_url",
            Shape::Text(&HTTP_URL),
            "where the skill is documented",
        ),
        Field::optional(
            "created_at",
            Shape::Text(&DATE_TIME),
            "when the skill was first published",
        ),
        Field::optional("updated_at", Shape::Text(&DATE_TIME), "when this version was published"),
    ],
    unknown: Unknown::Warning,
};

/// The kinds of skill.
const CAPABILITY_TYPES: &[&str] = &["plugin", "api", "knowledge", "task"];

/// The access policies, from the widest to the narrowest.
pub(crate) const ACCESS: &[&str] = &["public", "restricted", "private"];

/// The ways to prove who one is.
const AUTH_TYPES: &[&str] = &["api_key", "oauth2", "custom", "none"];

/// What an endpoint means where it says nothing.
pub(crate) const METHOD: &str = "\"POST\"";
pub(crate) const CONTENT_TYPE: &str = "\"application/json\"";
pub(crate) const TIMEOUT_MS: &str = "30000";
pub(crate) const MAX_ATTEMPTS: &str = "1";
pub(crate) const BACKOFF_MS: &str = "1000";

static PROTOCOL: Record = Record {
    what: "`protocol`",
    fields: &[
        Field::required(
            "version",
            Shape::Also(&Shape::Text(&SEMVER), r#"{"pattern":"^1\\."}"#),
            "the version of the protocol, such as 1.0.0",
        ),
        Field::optional(
            "changelog_url",
            Shape::Text(&HTTP_URL),
            "where the changes of the protocol are listed",
        ),
    ],
    unknown: Unknown::Warning,
};

static PROVIDER: Record = Record {
    what: "`provider`",
    fields: &[
        Field::required("name", Shape::Text(&FILLED), "the name of the person or organisation"),
        Field::optional("url", Shape::Text(&HTTP_URL), "their page"),
        Field::optional("contact", Shape::Text(&FILLED), "how to reach them"),
    ],
    unknown: Unknown::Warning,
};

static ENDPOINT: Record = Record {
    what: "`endpoint`",
    fields: &[
        Field::required("url", Shape::Text(&HTTP_URL), "the URL calls are sent to"),
        Field::default(
            "method",
            Shape::Enum(&["POST", "GET", "PUT", "PATCH", "DELETE"]),
            METHOD,
            "the HTTP method of a call",
        ),
        Field::default(
            "content_type",
            Shape::Text(&MEDIA_TYPE),
            CONTENT_TYPE,
            "the media type of the body of a call",
        ),
        Field::optional(
            "status_url",
            Shape::Text(&EXECUTION_URL),
            "where the state of an execution is asked for, with `{execution_id}` where its id goes",
        ),
        Field::optional(
            "result_url",
            Shape::Text(&EXECUTION_URL),
            "where the result of an execution is fetched, with `{execution_id}` where its id goes",
        ),
        Field::default(
            "timeout_ms",
            Shape::Integer { min: 1, max: 86_400_000 },
            TIMEOUT_MS,
            "how long a call may take in all, in milliseconds",
        ),
        Field::optional(
            "retry",
            Shape::Record(&RETRY),
            "how often a call that is safe to repeat is tried",
        ),
    ],
    unknown: Unknown::Warning,
};

static RETRY: Record = Record {
    what: "`retry`",
    fields: &[
        Field::default(
            "max_attempts",
            Shape::Integer { min: 1, max: 10 },
            MAX_ATTEMPTS,
            "how often a call is tried in all",
        ),
        Field::default(
            "backoff_ms",
            Shape::Integer { min: 0, max: 3_600_000 },
            BACKOFF_MS,
            "the first pause between two tries, in milliseconds",
        ),
    ],
    unknown: Unknown::Warning,
};

static INPUT: Record = Record {
    what: "an input",
    fields: &[
        Field::required("name", Shape::Text(&IDENTIFIER), "the name of the input"),
        Field::required(
            "type",
            Shape::Enum(&["string", "number", "integer", "boolean", "object", "array"]),
            "the JSON type of its value",
        ),
        Field::optional("description", Shape::Text(&ANY_TEXT), "what it is for"),
        Field::default("required", Shape::Bool, "false", "whether a call must bring it"),
        Field::default("default", Shape::Any, "null", "its value if left out; null for none"),
        Field::optional(
            "schema",
            Shape::Also(&Shape::Schema, r#"{"type":"object"}"#),
            "what else its value must fulfil",
        ),
    ],
    unknown: Unknown::Warning,
};

/// A schema adds to the type of its input; the types in it are that one.
static ONE_INPUT: Shape = Shape::Also(
    &Shape::Record(&INPUT),
    concat!(
        r#"{"allOf":["#,
        r#"{"if":{"properties":{"type":{"const":"string"}}},"then":{"properties":{"schema":{"properties":{"type":{"enum":["string",["string"]]}}}}}},"#,
        r#"{"if":{"properties":{"type":{"enum":["number","integer"]}}},"then":{"properties":{"schema":{"properties":{"type":{"anyOf":[{"enum":["number","integer"]},{"items":{"enum":["number","integer"]},"type":"array"}]}}}}}},"#,
        r#"{"if":{"properties":{"type":{"const":"boolean"}}},"then":{"properties":{"schema":{"properties":{"type":{"enum":["boolean",["boolean"]]}}}}}},"#,
        r#"{"if":{"properties":{"type":{"const":"object"}}},"then":{"properties":{"schema":{"properties":{"type":{"enum":["object",["object"]]}}}}}},"#,
        r#"{"if":{"properties":{"type":{"const":"array"}}},"then":{"properties":{"schema":{"properties":{"type":{"enum":["array",["array"]]}}}}}}]}"#
    ),
);

static OUTPUT: Record = Record {
    what: "`output`",
    fields: &[
        Field::default(
            "content_type",
            Shape::Text(&MEDIA_TYPE),
            CONTENT_TYPE,
            "the media type of the answer",
        ),
        Field::optional("schema", Shape::Schema, "the JSON Schema of the answer"),
        Field::optional("description", Shape::Text(&ANY_TEXT), "what the answer holds"),
    ],
    unknown: Unknown::Warning,
};

/// Each type has the fields it needs, and none of another's.
const AUTH_OF_ITS_TYPE: Shape = Shape::Also(
    &Shape::Record(&AUTH),
    concat!(
        r#"{"allOf":["#,
        r#"{"if":{"properties":{"type":{"const":"api_key"}},"required":["type"]},"then":{"required":["header"],"properties":{"oauth2":false}}},"#,
        r#"{"if":{"properties":{"type":{"const":"oauth2"}},"required":["type"]},"then":{"required":["oauth2"],"properties":{"header":false}}},"#,
        r#"{"if":{"properties":{"type":{"const":"custom"}},"required":["type"]},"then":{"properties":{"oauth2":false}}},"#,
        r#"{"if":{"properties":{"type":{"const":"none"}},"required":["type"]},"then":{"properties":{"header":false,"oauth2":false}}}]}"#
    ),
);

pub(super) static AUTH: Record = Record {
    what: "`auth`",
    fields: &[
        Field::required("type", Shape::Enum(AUTH_TYPES), "api_key, oauth2, custom or none"),
        Field::optional("description", Shape::Text(&ANY_TEXT), "how to get access"),
        Field::optional("header", Shape::Text(&HEADER), "the HTTP header that carries the key"),
        Field::optional("oauth2", Shape::Record(&OAUTH2), "where tokens come from"),
    ],
    unknown: Unknown::Warning,
};

pub(super) static OAUTH2: Record = Record {
    what: "`oauth2`",
    fields: &[
        Field::optional(
            "authorization_url",
            Shape::Text(&HTTP_URL),
            "where a user agrees to the access",
        ),
        Field::required("token_url", Shape::Text(&HTTP_URL), "where a token is fetched"),
        Field::optional(
            "scopes",
            Shape::Also(
                &Shape::Map(&Shape::Text(&ANY_TEXT)),
                r#"{"propertyNames":{"pattern":"^[!#-\\[\\]-~]+$"}}"#,
            ),
            "the scopes a token can have, each with what it allows",
        ),
    ],
    unknown: Unknown::Warning,
};

/// An id becomes a segment of a URL, so it needs no escaping there and is never `.` or `..`.
static SKILL_ID: Text = Text {
    what: "an id of ASCII letters, digits, `.`, `_` and `-` that starts with a letter or a digit",
    rule: &rules::BAD_NAME,
    test: |s| {
        s.starts_with(|c: char| c.is_ascii_alphanumeric())
            && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    },
    schema: r#"{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]*$"}"#,
};

/// What is wrong with one takes more than a yes or no to explain: `urls.rs` judges it.
static EXECUTION_URL: Text = Text {
    what: "an absolute http or https URL with `{execution_id}` in it",
    rule: &rules::BAD_URL_TEMPLATE,
    test: |_| true,
    schema: r#"{"type":"string","pattern":"^[Hh][Tt][Tt][Pp][Ss]?://[^{}/?#\\s]+([/?][^{}#]*\\{execution_id\\}[^{}#]*(#[^{}]*)?|[^{}]*)$"}"#,
};

/// A key in a header that HTTP itself uses would change how the message is read.
static HEADER: Text = Text {
    what: "the name of an HTTP header that can carry a key, such as `X-API-Key`",
    rule: &rules::BAD_NAME,
    test: |s| {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&b);
        !s.is_empty()
            && s.bytes().all(token)
            && !HTTP_HEADERS.iter().any(|header| header.eq_ignore_ascii_case(s))
    },
    schema: concat!(
        r#"{"type":"string","pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$","not":{"pattern":"^("#,
        "[Cc][Oo][Nn][Nn][Ee][Cc][Tt][Ii][Oo][Nn]|",
        "[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-([Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg]|",
        "[Ll][Ee][Nn][Gg][Tt][Hh]|[Tt][Yy][Pp][Ee])|",
        "[Ee][Xx][Pp][Ee][Cc][Tt]|[Hh][Oo][Ss][Tt]|",
        "[Kk][Ee][Ee][Pp]-[Aa][Ll][Ii][Vv][Ee]|[Tt][Ee]|[Tt][Rr][Aa][Ii][Ll][Ee][Rr]|",
        "[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg]|",
        r#"[Uu][Pp][Gg][Rr][Aa][Dd][Ee])$"}}"#
    ),
};

const HTTP_HEADERS: &[&str] = &[
    "Connection",
    "Content-Encoding",
    "Content-Length",
    "Content-Type",
    "Expect",
    "Host",
    "Keep-Alive",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];
