//! The forms in which programs print a secret: encoded, escaped, quoted, line by line.

use std::fmt::Write as _;

use remit_model::canonical;
use serde_json::Value;

use super::SHORTEST;

/// From how many bytes on a line of a secret of several lines is one itself.
const SHORTEST_LINE: usize = 8;

/// Gives the forms of a secret, itself included.
pub(super) fn of(secret: &str) -> Vec<String> {
    let mut forms = of_one(secret);
    let trimmed = secret.trim();
    if trimmed.len() >= SHORTEST && trimmed != secret {
        forms.extend(of_one(trimmed));
    }
    // Whoever indents a key or prints it line by line prints no newline of it as it was.
    if trimmed.contains(['\n', '\r']) {
        let lines = trimmed.split(['\n', '\r']).map(str::trim);
        lines
            .filter(|line| line.len() >= SHORTEST_LINE)
            .for_each(|line| forms.extend(of_one(line)));
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn of_one(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let hex = canonical::hex(secret.as_bytes());
    forms.push(hex.to_ascii_uppercase());
    forms.push(hex);
    forms.extend(percent(secret));
    // A secret may start anywhere in what was encoded, so its inner part is looked for in each of
    // the three ways base64 can cut it.
    for inner in (0..3).filter_map(|skip| base64_inner(secret.as_bytes(), skip)) {
        // Slashes are escaped in JSON by some; in addresses other letters stand for two of them.
        forms.push(inner.replace('+', "-").replace('/', "_"));
        forms.push(inner.replace('/', "\\/"));
        forms.push(inner);
    }
    let escaped = escapes(secret);
    // JSON in JSON, and what a program says that quotes the answer of another.
    forms.extend(escaped.iter().map(|form| inside_quotes(form)));
    forms.extend(escaped);
    forms
}

/// Gives a text as JSON has it, without the quotes around it.
fn inside_quotes(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(&quoted).to_owned()
}

/// Gives what stands in addresses and forms: everybody leaves other signs as they are.
fn percent(secret: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for (kept, space) in [
        ("-_.~", "%20"),
        ("-_.~/", "%20"),
        ("-_.~", "+"),
        ("-_.*", "+"),
        ("-_.!~*'()", "%20"),
        ("-_.!~*'();/?:@&=+$,#", "%20"),
    ] {
        let mut form = String::new();
        for byte in secret.bytes() {
            let letter = char::from(byte);
            if letter == ' ' {
                form.push_str(space);
            } else if letter.is_ascii_alphanumeric() || kept.contains(letter) {
                form.push(letter);
            } else {
                let _ = write!(form, "%{byte:02X}");
            }
        }
        forms.push(lower_percent(&form));
        forms.push(form);
    }
    forms
}

/// Writes the digits after each `%` in lower case.
fn lower_percent(form: &str) -> String {
    let mut left = 0;
    form.chars()
        .map(|letter| {
            left = if letter == '%' { 2_usize } else { left };
            let digit = left > 0 && letter != '%';
            left -= usize::from(digit);
            if digit { letter.to_ascii_lowercase() } else { letter }
        })
        .collect()
}

/// Says how a kind of text escapes what is not plain ASCII.
#[derive(Clone, Copy, PartialEq)]
enum Wide {
    /// It stays.
    Kept,
    /// `\u00e4`, in pairs where it takes two.
    Json,
    /// The same with digits in upper case.
    JsonUpper,
    /// `\xe4`, `\u20ac`, `\U0001f600`.
    Python,
    /// `\xc3\xa4`: byte by byte.
    Bytes,
    /// `\u{e4}`.
    Braces,
}

/// Gives what stands between the quotes of the usual notations, and in markup and shell commands.
fn escapes(secret: &str) -> Vec<String> {
    let mut forms = vec![inside_quotes(secret)];
    for wide in [Wide::Kept, Wide::Json, Wide::JsonUpper, Wide::Python, Wide::Bytes, Wide::Braces] {
        for quotes in ["\"", "'", "", "\"/"] {
            forms.push(secret.chars().fold(String::new(), |mut form, letter| {
                escape(&mut form, letter, quotes, wide);
                form
            }));
        }
    }
    let marked = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for (double, single) in
        [("\"", "'"), ("&quot;", "&#x27;"), ("&quot;", "&#39;"), ("&#34;", "&#39;")]
    {
        forms.push(marked.replace('"', double).replace('\'', single));
    }
    forms.push(secret.replace('\'', "'\"'\"'"));
    forms.push(secret.replace('\'', "'\\''"));
    forms
}

fn escape(form: &mut String, letter: char, quotes: &str, wide: Wide) {
    let code = u32::from(letter);
    let _ = match letter {
        '\\' => form.write_str("\\\\"),
        '\n' => form.write_str("\\n"),
        '\r' => form.write_str("\\r"),
        '\t' => form.write_str("\\t"),
        _ if quotes.contains(letter) => write!(form, "\\{letter}"),
        _ if !letter.is_control() && (letter.is_ascii() || wide == Wide::Kept) => {
            form.write_char(letter)
        }
        _ => match wide {
            Wide::Json | Wide::JsonUpper => {
                letter.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| match wide {
                    Wide::Json => write!(form, "\\u{unit:04x}"),
                    _ => write!(form, "\\u{unit:04X}"),
                })
            }
            Wide::Kept | Wide::Python if code < 0x100 => write!(form, "\\x{code:02x}"),
            Wide::Kept | Wide::Python if code < 0x1_0000 => write!(form, "\\u{code:04x}"),
            Wide::Kept | Wide::Python => write!(form, "\\U{code:08x}"),
            Wide::Bytes => letter
                .encode_utf8(&mut [0; 4])
                .bytes()
                .try_for_each(|byte| write!(form, "\\x{byte:02x}")),
            Wide::Braces => write!(form, "\\u{{{code:x}}}"),
        },
    };
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
