//! Texts over several lines: literal (`|`), and folded (`>`) where folding needs no thought.

use remit_model::{Node, Span, Value};

use super::{Beyond, Read, Reader};

/// Says what becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Clip,
    Strip,
}

impl Reader<'_> {
    /// Reads a text whose header stands here and whose lines stand further in than `column`.
    pub(super) fn block_text(&mut self, column: usize) -> Read<Node> {
        self.count()?;
        let folded = self.byte(self.at) == Some(b'>');
        self.at += 1;
        let chomp = if self.byte(self.at) == Some(b'-') { Chomp::Strip } else { Chomp::Clip };
        if chomp == Chomp::Strip {
            self.at += 1;
        }
        if self.byte(self.at) != Some(b'\n') {
            return Err(Beyond);
        }
        self.at += 1;
        let inset = self.inset(column)?;
        let start = self.at + inset;
        let mut text = String::new();
        // Line breaks are held back until a line follows them.
        let mut breaks = 0;
        let end = loop {
            let line = self.at;
            let spaces = self.spaces(line, inset);
            let rest = line + spaces;
            match self.byte(rest) {
                Some(b'\n') => {
                    breaks += 1;
                    self.at = rest + 1;
                }
                Some(first) if spaces == inset => {
                    // Blank lines and lines further in stay apart when the others are folded.
                    if folded && (breaks > 1 || matches!(first, b' ' | b'\t')) {
                        return Err(Beyond);
                    }
                    self.at = rest;
                    self.skip_line();
                    let ended = self.byte(self.at - 1) == Some(b'\n');
                    if !ended {
                        return Err(Beyond);
                    }
                    let content = self.text.get(rest..self.at - 1).ok_or(Beyond)?;
                    match (folded, text.is_empty()) {
                        (true, false) => text.push(' '),
                        _ => text.extend(std::iter::repeat_n('\n', breaks)),
                    }
                    text.push_str(content);
                    breaks = 1;
                }
                // Spaces without a line break at the end of a file count as a line to the parser.
                None if spaces > 0 => return Err(Beyond),
                _ => break line,
            }
        };
        self.at = end;
        if text.is_empty() {
            return Err(Beyond);
        }
        if chomp == Chomp::Clip {
            text.push('\n');
        }
        self.next_line()?;
        if self.column.is_some_and(|next| next > column) {
            return Err(Beyond);
        }
        let value = Value::String(text.into_boxed_str());
        Ok(Node { value, span: Span::new(start, end) })
    }

    /// Finds how far in the text stands: as far as its first line, which has to follow at once.
    fn inset(&self, column: usize) -> Read<usize> {
        let spaces = self.spaces(self.at, usize::MAX);
        match self.byte(self.at + spaces) {
            None | Some(b'\n' | b'\t') => Err(Beyond),
            Some(_) if spaces > column => Ok(spaces),
            Some(_) => Err(Beyond),
        }
    }
}
