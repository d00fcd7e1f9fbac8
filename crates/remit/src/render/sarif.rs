//! Diagnostics as SARIF 2.1.0, which code hosts and editors read.

use remit_manifest::rules;
use remit_model::Severity;
use serde_json::{Value, json};

use super::CheckedFile;
use crate::paths;

/// Gives the log of one run.
pub(crate) fn check(files: &[CheckedFile]) -> Value {
    let rules: Vec<Value> = rules::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.summary},
                "defaultConfiguration": {"level": rule.severity.as_str()},
            })
        })
        .collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|file| file.diagnostics.iter().map(move |found| result(file, found)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "remit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(file: &CheckedFile, found: &remit_model::Diagnostic) -> Value {
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let text = match &found.help {
        Some(help) => format!("{}; {help}", found.message),
        None => found.message.clone(),
    };
    json!({
        "ruleId": found.rule,
        "ruleIndex": rules::ALL.iter().position(|rule| rule.id == found.rule),
        "level": level,
        "message": {"text": text},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": paths::uri(&file.path)},
                "region": {"startLine": found.position.line, "startColumn": found.position.column},
            },
            "logicalLocations": [{"fullyQualifiedName": found.pointer}],
        }],
    })
}
