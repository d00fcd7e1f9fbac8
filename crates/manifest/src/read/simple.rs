//! The simple part of YAML, read fast: what nearly every manifest is written in.
//!
//! Block mappings and sequences, scalars on one line, literal and folded texts, flow collections on
//! one line. Anything else, and anything that would have to be reported, is [`Beyond`] this reader:
//! it gives up without a word and the full parser reads the text from the start. So this reader
//! never refuses and never explains; it only has to be right about what it takes, and tests hold
//! every tree it makes against the full parser's (docs/design/006-simple-yaml.md).

mod blocktext;
mod inline;

use remit_model::{Member, Node, Object, Span, Value};

use super::DEPTH;
use super::scalar::{self, Plain};

/// Marks that the text is not, or may not be, in the simple part.
struct Beyond;

type Read<T> = Result<T, Beyond>;

/// Gives the tree of a document in the simple part, with places counted in bytes.
pub(super) fn parse(source: &str, most_values: usize) -> Option<Node> {
    // A carriage return breaks a line, and a second byte order mark depends on where it stands.
    let foreign = |byte| byte == b'\r' || super::yaml::is_control(byte);
    if source.bytes().any(foreign) || source.contains('\u{feff}') {
        return None;
    }
    let mut reader =
        Reader { text: source, bytes: source.as_bytes(), at: 0, column: None, left: most_values };
    reader.document().ok()
}

