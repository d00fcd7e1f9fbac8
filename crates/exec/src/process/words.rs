//! What is said of a tool that failed, and what it wrote, made fit to be shown: without secrets, also
//! without halves of them.

use remit_engine::catalog::{Entry, Settings};
use remit_model::{Failure, Runtime, text};
use serde_json::Value;

use super::tail::CUT;
use super::worker::WorkerError;

/// Is how much longer than itself a secret can be in the forms in which it is recognised.
const WIDEST: usize = 6;

/// Gives the failure a caller sees, with what the tool wrote as far as it may be shown.
pub(super) fn failure(
    error: &WorkerError,
    runtime: Runtime,
    shown: impl Fn(&str) -> Option<String>,
) -> Failure {
    let mut message = error.to_string();
    let mut details = serde_json::Map::new();
    let mut tell = |key: &str, text: &str| {
        if let Some(text) = shown(text) {
            details.insert(key.to_owned(), text.into());
        }
    };
    match error {
        WorkerError::BadAnswer { line, said, .. } => {
            tell("line", line);
            tell("stderr", said);
        }
        WorkerError::Ended { how, said } => {
            tell("stderr", said);
            if runtime == Runtime::Native && how.starts_with("exit code 127") {
                message.push_str("; a first line with `#!/usr/bin/env` finds no interpreter in the confinement: say `runtime: python` or `runtime: javascript`, or write `#!` with the interpreter's whole path");
            }
        }
        WorkerError::NotStarted(_)
        | WorkerError::TimedOut
        | WorkerError::Cancelled
        | WorkerError::TooMuchOutput { .. } => {}
    }
    let failure = Failure::new(error.code(), message);
    if details.is_empty() { failure } else { failure.with_details(Value::Object(details)) }
}

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
