//! What a tool that failed wrote, made fit to be shown: without secrets, also without halves of them.

use remit_engine::catalog::{Entry, Settings};
use remit_model::text;
use serde_json::Value;

use super::tail::CUT;

/// Is how much longer than itself a secret can be in the forms in which it is recognised.
const WIDEST: usize = 6;

/// Gives what a tool wrote without its secrets, or nothing if nothing is left.
///
/// Where it was cut, a secret may have been cut too and is not recognised any more: as much as the
/// longest could take is left out there.
pub(super) fn shown(said: &str, entry: &Entry, settings: &Settings) -> Option<String> {
    let longest = if settings.redactor.is_empty() { 0 } else { longest(entry, settings) };
    let mut rest = settings.redactor.text(said);
    if let Some(cut) = rest.strip_prefix(CUT) {
        rest = cut.chars().skip(longest * WIDEST).collect();
    }
    if let Some(cut) = rest.strip_suffix(CUT) {
        let count = cut.chars().count().saturating_sub(longest * WIDEST);
        rest = cut.chars().take(count).collect();
    }
    let lines: Vec<_> = rest.lines().map(text::visible).collect();
    let whole = lines.join("\n").trim().to_owned();
    (!whole.is_empty()).then_some(whole)
}

fn longest(entry: &Entry, settings: &Settings) -> usize {
    let fields = entry.source.manifest.settings.iter().filter(|field| field.secret);
    let values = fields.filter_map(|field| settings.values.get(&field.name));
    values.map(leaf).max().unwrap_or(0)
}

/// Gives the length of the longest text in a value.
fn leaf(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(leaf).max().unwrap_or(0),
        Value::Object(map) => map.values().map(leaf).max().unwrap_or(0),
        Value::Number(number) => number.to_string().len(),
        Value::Null | Value::Bool(_) => 0,
    }
}
