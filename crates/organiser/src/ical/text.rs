//! Escaped text (RFC 5545 §3.3.11).

/// Reads escaped text.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 'N') => out.push('\n'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// Writes text escaped. Control characters have no place in a file and are left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Writes the value of a parameter, in quotes and with RFC 6868's carets.
pub(super) fn parameter(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '^' => out.push_str("^^"),
            '\n' => out.push_str("^n"),
            '"' => out.push_str("^'"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
