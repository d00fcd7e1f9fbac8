//! The difference of two versions, for a person and for a pull request.

use std::fmt::Write as _;

use remit_manifest::diff::{Change, Changes};
use remit_model::{Dialect, text};
use serde_json::Value;

use super::human::plural;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[91m";
const YELLOW: &str = "\u{1b}[33m";
const GREEN: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

/// Is what was compared.
pub(crate) struct Compared<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) from_hash: &'a str,
    pub(crate) to_hash: &'a str,
    pub(crate) changes: &'a Changes,
}

/// Gives the difference with colours.
pub(crate) fn human(compared: &Compared<'_>) -> String {
    let Compared { dialect, old, new, from_hash, to_hash, changes } = compared;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{BOLD}{} → {}{PLAIN} ({})",
        text::visible(old),
        text::visible(new),
        dialect.as_str()
    );
    let _ = writeln!(out, "{DIM}{from_hash}\n{to_hash}{PLAIN}\n");
    if changes.is_empty() {
        let same =
            if from_hash == to_hash { "nothing changed" } else { "nothing changed that matters" };
        let _ = writeln!(out, "{GREEN}{same}{PLAIN}");
        return out;
    }
    section(&mut out, RED, "Breaking", "users are asked to review", &changes.breaking);
    section(&mut out, YELLOW, "Consent", "held until the user has seen it", &changes.consent);
    let quiet: Vec<Change> =
        changes.non_breaking.iter().filter(|c| !changes.consent.contains(c)).cloned().collect();
    section(&mut out, GREEN, "Non-breaking", "", &quiet);
    let _ = writeln!(
        out,
        "{}, {}, {} in all",
        plural(changes.breaking.len(), "breaking change"),
        plural(changes.consent.len(), "consent change"),
        plural(changes.breaking.len() + changes.non_breaking.len(), "change")
    );
    out
}

fn section(out: &mut String, colour: &str, title: &str, meaning: &str, changes: &[Change]) {
    if changes.is_empty() {
        return;
    }
    let dash = if meaning.is_empty() { "" } else { " — " };
    let _ = writeln!(out, "{BOLD}{colour}{title}{PLAIN}{DIM}{dash}{meaning}{PLAIN}");
    for change in changes {
        let _ = writeln!(out, "  {colour}•{PLAIN} {}", text::visible(&change.message));
        let place = if change.pointer.is_empty() { "/" } else { &change.pointer };
        let _ = writeln!(out, "    {DIM}{} at {}{PLAIN}", change.rule, text::visible(place));
        if let Some(witness) = &change.witness {
            let _ = writeln!(out, "    example: {}", example(witness));
        } else if let (Some(before), Some(after)) = (&change.before, &change.after)
            && !change.message.contains(" from ")
        {
            let _ = writeln!(
                out,
                "    {RED}- {}{PLAIN}\n    {GREEN}+ {}{PLAIN}",
                short(before),
                short(after)
            );
        }
    }
    out.push('\n');
}

/// Gives a value on one line, cut where it gets long.
fn short(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(whole: &str) -> String {
    const LONGEST: usize = 240;
    match whole.char_indices().nth(LONGEST) {
        None => text::visible(whole).into_owned(),
        Some((cut, _)) => format!("{}…", text::visible(whole.get(..cut).unwrap_or_default())),
    }
}

/// Gives an example on one line. What is long in it is only counted, so that all the rest can be seen.
fn example(value: &Value) -> String {
    let mut out = String::new();
    write_example(value, &mut out);
    cut(&out)
}

fn write_example(value: &Value, out: &mut String) {
    // From how many elements on a list is abbreviated, and to how many.
    const MANY: usize = 8;
    const SHOWN: usize = 3;
    match value {
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            let shown = if items.len() > MANY { SHOWN } else { items.len() };
            out.push('[');
            for (i, item) in items.iter().take(shown).enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_example(item, out);
            }
            if shown < items.len() {
                let _ = write!(out, ",… ({} elements)", items.len());
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_text(key, out);
                out.push(':');
                write_example(value, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    const LONG: usize = 80;
    const SHOWN: usize = 16;
    let _ = match text.chars().nth(LONG) {
        None => write!(out, "{}", Value::from(text)),
        Some(_) => {
            let start: String = text.chars().take(SHOWN).chain(['…']).collect();
            write!(out, "{} ({} characters)", Value::from(start), text.chars().count())
        }
    };
}

/// Gives the difference as Markdown, for a pull request.
pub(crate) fn markdown(compared: &Compared<'_>) -> String {
    let Compared { dialect, old, new, from_hash, to_hash, changes } = compared;
    let mut out = String::new();
    let _ = writeln!(out, "## `{}` → `{}`\n", code(old), code(new));
    let _ = writeln!(out, "Dialect `{}`, `{from_hash}` → `{to_hash}`\n", dialect.as_str());
    if changes.is_empty() {
        out.push_str("Nothing changed.\n");
        return out;
    }
    for (title, list) in [
        ("Breaking", &changes.breaking),
        ("Consent", &changes.consent),
        ("Non-breaking", &changes.non_breaking),
    ] {
        if list.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### {title} ({})\n", list.len());
        for change in list {
            let _ = writeln!(
                out,
                "- **`{}`** {} (`{}`)",
                change.rule,
                escaped(&change.message),
                code(&change.pointer)
            );
            for (word, value) in [("before", &change.before), ("after", &change.after)] {
                if let Some(value) = value {
                    let _ = writeln!(out, "  - {word}: `{}`", code(&short(value)));
                }
            }
            if let Some(witness) = &change.witness {
                let _ = writeln!(out, "  - example: `{}`", code(&example(witness)));
            }
        }
        out.push('\n');
    }
    out
}

/// Text from a manifest must not become markup.
fn escaped(text: &str) -> String {
    // Messages quote names in backticks, in pairs; inside them nothing is markup.
    let mut out = String::new();
    let mut in_code = false;
    for c in text::visible(text).chars() {
        in_code ^= c == '`';
        if !in_code && r"\*_{}[]<>()#+!|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A code span ends at a backtick, whatever stands before it.
fn code(text: &str) -> String {
    text::visible(text).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_long_in_an_example_is_counted() {
        let shown = |value: Value| example(&value);
        let text = "a".repeat(10_001);
        assert_eq!(
            shown(json!({"q": "aa", "text": text, "z": 1})),
            r#"{"q":"aa","text":"aaaaaaaaaaaaaaaa…" (10001 characters),"z":1}"#
        );
        assert_eq!(
            shown(json!({"list": vec!["a"; 5_000], "z": [1, 2]})),
            r#"{"list":["a","a","a",… (5000 elements)],"z":[1,2]}"#
        );
        assert_eq!(shown(json!({text: null})), r#"{"aaaaaaaaaaaaaaaa…" (10001 characters):null}"#);
        assert_eq!(shown(json!("é".repeat(80))), format!("\"{}\"", "é".repeat(80)));
        assert_eq!(
            shown(json!("é".repeat(81))),
            format!("\"{}…\" (81 characters)", "é".repeat(16))
        );
    }

    #[test]
    fn a_short_example_is_shown_as_it_is() {
        for value in
            [json!({"a": [1, "b", null, {"c": true}], "d\"": "\u{1f600}"}), json!([]), json!("x")]
        {
            assert_eq!(example(&value), value.to_string());
        }
        assert!(!example(&json!("\u{202e}\u{1b}[31m")).contains(['\u{202e}', '\u{1b}']));
    }
}
