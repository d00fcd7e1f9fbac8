//! JSON to a tree with places.
//!
//! Written here because no crate gives all of this at once: places, duplicate keys, the literal of
//! an integer, lone surrogates as a diagnostic, and `${name}` in place of a value. `serde_json` is
//! the oracle of the tests and of the fuzz target (`docs/design/002-reading.md`).

use remit_model::{Member, Node, Object, Span, Unit, Value, pointer, text};

use super::{DEPTH, MOST_PROBLEMS, Parsed, Problem};
use crate::rules::{self, Rule};

pub(super) fn parse(source: &str, most_values: usize) -> Parsed {
    let mut reader = Reader {
        source,
        bytes: source.as_bytes(),
        at: 0,
        values_left: most_values,
        path: Vec::new(),
        problems: Vec::new(),
        bare_templates: Vec::new(),
    };
    let root = reader.document();
    Parsed {
        root: root.ok(),
        problems: reader.problems,
        bare_templates: reader.bare_templates,
        unit: Unit::Bytes,
    }
}

/// Marks that reading cannot go on; the problem has been noted.
struct Stop;

type Read<T> = Result<T, Stop>;

enum Step {
    Key(Box<str>),
    Index(usize),
}

struct Reader<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    values_left: usize,
    path: Vec<Step>,
    problems: Vec<Problem>,
    bare_templates: Vec<Span>,
}

