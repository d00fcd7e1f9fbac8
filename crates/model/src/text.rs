//! Text from manifests on its way to a person.
//!
//! A manifest is written by somebody else. What it says must not be able to move a cursor, hide a
//! word or turn a line around where a user decides, so every character that is not plainly visible
//! is shown as its number.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Tells whether a character must not reach a terminal or a page as it is: control, bidirectional
/// override, zero-width, Unicode tag, line separator, or not a character at all.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Gives the text with every hidden character written as `\u{…}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Gives the text in backticks, visible, and cut to a length that keeps a message readable.
#[must_use]
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        None => format!("`{}`", inside(text)),
        Some((cut, _)) => format!("`{}…`", inside(text.get(..cut).unwrap_or_default())),
    }
}

/// A backtick inside would end the quotation.
fn inside(text: &str) -> String {
    visible(text).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out_and_plain_text_is_left_alone() {
        assert!(matches!(visible("文件 ok é 👍"), Cow::Borrowed(_)));
        assert_eq!(visible("a\u{1b}[31m"), "a\\u{1b}[31m");
        assert_eq!(visible("a\u{202e}b\u{200b}c\u{e0041}"), "a\\u{202e}b\\u{200b}c\\u{e0041}");
        assert_eq!(visible("\n"), "\\u{a}");
    }

    #[test]
    fn quoting_cuts_at_eighty_characters() {
        assert_eq!(quoted(&"x".repeat(80)), format!("`{}`", "x".repeat(80)));
        assert_eq!(quoted(&"x".repeat(81)), format!("`{}…`", "x".repeat(80)));
        assert_eq!(quoted("a`b"), "`a'b`");
    }
}
