//! Keeps secrets out of what a diff shows.
//!
//! A manifest should not hold secrets, but some do. Values under a key that names one are replaced
//! before a change leaves this crate, so that no format can print them.

use serde_json::Value;

use super::Changes;

const HIDDEN: &str = "(hidden)";

pub(super) fn secrets(changes: &mut Changes) {
    let lists = [&mut changes.breaking, &mut changes.non_breaking, &mut changes.consent];
    for change in lists.into_iter().flatten() {
        let place = change.pointer.rsplit('/').next().unwrap_or_default();
        let held = [change.before.as_ref(), change.after.as_ref()];
        if is_secret_name(place) && held.iter().flatten().any(|v| is_literal_secret(v)) {
            change.message = format!("the value of {} changed", remit_model::text::quoted(place));
            for value in [&mut change.before, &mut change.after].into_iter().flatten() {
                *value = Value::String(HIDDEN.to_owned());
            }
        } else {
            for value in [&mut change.before, &mut change.after].into_iter().flatten() {
                hide_below(value);
            }
        }
    }
}

fn hide_below(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if is_secret_name(key) && is_literal_secret(value) {
                    *value = Value::String(HIDDEN.to_owned());
                } else {
                    hide_below(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_below),
        _ => {}
    }
}

/// A template names a secret without holding it; and a text with a space is a description.
fn is_literal_secret(value: &Value) -> bool {
    value.as_str().is_some_and(|s| s.len() >= 8 && !s.contains("${"))
}

/// Tells whether a key names a secret.
pub(crate) fn is_secret_name(key: &str) -> bool {
    let folded = remit_model::name::folded(key);
    // Where a token is fetched is no secret, and is what a user must see.
    if folded.ends_with("url") || folded.ends_with("uri") || folded.ends_with("endpoint") {
        return false;
    }
    [
        "apikey",
        "token",
        "secret",
        "password",
        "passwd",
        "credential",
        "authorization",
        "privatekey",
        "accesskey",
    ]
    .iter()
    .any(|word| folded.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_templates_are_not() {
        let mut value = serde_json::json!({
            "env": {"GITHUB_TOKEN": "ghp_0123456789", "API_KEY": "${API_KEY}", "PATH": "/usr/bin:/bin"}
        });
        hide_below(&mut value);
        assert_eq!(
            value,
            serde_json::json!({"env": {"GITHUB_TOKEN": "(hidden)", "API_KEY": "${API_KEY}", "PATH": "/usr/bin:/bin"}})
        );
    }
}
