//! Values and keys that begin and end on one line.

use std::borrow::Cow;

use remit_model::{Member, Node, Object, Span, Value};

use super::super::DEPTH;
use super::super::scalar::{self, Plain};
use super::{Beyond, Read, Reader};

/// Is the longest key taken: the parser looks no further ahead than 1,024 characters for the colon.
const LONGEST_KEY: usize = 512;

/// Says where a plain scalar stands, which decides what ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Block,
    Flow,
}

impl Reader<'_> {
    /// Tells whether a mapping starts here: a key, and a colon after it.
    pub(super) fn at_key(&self) -> bool {
        let mut probe =
            Reader { text: self.text, bytes: self.bytes, at: self.at, column: None, left: 0 };
        match probe.byte(probe.at) {
            Some(b'"') => probe.double_quoted().is_ok() && probe.at_colon(),
            Some(b'\'') => probe.single_quoted().is_ok() && probe.at_colon(),
            Some(b'[' | b'{' | b'|' | b'>') => false,
            _ => {
                while let Some(byte) = probe.byte(probe.at) {
                    match byte {
                        b'\n' => return false,
                        b':' if probe.at_colon() => return true,
                        _ => probe.at += 1,
                    }
                }
                false
            }
        }
    }

    fn at_colon(&self) -> bool {
        self.byte(self.at) == Some(b':')
            && matches!(self.byte(self.at + 1), None | Some(b' ' | b'\n'))
    }

    /// Reads a key and the colon after it.
    pub(super) fn key(&mut self) -> Read<(Box<str>, Span)> {
        let start = self.at;
        let key: Box<str> = match self.byte(self.at) {
            Some(b'"') => self.double_quoted()?.into(),
            Some(b'\'') => self.single_quoted()?.into(),
            _ => {
                let text = self.plain_key()?;
                // `true: 1` and `12: x` have to be reported.
                if !matches!(scalar::resolve(text), Plain::Text) {
                    return Err(Beyond);
                }
                text.into()
            }
        };
        let span = Span::new(start, self.at);
        if !self.at_colon() || self.at - start > LONGEST_KEY {
            return Err(Beyond);
        }
        self.at += 1;
        Ok((key, span))
    }

    /// Reads the plain keys that need no thought: names, without signs that could mean more.
    fn plain_key(&mut self) -> Read<&str> {
        let start = self.at;
        let name = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || byte >= 0x80
                || matches!(byte, b'_' | b'$' | b'.' | b'/')
        };
        let inside = |byte: u8| matches!(byte, b'-' | b'+' | b' ');
        while let Some(byte) = self.byte(self.at) {
            let goes_on = name(byte) || (inside(byte) && self.at > start);
            if !goes_on {
                break;
            }
            self.at += 1;
        }
        let text = self.text.get(start..self.at).ok_or(Beyond)?;
        if text.is_empty() || text.ends_with(' ') { Err(Beyond) } else { Ok(text) }
    }

    /// Reads a scalar or a flow collection.
    pub(super) fn inline(&mut self, depth: usize) -> Read<Node> {
        self.value(Place::Block, depth)
    }

    fn value(&mut self, place: Place, depth: usize) -> Read<Node> {
        let start = self.at;
        let value = match self.byte(self.at) {
            Some(b'"') => Value::String(self.double_quoted()?.into()),
            Some(b'\'') => Value::String(self.single_quoted()?.into()),
            Some(b'[') => return self.flow_sequence(depth + 1),
            Some(b'{') => return self.flow_mapping(depth + 1),
            _ => Self::plain_value(self.plain(place)?)?,
        };
        self.count()?;
        Ok(Node { value, span: Span::new(start, self.at) })
    }

    /// Reads a plain scalar of one line.
    fn plain(&mut self, place: Place) -> Read<&str> {
        let start = self.at;
        match self.byte(start) {
            // A dash, a dot: only where a number or a word goes on from it.
            Some(b'-') => {
                if !self.byte(start + 1).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.') {
                    return Err(Beyond);
                }
            }
            Some(
                b'_' | b'.' | b'/' | b'$' | b'+' | b'~' | b'(' | b'<' | b'^' | b'=' | b';' | b'\\',
            ) => {}
            Some(byte) if byte.is_ascii_alphanumeric() || byte >= 0x80 => {}
            _ => return Err(Beyond),
        }
        let mut end = start;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\n' => break,
                b' ' => {
                    if self.byte(self.at + 1) == Some(b'#') {
                        break;
                    }
                    self.at += 1;
                    continue;
                }
                b'\t' => return Err(Beyond),
                b':' => match self.byte(self.at + 1) {
                    None | Some(b' ' | b'\n' | b'\t') => return Err(Beyond),
                    Some(b',' | b'[' | b']' | b'{' | b'}') if place == Place::Flow => {
                        return Err(Beyond);
                    }
                    Some(_) => {}
                },
                b',' | b']' | b'}' if place == Place::Flow => break,
                b'[' | b'{' if place == Place::Flow => return Err(Beyond),
                _ => {}
            }
            self.at += 1;
            end = self.at;
        }
        self.at = end;
        self.text.get(start..end).ok_or(Beyond)
    }

    fn single_quoted(&mut self) -> Read<Cow<'_, str>> {
        let start = self.at + 1;
        let mut doubled = false;
        self.at = start;
        loop {
            match self.byte(self.at) {
                None | Some(b'\n' | b'\t') => return Err(Beyond),
                Some(b'\'') if self.byte(self.at + 1) == Some(b'\'') => {
                    doubled = true;
                    self.at += 2;
                }
                Some(b'\'') => break,
                Some(_) => self.at += 1,
            }
        }
        let text = self.text.get(start..self.at).ok_or(Beyond)?;
        self.at += 1;
        Ok(if doubled { Cow::Owned(text.replace("''", "'")) } else { Cow::Borrowed(text) })
    }

    fn double_quoted(&mut self) -> Read<Cow<'_, str>> {
        let mut start = self.at + 1;
        let mut unescaped = String::new();
        self.at = start;
        loop {
            match self.byte(self.at) {
                None | Some(b'\n' | b'\t') => return Err(Beyond),
                Some(b'"') => break,
                Some(b'\\') => {
                    unescaped.push_str(self.text.get(start..self.at).ok_or(Beyond)?);
                    unescaped.push(match self.byte(self.at + 1) {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(b'"') => '"',
                        Some(b'\\') => '\\',
                        Some(b'/') => '/',
                        _ => return Err(Beyond),
                    });
                    self.at += 2;
                    start = self.at;
                }
                Some(_) => self.at += 1,
            }
        }
        let rest = self.text.get(start..self.at).ok_or(Beyond)?;
        self.at += 1;
        if unescaped.is_empty() {
            return Ok(Cow::Borrowed(rest));
        }
        unescaped.push_str(rest);
        Ok(Cow::Owned(unescaped))
    }

    fn flow_sequence(&mut self, depth: usize) -> Read<Node> {
        let start = self.open_flow(depth)?;
        let mut items = Vec::new();
        if !self.closes_flow(b']') {
            loop {
                items.push(self.value(Place::Flow, depth)?);
                if !self.another(b']')? {
                    break;
                }
            }
        }
        Ok(Node { value: Value::array(items), span: Span::new(start, self.at) })
    }

    fn flow_mapping(&mut self, depth: usize) -> Read<Node> {
        let start = self.open_flow(depth)?;
        let mut members = Vec::new();
        if !self.closes_flow(b'}') {
            loop {
                let (key, key_span) = self.key()?;
                if self.byte(self.at) != Some(b' ') {
                    return Err(Beyond);
                }
                self.skip_spaces();
                let value = self.value(Place::Flow, depth)?;
                members.push(Member { key, key_span, value });
                if !self.another(b'}')? {
                    break;
                }
            }
        }
        let (object, repeated) = Object::new(members);
        if !repeated.is_empty() {
            return Err(Beyond);
        }
        Ok(Node { value: Value::Object(object), span: Span::new(start, self.at) })
    }

    fn open_flow(&mut self, depth: usize) -> Read<usize> {
        if depth > DEPTH {
            return Err(Beyond);
        }
        self.count()?;
        let start = self.at;
        self.at += 1;
        self.skip_spaces();
        Ok(start)
    }

    fn closes_flow(&mut self, bracket: u8) -> bool {
        let closes = self.byte(self.at) == Some(bracket);
        if closes {
            self.at += 1;
        }
        closes
    }

    /// Goes past a comma to the next value, or past the closing bracket.
    fn another(&mut self, bracket: u8) -> Read<bool> {
        self.skip_spaces();
        if self.closes_flow(bracket) {
            return Ok(false);
        }
        if self.byte(self.at) != Some(b',') || self.byte(self.at + 1) != Some(b' ') {
            return Err(Beyond);
        }
        self.at += 1;
        self.skip_spaces();
        Ok(true)
    }
}
