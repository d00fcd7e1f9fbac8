//! What is not said again. Whoever pastes a secret by mistake must not find it in answers and cards.

use std::borrow::Cow;

/// From how many characters on a word can be a secret.
const LEAST: usize = 24;

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=')
}

/// Tells whether a word looks drawn by lot: long, with small and capital letters and digits.
fn looks_drawn(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.bytes().any(|b| test(&b));
    word.len() >= LEAST
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

/// Gives a text in which what looks like a secret is `…`.
pub(crate) fn quiet(text: &str) -> Cow<'_, str> {
    if !text.split(|c| !is_part(c)).any(looks_drawn) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let word = rest.split(|c| !is_part(c)).next().unwrap_or_default();
        out.push_str(if looks_drawn(word) { "…" } else { word });
        let mut behind = rest.get(word.len()..).unwrap_or_default().chars();
        out.extend(behind.next());
        rest = behind.as_str();
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_drawn_by_lot_is_not_said_again() {
        let secret = "sk-Ab3dEf6hIj9kLmNoPqRsTuVw";
        assert_eq!(
            quiet(&format!("unknown field `{secret}`, 见 /a/{secret}/b")),
            "unknown field `…`, 见 /a/…/b"
        );
        assert_eq!(quiet(&secret[..LEAST]), "…");
        for same in [
            &secret[..LEAST - 1],
            "fetch_web_page_from_the_network_2",
            "第 3 行",
            "",
            "/tools/0/input_schema/properties/A",
        ] {
            assert_eq!(quiet(same), same);
        }
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert_eq!(quiet(hash), hash);
    }
}
