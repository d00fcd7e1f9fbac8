//! Keeps secrets out of what leaves the process.
//!
//! Secrets go into request headers and nowhere else, and no message here is made from one. But a
//! server may echo what it was sent, so every answer is searched for the secrets of its call.

use serde_json::{Map, Value};

use crate::contract::Settings;

/// Is the shortest secret worth looking for; a shorter one would tear up ordinary words.
const SHORTEST: usize = 6;

/// Is what stands where a secret stood.
const HIDDEN: &str = "[secret]";

/// Holds the secrets of one call.
pub(crate) struct Redactor(Vec<String>);

impl Redactor {
    /// Takes the values of the settings that are secret.
    pub(crate) fn new(settings: &Settings, names: &[&str]) -> Self {
        let mut secrets: Vec<String> = names
            .iter()
            .filter_map(|name| settings.0.get(*name).and_then(Value::as_str))
            .flat_map(|secret| [secret, secret.trim()])
            .filter(|secret| secret.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        // A secret that contains another goes first, or a part of it would stay.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// Removes the secrets from a text.
    pub(crate) fn text(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), HIDDEN);
            }
        }
    }

    /// Removes the secrets from an answer.
    pub(crate) fn map(&self, map: &mut Map<String, Value>) {
        if self.0.is_empty() {
            return;
        }
        if map.keys().any(|key| self.0.iter().any(|secret| key.contains(secret.as_str()))) {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(mut key, value)| {
                    self.text(&mut key);
                    (key, value)
                })
                .collect();
        }
        map.values_mut().for_each(|value| self.value(value));
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(list) => list.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => self.map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor(secret: &str) -> Redactor {
        let settings = Settings(Map::from_iter([("api_key".to_owned(), secret.into())]));
        Redactor::new(&settings, &["api_key"])
    }

    #[test]
    fn a_secret_goes_wherever_it_stands() {
        let mut map = Map::from_iter([("a key-CANARY".to_owned(), json!(["x key-CANARY y", 1]))]);
        redactor("key-CANARY").map(&mut map);
        assert_eq!(Value::Object(map), json!({"a [secret]": ["x [secret] y", 1]}));
    }

    #[test]
    fn six_characters_are_a_secret_and_five_are_not() {
        let hidden = |secret: &str| {
            let mut text = format!("-{secret}-");
            redactor(secret).text(&mut text);
            text
        };
        assert_eq!(hidden("abcdef"), "-[secret]-");
        assert_eq!(hidden("abcde"), "-abcde-");
    }
}
