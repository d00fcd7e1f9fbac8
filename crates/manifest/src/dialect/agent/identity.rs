//! Who an agent is: name, version, description, model.

use remit_model::{Node, Severity, text};

use super::legacy::Format;
use super::syntax::{AGENT_NAME, MANIFEST};
use crate::report::Report;
use crate::rules;

/// Lists the models the agent format names.
const MODELS: [&str; 2] =
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", "anthropic.claude-sonnet-4-20250514-v1:0"];

/// Lists the names that mean something else wherever an agent is named.
const RESERVED: [&str; 11] = [
    "native", "builtin", "mcp", "remit", "self", "system", "agent", "tool", "skill", "all", "none",
];

/// Is the most characters a name may have.
const LONGEST_NAME: usize = 64;

/// Judges these four fields beyond their types.
pub(super) fn check<'t>(root: &'t Node, format: Format, report: &mut Report<'t>) {
    match root.get("name") {
        None if format == Format::Legacy => missing_name(root, report),
        None => {}
        Some(name) => check_name(name, format, report),
    }
    if let Some(version) = root.get("version")
        && version.as_str().is_some_and(|s| s.contains("${"))
    {
        // The table lets templates pass; a version that depends on the call is none.
        report.at(&rules::BAD_VERSION, version, "a version cannot be a template");
    }
    check_description(root, format, report);
    if let Some(model) = root.get("model")
        && let Some(id) = model.as_str()
        && !MODELS.contains(&id)
        && !id.contains("${")
        && !id.trim().is_empty()
    {
        report
            .at(
                &rules::UNKNOWN_MODEL,
                model,
                format!("{} is not a model that the agent format names", text::quoted(id)),
            )
            .help(format!("the format names `{}` and `{}`", MODELS[0], MODELS[1]));
    }
}

fn missing_name<'t>(root: &'t Node, report: &mut Report<'t>) {
    report
        .at(&rules::MISSING_FIELD, root, "this agent has no `name`; the name of the file stands in")
        .severity(Severity::Note)
        .strict();
}

fn check_name<'t>(node: &'t Node, format: Format, report: &mut Report<'t>) {
    let Some(name) = node.as_str() else { return };
    if !is_name(name) {
        let message = if name.is_empty() {
            format!("this must be {}, but it is empty", AGENT_NAME.what)
        } else {
            format!("{} is not {}", text::quoted(name), AGENT_NAME.what)
        };
        let finding = report.at(&rules::BAD_NAME, node, message);
        format.forgive(finding, Severity::Note);
        if let Some(better) = repaired(name) {
            finding.help(format!("{} would do", text::quoted(&better)));
        }
    } else if is_reserved(name) {
        let message = format!("{} is a reserved name", text::quoted(name));
        let finding = report.at(&rules::RESERVED_NAME, node, message);
        format.forgive(finding, Severity::Warning).help("add a word that says what the agent does");
    }
}

/// Tells whether a name follows the rule of the agent format.
fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Gives the name as it would be written in the agent format. Of a name in another script, or a
/// template, nothing would be left to recognise it by.
fn repaired(name: &str) -> Option<String> {
    if !name.is_ascii() || name.contains("${") {
        return None;
    }
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut better = words.collect::<Vec<_>>().join("-");
    better.truncate(LONGEST_NAME);
    let better = better.trim_end_matches('-');
    (!better.is_empty()).then(|| better.to_owned())
}

/// Tells whether a name is reserved, or that of a Windows device, in any case.
fn is_reserved(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let numbered = lower.strip_prefix("com").or_else(|| lower.strip_prefix("lpt"));
    RESERVED.contains(&lower.as_str())
        || matches!(lower.as_str(), "con" | "prn" | "aux" | "nul")
        || numbered.is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
}

