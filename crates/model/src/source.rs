//! The text a manifest was read from, and the way back from an offset to a line a person can find.

use std::cell::OnceCell;
use std::ops::Range;

use crate::{Position, Span};

/// Says what the offsets of a [`Span`] count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the UTF-8 text (the JSON reader).
    Bytes,
    /// Unicode scalar values (the YAML parser counts these).
    Chars,
}

/// Is the text of one file. Lines are counted only when something is to be reported.
#[derive(Debug)]
pub struct Source {
    text: String,
    unit: Unit,
    marks: OnceCell<Vec<Mark>>,
}

/// Is a known place: the start of a line, or somewhere in a long one, so that no place is far from a
/// known one.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    byte: u32,
    chars: u32,
    line: u32,
    /// How many characters of its line are before it.
    column: u32,
}

/// How many characters of one line are between two marks.
const MARK_EVERY: u32 = 512;

impl Source {
    /// Wraps a text whose spans count in `unit`.
    #[must_use]
    pub fn new(text: String, unit: Unit) -> Self {
        Self { text, unit, marks: OnceCell::new() }
    }

    /// Gives the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says what the spans of this text count.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Finds line and column (both from 1, columns in characters) of the start of a span.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        let (byte, mark) = self.byte_and_mark(span.start);
        let since = self.text.get(mark.byte as usize..byte).map_or(0, |text| text.chars().count());
        Position { line: mark.line + 1, column: mark.column + clamp(since) + 1 }
    }

    /// Finds the same as [`position`](Self::position) by reading up to the place, which is cheaper
    /// for one place near the start.
    #[must_use]
    pub fn position_by_scan(&self, span: Span) -> Position {
        let offset = span.start as usize;
        let before = match self.unit {
            Unit::Bytes => self.text.as_bytes().get(..offset).unwrap_or_default(),
            Unit::Chars => {
                let end = self.text.char_indices().nth(offset).map_or(self.text.len(), |(i, _)| i);
                self.text.as_bytes().get(..end).unwrap_or_default()
            }
        };
        let line = before.iter().filter(|&&b| b == b'\n').count();
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let last = before.get(start..).unwrap_or_default();
        let column = last.iter().filter(|&&b| b & 0xc0 != 0x80).count();
        Position { line: clamp(line + 1), column: clamp(column + 1) }
    }

    /// Gives the bytes a span covers, on character boundaries.
    #[must_use]
    pub fn byte_range(&self, span: Span) -> Range<usize> {
        let start = self.byte_and_mark(span.start).0;
        start..self.byte_and_mark(span.end).0.max(start)
    }

    fn byte_and_mark(&self, offset: u32) -> (usize, Mark) {
        let marks = self.marks();
        let before = marks
            .partition_point(|mark| match self.unit {
                Unit::Bytes => mark.byte <= offset,
                Unit::Chars => mark.chars <= offset,
            })
            .saturating_sub(1);
        let mark = marks.get(before).copied().unwrap_or_default();
        let byte = match self.unit {
            Unit::Bytes => {
                let mut byte = (offset as usize).min(self.text.len());
                while !self.text.is_char_boundary(byte) {
                    byte -= 1;
                }
                byte
            }
            Unit::Chars => {
                let start = mark.byte as usize;
                let rest = self.text.get(start..).unwrap_or_default();
                let ahead = rest.char_indices().nth(offset.saturating_sub(mark.chars) as usize);
                ahead.map_or(self.text.len(), |(byte, _)| start + byte)
            }
        };
        (byte, mark)
    }

    fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| {
            let mut last = Mark::default();
            let mut marks = vec![last];
            for (chars, (byte, c)) in self.text.char_indices().enumerate() {
                let (chars, byte) = (clamp(chars), clamp(byte));
                let next = if c == '\n' {
                    Mark { byte: byte + 1, chars: chars + 1, line: last.line + 1, column: 0 }
                } else if chars - last.chars >= MARK_EVERY {
                    let column = last.column + (chars - last.chars);
                    Mark { byte, chars, line: last.line, column }
                } else {
                    continue;
                };
                marks.push(next);
                last = next;
            }
            marks
        })
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_units_find_the_same_place_after_wide_characters() {
        let text = "名: 1\nab: 文\n".to_owned();
        let bytes = Source::new(text.clone(), Unit::Bytes);
        let chars = Source::new(text, Unit::Chars);
        let want = Position { line: 2, column: 5 };
        assert_eq!(bytes.position(Span::new(11, 14)), want);
        assert_eq!(chars.position(Span::new(9, 10)), want);
        assert_eq!(bytes.position_by_scan(Span::new(11, 14)), want);
        assert_eq!(chars.position_by_scan(Span::new(9, 10)), want);
        assert_eq!(bytes.byte_range(Span::new(11, 14)), 11..14);
        assert_eq!(chars.byte_range(Span::new(9, 10)), 11..14);
    }

    #[test]
    fn every_place_of_a_long_line_is_found_in_both_units() {
        let text = format!("a\n{}\nb", "x文".repeat(2_000));
        let chars = Source::new(text.clone(), Unit::Chars);
        let bytes = Source::new(text.clone(), Unit::Bytes);
        let (mut line, mut column) = (1, 1);
        for (at, (byte, c)) in text.char_indices().enumerate() {
            let want = Position { line, column };
            assert_eq!(chars.position(Span::new(at, at + 1)), want, "{at}");
            assert_eq!(bytes.position(Span::new(byte, byte + 1)), want, "{byte}");
            assert_eq!(chars.byte_range(Span::new(at, at + 1)), byte..byte + c.len_utf8());
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let source = Source::new("a\n".to_owned(), Unit::Chars);
        assert_eq!(source.position(Span::new(99, 99)), Position { line: 2, column: 1 });
        assert_eq!(Source::new(String::new(), Unit::Bytes).position(Span::new(5, 5)).line, 1);
    }
}
