//! Keeps secrets out of what a diff shows.
//!
//! A manifest should not hold secrets, but some do. They are replaced before a change leaves this
//! crate, so that no format can print them: by the name they stand under, by the look of a token,
//! in the user part and the query of a URL, and behind an option of a command line. What is not a
//! secret stays, because it is what a user must see.

use remit_model::text;
use serde_json::Value;

use super::{Change, Changes};
use crate::dialect::agent::secrets::has_token;

const HIDDEN: &str = "(hidden)";

/// Lists what a schema can hold of a value itself.
const VALUES: [&str; 4] = ["default", "const", "enum", "examples"];

pub(super) fn secrets(changes: &mut Changes) {
    let lists = [&mut changes.breaking, &mut changes.non_breaking, &mut changes.consent];
    lists.into_iter().flatten().for_each(change);
}

fn change(change: &mut Change) {
    let steps: Vec<&str> = change.pointer.rsplit('/').collect();
    let place = (*steps.first().unwrap_or(&"")).to_owned();
    // A value of a schema belongs to the name the schema stands under.
    let name = if VALUES.contains(&place.as_str()) { steps.get(1).unwrap_or(&"") } else { &*place };
    let secret = is_secret_name(name);
    let mut hidden = false;
    for value in [&mut change.before, &mut change.after].into_iter().flatten() {
        hidden |= if secret { hide_values(value) } else { hide(value) };
    }
    if hidden && !change.message.ends_with("changed") {
        let verb = match (&change.before, &change.after) {
            (Some(_), Some(_)) => "changed",
            (None, _) => "was added",
            (_, None) => "was removed",
        };
        change.message = format!("{} {verb}", text::quoted(&place));
    }
}

