//! What a YAML syntax error means for the person who wrote the file.
//!
//! The parser speaks of tokens and indicators, and often notices a mistake one line late. Where it
//! is plain what happened, it is said in other words and where it happened.

use remit_model::text;

use crate::rules::{self, Rule};

/// Is an error as it is shown.
pub(super) struct Wording {
    pub(super) rule: &'static Rule,
    /// The character it is about.
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
}

const INDENT: &str = "indent the fields of one object alike, with spaces";
const QUOTE: &str = "put the text in quotes";

/// Words the parser uses, what they mean, what to do, and whether the line before is meant.
const MEANINGS: &[(&str, &str, Option<&str>, bool)] = &[
    ("simple key expect", "a `:` and a space are missing after the key", None, true),
    (
        "expected '-' indicator",
        "this line is indented differently from those around it",
        Some(INDENT),
        false,
    ),
    (
        "did not find expected key",
        "this line is indented differently from those around it",
        Some(INDENT),
        false,
    ),
    (
        "valid YAML whitespace",
        "a tab stands where YAML wants a space",
        Some("put a space after the `:`"),
        false,
    ),
    (
        "indentation in quoted scalar",
        "a quote before this is not closed",
        Some("close the quote, or double a quote that is part of the text"),
        false,
    ),
    (
        "trailing content after",
        "there is more text after the closing quote",
        Some("write a quote inside single quotes twice: ''"),
        false,
    ),
    ("unexpected character", "a text cannot start with this character", Some(QUOTE), false),
    (
        "unknown anchor",
        "there is no anchor of this name",
        Some("put a text that starts with `*` in quotes"),
        false,
    ),
    (
        "mapping values are not allowed",
        "a `: ` stands inside a text, or a field is indented differently from its neighbours",
        Some("put a text that contains `: ` in quotes"),
        false,
    ),
    ("placement of ':' indicator", "a `[` or `{` before this is not closed", None, false),
];

/// Finds the words for an error.
pub(super) fn of(info: &str, at: usize, source: &str) -> Wording {
    let rule = &rules::YAML_SYNTAX;
    if let Some(at) = conflict(source) {
        let message = "this looks like a merge conflict".to_owned();
        let help = Some("keep one side and remove the marks");
        return Wording { rule, at, message, help };
    }
    if info.contains("Unicode character escape") {
        let message = "this escape is not a character; half of a surrogate pair is none".to_owned();
        let help = Some("write the character itself, or \\U and eight digits");
        return Wording { rule: &rules::LONE_SURROGATE, at, message, help };
    }
    if let Some(at) = tab(at, source) {
        let message = "a tab stands where YAML wants spaces".to_owned();
        return Wording { rule, at, message, help: Some("indent with spaces") };
    }
    match MEANINGS.iter().find(|(words, ..)| info.contains(words)) {
        Some((_, message, help, earlier)) => {
            let at = if *earlier { line_before(at, source) } else { at };
            Wording { rule, at, message: (*message).to_owned(), help: *help }
        }
        None => Wording { rule, at, message: text::visible(info).into_owned(), help: None },
    }
}

/// Finds the marks that version control leaves in a file.
fn conflict(source: &str) -> Option<usize> {
    let mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if mark(line) {
            return Some(at);
        }
        at += line.chars().count();
    }
    None
}

/// Finds a tab in the indentation of the line of the error, or of the one before.
fn tab(at: usize, source: &str) -> Option<usize> {
    let here = line_start(at, source);
    [here, line_before(at, source)].into_iter().find_map(|start| {
        let line = source.chars().skip(start).take_while(|c| matches!(c, ' ' | '\t'));
        line.enumerate().find(|(_, c)| *c == '\t').map(|(i, _)| start + i)
    })
}

fn line_start(at: usize, source: &str) -> usize {
    source.chars().take(at).enumerate().filter(|(_, c)| *c == '\n').last().map_or(0, |(i, _)| i + 1)
}

/// Gives where the text of the last line with something in it starts, before the line of `at`.
fn line_before(at: usize, source: &str) -> usize {
    let end = line_start(at, source);
    let (mut found, mut start) = (0, 0);
    for line in source.split('\n') {
        if start >= end {
            break;
        }
        if !line.trim().is_empty() {
            found = start + line.chars().take_while(|c| *c == ' ').count();
        }
        start += line.chars().count() + 1;
    }
    found
}
