//! Fits text into an answer: a line of JSON has a longest length.

use serde_json::Value;

use crate::serve::ANSWER_BYTES;

/// Is how much of an answer the text may take; the rest is for what stands beside it.
pub(crate) const TEXT_BYTES: usize = ANSWER_BYTES - (64 << 10);

/// Is a piece of a longer text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page<'t> {
    pub(crate) text: &'t str,
    /// Is how many characters the whole text has.
    pub(crate) total: usize,
    /// Is the character to go on from, if there is more.
    pub(crate) next: Option<usize>,
}

/// Gives the piece from character `offset` on, of at most `limit` characters and `bytes` of JSON.
pub(crate) fn page(text: &str, offset: usize, limit: usize, bytes: usize) -> Page<'_> {
    let mut total = 0;
    let (mut from, mut to) = (text.len(), text.len());
    let mut next = None;
    let mut used = 0;
    for (at, c) in text.char_indices() {
        if total == offset {
            from = at;
        }
        if total >= offset && next.is_none() {
            used += json_len(c);
            if used > bytes || total - offset >= limit {
                next = Some(total);
                to = at;
            }
        }
        total += 1;
    }
    Page { text: text.get(from..to).unwrap_or_default(), total, next }
}

/// Gives the first values that fit into an answer together.
pub(crate) fn items(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut left = TEXT_BYTES;
    let mut fitting = Vec::new();
    for value in values {
        let size = serde_json::to_string(&value).map_or(usize::MAX, |json| json.len() + 1);
        match left.checked_sub(size) {
            Some(rest) => left = rest,
            None => break,
        }
        fitting.push(value);
    }
    fitting
}

/// Gives how many bytes a character takes in a JSON string.
fn json_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_whole() {
        let whole = Page { text: "añ字", total: 3, next: None };
        assert_eq!(page("añ字", 0, 3, 6), whole);
        assert_eq!(page("", 0, 3, 6), Page { text: "", total: 0, next: None });
    }

    #[test]
    fn one_past_each_limit_is_cut() {
        assert_eq!(page("añ字", 0, 2, 99), Page { text: "añ", total: 3, next: Some(2) });
        assert_eq!(page("añ字", 0, 99, 5), Page { text: "añ", total: 3, next: Some(2) });
        assert_eq!(page("añ字", 1, 1, 99), Page { text: "ñ", total: 3, next: Some(2) });
        assert_eq!(page("añ字", 2, 9, 99), Page { text: "字", total: 3, next: None });
        assert_eq!(page("añ字", 9, 9, 99), Page { text: "", total: 3, next: None });
    }

    #[test]
    fn values_are_given_up_to_the_last_that_fits() {
        let value = Value::from("x".repeat(TEXT_BYTES / 4 - 3));
        let count = |n: usize| items(std::iter::repeat_n(value.clone(), n)).len();
        assert_eq!((count(3), count(4), count(5)), (3, 4, 4));
    }

    #[test]
    fn the_length_is_that_of_the_json() {
        let text = "\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}aé字😀";
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(text.chars().map(json_len).sum::<usize>() + 2, json.len());
    }
}