/// Hides the secrets in a value; tells whether there were any.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::String(text) => hide_in_text(text),
        Value::Array(items) => {
            let mut hidden = false;
            let mut after_option = false;
            for item in items {
                let option = item.as_str().is_some_and(|s| {
                    s.starts_with('-')
                        && !s.contains('=')
                        && is_secret_name(s.trim_start_matches('-'))
                });
                hidden |= if after_option { hide_all(item) } else { hide(item) };
                after_option = option;
            }
            hidden
        }
        Value::Object(map) => {
            let marked = map.get("secret") == Some(&Value::Bool(true));
            let mut hidden = false;
            for (key, value) in map {
                hidden |= if is_secret_name(key) {
                    hide_values(value)
                } else if marked && VALUES.contains(&key.as_str()) {
                    hide_all(value)
                } else {
                    hide(value)
                };
            }
            hidden
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Hides what stands under the name of a secret. A schema there says what the secret looks like,
/// and only the values in it are hidden.
fn hide_values(value: &mut Value) -> bool {
    match value {
        Value::Object(map) if map.contains_key("type") || map.contains_key("enum") => {
            let mut hidden = false;
            for (key, value) in map {
                let own = VALUES.contains(&key.as_str());
                hidden |= if own { hide_all(value) } else { hide(value) };
            }
            hidden
        }
        _ => hide_all(value),
    }
}

fn hide_all(value: &mut Value) -> bool {
    match value {
        Value::String(text) if !has_literal(text) => false,
        Value::Null | Value::Bool(_) => false,
        Value::Array(items) => items.iter_mut().fold(false, |hidden, item| hide_all(item) | hidden),
        Value::Object(map) => map.values_mut().fold(false, |hidden, item| hide_all(item) | hidden),
        Value::String(_) | Value::Number(_) => {
            *value = Value::String(HIDDEN.to_owned());
            true
        }
    }
}

/// A template names a secret without holding it.
fn has_literal(text: &str) -> bool {
    let mut rest = text;
    let mut literal = String::new();
    while let Some((before, after)) = rest.split_once("${") {
        literal.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    literal.push_str(rest);
    let words = ["bearer", "basic", "token"];
    literal.split_whitespace().any(|word| !words.contains(&word.to_lowercase().as_str()))
}

fn hide_in_text(text: &mut String) -> bool {
    if has_token(text) {
        HIDDEN.clone_into(text);
        return true;
    }
    let mut hidden = false;
    if let Some((name, value)) = text.split_once('=')
        && is_secret_name(name.trim_start_matches('-'))
        && has_literal(value)
        && !name.contains(char::is_whitespace)
        && !name.contains('/')
    {
        *text = format!("{name}={HIDDEN}");
        hidden = true;
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (authority, named) = match authority.rsplit_once('@') {
            Some((user, host)) if has_literal(user) => (format!("{HIDDEN}@{host}"), true),
            _ => (authority.to_owned(), false),
        };
        let (path, asked) = hide_in_query(path);
        if named || asked {
            *text = format!("{scheme}://{authority}{path}");
            hidden = true;
        }
    }
    hidden
}

fn hide_in_query(path: &str) -> (String, bool) {
    let Some((before, query)) = path.split_once('?') else { return (path.to_owned(), false) };
    let mut hidden = false;
    let parts: Vec<String> = query
        .split('&')
        .map(|part| match part.split_once('=') {
            Some((name, value)) if is_secret_name(name) && has_literal(value) => {
                hidden = true;
                format!("{name}={HIDDEN}")
            }
            _ => part.to_owned(),
        })
        .collect();
    (format!("{before}?{}", parts.join("&")), hidden)
}

/// Tells whether a key names a secret.
pub(crate) fn is_secret_name(key: &str) -> bool {
    const PARTS: [&str; 10] = [
        "apikey",
        "token",
        "secret",
        "password",
        "passwd",
        "credential",
        "authorization",
        "privatekey",
        "accesskey",
        "connectionstring",
    ];
    const WORDS: [&str; 8] = ["pass", "pat", "auth", "cookie", "bearer", "pwd", "dsn", "jwt"];
    let folded = remit_model::name::folded(key);
    // Where a token is fetched is no secret, and is what a user must see; nor is how many there are.
    if ["url", "uri", "endpoint", "tokens", "helper", "command"]
        .iter()
        .any(|end| folded.ends_with(end))
    {
        return false;
    }
    let words = key.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    PARTS.iter().any(|part| folded.contains(part))
        || { words }.any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
        || folded == "xkey"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let mut value = json!({
            "env": {"GITHUB_TOKEN": "short", "API_KEY": "x${y}", "DB_PASS": "p", "PATH": "/usr/bin:/bin",
                    "ANY": "ghp_0123456789abcdefghij0123", "DSN": "postgres://u:pw@h/db"},
            "args": ["--token", "abc", "--password=abc", "-v", "--level=3"],
            "url": "https://user:pw@host.example/x?token=abc&page=2",
            "headers": {"Cookie": "a=b", "X-Key": "k", "Accept": "text/plain"},
            "config": {"pin": {"type": "string", "secret": true, "default": "1234"},
                       "api_key": {"type": "string", "default": "abc", "maxLength": 3}},
            "auth": {"bearer": "abc", "nested": ["x"]},
        });
        assert!(hide(&mut value));
        assert_eq!(
            value,
            json!({
                "env": {"GITHUB_TOKEN": "(hidden)", "API_KEY": "(hidden)", "DB_PASS": "(hidden)", "PATH": "/usr/bin:/bin",
                        "ANY": "(hidden)", "DSN": "(hidden)"},
                "args": ["--token", "(hidden)", "--password=(hidden)", "-v", "--level=3"],
                "url": "https://(hidden)@host.example/x?token=(hidden)&page=2",
                "headers": {"Cookie": "(hidden)", "X-Key": "(hidden)", "Accept": "text/plain"},
                "config": {"pin": {"type": "string", "secret": true, "default": "(hidden)"},
                           "api_key": {"type": "string", "default": "(hidden)", "maxLength": 3}},
                "auth": {"bearer": "(hidden)", "nested": ["(hidden)"]},
            })
        );
    }

    #[test]
    fn what_a_user_must_see_stays() {
        let shown = json!({
            "env": {"TOKEN": "${TOKEN}", "AUTH": "Bearer ${env:X}", "GIT_CREDENTIAL_HELPER": "evil", "MAX_TOKENS": "5"},
            "token_url": "https://a.example/token", "args": ["--verbose", "abc"], "command": "npx",
            "properties": {"password": {"type": "string", "minLength": 8}},
        });
        let mut value = shown.clone();
        assert!(!hide(&mut value));
        assert_eq!(value, shown);
    }
}
