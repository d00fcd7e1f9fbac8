//! Keeps secrets from leaving by the back door: what a tool answers or says is searched for the
//! secrets it was given.

use remit_model::{Answer, Failure, Outcome};
use serde_json::Value;

/// Is what stands in place of a secret.
pub const HIDDEN: &str = "[secret]";

/// From how many bytes on a secret is looked for: shorter ones are everywhere by chance.
const SHORTEST: usize = 4;

/// Finds secrets in what a call gives back.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that holds another is replaced whole.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Takes the secrets, and the forms in which programs often print them.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets.into_iter().filter(|s| s.len() >= SHORTEST) {
            forms.push(hex(&secret));
            forms.push(percent(&secret));
            // A secret may start anywhere in what was encoded, so its inner part is looked for in
            // each of the three ways base64 can cut it.
            forms.extend((0..3).filter_map(|skip| base64_inner(secret.as_bytes(), skip)));
            let escaped = Value::String(secret.clone()).to_string();
            forms.push(escaped.trim_matches('"').to_owned());
            forms.push(secret);
        }
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { secrets: forms }
    }

    /// Tells whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Hides the secrets in a text.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), HIDDEN);
            }
        }
        text
    }

    /// Hides the secrets in a value, keys included.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                let members = std::mem::take(map);
                for (key, mut member) in members {
                    self.value(&mut member);
                    map.insert(self.text(&key), member);
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                if self.secrets.contains(&text) {
                    *value = Value::String(HIDDEN.to_owned());
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Hides the secrets in what a call gave.
    #[must_use]
    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        if self.is_empty() {
            return outcome;
        }
        match outcome {
            Outcome::Succeeded(answer) => Outcome::Succeeded(self.answer(answer)),
            Outcome::Partial(answer) => Outcome::Partial(self.answer(answer)),
            Outcome::Failed(mut failure) => {
                if let Some(details) = &mut failure.details {
                    self.value(details);
                }
                let code = self.text(&failure.code);
                let message = self.text(&failure.message);
                Outcome::Failed(Failure { code, message, details: failure.details })
            }
            Outcome::Cancelled { message } => Outcome::Cancelled { message: self.text(&message) },
            other @ (Outcome::Denied { .. }
            | Outcome::TimedOut { .. }
            | Outcome::OutcomeUnknown) => other,
        }
    }

    fn answer(&self, mut answer: Answer) -> Answer {
        self.value(&mut answer.result);
        answer.message = answer.message.map(|text| self.text(&text));
        answer.base64 = answer.base64.map(|text| self.text(&text));
        answer
    }
}

fn hex(secret: &str) -> String {
    remit_model::canonical::hex(secret.as_bytes())
}

fn percent(secret: &str) -> String {
    let mut out = String::new();
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&remit_model::canonical::hex(&[byte]).to_ascii_uppercase());
        }
    }
    out
}

/// Gives the base64 characters that depend on nothing but the secret when it starts `skip` bytes
/// into a group of three.
fn base64_inner(secret: &[u8], skip: usize) -> Option<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = secret.get((3 - skip) % 3..)?;
    let mut out = String::new();
    for group in whole.as_chunks::<3>().0 {
        let [a, b, c] = group.map(u32::from);
        let bits = a << 16 | b << 8 | c;
        for shift in [18, 12, 6, 0] {
            let index = (bits >> shift & 63) as usize;
            out.push(LETTERS.get(index).copied().map_or('A', char::from));
        }
    }
    // Fewer characters would be found by chance.
    (out.len() >= 8).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_is_hidden_in_every_form_and_place() {
        let secret = "c4nary-\"value\"/17";
        let redactor = Redactor::new([secret.to_owned(), "x".to_owned()]);
        for text in [
            format!("Authorization: Bearer {secret}!"),
            json!([secret]).to_string(),
            hex(secret),
            percent(secret),
        ] {
            let hidden = redactor.text(&text);
            assert!(hidden.contains(HIDDEN), "{text} -> {hidden}");
            assert!(!hidden.contains("c4nary-"), "{hidden}");
        }
        let mut value = json!({"a": [format!("k={secret}")], secret: 1, "x": "x"});
        redactor.value(&mut value);
        assert!(!value.to_string().contains("c4nary"), "{value}");
        assert_eq!(value["x"], "x", "what is too short to be a secret stays");
    }

    #[test]
    fn base64_hides_wherever_the_secret_starts() {
        // `user:canary-secret-17` and its neighbours, as a proxy would print them.
        for (text, inner) in [
            ("dXNlcjpjYW5hcnktc2VjcmV0LTE3", "user:"),
            ("dXNlcmE6Y2FuYXJ5LXNlY3JldC0xNw==", "usera:"),
            ("dXNlcmFiOmNhbmFyeS1zZWNyZXQtMTc=", "userab:"),
        ] {
            let redactor = Redactor::new(["canary-secret-17".to_owned()]);
            let hidden = redactor.text(text);
            assert!(hidden.contains(HIDDEN), "{inner}: {hidden}");
        }
    }

    #[test]
    fn outcomes_are_searched_whole() {
        let redactor = Redactor::new(["topsecret".to_owned()]);
        let failed = Failure::new("X", "key topsecret").with_details(json!({"k": "topsecret"}));
        let text = serde_json::to_string(&redactor.outcome(Outcome::Failed(failed))).unwrap();
        assert!(!text.contains("topsecret"), "{text}");
        let answer = Answer {
            result: json!("a topsecret"),
            message: Some("topsecret".into()),
            base64: Some("topsecret".into()),
        };
        let text = serde_json::to_string(&redactor.outcome(Outcome::Succeeded(answer))).unwrap();
        assert!(!text.contains("topsecret"), "{text}");
    }
}
