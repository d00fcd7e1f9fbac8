//! Diagnostics for a person: the source line, underlined.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use remit_model::{Diagnostic, Severity, Source, text};

use super::CheckedFile;

/// Is how much of a long line is shown.
const WIDEST: usize = 2_000;

/// Is how much of a long value is underlined.
const LONGEST_UNDERLINE: usize = 60;

/// Gives one diagnostic with the line it is about.
pub(crate) fn diagnostic(path: &str, source: &Source, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = text::visible(&diagnostic.message).into_owned();
    let path = text::visible(path).into_owned();
    let line = diagnostic.position.line as usize;
    let title = level.primary_title(message).id(diagnostic.rule);
    // The snippet works out the place by itself, except where its line is cut or there is none.
    let origin =
        Origin::path(path.clone()).line(line).char_column(diagnostic.position.column as usize);
    let group = match excerpt(source, diagnostic) {
        Some(Excerpt { line: text, span, whole }) => {
            let snippet = Snippet::source(text)
                .line_start(line)
                .annotation(AnnotationKind::Primary.span(span));
            if whole {
                title.element(snippet.path(path))
            } else {
                title.element(origin).element(snippet)
            }
        }
        None => title.element(origin),
    };
    let mut report = vec![group];
    if let Some(help) = &diagnostic.help {
        report
            .push(Group::with_title(Level::HELP.secondary_title(text::visible(help).into_owned())));
    }
    let mut shown = Renderer::styled().render(&report);
    shown.push_str("\n\n");
    shown
}

/// Is the line a diagnostic starts in, safe to show.
struct Excerpt {
    line: String,
    /// The bytes to underline.
    span: std::ops::Range<usize>,
    /// Whether it is the line from its start.
    whole: bool,
}

fn excerpt(source: &Source, diagnostic: &Diagnostic) -> Option<Excerpt> {
    let whole = source.text();
    if whole.is_empty() {
        return None;
    }
    let range = source.byte_range(diagnostic.span);
    let start = whole.get(..range.start)?.rfind('\n').map_or(0, |i| i + 1);
    let end = whole.get(range.start..)?.find('\n').map_or(whole.len(), |i| range.start + i);
    let line = whole.get(start..end)?;
    // A long line is cut around the place; every character becomes one that is safe to show.
    let place = line.get(..range.start - start)?.chars().count();
    let skipped = if place < WIDEST { 0 } else { place - WIDEST / 2 };
    let (mut shown, mut underline) = (String::new(), None);
    let mut last = 0;
    for (i, (byte, c)) in line.char_indices().enumerate().skip(skipped).take(WIDEST) {
        if i == place {
            underline = Some(shown.len());
        }
        shown.push(if c == '\t' {
            ' '
        } else if text::is_hidden(c) {
            '\u{fffd}'
        } else {
            c
        });
        if start + byte < range.end {
            last = shown.len();
        }
    }
    let from = underline.unwrap_or(shown.len());
    let to = shown.char_indices().map(|(i, _)| i).filter(|i| *i > from).nth(LONGEST_UNDERLINE);
    let last = to.map_or(last, |to| last.min(to));
    let last =
        closed(shown.get(from..last).unwrap_or_default()).map_or(last, |length| from + length);
    Some(Excerpt { line: shown, span: from..last.max(from), whole: skipped == 0 })
}

/// The YAML parser sees the end of what is quoted or bracketed only after a comment that follows;
/// gives the length up to the closing mark.
fn closed(shown: &str) -> Option<usize> {
    let close = match shown.chars().next()? {
        '[' => ']',
        '{' => '}',
        quote @ ('"' | '\'') => quote,
        _ => return None,
    };
    let comment = shown.find(" #").filter(|_| !shown.ends_with(close))?;
    let before = shown.get(..comment)?;
    before.rfind(close).filter(|at| *at > 0).map(|at| at + close.len_utf8())
}

/// Gives the report of a whole check, and a line that sums it up.
pub(crate) fn check(files: &[CheckedFile], passed_over: usize, notes: bool) -> String {
    let mut shown = String::new();
    for file in files {
        for found in file.diagnostics.iter().filter(|d| notes || d.severity != Severity::Note) {
            match &file.source {
                Some(source) => shown.push_str(&diagnostic(&file.path, source, found)),
                None => shown.push_str(&without_source(&file.path, found)),
            }
        }
    }
    shown.push_str(&summary(files, passed_over, notes));
    shown
}

fn without_source(path: &str, found: &Diagnostic) -> String {
    let empty = Source::new(String::new(), remit_model::Unit::Bytes);
    diagnostic(path, &empty, found)
}

fn summary(files: &[CheckedFile], passed_over: usize, notes: bool) -> String {
    const GOOD: &str = "\u{1b}[1m\u{1b}[32m";
    const BAD: &str = "\u{1b}[1m\u{1b}[91m";
    const PLAIN: &str = "\u{1b}[0m";
    let count = |severity| super::count(files, severity);
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let manifests = plural(files.len(), "manifest");
    let mut line = if errors > 0 {
        let bad = files.iter().filter(|f| f.count(Severity::Error) > 0).count();
        format!("{BAD}{}{PLAIN} in {bad} of {manifests}", plural(errors, "error"))
    } else if files.len() == 1 {
        format!("{GOOD}ok{PLAIN}: {}", text::visible(files.first().map_or("", |f| &f.path)))
    } else {
        format!("{GOOD}ok{PLAIN}: {manifests}")
    };
    if warnings > 0 {
        line.push_str(&format!(", {}", plural(warnings, "warning")));
    }
    let hidden = count(Severity::Note);
    if hidden > 0 && notes {
        line.push_str(&format!(", {}", plural(hidden, "note")));
    } else if hidden > 0 {
        line.push_str(&format!(", {} (shown with --notes)", plural(hidden, "note")));
    }
    if passed_over > 0 {
        let are = if passed_over == 1 { "is not a manifest" } else { "are not manifests" };
        line.push_str(&format!("; passed over {} that {are}", plural(passed_over, "file")));
    }
    line.push('\n');
    line
}

/// Gives a count with its word.
pub(crate) fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
