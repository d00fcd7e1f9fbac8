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
    lines: OnceCell<Vec<LineStart>>,
}

#[derive(Clone, Copy, Debug)]
struct LineStart {
    byte: usize,
    chars: usize,
}

impl Source {
    /// Wraps a text whose spans count in `unit`.
    #[must_use]
    pub fn new(text: String, unit: Unit) -> Self {
        Self { text, unit, lines: OnceCell::new() }
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
        let (byte, line) = self.byte_and_line(span.start);
        let start = self.lines().get(line).map_or(0, |l| l.byte);
        let column = self.text.get(start..byte).map_or(0, |before| before.chars().count());
        Position { line: clamp(line + 1), column: clamp(column + 1) }
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
        let start = self.byte_and_line(span.start).0;
        start..self.byte_and_line(span.end).0.max(start)
    }

    fn byte_and_line(&self, offset: u32) -> (usize, usize) {
        let offset = offset as usize;
        let lines = self.lines();
        let line = lines
            .partition_point(|l| match self.unit {
                Unit::Bytes => l.byte <= offset,
                Unit::Chars => l.chars <= offset,
            })
            .saturating_sub(1);
        let start = lines.get(line).copied().unwrap_or(LineStart { byte: 0, chars: 0 });
        let byte = match self.unit {
            Unit::Bytes => {
                let mut byte = offset.min(self.text.len());
                while !self.text.is_char_boundary(byte) {
                    byte -= 1;
                }
                byte
            }
            Unit::Chars => {
                let rest = self.text.get(start.byte..).unwrap_or_default();
                let ahead = rest.char_indices().nth(offset - start.chars.min(offset));
                ahead.map_or(self.text.len(), |(byte, _)| start.byte + byte)
            }
        };
        (byte, line)
    }

    fn lines(&self) -> &[LineStart] {
        self.lines.get_or_init(|| {
            let mut lines = vec![LineStart { byte: 0, chars: 0 }];
            for (chars, (byte, c)) in self.text.char_indices().enumerate() {
                if c == '\n' {
                    lines.push(LineStart { byte: byte + 1, chars: chars + 1 });
                }
            }
            lines
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
    fn an_offset_past_the_end_is_the_end() {
        let source = Source::new("a\n".to_owned(), Unit::Chars);
        assert_eq!(source.position(Span::new(99, 99)), Position { line: 2, column: 1 });
        assert_eq!(Source::new(String::new(), Unit::Bytes).position(Span::new(5, 5)).line, 1);
    }
}
