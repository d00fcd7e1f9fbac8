//! Recognises secrets that were written into a manifest. What is found is never shown.

use remit_model::{Node, Value};

use crate::diff::is_secret_name;
use crate::report::Report;
use crate::rules;

/// Lists how well-known tokens start, and how many characters of a token follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-", 20),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("hsk_", 20),
    ("hf_", 20),
    ("npm_", 20),
    ("AIza", 30),
    ("ATATT3", 20),
    ("AKIA", 16),
    ("ASIA", 16),
];

/// Is from how many characters on a value under a telling name is taken for a secret.
const SHORTEST: usize = 16;

/// Reports the secrets below a node; `name` is the key the node stands under.
pub(super) fn check<'t>(node: &'t Node, name: &str, report: &mut Report<'t>) {
    match &node.value {
        Value::String(text) => {
            if is_secret(name, text) {
                report.at(&rules::SECRET_IN_MANIFEST, node, "this looks like a secret").help(
                    "take it from the environment, as in `${env:NAME}`, and withdraw this one",
                );
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check(item, name, report)),
        Value::Object(object) => {
            object.members().iter().for_each(|m| check(&m.value, &m.key, report));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Template(_) => {}
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    !is_placeholder(value) && (has_token(value) || (is_secret_name(name) && is_literal(value)))
}

/// Tells whether a well-known token stands in a text, at its start or after a separator.
pub(crate) fn has_token(value: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    value.split(|c: char| !part(c)).any(|word| {
        PREFIXES.iter().any(|(prefix, least)| {
            word.strip_prefix(prefix).is_some_and(|token| {
                token.len() >= *least && token.bytes().any(|b| b.is_ascii_digit())
            })
        })
    }) || value.contains("PRIVATE KEY-----")
}

/// Tells whether a value under a telling name is the secret itself, rather than where it is found.
fn is_literal(value: &str) -> bool {
    let value = ["Bearer ", "bearer ", "Basic ", "Token ", "token "]
        .iter()
        .find_map(|scheme| value.strip_prefix(scheme))
        .unwrap_or(value);
    value.len() >= SHORTEST
        && !value.contains(char::is_whitespace)
        && !value.starts_with(['/', '~', '.', '$', '%', '@'])
        && !value.contains("://")
        && !value.contains('\\')
}

/// Tells whether a value only shows where a secret goes.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "your",
        "xxx",
        "placeholder",
        "example",
        "changeme",
        "change-me",
        "change_me",
        "replace",
        "todo",
        "dummy",
        "insert",
        "redacted",
        "...",
        "***",
    ];
    let lower = value.to_ascii_lowercase();
    value.contains("${")
        || value.contains(['<', '>', '…'])
        || WORDS.iter().any(|word| lower.contains(word))
        || is_one_character(value)
}

fn is_one_character(value: &str) -> bool {
    let mut chars = value.chars();
    chars.next().is_none_or(|first| chars.all(|c| c == first))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joined here, so that no scanner takes this file for one that leaks.
    fn token(prefix: &str) -> String {
        format!("{prefix}{}", "0aB1cD2eF3".repeat(4))
    }

    #[test]
    fn tokens_are_recognised_anywhere_and_placeholders_are_not() {
        for (prefix, _) in PREFIXES {
            assert!(is_secret("X", &token(prefix)), "{prefix}");
            assert!(is_secret("args", &format!("--token={}", token(prefix))), "{prefix}");
        }
        assert!(is_secret("API_KEY", "0123456789abcdef"));
        assert!(is_secret("Authorization", "Bearer 0123456789abcdef"));
        for (name, value) in [
            ("GITHUB_TOKEN", "YOUR_TOKEN_GOES_HERE"),
            ("GITHUB_TOKEN", "<your-github-token>"),
            ("GITHUB_TOKEN", "ghp_xxxxxxxxxxxxxxxxxxxxxxxx"),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN_FROM_ENV}"),
            ("GITHUB_TOKEN", "$GITHUB_TOKEN_FROM_ENV"),
            ("GITHUB_TOKEN", "short"),
            ("GOOGLE_CREDENTIALS", "/home/me/credentials.json"),
            ("TOKEN_URL", "https://login.example.org/token"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("args", "sk-learn-and-other-things-to-install"),
            ("PASSWORD", "0000000000000000"),
        ] {
            assert!(!is_secret(name, value), "{name} {value}");
        }
    }

    #[test]
    fn the_secret_itself_is_never_shown() {
        let secret = token("ghp_");
        let text = format!(
            r#"{{"name": "a", "description": "d", "mcpServers": {{"s": {{"command": "c", "env": {{"T": "{secret}"}}}}}}}}"#
        );
        let found = super::super::tests::lines(&text);
        assert!(
            found.contains(
                &"warning secret-in-manifest /mcpServers/s/env/T this looks like a secret"
                    .to_owned()
            ),
            "{found:?}"
        );
        assert!(!found.iter().any(|l| l.contains(&secret)));
    }
}
