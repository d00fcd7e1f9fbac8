//! Keeps secrets from coming in by an argument. What comes in is recorded, shown to people and given to
//! tools, so a secret that is noticed goes no further: the call is refused, and what is recorded of it
//! has the secret taken out.
//!
//! Three kinds are noticed: Remit's own tokens by their shape, the secrets that tools were configured
//! with by their value, and what other services call a secret by shapes that nothing else has.

mod shapes;

use remit_model::{Call, Failure, Outcome};
use serde_json::Value;

use crate::redact::{HIDDEN, Redactor};
use crate::stage::Refused;

pub use shapes::Whose;

/// From how many bytes on a configured secret is refused by its value. Shorter ones occur by chance in
/// what people write.
const SHORTEST: usize = 8;

/// Is a secret that was found: where it stands in a text, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    start: usize,
    end: usize,
    whose: Whose,
}

/// Finds secrets in what comes in.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    configured: Redactor,
}

impl Screen {
    /// Takes what finds the secrets that tools were configured with.
    pub(crate) fn new<'r>(configured: impl IntoIterator<Item = &'r Redactor>) -> Self {
        Self { configured: Redactor::of_all(configured, SHORTEST) }
    }

    fn places(&self, text: &str) -> Vec<Found> {
        let configured = self.configured.places(text).into_iter();
        let configured = configured.map(|(start, end)| Found { start, end, whose: Whose::Ours });
        configured.chain(shapes::find(text)).collect()
    }

    /// Finds the first secret of a value; gives where it stands. `foreign` says whether secrets of
    /// other services count.
    fn find(&self, value: &Value, foreign: bool) -> Option<String> {
        let counts = |text: &str| {
            self.places(text).iter().any(|found| foreign || found.whose == Whose::Ours)
        };
        match value {
            Value::String(text) => counts(text).then(String::new),
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                self.find(item, foreign).map(|below| format!("/{index}{below}"))
            }),
            Value::Object(members) => members.iter().find_map(|(name, member)| {
                if counts(name) {
                    // The name is the secret: where it stands cannot be said.
                    return Some(String::new());
                }
                let name = || name.replace('~', "~0").replace('/', "~1");
                self.find(member, foreign).map(|below| format!("/{}{below}", name()))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// Takes the secrets out of a text.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut found = self.places(text);
        if found.is_empty() {
            return text.to_owned();
        }
        found.sort_unstable_by_key(|found| (found.start, found.end));
        let (mut out, mut shown_to) = (String::with_capacity(text.len()), 0);
        for Found { start, end, .. } in found {
            if end <= shown_to {
                continue;
            }
            if start >= shown_to {
                out.push_str(text.get(shown_to..start).unwrap_or_default());
                out.push_str(HIDDEN);
            }
            shown_to = end;
        }
        out.push_str(text.get(shown_to..).unwrap_or_default());
        out
    }

    /// Takes the secrets out of a value, names included.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(map) => {
                let members = std::mem::take(map);
                for (name, mut member) in members {
                    self.hide_in(&mut member);
                    map.insert(self.hide(&name), member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Lets a call through, or refuses it with the secret taken out of it. Where the operator lets a
    /// capability be given secrets of other services, those pass.
    pub(crate) fn check(&self, call: Call, lenient: bool) -> Result<Call, Box<Refused>> {
        let name = self.places(&call.capability);
        let found = match name.is_empty() {
            true => self.find(&call.input, !lenient),
            false => Some(String::new()),
        };
        let Some(pointer) = found else { return Ok(call) };
        let message = "an argument holds a secret, which is not passed on: secrets belong into the \
                       configuration of a tool, where no model sees them; take it out and call again";
        let details = serde_json::json!({ "pointer": pointer });
        let failure = Failure::new("SECRET_IN_ARGUMENTS", message).with_details(details);
        let mut call = call;
        self.hide_in(&mut call.input);
        call.capability = self.hide(&call.capability);
        let outcome = Outcome::Failed(failure);
        Err(Box::new(Refused {
            call: call.into(),
            entry: None,
            rule: "secret-in-arguments",
            outcome,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OURS: &str = "rmu_0123456789abcdefghijABCDEFGHIJ0123456789";

    fn screen() -> Screen {
        Screen::new([&Redactor::new(["configured-17".to_owned(), "tiny".to_owned()])])
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands_and_said_where() {
        for (value, pointer) in [
            (json!({"a": [1, {"b/c": OURS}]}), "/a/1/b~1c"),
            (json!({"x": format!("Bearer {OURS}!")}), "/x"),
            (json!({"x": "url?key=configured-17&y"}), "/x"),
            (json!({"x": "Y29uZmlndXJlZC0xNw=="}), "/x"),
            (json!(OURS), ""),
            (json!({OURS: 1}), ""),
        ] {
            assert_eq!(screen().find(&value, false).as_deref(), Some(pointer), "{value}");
        }
        for value in [json!({"x": "tiny"}), json!({"x": &OURS[..43]}), json!([17, null])] {
            assert_eq!(screen().find(&value, true), None, "{value}");
        }
    }

    #[test]
    fn what_is_hidden_leaves_the_rest_and_nothing_of_the_secret() {
        let text = format!("a {OURS} b {OURS}configured-17 c");
        assert_eq!(screen().hide(&text), format!("a {HIDDEN} b {HIDDEN} c"));
        let mut value = json!({OURS: ["configured-17", "tiny"]});
        screen().hide_in(&mut value);
        assert_eq!(value, json!({HIDDEN: [HIDDEN, "tiny"]}));
    }

    #[test]
    fn secrets_of_others_pass_only_where_the_operator_lets_them() {
        let value = json!({"t": format!("ghp_{}", "a1".repeat(18))});
        assert_eq!(screen().find(&value, true).as_deref(), Some("/t"));
        assert_eq!(screen().find(&value, false), None);
    }
}
