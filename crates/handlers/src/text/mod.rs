//! Text on its way into an answer.

pub(crate) mod charset;
pub(crate) mod fit;
pub(crate) mod html;

/// Gives the text with every run of white space as one space, and none at its ends.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Gives at most the first `most` characters, with an ellipsis where some are missing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default().trim_end()),
    }
}
