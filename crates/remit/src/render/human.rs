//! Diagnostics for a person: the source line, underlined.

use std::os::fd::AsFd;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use remit_model::{Diagnostic, Severity, Source, text};

use super::CheckedFile;
use crate::paths;

/// Is how many characters of a long line are looked at, of which so many are shown as fit.
const WIDEST: usize = 2_000;

/// Is how much of a long value is underlined at most.
const LONGEST_UNDERLINE: usize = 60;

/// Is how many columns there are for the lines of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width(usize);

impl Width {
    /// Is the width where nobody watches, so that what is kept is the same everywhere.
    const USUAL: Self = Self(140);

    /// Is the least in which a line with its number can still be recognised.
    const LEAST: usize = 40;

    /// Finds the width of what is written to.
    pub(crate) fn of(stream: &impl AsFd) -> Self {
        match rustix::termios::tcgetwinsize(stream) {
            Ok(size) if size.ws_col > 0 => Self(usize::from(size.ws_col).max(Self::LEAST)),
            _ => Self::USUAL,
        }
    }

    /// Gives how much of a long value is underlined, so that something around it is still seen.
    fn underline(self) -> usize {
        LONGEST_UNDERLINE.min(self.0 / 2)
    }
}

/// Gives one diagnostic with the line it is about.
pub(crate) fn diagnostic(
    path: &str,
    source: &Source,
    diagnostic: &Diagnostic,
    width: Width,
) -> String {
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
    let group = match excerpt(source, diagnostic, width.underline()) {
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
    let mut shown = Renderer::styled().term_width(width.0).render(&report);
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

fn excerpt(source: &Source, diagnostic: &Diagnostic, longest: usize) -> Option<Excerpt> {
    let whole = source.text();
    if whole.is_empty() {
        return None;
    }
    let range = source.byte_range(diagnostic.span);
    let (start, whole_line) = start_of_excerpt(whole.get(..range.start)?);
    let (mut shown, mut underline) = (String::new(), None);
    let mut last = 0;
    let line = whole.get(start..)?.char_indices().take(WIDEST).take_while(|(_, c)| *c != '\n');
    for (byte, c) in line {
        if start + byte == range.start {
            underline = Some(shown.len());
        }
        // Every character becomes one that is safe to show.
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
    let to = shown.char_indices().map(|(i, _)| i).filter(|i| *i > from).nth(longest);
    let last = to.map_or(last, |to| last.min(to));
    let last =
        closed(shown.get(from..last).unwrap_or_default()).map_or(last, |length| from + length);
    Some(Excerpt { line: shown, span: from..last.max(from), whole: whole_line })
}

/// Finds where to start showing the line that a text ends in: at its start, unless that is far away.
/// Looks no further back than that, because a file can be one line with many mistakes.
fn start_of_excerpt(before: &str) -> (usize, bool) {
    let mut middle = before.len();
    for (i, (at, c)) in before.char_indices().rev().take(WIDEST).enumerate() {
        if c == '\n' {
            return (at + 1, true);
        }
        if at == 0 && i + 1 < WIDEST {
            return (0, true);
        }
        if i < WIDEST / 2 {
            middle = at;
        }
    }
    (middle, before.is_empty())
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
pub(crate) fn check(
    files: &[CheckedFile],
    passed_over: usize,
    notes: bool,
    width: Width,
) -> String {
    let mut shown = String::new();
    let none = Source::new(String::new(), remit_model::Unit::Bytes);
    for file in files {
        let path = paths::for_people(&file.path);
        let source = file.source.as_ref().unwrap_or(&none);
        for found in file.diagnostics.iter().filter(|d| notes || d.severity != Severity::Note) {
            shown.push_str(&diagnostic(&path, source, found, width));
        }
    }
    shown.push_str(&summary(files, passed_over, notes));
    shown
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
        let only = files.first().map(|file| paths::for_people(&file.path)).unwrap_or_default();
        format!("{GOOD}ok{PLAIN}: {only}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_from_its_start_unless_that_is_far_away() {
        for (before, start) in [
            (String::new(), (0, true)),
            ("a\n".to_owned(), (2, true)),
            (format!("a\n{}", "é".repeat(WIDEST - 1)), (2, true)),
            (format!("a\n{}", "é".repeat(WIDEST)), (2 + WIDEST, false)),
            ("é".repeat(WIDEST - 1), (0, true)),
            ("é".repeat(WIDEST), (WIDEST, false)),
            ("é".repeat(WIDEST * 9), (WIDEST * 17, false)),
        ] {
            assert_eq!(start_of_excerpt(&before), start, "{}", before.len());
        }
    }
}
