//! `remit call --verbose`: what a tool writes to standard error, for whoever writes the tool.

use std::io::Write as _;

use remit_engine::catalog::{Catalog, Settings};
use remit_engine::redact::{HIDDEN, Redactor};
use remit_exec::process::Hear;
use remit_model::text;
use serde_json::Value;

/// From how many bytes on a line is looked for in secrets of several lines.
const SHORTEST: usize = 4;

/// Shows each line, without the secrets of the tool that is called.
pub(super) fn hear(catalog: &Catalog, capability: &str) -> Hear {
    let source = catalog.get(capability).map(|entry| &entry.source);
    let settings: Option<Settings> = source.and_then(|source| source.settings.clone().ok());
    let mut parts = Vec::new();
    if let (Some(source), Some(settings)) = (source, &settings) {
        for field in source.manifest.settings.iter().filter(|field| field.secret) {
            settings.values.get(&field.name).into_iter().for_each(|value| lines(value, &mut parts));
        }
    }
    let whole = settings.map(|settings| settings.redactor).unwrap_or_default();
    let parts = Redactor::new(parts);
    Hear::new(move |line| {
        let mut stderr = anstream::AutoStream::auto(std::io::stderr());
        let _ = writeln!(stderr, "tool: {}", text::visible(&clean(line, &whole, &parts)));
    })
}

fn clean(line: &str, whole: &Redactor, parts: &Redactor) -> String {
    parts.text(&whole.text(line)).replace(&format!("{HIDDEN}{HIDDEN}"), HIDDEN)
}

/// Gives the lines of secrets that have several: one of them alone is not recognised as a secret.
fn lines(value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::String(text) => parts.extend(
            text.lines().map(str::trim).filter(|line| line.len() >= SHORTEST).map(str::to_owned),
        ),
        Value::Array(items) => items.iter().for_each(|item| lines(item, parts)),
        Value::Object(map) => map.values().for_each(|item| lines(item, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_secret_is_one_too() {
        let mut parts = Vec::new();
        lines(&serde_json::json!(["-----BEGIN\nAbCdEf\n"]), &mut parts);
        let shown = clean("key AbCdEf!", &Redactor::default(), &Redactor::new(parts));
        assert_eq!(shown, "key [secret]!");
    }
}
