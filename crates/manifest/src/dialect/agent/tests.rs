//! The whole judgement, and what the tests of the parts share.

use std::path::Path;

use remit_model::{Dialect, Severity};
use serde_json::{Value, json};

use crate::compile::{self, Checked, Options};

pub(super) fn checked(text: &str, strict: bool) -> Checked {
    let options = Options { dialect: Some(Dialect::Agent), format: None, strict };
    compile::check(text.as_bytes(), options)
}

fn written(checked: &Checked) -> Vec<String> {
    let line = |d: &remit_model::Diagnostic| {
        format!("{} {} {} {}", d.severity.as_str(), d.rule, d.pointer, d.message)
    };
    checked.diagnostics.iter().map(line).collect()
}

/// Gives what is said about a manifest, one line each.
pub(super) fn lines(text: &str) -> Vec<String> {
    written(&checked(text, false))
}

pub(super) fn strict_lines(text: &str) -> Vec<String> {
    written(&checked(text, true))
}

/// Makes a manifest that is good but for the given fields.
pub(super) fn valid_with(fields: &str) -> String {
    format!(r#"{{"name": "a", "version": "1.0.0", "description": "d", {fields}}}"#)
}

/// Changes every value of a manifest in turn, and takes every member away in turn.
pub(crate) fn variants(value: &Value, found: &mut dyn FnMut(Value)) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut without = map.clone();
                without.remove(key);
                found(Value::Object(without));
                variants(inner, &mut |changed| {
                    let mut other = map.clone();
                    other.insert(key.clone(), changed);
                    found(Value::Object(other));
                });
            }
            let mut more = map.clone();
            more.insert("zz".to_owned(), json!(1));
            found(Value::Object(more));
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                let mut without = items.clone();
                without.remove(i);
                found(Value::Array(without));
                variants(inner, &mut |changed| {
                    let mut other = items.clone();
                    other[i] = changed;
                    found(Value::Array(other));
                });
            }
        }
        _ => {}
    }
    for other in [json!(null), json!("zz"), json!(7), json!([]), json!({})] {
        if other != *value {
            found(other);
        }
    }
}

