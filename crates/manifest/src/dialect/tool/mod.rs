//! Tool manifests (S2): a program with commands, run as a confined process.

mod config;
mod lower;
mod syntax;

use remit_model::{Node, Object, Severity, text};

use crate::dialect::capability;
use crate::report::Report;
use crate::rules;
use crate::schema;
use crate::shape::{self, Manner, Shape};

pub(crate) use lower::command_schema;
pub use lower::lower;
pub use syntax::MANIFEST;

/// Judges a tool manifest.
pub fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    static SHAPE: Shape = Shape::Record(&MANIFEST);
    let schemas = schema::Manner { other_draft: Severity::Warning };
    shape::check(root, &SHAPE, Manner { schemas, templates: false }, report);
    check_versions(root, report);
    check_entry(root, report);
    if let Some(settings) = root.get("config_schema") {
        config::check(settings, report);
    }
    let commands = root.get("commands");
    let list = commands.and_then(Node::as_array).unwrap_or_default();
    if list.is_empty() && commands.is_none_or(|c| c.as_array().is_some()) {
        report
            .at(
                &rules::NO_COMMANDS,
                commands.unwrap_or(root),
                "the tool has no commands, so nothing can be called",
            )
            .help("add at least one to `commands`");
    }
    capability::unique(list, "name", "command", report);
    for command in list {
        check_parameters(command, report);
    }
    check_own_name(root, report);
}

fn check_versions<'t>(root: &'t Node, report: &mut Report<'t>) {
    if let Some(node) = root.get("manifest_version")
        && let Some(version) = node.as_str()
        && version
            .split('.')
            .next()
            .and_then(|major| major.parse::<u32>().ok())
            .is_some_and(|major| major != 1)
    {
        report
            .at(
                &rules::UNSUPPORTED_VERSION,
                node,
                format!("manifest_version {} is not one Remit reads", text::quoted(version)),
            )
            .help("write \"1.0.0\"");
    }
    if let Some(node) = root.get("version")
        && let Some(version) = node.as_str()
        && semver::Version::parse(version).is_err()
    {
        report
            .at(
                &rules::BAD_VERSION,
                node,
                format!("{} is not a semantic version such as `1.2.3`", text::quoted(version)),
            )
            .severity(Severity::Warning);
    }
}

/// An entry is a path inside the tools directory; a native one may be a bare command.
fn check_entry<'t>(root: &'t Node, report: &mut Report<'t>) {
    let Some(node) = root.get("entry") else { return };
    let Some(entry) = node.as_str().filter(|entry| !entry.trim().is_empty()) else { return };
    let drive = entry.as_bytes().get(1) == Some(&b':');
    // A leading dash would be an option of the interpreter, a template or a scheme something else.
    let odd =
        entry.starts_with('-') || entry == "." || entry.contains("${") || entry.contains("://");
    let absolute = entry.starts_with(['/', '\\', '~']) || drive || odd;
    let climbs = entry.split(['/', '\\']).any(|part| part == "..");
    if absolute || climbs || entry.contains('\0') {
        report
            .at(
                &rules::ENTRY_OUTSIDE,
                node,
                if climbs {
                    format!(
                        "{} has a `..` in it, which could lead out of the tools directory",
                        text::quoted(entry)
                    )
                } else {
                    format!("{} is not a path inside the tools directory", text::quoted(entry))
                },
            )
            .help("write a path relative to the tools directory, without `..`");
        return;
    }
    let runtime = root.get("runtime").and_then(Node::as_str).unwrap_or("python");
    let ending = entry.rsplit_once('.').map(|(_, ending)| ending);
    let other = match (runtime, ending) {
        ("python", Some("js" | "mjs" | "cjs" | "ts")) => Some("javascript"),
        ("javascript", Some("py")) => Some("python"),
        _ => None,
    };
    if let Some(other) = other {
        report
            .at(
                &rules::ENTRY_RUNTIME,
                node,
                format!("{} does not look like {runtime}", text::quoted(entry)),
            )
            .help(format!("write runtime: {other}"));
    }
}

fn check_parameters<'t>(command: &'t Node, report: &mut Report<'t>) {
    let parameters = command.get("parameters").filter(|p| !p.is_null());
    if let Some(schema) = parameters {
        if looks_like_property_map(schema) {
            report
                .at(
                    &rules::SCHEMA_NOT_OBJECT,
                    schema,
                    "parameters is a schema, not a map of parameters",
                )
                .help("write type: object, and put the parameters under `properties`");
        } else if schema.as_object().is_some_and(|o| o.get("type").is_some()) {
            schema::expect_object(schema, Severity::Error, report);
        }
    }
    let properties = parameters.and_then(|p| p.get("properties")).and_then(Node::as_object);
    let Some(required) = command.get("required").and_then(Node::as_array) else { return };
    for node in required {
        let Some(name) = node.as_str().filter(|n| properties.is_none_or(|p| p.get(n).is_none()))
        else {
            continue;
        };
        let known = properties.map(Object::members).unwrap_or_default();
        let meant = report.suggest(name, known.iter().map(|m| &*m.key)).map(str::to_owned);
        let finding = report.at(
            &rules::UNDECLARED_REQUIRED,
            node,
            format!("{} is required but not among the parameters", text::quoted(name)),
        );
        if let Some(meant) = meant {
            finding.help(format!("did you mean {}?", text::quoted(&meant)));
        }
    }
}

/// Without any keyword of an object schema, but with values that are schemas, it is a map.
fn looks_like_property_map(schema: &Node) -> bool {
    let Some(object) = schema.as_object() else { return false };
    !object.is_empty()
        && ["type", "properties", "$ref", "allOf", "anyOf", "oneOf"].iter().all(|k| {
            object
                .get(k)
                .is_none_or(|node| node.as_object().is_some_and(|o| o.get("type").is_some()))
        })
        && object.members().iter().all(|m| m.value.get("type").is_some())
}

/// A tool that depends on itself needs no second file to be wrong.
fn check_own_name<'t>(root: &'t Node, report: &mut Report<'t>) {
    let Some(own) = root.get("name").and_then(Node::as_str) else { return };
    let dependencies = root.get("dependencies").and_then(Node::as_array).unwrap_or_default();
    for node in dependencies.iter().filter(|d| d.as_str() == Some(own)) {
        report
            .at(&rules::CYCLIC_DEPENDENCY, node, format!("{} depends on itself", text::quoted(own)))
            .help("remove it from `dependencies`");
    }
}