/// Stands at a place in the text. Between values that is the first character of a line that says
/// something, and `column` is its indentation, or none at the end of the text.
struct Reader<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    column: Option<usize>,
    left: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Read<Node> {
        self.next_line_or_marker()?;
        let at_margin = self.column == Some(0);
        if at_margin && self.rest().starts_with("---\n") {
            self.at += 4;
            self.next_line_or_marker()?;
        }
        self.refuse_marker()?;
        let Some(column) = self.column else { return Err(Beyond) };
        let root = self.block(column, 1)?;
        if self.column.is_some() { Err(Beyond) } else { Ok(root) }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn count(&mut self) -> Read<()> {
        self.left = self.left.checked_sub(1).ok_or(Beyond)?;
        Ok(())
    }

    /// Goes from the start of a line to the next one that says something.
    fn next_line(&mut self) -> Read<()> {
        self.next_line_or_marker()?;
        self.refuse_marker()
    }

    fn refuse_marker(&self) -> Read<()> {
        // At the margin these may end the document or start a directive.
        let marker = match self.byte(self.at) {
            Some(b'%') => true,
            Some(first @ (b'-' | b'.')) => self.byte(self.at + 1) == Some(first),
            _ => false,
        };
        if marker && self.column == Some(0) { Err(Beyond) } else { Ok(()) }
    }

    fn next_line_or_marker(&mut self) -> Read<()> {
        loop {
            let start = self.at;
            self.skip_spaces();
            match self.byte(self.at) {
                None => {
                    self.column = None;
                    return Ok(());
                }
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_line(),
                Some(b'\t') => return Err(Beyond),
                Some(_) => {
                    self.column = Some(self.at - start);
                    return Ok(());
                }
            }
        }
    }

    fn spaces(&self, from: usize, most: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().take(most).take_while(|&&byte| byte == b' ').count()
    }

    fn skip_spaces(&mut self) {
        self.at += self.spaces(self.at, usize::MAX);
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').map_or(rest.len(), |newline| newline + 1);
    }

    /// Goes past the end of a line on which nothing but a comment may follow.
    fn end_line(&mut self) -> Read<()> {
        let value_end = self.at;
        self.skip_spaces();
        match self.byte(self.at) {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > value_end => self.skip_line(),
            Some(_) => return Err(Beyond),
        }
        self.next_line()
    }

    /// Reads the collection that starts here, `column` characters into its line.
    fn block(&mut self, column: usize, depth: usize) -> Read<Node> {
        if depth > DEPTH {
            return Err(Beyond);
        }
        self.count()?;
        if self.at_entry() { self.sequence(column, depth) } else { self.mapping(column, depth) }
    }

    fn at_entry(&self) -> bool {
        self.byte(self.at) == Some(b'-')
            && matches!(self.byte(self.at + 1), None | Some(b' ' | b'\n'))
    }

    fn mapping(&mut self, column: usize, depth: usize) -> Read<Node> {
        let start = self.at;
        let mut members = Vec::new();
        loop {
            let (key, key_span) = self.key()?;
            let value = self.member_value(column, depth)?;
            members.push(Member { key, key_span, value });
            match self.column {
                Some(next) if next == column => {}
                Some(next) if next > column => return Err(Beyond),
                _ => break,
            }
        }
        let end = members.last().map_or(0, |m| m.value.span.end.max(m.key_span.end)) as usize;
        let (object, repeated) = Object::new(members);
        if !repeated.is_empty() {
            return Err(Beyond);
        }
        Ok(Node { value: Value::Object(object), span: Span::new(start, end) })
    }

    fn sequence(&mut self, column: usize, depth: usize) -> Read<Node> {
        let start = self.at;
        let mut items = Vec::new();
        loop {
            items.push(self.entry(column, depth)?);
            match self.column {
                Some(next) if next == column && self.at_entry() => {}
                Some(next) if next > column => return Err(Beyond),
                // Keys may follow here: the sequence of a mapping may stand as far left as it.
                _ => break,
            }
        }
        let end = items.last().map_or(0, |item: &Node| item.span.end) as usize;
        Ok(Node { value: Value::array(items), span: Span::new(start, end) })
    }

    /// Reads what follows a key and its colon.
    fn member_value(&mut self, column: usize, depth: usize) -> Read<Node> {
        let colon = self.at - 1;
        if self.value_is_below()? {
            return match self.column {
                Some(next) if next > column => self.block(next, depth + 1),
                Some(next) if next == column && self.at_entry() => {
                    // The full parser sees such a sequence start behind its first dash.
                    let start = self.at + 1 + self.spaces(self.at + 1, usize::MAX);
                    let mut node = self.block(next, depth + 1)?;
                    node.span = Span::new(start, node.span.end as usize);
                    Ok(node)
                }
                _ => self.nothing(colon),
            };
        }
        self.value_on_line(column, depth)
    }

    /// Reads what follows a dash.
    fn entry(&mut self, column: usize, depth: usize) -> Read<Node> {
        let dash = self.at;
        self.at += 1;
        self.skip_spaces();
        let after = self.at;
        if self.byte(after) == Some(b'#') {
            return Err(Beyond);
        }
        if self.value_is_below()? {
            return match self.column {
                Some(next) if next > column => self.block(next, depth + 1),
                _ => self.nothing(after),
            };
        }
        if self.at_entry() || self.at_key() {
            return self.block(column + (self.at - dash), depth + 1);
        }
        self.value_on_line(column, depth)
    }

    /// Goes to the value on this line, or past the line and tells so if there is none.
    fn value_is_below(&mut self) -> Read<bool> {
        // What is before is a space, a dash or a colon with a space or the line's end after it.
        self.skip_spaces();
        match self.byte(self.at) {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') => self.skip_line(),
            Some(_) => return Ok(false),
        }
        self.next_line()?;
        Ok(true)
    }

    fn nothing(&mut self, at: usize) -> Read<Node> {
        self.count()?;
        Ok(Node { value: Value::Null, span: Span::new(at, at) })
    }

    fn value_on_line(&mut self, column: usize, depth: usize) -> Read<Node> {
        if matches!(self.byte(self.at), Some(b'|' | b'>')) {
            return self.block_text(column);
        }
        let node = self.inline(depth)?;
        self.end_line()?;
        // A line further in would go on with the scalar.
        if self.column.is_some_and(|next| next > column) { Err(Beyond) } else { Ok(node) }
    }

    /// Gives the meaning of a plain scalar; whatever has to be reported is not simple.
    fn plain_value(text: &str) -> Read<Value> {
        match scalar::resolve(text) {
            Plain::Null => Ok(Value::Null),
            Plain::Bool(b) => Ok(Value::Bool(b)),
            Plain::Number(n) => Ok(Value::Number(n)),
            Plain::Text => Ok(Value::String(text.into())),
            Plain::OutOfRange | Plain::NotFinite => Err(Beyond),
        }
    }
}