impl Reader<'_> {
    fn document(&mut self) -> Read<Node> {
        self.space();
        let root = self.value()?;
        self.space();
        if self.at < self.bytes.len() {
            return self.stop("there is more text after the end of the value", None);
        }
        Ok(root)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    fn note(&mut self, rule: &'static Rule, span: Span, message: String, help: Option<&str>) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => pointer::push_key(&mut pointer, key),
                Step::Index(index) => pointer::push_index(&mut pointer, *index),
            }
        }
        let help = help.map(str::to_owned);
        self.problems.push(Problem { rule, message, help, pointer, span });
    }

    fn stop<T>(&mut self, message: &str, help: Option<&str>) -> Read<T> {
        let width =
            self.source.get(self.at..).and_then(|s| s.chars().next()).map_or(0, char::len_utf8);
        let span = Span::new(self.at, self.at + width);
        self.note(&rules::JSON_SYNTAX, span, message.to_owned(), help);
        Err(Stop)
    }

    fn value(&mut self) -> Read<Node> {
        if self.values_left == 0 {
            let span = Span::new(self.at, self.at + 1);
            let message = "the document holds too many values".to_owned();
            self.note(&rules::TOO_MANY_VALUES, span, message, None);
            return Err(Stop);
        }
        self.values_left -= 1;
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'$') => self.template()?,
            Some(b'}' | b']' | b',' | b':') => return self.stop("a value is missing here", None),
            Some(b'\'') => {
                return self
                    .stop("strings are written in double quotes", Some("use \" instead of '"));
            }
            Some(b'/') => return self.comment(),
            Some(_) => self.word()?,
            None => return self.stop("the document ends where a value should be", None),
        };
        Ok(Node { value, span: Span::new(start, self.at) })
    }

    fn comment<T>(&mut self) -> Read<T> {
        self.stop("JSON has no comments", Some("remove it, or write the manifest in YAML"))
    }

    fn word(&mut self) -> Read<Value> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if rest.starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        if rest.starts_with(b"NaN") || rest.starts_with(b"Infinity") {
            let width = if rest.starts_with(b"N") { 3 } else { 8 };
            return Ok(self.not_finite(self.at, width));
        }
        self.stop(
            "this is not a JSON value",
            Some("text goes in double quotes; the bare words are true, false and null"),
        )
    }

    fn not_finite(&mut self, start: usize, width: usize) -> Value {
        self.at = start + width;
        let span = Span::new(start, self.at);
        let message = "the number is not finite".to_owned();
        self.note(&rules::NON_FINITE_NUMBER, span, message, Some("write a number within ±1.8e308"));
        Value::Number(f64::MAX)
    }

    /// Reads `${name}`; that it is a name is judged with the other templates.
    fn template(&mut self) -> Read<Value> {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let end = rest.find('}').filter(|_| rest.starts_with("${"));
        let inner = end.and_then(|end| rest.get(2..end));
        let Some(inner) = inner.filter(|i| !i.is_empty() && !i.contains(['"', '\n', '{', ',']))
        else {
            return self.stop("this is not a JSON value", Some("a template is written ${name}"));
        };
        let whole: Box<str> = format!("${{{inner}}}").into();
        self.bare_templates.push(Span::new(self.at, self.at + whole.len()));
        self.at += whole.len();
        Ok(Value::Template(whole))
    }

    fn enter(&mut self) -> Read<()> {
        if self.path.len() >= DEPTH {
            let span = Span::new(self.at, self.at + 1);
            let message = format!("values are nested deeper than {DEPTH} levels");
            self.note(&rules::NESTING_TOO_DEEP, span, message, None);
            return Err(Stop);
        }
        self.at += 1;
        Ok(())
    }

    fn array(&mut self) -> Read<Value> {
        self.enter()?;
        let mut items = Vec::new();
        self.space();
        if self.eat(b']') {
            return Ok(Value::array(items));
        }
        loop {
            self.path.push(Step::Index(items.len()));
            self.space();
            items.push(self.value()?);
            self.path.pop();
            self.space();
            let comma = self.at;
            if self.eat(b',') {
                self.space();
                if self.peek() == Some(b']') {
                    self.trailing_comma(comma);
                }
            }
            match self.peek() {
                Some(b']') => break,
                _ if self.bytes.get(comma) == Some(&b',') => {}
                Some(b'/') => return self.comment(),
                Some(_) => return self.stop("a comma or `]` is missing here", None),
                None => return self.stop("the document ends inside an array", None),
            }
        }
        self.at += 1;
        Ok(Value::array(items))
    }

    fn object(&mut self) -> Read<Value> {
        self.enter()?;
        let mut members = Vec::new();
        self.space();
        if self.eat(b'}') {
            return Ok(Value::Object(Object::default()));
        }
        loop {
            self.space();
            members.push(self.member()?);
            self.space();
            let comma = self.at;
            if self.eat(b',') {
                self.space();
                if self.peek() == Some(b'}') {
                    self.trailing_comma(comma);
                }
            }
            match self.peek() {
                Some(b'}') => break,
                _ if self.bytes.get(comma) == Some(&b',') => {}
                Some(b'/') => return self.comment(),
                Some(_) => return self.stop("a comma or `}` is missing here", None),
                None => return self.stop("the document ends inside an object", None),
            }
        }
        self.at += 1;
        Ok(Value::Object(self.unique(members)))
    }

    fn member(&mut self) -> Read<Member> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {}
            Some(b'/') => return self.comment(),
            Some(b',') => return self.stop("a key is missing here", None),
            None => return self.stop("the document ends inside an object", None),
            Some(_) => return self.stop("a key is written in double quotes", None),
        }
        let key = self.string()?;
        let key_span = Span::new(start, self.at);
        self.space();
        self.path.push(Step::Key(key));
        if !self.eat(b':') {
            return self.stop("a colon is missing after the key", None);
        }
        self.space();
        let value = self.value()?;
        match self.path.pop() {
            Some(Step::Key(key)) => Ok(Member { key, key_span, value }),
            _ => Err(Stop),
        }
    }

    /// Keeps the first of equal keys and reports the others.
    fn unique(&mut self, members: Vec<Member>) -> Object {
        let (object, repeated) = Object::new(members);
        for member in
            repeated.into_iter().take(MOST_PROBLEMS - self.problems.len().min(MOST_PROBLEMS))
        {
            let first = object.member(&member.key).map_or(0, |m| m.key_span.start);
            let line = super::line_of(self.source, first as usize);
            self.path.push(Step::Key(member.key.clone()));
            let message = format!(
                "duplicate key {}; it is first written in line {line}",
                text::quoted(&member.key)
            );
            self.note(&rules::DUPLICATE_KEY, member.key_span, message, Some("keep one of them"));
            self.path.pop();
        }
        object
    }

    fn trailing_comma(&mut self, at: usize) {
        let message = "the last element is followed by a comma".to_owned();
        self.note(&rules::TRAILING_COMMA, Span::new(at, at + 1), message, Some("remove the comma"));
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        self.eat(b'-');
        if self.bytes.get(self.at..).is_some_and(|r| r.starts_with(b"Infinity")) {
            let width = self.at - start + 8;
            return Ok(self.not_finite(start, width));
        }
        let digits = self.at;
        if self.eat(b'0') {
            if let Some(b'0'..=b'9') = self.peek() {
                return self.stop("a number does not start with 0", None);
            }
        } else {
            self.digits()?;
        }
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            whole = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = self.source.get(start..self.at).unwrap_or_default();
        if whole && self.at - digits > 15 && super::scalar::beyond_exact(literal) {
            let span = Span::new(start, self.at);
            let (message, help) = super::scalar::out_of_range(literal);
            self.note(&rules::INTEGER_OUT_OF_RANGE, span, message, Some(help));
            return Ok(Value::Number(literal.parse().unwrap_or(f64::MAX)));
        }
        match literal.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Number(number)),
            _ => Ok(self.not_finite(start, self.at - start)),
        }
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return self.stop("a digit is missing here", None);
        }
        Ok(())
    }

    fn string(&mut self) -> Read<Box<str>> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let plain = self.source.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(plain.into());
                }
                Some(b'\\') => return self.escaped_string(start),
                Some(0..=0x1f) => return self.raw_control(),
                Some(_) => self.at += 1,
                None => return self.stop("the document ends inside a string", None),
            }
        }
    }

    fn raw_control<T>(&mut self) -> Read<T> {
        let newline = matches!(self.peek(), Some(b'\n' | b'\r'));
        let message = if newline {
            "the string is not closed on its line"
        } else {
            "a control character in a string"
        };
        self.stop(message, Some("write \\n for a new line, \\t for a tab, \\u00XX for others"))
    }

    fn escaped_string(&mut self, start: usize) -> Read<Box<str>> {
        let mut out = String::with_capacity(64);
        let mut plain_from = start;
        loop {
            match self.peek() {
                Some(b'"') => {
                    out.push_str(self.source.get(plain_from..self.at).unwrap_or_default());
                    self.at += 1;
                    return Ok(out.into());
                }
                Some(b'\\') => {
                    out.push_str(self.source.get(plain_from..self.at).unwrap_or_default());
                    let c = self.escape()?;
                    out.push(c);
                    plain_from = self.at;
                }
                Some(0..=0x1f) => return self.raw_control(),
                Some(_) => self.at += 1,
                None => return self.stop("the document ends inside a string", None),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 1;
        let simple = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            None => return self.stop("the document ends inside a string", None),
            Some(_) => {
                return self.stop(
                    "this escape does not exist in JSON",
                    Some("a backslash is written twice: \\\\"),
                );
            }
        };
        self.at += 1;
        Ok(simple)
    }

    fn unicode_escape(&mut self, start: usize) -> Read<char> {
        let high = self.hex4()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let low_follows =
            high < 0xdc00 && self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u"));
        if low_follows {
            let back = self.at;
            self.at += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            self.at = back;
        }
        let message = format!("\\u{high:04x} is half of a surrogate pair");
        let help = "write both halves, or the character itself";
        self.note(&rules::LONE_SURROGATE, Span::new(start, self.at), message, Some(help));
        Ok('\u{fffd}')
    }

    fn hex4(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else {
                return self.stop("\\u is followed by four hexadecimal digits", None);
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