#[test]
fn fields_of_either_format_are_told_apart() {
    let found =
        lines(&valid_with(r#""prompt": "x", "promt": "x", "alowedTools": [], "$schema": "x""#));
    assert_eq!(
        found,
        [
            "warning legacy-field /prompt `prompt` is a field of the older format",
            "warning unknown-field /promt an agent manifest has no field `promt`",
            "warning unknown-field /alowedTools an agent manifest has no field `alowedTools`",
        ]
    );
    let older = r#"{"name": "a", "description": "d", "prompt": "x", "weird": 1, "$schema": ""}"#;
    assert_eq!(
        lines(older),
        [
            "note legacy-format  this agent has no `version`, so it is judged by the older format",
            "note legacy-field /prompt `prompt` is a field of the older format",
            "warning unknown-field /weird an agent manifest has no field `weird`",
        ]
    );
    assert!(strict_lines(older).iter().all(|l| l.starts_with("error")));
}

#[test]
fn the_older_format_puts_up_with_nulls_and_other_types() {
    let text = r#"{"name": "a", "description": null, "model": null, "prompt": null, "mcpServers": null,
        "tools": null, "allowedTools": "read", "toolsSettings": null, "resources": {}, "hooks": null,
        "includeMcpJson": "true", "version": null, "toolAliases": {"a": 1}, "useLegacyMcpJson": "${x}"}"#;
    let found = lines(text);
    assert!(!found.iter().any(|l| l.starts_with("error")), "{found:?}");
    for wanted in [
        "note wrong-type /description",
        "note wrong-type /mcpServers",
        "warning wrong-type /allowedTools",
        "warning wrong-type /resources",
        "warning wrong-type /includeMcpJson",
        "warning wrong-type /toolAliases/a",
    ] {
        assert!(found.iter().any(|l| l.starts_with(wanted)), "{wanted} {found:?}");
    }
    assert!(!found.iter().any(|l| l.contains("wrong-type /useLegacyMcpJson")));
}

#[test]
fn no_value_of_another_type_makes_a_file_of_the_older_format_fail() {
    let agent = json!({
        "$schema": "s", "name": "A B", "description": "d", "prompt": "p", "model": "m",
        "mcpServers": {
            "s": {"command": "c", "args": ["a"], "env": {"A": "b"}, "disabled": false,
                "autoApprove": ["t"], "timeout": 5},
            "r": {"type": "http", "url": "https://r.example", "headers": {"A": "b"}, "oauth": {}}
        },
        "tools": ["read", "@s"], "allowedTools": ["read", "@s/t"], "toolAliases": {"@s/t": "u"},
        "toolsSettings": {
            "write": {"allowedPaths": ["a/**"], "deniedPaths": ["b"]},
            "shell": {"allowedCommands": ["ls .*"], "deniedCommands": ["rm .*"]}
        },
        "resources": ["file://a", {"type": "knowledgeBase", "source": "file://b"}],
        "hooks": {"stop": [{"command": "c"}]}, "includeMcpJson": true, "keyboardShortcut": "k"
    });
    let mut seen = 0;
    variants(&agent, &mut |other| {
        if !other.is_object() {
            return;
        }
        let found = lines(&other.to_string());
        assert!(!found.iter().any(|l| l.starts_with("error")), "{other} {found:?}");
        seen += 1;
    });
    assert!(seen > 200, "{seen}");
}

#[test]
fn types_are_errors_in_the_agent_format() {
    for (fields, pointer) in [
        (r#""model": null"#, "/model"),
        (r#""tools": "x""#, "/tools"),
        (r#""tools": [1]"#, "/tools/0"),
        (r#""mcpServers": []"#, "/mcpServers"),
        (r#""toolsSettings": {"fs-read": []}"#, "/toolsSettings/fs-read"),
        (r#""resources": [[]]"#, "/resources/0"),
    ] {
        let found = lines(&valid_with(fields));
        let wanted = format!("error wrong-type {pointer}");
        assert!(found.iter().any(|l| l.starts_with(&wanted)), "{fields} {found:?}");
    }
    assert!(lines("[1]")[0].starts_with("error wrong-type"));
    let found = lines(r#"{"version": "1.0.0", "description": "d"}"#);
    assert!(found[0].starts_with("error missing-field"), "{found:?}");
}

#[test]
fn the_input_schema_describes_an_object() {
    let found = lines(&valid_with(r#""inputSchema": {"type": "string"}"#));
    assert!(found.iter().any(|l| l.starts_with("error schema-not-object")), "{found:?}");
    let draft = r#""inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}"#;
    let found = lines(&valid_with(draft));
    assert!(found.iter().any(|l| l.starts_with("warning schema-draft")), "{found:?}");
}

#[test]
fn templates_stand_bare_wherever_a_value_may() {
    let text = r#"{"name": "a", "version": "1.0.0", "description": "d", "model": ${m}, "tools": ${t},
        "mcpServers": {"s": ${s}, "t": {"command": ${c}, "args": ${a}, "env": ${e}, "transport": ${x}}},
        "toolsSettings": {"fs-read": ${f}}, "resources": [${r}]}"#;
    assert_eq!(lines(text), [] as [&str; 0]);
}

#[test]
fn wildcards_that_take_too_long_to_try_are_refused_in_either_format() {
    let servers: Vec<_> = (0..64).map(|i| format!(r#""{}{i}":{{}}"#, "a".repeat(400))).collect();
    let servers = servers.join(",");
    for reference in ["@*aaaaaaaaaaaaaaaaaaaab", "@*a*b", "@a.*a*b", "*e*a*e*x"] {
        let references: Vec<_> = (0..14_000).map(|i| format!(r#""{reference}{i}""#)).collect();
        let references = references.join(",");
        let fields = format!(r#""mcpServers":{{{servers}}},"tools":[{references}]"#);
        let older = lines(&format!(r#"{{"name":"a",{fields}}}"#));
        assert!(older.iter().any(|l| l.starts_with("error out-of-bounds")), "{reference}");
        assert!(lines(&valid_with(&fields)).iter().any(|l| l.starts_with("error")), "{reference}");
    }
}

#[test]
fn there_are_not_so_many_patterns_in_a_file() {
    let patterns: Vec<_> = (0..20_000).map(|i| format!(r#""(?i)\\pL{{{i}}}""#)).collect();
    let list = patterns.join(",");
    let text = valid_with(&format!(
        r#""toolsSettings": {{"execute-bash": {{"deniedCommands": [{list}]}}}}"#
    ));
    assert!(lines(&text).iter().any(|l| l.starts_with("error out-of-bounds")));
}

#[test]
#[expect(clippy::print_stdout, reason = "says how much was looked at")]
fn real_files_of_the_older_format_load() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/agent-manifests");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("no real files here");
        return;
    };
    let mut seen = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let checked = compile::check(&std::fs::read(&path).unwrap(), Options::default());
        assert_eq!(checked.dialect, Some(Dialect::Agent), "{}", path.display());
        let errors: Vec<_> =
            checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{} {errors:?}", path.display());
        let manifest = checked.manifest().expect("a file without errors is lowered");
        assert_eq!(manifest.capabilities.len(), 1, "{}", path.display());
        seen += 1;
    }
    println!("{seen} real files load");
}

#[test]
fn the_scaffold_is_clean() {
    let scaffold = crate::dialect::scaffold(Dialect::Agent).unwrap();
    let checked = compile::check(scaffold.as_bytes(), Options::default());
    assert_eq!(checked.dialect, Some(Dialect::Agent));
    let said: Vec<_> = written(&checked);
    assert_eq!(said, [] as [&str; 0]);
}
