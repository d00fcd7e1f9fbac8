//! Keeps secrets from leaving by the back door: what a tool answers or says is searched for the
//! secrets it was given.

mod forms;

use aho_corasick::AhoCorasick;
use remit_model::{Answer, Failure, Outcome};
use serde_json::Value;

/// Is what stands in place of a secret.
pub const HIDDEN: &str = "[secret]";

/// From how many bytes on a secret is looked for: shorter ones are everywhere by chance.
const SHORTEST: usize = 4;

/// Finds secrets in what a call gives back.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
    /// Finds them all in one pass; none where there are more than it can take.
    finder: Option<AhoCorasick>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Redactor({} forms)", self.secrets.len())
    }
}

impl Redactor {
    /// Takes the secrets, and the forms in which programs often print them.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        Self::of_forms(secrets.flat_map(|secret| forms::of(&secret)).collect())
    }

    /// Takes all that others look for, from a length in bytes on.
    pub(crate) fn of_all<'r>(others: impl IntoIterator<Item = &'r Self>, least: usize) -> Self {
        let all = others.into_iter().flat_map(|other| &other.secrets);
        let forms = all.filter(|form| form.len() >= least).cloned().collect();
        Self::of_forms(forms)
    }

    fn of_forms(mut forms: Vec<String>) -> Self {
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        let finder = AhoCorasick::new(&forms).ok().filter(|_| !forms.is_empty());
        Self { secrets: forms, finder }
    }

    /// Tells whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Hides the secrets in a text. Where two overlap, nothing of either stays.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut shown_to = 0;
        for (start, end) in self.places(text) {
            out.push_str(text.get(shown_to..start).unwrap_or_default());
            out.push_str(HIDDEN);
            shown_to = end;
        }
        out.push_str(text.get(shown_to..).unwrap_or_default());
        out
    }

    /// Gives where secrets stand, in order and apart from each other.
    pub(crate) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = match &self.finder {
            Some(finder) => match finder.try_find_overlapping_iter(text) {
                Ok(places) => places.map(|place| (place.start(), place.end())).collect(),
                Err(_) => self.each_place(text),
            },
            None => self.each_place(text),
        };
        found.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::new();
        for (start, end) in found {
            match apart.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        apart
    }

    fn each_place(&self, text: &str) -> Vec<(usize, usize)> {
        let places = |secret: &String| {
            let length = secret.len();
            text.match_indices(secret.as_str()).map(move |(at, _)| (at, at + length)).collect()
        };
        self.secrets.iter().flat_map(|secret| -> Vec<_> { places(secret) }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_is_hidden_in_every_form_and_place() {
        let secret = "c4nary-\"value\"/17";
        let redactor = Redactor::new([secret.to_owned(), "x".to_owned()]);
        for text in [format!("Authorization: Bearer {secret}!"), json!([secret]).to_string()] {
            let hidden = redactor.text(&text);
            assert!(hidden.contains(HIDDEN), "{text} -> {hidden}");
            assert!(!hidden.contains("c4nary-"), "{hidden}");
        }
        let mut value = json!({"a": [format!("k={secret}")], secret: 1, "x": "x"});
        redactor.value(&mut value);
        assert!(!value.to_string().contains("c4nary"), "{value}");
        assert_eq!(value["x"], "x", "what is too short to be a secret stays");
    }

    /// What Python prints of `kä/y "o'n" €😀 17`, written down from a run of it.
    #[test]
    fn a_secret_is_hidden_as_ordinary_programs_print_it() {
        let secret = "k\u{e4}/y \"o'n\" \u{20ac}\u{1f600} 17";
        let redactor = Redactor::new([secret.to_owned()]);
        for text in [
            r#"k\u00e4/y \"o'n\" \u20ac\ud83d\ude00 17"#,
            r#"k\\u00e4/y \\\"o'n\\\" \\u20ac\\ud83d\\ude00 17"#,
            r#"k\u00E4/y \"o'n\" \u20AC\uD83D\uDE00 17"#,
            "k\u{e4}/y \"o\\'n\" \u{20ac}\u{1f600} 17",
            r#"k\xe4/y "o\'n" \u20ac\U0001f600 17"#,
            r#"k\xc3\xa4/y "o\'n" \xe2\x82\xac\xf0\x9f\x98\x80 17"#,
            "k%C3%A4/y%20%22o%27n%22%20%E2%82%AC%F0%9F%98%80%2017",
            "k%C3%A4%2Fy%20%22o%27n%22%20%E2%82%AC%F0%9F%98%80%2017",
            "k%c3%a4%2fy%20%22o%27n%22%20%e2%82%ac%f0%9f%98%80%2017",
            "k%C3%A4%2Fy+%22o%27n%22+%E2%82%AC%F0%9F%98%80+17",
            "6BC3A42F7920226F276E2220E282ACF09F9880203137",
            "k\u{e4}/y &quot;o&#x27;n&quot; \u{20ac}\u{1f600} 17",
        ] {
            assert_eq!(redactor.text(&format!("<{text}>")), format!("<{HIDDEN}>"), "{text}");
        }
        let escaped = json!({"inner": json!([secret]).to_string()}).to_string();
        assert!(!redactor.text(&escaped).contains("17"), "{escaped}");
    }

    #[test]
    fn each_line_of_a_secret_of_several_is_hidden() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADAN/Bg+kq\nshortly\n-----END KEY-----\n";
        let redactor = Redactor::new([key.to_owned()]);
        let indented = redactor.text(&key.replace('\n', "\n    "));
        assert!(!indented.contains("MIIEvQ") && !indented.contains("BEGIN"), "{indented}");
        assert!(redactor.text("'MIIEvQIBADAN/Bg+kq\\n'").contains(HIDDEN));
        assert_eq!(redactor.text(key), HIDDEN, "whole, it is one secret");
        assert_eq!(redactor.text("shortly after"), "shortly after", "seven bytes are no line");
        assert_eq!(Redactor::new(["a\nshortly8".to_owned()]).text("shortly8!"), "[secret]!");
    }

    #[test]
    fn nothing_stays_of_secrets_that_overlap() {
        let secrets = ["abcdef".to_owned(), "defghi".to_owned()];
        assert_eq!(Redactor::new(secrets.clone()).text("-abcdefghi-"), "-[secret]-");
        let slow = Redactor { finder: None, ..Redactor::new(secrets) };
        assert_eq!(slow.text("-abcdefghi-"), "-[secret]-");
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