fn check_description<'t>(root: &'t Node, format: Format, report: &mut Report<'t>) {
    let (place, message) = match root.get("description") {
        None => (root, format!("{} should have a `description`", MANIFEST.what)),
        Some(node) if node.as_str().is_some_and(|s| s.trim().is_empty()) => {
            (node, "the description is empty".to_owned())
        }
        Some(_) => return,
    };
    let finding = report.at(&rules::MISSING_FIELD, place, message);
    finding
        .severity(Severity::Warning)
        .help("say in a sentence what the agent does: a model reads it when the agent is a tool");
    format.forgive(finding, Severity::Note);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, strict_lines};
    use super::*;

    fn named(name: &str) -> Vec<String> {
        let name = serde_json::to_string(name).unwrap();
        lines(&format!(
            r#"{{"name": {name}, "version": "1.0.0", "description": "d", "model": "${{m}}"}}"#
        ))
    }

    #[test]
    fn names_are_short_ascii_and_not_reserved() {
        for good in ["a", "rust-developer-agent", "9-", &"x".repeat(64), "console", "com10", "comx"]
        {
            assert_eq!(named(good), [] as [&str; 0], "{good}");
        }
        for bad in ["", "a b", "a_b", "é", &"x".repeat(65), "${name}", "a.b", "a\u{0}"] {
            assert!(named(bad).iter().any(|l| l.starts_with("error bad-name /name")), "{bad}");
        }
        for reserved in ["nul", "NUL", "Com1", "lpt0", "con", "native", "All", "self"] {
            let found = named(reserved);
            assert!(found.iter().any(|l| l.starts_with("error reserved-name /name")), "{reserved}");
        }
    }

    #[test]
    fn editors_are_told_the_same_of_names() {
        let schema = serde_json::from_str(AGENT_NAME.schema).unwrap();
        let schema = jsonschema::draft202012::new(&schema).unwrap();
        let (longest, longer) = ("x".repeat(LONGEST_NAME), "x".repeat(LONGEST_NAME + 1));
        let others = ["con", "prn", "aux", "nul", "com0", "lpt9", "com", "com10", "natives"];
        let odd = ["a", "a_b", "a b", "", "é", "${name}", &longest, &longer];
        for name in RESERVED.iter().chain(&others).chain(&odd) {
            for name in [name.to_string(), name.to_uppercase()] {
                let good = is_name(&name) && !is_reserved(&name);
                assert_eq!(schema.is_valid(&serde_json::json!(name)), good, "{name}");
            }
        }
    }

    #[test]
    fn names_of_the_older_format_are_forgiven_unless_strict() {
        let text = r#"{"name": "Specs Agent", "description": "d", "tools": []}"#;
        assert!(lines(text).iter().any(|l| l.starts_with("note bad-name")));
        assert!(strict_lines(text).iter().any(|l| l.starts_with("error bad-name")));
        let unnamed = r#"{"description": "d", "tools": []}"#;
        assert!(lines(unnamed).iter().any(|l| l.starts_with("note missing-field  ")));
    }

    #[test]
    fn versions_follow_semver_and_are_no_templates() {
        for bad in [r#""1.0""#, r#""v1.0.0""#, r#""${v}""#, "${v}", "1", r#""""#] {
            let found = lines(&format!(
                r#"{{"name": "a", "version": {bad}, "description": "d", "tools": []}}"#
            ));
            assert!(
                found.iter().any(|l| l.starts_with("error") && l.contains("/version")),
                "{bad} {found:?}"
            );
        }
    }

    #[test]
    fn a_missing_description_is_a_warning_and_an_unknown_model_a_note() {
        let found = lines(r#"{"name": "a", "version": "1.0.0", "model": "gpt"}"#);
        assert!(found.iter().any(|l| l.starts_with("warning missing-field")), "{found:?}");
        assert!(found.iter().any(|l| l.starts_with("note unknown-model /model")), "{found:?}");
        let found = lines(r#"{"name": "a", "model": "gpt"}"#);
        assert!(found.iter().any(|l| l.starts_with("note missing-field")), "{found:?}");
        let named = lines(
            r#"{"name": "a", "version": "1.0.0", "description": " ", "model": "anthropic.claude-sonnet-4-20250514-v1:0"}"#,
        );
        assert_eq!(named, ["warning missing-field /description the description is empty"]);
    }
}
