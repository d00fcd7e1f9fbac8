//! The older, shipped format (`.kiro/agents/*.json`, `.amazonq/cli-agents/*.json`).
//!
//! A file without `version` is judged by it: what the agent format refuses and this format allows is
//! a note or a warning, and an error only under `--strict`. The same goes for values of an
//! unexpected type, which the programs that read these files put up with.

use remit_model::{Node, Object, Severity, text};

use super::syntax::{INPUT_SCHEMA, MANIFEST, SERVER};
use crate::report::{Finding, Report};
use crate::rules;
use crate::schema;
use crate::shape::{ANY_TEXT, Field, Record, Shape, Unknown};

/// Says which format a file is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// S4.
    Current,
    /// The older one.
    Legacy,
}

impl Format {
    /// Tells the format: S4's files have a version.
    pub(super) fn of(root: &Node) -> Self {
        match root.get("version") {
            Some(version) if !version.is_null() => Self::Current,
            _ => Self::Legacy,
        }
    }

    /// Lowers a finding that the older format forgives; `--strict` forgives nothing.
    pub(super) fn forgive<'f, 't>(
        self,
        finding: &'f mut Finding<'t>,
        severity: Severity,
    ) -> &'f mut Finding<'t> {
        match self {
            Self::Current => finding,
            Self::Legacy => finding.severity(severity).strict(),
        }
    }
}

const TEXT: Shape = Shape::Text(&ANY_TEXT);
const TEXTS: Shape = Shape::List(&TEXT);

/// Is the older format for editors: they allow whatever is not worth an error here. Beside the two
/// fields in which something is, it lists those that only the older format has.
pub(super) static OLDER: Record = Record {
    what: "an agent of the older format",
    fields: &[
        Field::optional(
            "inputSchema",
            Shape::Nullable(&INPUT_SCHEMA),
            "What the agent takes when it is called as a tool.",
        ),
        Field::optional(
            "mcpServers",
            Shape::Also(&Shape::Any, NOT_BOTH),
            "The MCP servers the agent can reach, by name.",
        ),
        older("prompt", &TEXT, "The system prompt, or a `file://` path to it."),
        older("promptFile", &TEXT, "A path to the system prompt."),
        older("systemPrompt", &TEXT, "The system prompt."),
        older("instructions", &Shape::Any, "The system prompt."),
        older("hooks", &Shape::Any, "Commands run at set moments."),
        older("toolAliases", &Shape::Map(&TEXT), "Other names for tools."),
        older("toolSchema", &Shape::Any, "Schemas of tools."),
        older("includeMcpJson", &Shape::Bool, "Whether servers of mcp.json files are added."),
        older("useLegacyMcpJson", &Shape::Bool, "Whether servers of mcp.json files are added."),
        older("welcomeMessage", &TEXT, "A text shown at the start."),
        older("keyboardShortcut", &TEXT, "A key that switches to the agent."),
        older("tags", &Shape::Any, "Words to find the agent by."),
        older("metadata", &Shape::Any, "Anything else."),
    ],
    unknown: Unknown::Allowed,
};

const fn older(name: &'static str, shape: &'static Shape, doc: &'static str) -> Field {
    Field::optional(name, Shape::Advised(shape), doc)
}

/// No server is both local and remote: which of the two would run is anybody's guess.
const NOT_BOTH: &str = concat!(
    r#"{"additionalProperties":{"not":{"type":"object","required":["command","url"],"#,
    r#""properties":{"command":{"type":"string","pattern":"\\S"},"#,
    r#""url":{"type":"string","pattern":"\\S"}}}}}"#
);

/// Lists the fields that servers have in the older format only.
pub(super) static SERVER_FIELDS: &[Field] = &[
    Field::optional("disabled", Shape::Bool, "Whether the server is left out."),
    Field::optional("autoApprove", TEXTS, "Its tools that run without asking."),
    Field::optional("alwaysAllow", TEXTS, "Its tools that run without asking."),
    Field::optional("disabledTools", TEXTS, "Its tools that are left out."),
    Field::optional("timeout", Shape::Any, "How long a request may take."),
    Field::optional("initTimeout", Shape::Any, "How long starting may take."),
    Field::optional("type", TEXT, "The transport: `stdio`, `http` or `sse`."),
    Field::optional("transportType", TEXT, "The transport: `stdio`, `http` or `sse`."),
    Field::optional("oauth", Shape::Any, "How to authenticate."),
    Field::optional("oauthScopes", Shape::Any, "What to authenticate for."),
    Field::optional("cwd", TEXT, "The directory the program starts in."),
    Field::optional("envFile", TEXT, "A file with environment variables."),
    Field::optional("name", TEXT, "A name for people."),
    Field::optional("description", TEXT, "What the server does."),
    Field::optional("$schema", Shape::Any, "The schema editors check this by."),
];

