//! Glyphs at their places into lines and words.
//!
//! Text is taken in the order it is drawn, which keeps columns apart. Where a glyph stands beside
//! the one before it says whether it goes on a word, starts one, or starts a line.

use hayro_font::kurbo::{Point, Vec2};

/// Is the gap, in sizes of the font, that parts two words.
const WORD_GAP: f64 = 0.18;

/// Is the gap that parts two columns.
const COLUMN_GAP: f64 = 2.0;

/// Is how far from its line a glyph may stand and still be on it, as an exponent does.
const SAME_LINE: f64 = 0.6;

/// Is the distance of lines that parts two paragraphs.
const PARAGRAPH: f64 = 1.8;

/// Is a glyph at its place.
pub(super) struct Placed<'g> {
    pub(super) text: &'g str,
    pub(super) from: Point,
    pub(super) to: Point,
    /// Is which way the line runs, and how large the font is.
    pub(super) along: Vec2,
    pub(super) size: f64,
}

struct Last {
    from: Point,
    to: Point,
    along: Vec2,
    size: f64,
}

/// Puts the text of a page together.
#[derive(Default)]
pub(super) struct Layout {
    text: String,
    last: Option<Last>,
}

impl Layout {
    /// Adds the next glyph.
    pub(super) fn add(&mut self, glyph: &Placed<'_>) {
        let finite = |p: Point| p.x.is_finite() && p.y.is_finite();
        if !finite(glyph.from) || !finite(glyph.to) || !glyph.size.is_finite() {
            return;
        }
        if let Some(last) = &self.last {
            if self.repeats(last, glyph) {
                return;
            }
            let between = separator(last, glyph);
            let blank = glyph.text.chars().all(char::is_whitespace);
            // A space that is there needs no other beside it.
            let spaced = blank || self.text.ends_with(char::is_whitespace);
            if between.starts_with('\n') {
                self.text.truncate(self.text.trim_end_matches([' ', '\t']).len());
                if !self.text.ends_with("\n\n") {
                    self.text.push_str(between);
                }
            } else if !spaced {
                self.text.push_str(between);
            }
        }
        for c in glyph.text.chars() {
            match c {
                '\u{fb00}' => self.text.push_str("ff"),
                '\u{fb01}' => self.text.push_str("fi"),
                '\u{fb02}' => self.text.push_str("fl"),
                '\u{fb03}' => self.text.push_str("ffi"),
                '\u{fb04}' => self.text.push_str("ffl"),
                '\u{a0}' | '\t' => self.text.push(' '),
                c if c.is_control() || c == '\u{ad}' => {}
                c => self.text.push(c),
            }
        }
        let (from, to) = (glyph.from, glyph.to);
        self.last = Some(Last { from, to, along: glyph.along, size: glyph.size });
    }

    /// Tells whether a glyph is drawn over itself, as some writers do to make it bold.
    fn repeats(&self, last: &Last, glyph: &Placed<'_>) -> bool {
        !glyph.text.trim().is_empty()
            && (glyph.from - last.from).hypot() < glyph.size * 0.1
            && self.text.ends_with(glyph.text)
    }

    /// Gives the text of the page.
    pub(super) fn finish(self) -> String {
        self.text.trim().to_owned()
    }
}

fn separator(last: &Last, glyph: &Placed<'_>) -> &'static str {
    let step = glyph.from - last.to;
    let along = last.along;
    let (ahead, aside) = (step.dot(along), step.cross(along).abs());
    let size = last.size.max(glyph.size).max(f64::MIN_POSITIVE);
    let turned = along.dot(glyph.along) < 0.9;
    if turned || aside > size * SAME_LINE {
        return if aside > size * PARAGRAPH { "\n\n" } else { "\n" };
    }
    if ahead < -size {
        // Back to an earlier place of the same line: a column was written first.
        "\n"
    } else if ahead > size * COLUMN_GAP {
        "\t"
    } else if ahead > size * WORD_GAP {
        " "
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(glyphs: &[(&str, f64, f64)]) -> String {
        let mut layout = Layout::default();
        for (text, x, y) in glyphs {
            let (from, to) = (Point::new(*x, *y), Point::new(x + 5.0, *y));
            layout.add(&Placed { text, from, to, along: Vec2::new(1.0, 0.0), size: 10.0 });
        }
        layout.finish()
    }

    #[test]
    fn gaps_make_words_columns_and_lines() {
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", 5.0, 0.0)]), "ab");
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", 8.0, 0.0)]), "a b");
        assert_eq!(line(&[("a", 0.0, 0.0), (" ", 5.0, 0.0), ("b", 13.0, 0.0)]), "a b");
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", 60.0, 0.0)]), "a\tb");
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", 0.0, 12.0)]), "a\nb");
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", 0.0, 40.0)]), "a\n\nb");
        assert_eq!(line(&[("x", 0.0, 0.0), ("2", 5.0, -4.0)]), "x2");
    }

    #[test]
    fn a_glyph_drawn_twice_is_read_once() {
        assert_eq!(line(&[("a", 0.0, 0.0), ("a", 0.3, 0.0), ("a", 5.0, 0.0)]), "aa");
    }

    #[test]
    fn places_that_are_no_numbers_are_left_out() {
        assert_eq!(line(&[("a", 0.0, 0.0), ("b", f64::NAN, 0.0), ("c", 5.0, 0.0)]), "ac");
    }
}
