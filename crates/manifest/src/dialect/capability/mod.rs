//! Capability manifests (S0): what an agent can do on a user's device, and what it must be allowed.

mod lower;
mod syntax;

use std::collections::{HashMap, HashSet};

use remit_model::{Node, Sensitivity, Severity, canonical, name, text};

use crate::report::Report;
use crate::rules;
use crate::schema;
use crate::shape::{self, Manner, Shape};

pub use lower::lower;
pub use syntax::MANIFEST;
pub(crate) use syntax::{DEFAULT_TIMEOUT_MS, LONGEST_MS};

/// Is the most bytes a manifest may have.
pub const MOST_BYTES: usize = 131_072;

/// Is from how many bytes on the author is warned.
pub const LARGE_BYTES: usize = 65_536;

/// Lists the scopes every client knows, with the least sensitivity they may be declared with.
pub static STANDARD_SCOPES: [(&str, Sensitivity); 4] = [
    ("notification:send", Sensitivity::Low),
    ("filesystem:read", Sensitivity::Medium),
    ("clipboard:read", Sensitivity::Medium),
    ("location:read", Sensitivity::High),
];

/// Judges the size, as received and in canonical form. Tells whether it may be looked at at all.
pub(crate) fn check_size<'t>(bytes: usize, root: &'t Node, report: &mut Report<'t>) -> bool {
    // Canonical text is never eight times longer than its source, so small files need not be written.
    let canonical = if bytes > LARGE_BYTES / 8 { canonical::canonical(root).len() } else { 0 };
    let size = bytes.max(canonical);
    if size > MOST_BYTES {
        report
            .at(
                &rules::MANIFEST_TOO_LARGE,
                root,
                format!("the manifest has {size} bytes; at most {MOST_BYTES} are allowed"),
            )
            .help("use fewer tools, each with a `oneOf` for its variants");
        return false;
    }
    if size >= LARGE_BYTES {
        report
            .at(
                &rules::MANIFEST_LARGE,
                root,
                format!("the manifest has {size} bytes; the limit is {MOST_BYTES}"),
            )
            .help("use fewer tools, each with a `oneOf` for its variants");
    }
    true
}

/// Judges a capability manifest.
pub fn check<'t>(root: &'t Node, report: &mut Report<'t>) {
    static SHAPE: Shape = Shape::Record(&MANIFEST);
    shape::check(root, &SHAPE, Manner::default(), report);
    let scopes = list(root, "permission_scopes");
    let tools = list(root, "tools");
    check_scopes(scopes, report);
    unique(tools, "name", "tool", report);
    let declared: HashMap<&str, &Node> =
        scopes.iter().filter_map(|scope| Some((scope.get("id")?.as_str()?, scope))).collect();
    let mut used = HashSet::new();
    for tool in tools {
        if let Some(schema) = tool.get("input_schema") {
            check_input_schema(schema, report);
        }
        let Some(reference) = tool.get("permission_scope") else { continue };
        let Some(id) = reference.as_str() else { continue };
        used.insert(id);
        if !declared.contains_key(id) && !id.trim().is_empty() {
            undefined_scope(reference, id, scopes, report);
        }
    }
    for scope in scopes {
        let Some(id) = scope.get("id") else { continue };
        if id.as_str().is_some_and(|id| !used.contains(id)) {
            let message =
                format!("no tool uses the scope {}", text::quoted(id.as_str().unwrap_or_default()));
            report
                .at(&rules::UNUSED_SCOPE, id, message)
                .help("remove it, or name it in a tool's permission_scope");
        }
    }
}

fn list<'t>(root: &'t Node, field: &str) -> &'t [Node] {
    root.get(field).and_then(Node::as_array).unwrap_or_default()
}

/// Judges that a field is unique among the elements of a list, after folding.
pub(crate) fn unique<'t>(items: &'t [Node], field: &str, what: &str, report: &mut Report<'t>) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for item in items {
        let Some(node) = item.get(field) else { continue };
        let Some(value) = node.as_str() else { continue };
        match seen.get(&name::folded(value)) {
            None => drop(seen.insert(name::folded(value), value)),
            Some(first) if *first == value => {
                report
                    .at(
                        &rules::DUPLICATE_NAME,
                        node,
                        format!("there is already a {what} {}", text::quoted(value)),
                    )
                    .help("give one of them another name");
            }
            Some(first) => {
                let message = format!(
                    "{} is the same name as the {what} {} when case, `-`, `_` and `.` are put aside",
                    text::quoted(value),
                    text::quoted(first)
                );
                report.at(&rules::DUPLICATE_NAME, node, message);
            }
        }
    }
}

fn check_scopes<'t>(scopes: &'t [Node], report: &mut Report<'t>) {
    let mut seen = HashSet::new();
    for scope in scopes {
        let Some(node) = scope.get("id") else { continue };
        let Some(id) = node.as_str() else { continue };
        let folded = id.trim().to_lowercase();
        if id.contains(|c: char| c.is_whitespace() || text::is_hidden(c)) {
            let message = format!("{} has a character that cannot be seen", text::quoted(id));
            report.at(&rules::BAD_NAME, node, message).help("write it like filesystem:read");
        }
        if !seen.insert(folded.clone()) {
            report.at(
                &rules::DUPLICATE_NAME,
                node,
                format!("there is already a scope {}", text::quoted(id)),
            );
        }
        let well_formed = id.split_once(':').is_some_and(|(domain, action)| {
            let word = |w: &str| {
                !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
            };
            word(domain) && word(action)
        });
        if !well_formed && !id.trim().is_empty() {
            report
                .at(
                    &rules::SCOPE_FORM,
                    node,
                    format!("{} does not have the form <domain>:<action>", text::quoted(id)),
                )
                .help("write it like filesystem:read");
        }
        let declared =
            scope.get("sensitivity").and_then(|s| Some((s, Sensitivity::parse(s.as_str()?)?)));
        let standard = STANDARD_SCOPES.iter().find(|(standard, _)| *standard == folded);
        if let (Some((place, declared)), Some((_, least))) = (declared, standard)
            && declared < *least
        {
            let message = format!(
                "the standard scope {} is {}, never {}",
                text::quoted(id),
                least.as_str(),
                declared.as_str()
            );
            report
                .at(&rules::LAX_STANDARD_SCOPE, place, message)
                .help(format!("write {}", least.as_str()));
        }
    }
}

fn undefined_scope<'t>(reference: &'t Node, id: &str, scopes: &'t [Node], report: &mut Report<'t>) {
    let ids = scopes.iter().filter_map(|scope| scope.get("id")?.as_str());
    let meant = report.suggest(id, ids).map(str::to_owned);
    let finding = report.at(
        &rules::UNDEFINED_SCOPE,
        reference,
        format!("the scope {} is not declared in permission_scopes", text::quoted(id)),
    );
    match meant {
        Some(meant) => finding.help(format!("did you mean {}?", text::quoted(&meant))),
        None => finding.help("declare it in permission_scopes"),
    };
}

fn check_input_schema<'t>(schema: &'t Node, report: &mut Report<'t>) {
    if schema.as_object().is_none() {
        if schema.as_bool().is_some() {
            schema::expect_object(schema, Severity::Error, report);
        }
        return;
    }
    schema::expect_object(schema, Severity::Error, report);
    let additional = schema.get("additionalProperties");
    if additional.and_then(Node::as_bool) != Some(false) {
        report
            .at(
                &rules::OPEN_SCHEMA,
                additional.unwrap_or(schema),
                "the input schema must set `additionalProperties: false`",
            )
            .help("write additionalProperties: false, so that no argument goes unseen");
    }
}
