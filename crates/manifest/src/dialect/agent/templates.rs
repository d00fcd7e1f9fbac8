//! `${name}` and `${env:NAME}`, inside strings or bare in place of a value.
//!
//! [`parts`] reads them, here and when values are put in. A name is an input if the agent declares
//! one of that name, else an environment variable; `env:` always means the environment.

use std::collections::BTreeSet;

use remit_model::{Node, Severity, Value, text};

use super::legacy::Format;
use crate::report::Report;
use crate::rules;

/// Is a stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Plain text.
    Plain(&'a str),
    /// `${name}`.
    Name(&'a str),
    /// `${env:NAME}`.
    Env(&'a str),
    /// `${` without a `}` after it; the rest of the text.
    Unclosed(&'a str),
}

/// Takes a text apart.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(after) = rest.strip_prefix("${") else {
            let (plain, later) = rest.split_at(rest.find("${").unwrap_or(rest.len()));
            rest = later;
            return Some(Part::Plain(plain));
        };
        let Some((inside, later)) = after.split_once('}') else {
            return Some(Part::Unclosed(std::mem::take(&mut rest)));
        };
        rest = later;
        Some(match inside.strip_prefix("env:") {
            Some(name) => Part::Env(name),
            None => Part::Name(inside),
        })
    })
}

/// Tells whether a name has the form that names of inputs and variables have.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Lists the fields templates are filled in. Texts about the agent itself are left as they are.
const FIELDS: [&str; 6] =
    ["model", "mcpServers", "tools", "allowedTools", "toolsSettings", "resources"];

/// Judges every template of a manifest.
pub(super) fn check<'t>(root: &'t Node, format: Format, report: &mut Report<'t>) {
    let properties = root.get("inputSchema").and_then(|schema| schema.get("properties"));
    let inputs = properties
        .and_then(Node::as_object)
        .map(|object| object.members().iter().map(|m| &*m.key).collect())
        .unwrap_or_default();
    for field in FIELDS.iter().filter_map(|field| root.get(field)) {
        walk(field, &inputs, format, report);
    }
}

fn walk<'t>(node: &'t Node, inputs: &BTreeSet<&str>, format: Format, report: &mut Report<'t>) {
    match &node.value {
        Value::String(text) | Value::Template(text) => {
            if text.contains("${") {
                parts(text).for_each(|part| judge(node, part, inputs, format, report));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, inputs, format, report)),
        Value::Object(object) => {
            object.members().iter().for_each(|m| walk(&m.value, inputs, format, report));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn judge<'t>(
    node: &'t Node,
    part: Part<'_>,
    inputs: &BTreeSet<&str>,
    format: Format,
    report: &mut Report<'t>,
) {
    let (message, help) = match part {
        Part::Plain(_) => return,
        Part::Env(name) if is_name(name) => return,
        Part::Name(name) if inputs.contains(name) => return,
        Part::Name(name) if is_name(name) => match misspelt(name, inputs, report) {
            None => return,
            Some(meant) => (
                format!("{} is not an input of this agent", text::quoted(name)),
                format!("did you mean `${{{meant}}}`? Or write `${{env:{name}}}`"),
            ),
        },
        Part::Unclosed(_) => {
            ("a `${` here has no `}` after it".to_owned(), "close it with `}`".to_owned())
        }
        Part::Env(name) | Part::Name(name) => (
            match name {
                "" => "a template here names nothing".to_owned(),
                _ => format!("{} is not the name of an input or a variable", text::quoted(name)),
            },
            "write `${name}` for an input, `${env:NAME}` for an environment variable".to_owned(),
        ),
    };
    let finding = report.at(&rules::BAD_TEMPLATE, node, message);
    finding.severity(Severity::Warning).help(help);
    format.forgive(finding, Severity::Note);
}

/// Finds the input that a name was probably meant to be. A name in capitals is a variable.
fn misspelt<'i>(
    name: &str,
    inputs: &BTreeSet<&'i str>,
    report: &mut Report<'_>,
) -> Option<&'i str> {
    let is_variable = name == "workspace" || !name.contains(|c: char| c.is_ascii_lowercase());
    if is_variable || inputs.is_empty() {
        return None;
    }
    report.suggest(name, inputs.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, valid_with};
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        let all: Vec<_> = parts("a${b}${env:C}d${").collect();
        assert_eq!(
            all,
            [
                Part::Plain("a"),
                Part::Name("b"),
                Part::Env("C"),
                Part::Plain("d"),
                Part::Unclosed("${")
            ]
        );
        assert_eq!(parts("$a {b}").collect::<Vec<_>>(), [Part::Plain("$a {b}")]);
        assert_eq!(parts("").count(), 0);
    }

    #[test]
    fn odd_and_misspelt_templates_are_warnings() {
        let schema = r#""inputSchema": {"type": "object", "properties": {"task": {}}}"#;
        let of = |resource: &str| {
            lines(&valid_with(&format!(r#"{schema}, "resources": ["{resource}"]"#)))
        };
        for good in ["${task}", "${TASK}", "${env:task}", "file://${workspace}/x", "${other}"] {
            assert_eq!(of(good), [] as [&str; 0], "{good}");
        }
        for bad in ["${tsk}", "${", "${}", "${a b}", "${env:}", "x ${y ${z}"] {
            let found = of(bad);
            assert!(found.iter().any(|l| l.starts_with("warning bad-template")), "{bad} {found:?}");
        }
        let legacy = r#"{"name": "a", "description": "d", "resources": ["${"]}"#;
        assert!(lines(legacy).iter().any(|l| l.starts_with("note bad-template")));
    }

    #[test]
    fn prompts_and_hooks_of_the_older_format_are_left_alone() {
        let text = r#"{"name": "a", "description": "d", "prompt": "${", "hooks": {"stop": [{"command": "${"}]}}"#;
        assert!(!lines(text).iter().any(|l| l.contains("bad-template")));
    }
}
