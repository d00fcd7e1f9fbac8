//! Documents that nobody wrote: made from what a tool declares.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use remit_engine::catalog::{Catalog, Entry, State};
use remit_model::text::visible;

/// How many methods a summary names.
const MOST_NAMED: usize = 8;

/// Gives a text on one line, with nothing hidden in it: a description cannot add a heading.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" ")).into_owned()
}

/// Takes the name of a capability apart, as the restricted tool puts it together.
fn parts(entry: &Entry) -> (&str, &str) {
    let name = entry.capability.name.as_str();
    name.split_once('.').unwrap_or((name, ""))
}

/// Gives the capabilities of the catalog by module. What is switched off is not there.
pub(super) fn modules(catalog: &Catalog) -> BTreeMap<&str, Vec<&Entry>> {
    let mut modules: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in catalog.entries().filter(|entry| entry.state != State::Disabled) {
        modules.entry(parts(entry).0).or_default().push(entry);
    }
    modules
}

/// Says in one line what a module has.
pub(super) fn summary(methods: &[&Entry]) -> String {
    match methods {
        [one] => line(&one.capability.description),
        all => {
            let named: Vec<&str> = all.iter().take(MOST_NAMED).map(|one| parts(one).1).collect();
            let more = if all.len() > MOST_NAMED { ", …" } else { "" };
            line(&format!("Methods: {}{more}", named.join(", ")))
        }
    }
}

/// Writes the document of a module.
pub(super) fn document(module: &str, methods: &[&Entry]) -> String {
    let module = line(module);
    let mut text = format!(
        "# {module}\n\n{}\n\nCall the tool `{}` with `module`, `method` and `input`.\n",
        summary(methods),
        super::super::TOOL
    );
    for entry in methods {
        let method = line(parts(entry).1);
        let capability = &entry.capability;
        let _ = write!(
            text,
            "\n## {method}\n\n{}\n\nNeeds the permission `{}`, sensitivity {}.\n",
            line(&capability.description),
            line(&entry.scope),
            entry.sensitivity.as_str(),
        );
        let schemas = [
            ("input", Some(&capability.input_schema)),
            ("output", capability.output_schema.as_ref()),
        ];
        for (what, schema) in schemas {
            let Some(schema) = schema else { continue };
            let written = serde_json::to_string_pretty(schema).unwrap_or_default();
            // Within a fence only line breaks are as they are; all others hidden are escaped.
            let written: Vec<String> = written.lines().map(|l| visible(l).into_owned()).collect();
            let _ = write!(
                text,
                "\nThe {what}, as a JSON Schema:\n\n```json\n{}\n```\n",
                written.join("\n")
            );
        }
    }
    text
}