/// Says once that the file is in the older format, and judges its values by their type.
pub(super) fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    report
        .at(
            &rules::LEGACY_FORMAT,
            root,
            "this agent has no `version`, so it is judged by the older format",
        )
        .help("add `version`, such as \"1.0.0\", to have it judged by the agent format")
        .strict();
    let Some(object) = root.as_object() else { return };
    fields(object, &[MANIFEST.fields, OLDER.fields], report);
    let servers = root.get("mcpServers").and_then(Node::as_object);
    for server in servers.map(Object::members).unwrap_or_default() {
        if let Some(server) = server.value.as_object() {
            fields(server, &[SERVER_FIELDS], report);
        }
    }
}

/// Reports the fields of an object that are not of the agent format.
pub(super) fn other_fields<'t>(
    object: &'t Object,
    record: &'static Record,
    older: &'static [Field],
    format: Format,
    report: &mut Report<'t>,
) {
    let names = || record.fields.iter().chain(older).map(|field| field.name);
    for member in object.members() {
        if record.fields.iter().any(|field| field.name == &*member.key) {
            continue;
        }
        let key = text::quoted(&member.key);
        if let Some(field) = older.iter().find(|field| field.name == &*member.key) {
            if field.name == "$schema" {
                continue;
            }
            let finding = report.at_key(
                &rules::LEGACY_FIELD,
                member,
                format!("{key} is a field of the older format"),
            );
            finding.severity(Severity::Warning);
            format.forgive(finding, Severity::Note);
            continue;
        }
        let meant = report.suggest(&member.key, names());
        let finding = report.at_key(
            &rules::UNKNOWN_FIELD,
            member,
            format!("{} has no field {key}", record.what),
        );
        finding.severity(Severity::Warning);
        if let Some(meant) = meant {
            finding.help(format!("did you mean `{meant}`?"));
        }
    }
}

fn fields<'t>(object: &'t Object, tables: &[&'static [Field]], report: &mut Report<'t>) {
    for member in object.members() {
        let mut known = tables.iter().flat_map(|table| table.iter());
        let Some(field) = known.find(|field| field.name == &*member.key) else { continue };
        if member.value.is_null() && !matches!(field.shape, Shape::Any | Shape::Advised(Shape::Any))
        {
            report
                .at(&rules::WRONG_TYPE, &member.value, "null counts as leaving the field out")
                .severity(Severity::Note)
                .strict();
        } else {
            typed(&member.value, &field.shape, report);
        }
    }
}

/// Judges a value by the JSON types of a shape only, and never as an error.
fn typed<'t>(node: &'t Node, shape: &'static Shape, report: &mut Report<'t>) {
    let fits = match shape {
        Shape::Any | Shape::Nullable(_) => true,
        Shape::Schema | Shape::ClosedSchema => {
            let manner = schema::Manner { other_draft: Severity::Warning };
            schema::check(node, manner, report);
            true
        }
        Shape::Bool => node.as_bool().is_some(),
        Shape::Text(_) | Shape::Enum(_) => node.as_str().is_some(),
        Shape::Integer { .. } => node.as_number().is_some(),
        Shape::List(inner) => {
            let items = node.as_array();
            items.unwrap_or_default().iter().for_each(|item| typed(item, inner, report));
            items.is_some()
        }
        Shape::Map(inner) => {
            let object = node.as_object();
            let members = object.map(Object::members).unwrap_or_default();
            members.iter().for_each(|member| typed(&member.value, inner, report));
            object.is_some()
        }
        Shape::Record(record) => {
            let object = node.as_object();
            if let Some(object) = object {
                fields(object, &[record.fields], report);
            }
            object.is_some()
        }
        Shape::Either(first, second) if node.as_str().is_some() || node.as_object().is_some() => {
            typed(node, if node.as_str().is_some() { first } else { second }, report);
            true
        }
        Shape::Either(..) => false,
        Shape::Templated(inner) | Shape::Advised(inner) | Shape::Also(inner, _) => {
            typed(node, inner, report);
            true
        }
    };
    if !fits && node.as_str().is_none_or(|s| !s.contains("${")) {
        report
            .at(
                &rules::WRONG_TYPE,
                node,
                format!("this should be {}, but it is {}", wanted(shape), node.type_name()),
            )
            .severity(Severity::Warning);
    }
}

fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool => "true or false",
        Shape::Integer { .. } => "a whole number",
        Shape::List(_) => "an array",
        Shape::Map(_) | Shape::Record(_) => "an object",
        Shape::Text(_) | Shape::Enum(_) => "a string",
        Shape::Either(..) => "a string or an object",
        Shape::Templated(inner) | Shape::Advised(inner) | Shape::Also(inner, _) => wanted(inner),
        Shape::Any | Shape::Nullable(_) | Shape::Schema | Shape::ClosedSchema => "something else",
    }
}

/// Gives what [`SERVER`] and the older format together know about servers.
pub(super) fn server_fields<'t>(object: &'t Object, format: Format, report: &mut Report<'t>) {
    other_fields(object, &SERVER, SERVER_FIELDS, format, report);
}
