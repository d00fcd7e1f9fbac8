//! YAML to a tree with places, from the parser's events.
//!
//! The parser knows YAML's grammar; what a manifest may contain is decided here: no tags, no second
//! document, few aliases, string keys only.

use std::borrow::Cow;
use std::collections::HashMap;

use remit_model::{Member, Node, Object, Span, Unit, Value, pointer, text};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::scalar::{self, Plain};
use super::simple;
use super::wording;
use super::{DEPTH, MOST_PROBLEMS, Parsed, Problem};
use crate::rules::{self, Rule};

/// Is how many values aliases may add to a document in all, and how many anchors may hold.
const ALIASED_VALUES: usize = 1_000;

/// Is how long a line may be for the full parser, which holds everything on a line that might still
/// turn out to be a key: up to 400 bytes of memory for each byte.
const LONGEST_LINE: usize = 1 << 16;

pub(super) fn parse(source: &str, most_values: usize) -> Parsed {
    if let Some(parsed) = parse_as_json(source, most_values) {
        return parsed;
    }
    match simple::parse(source, most_values) {
        Some(root) => Parsed {
            root: Some(root),
            problems: Vec::new(),
            bare_templates: Vec::new(),
            unit: Unit::Bytes,
        },
        None => parse_fully(source, most_values),
    }
}

/// Reads YAML that is JSON, as all JSON is YAML. What is not, or has something to report, is left to
/// the other readers.
fn parse_as_json(source: &str, most_values: usize) -> Option<Parsed> {
    let start = source.trim_start_matches([' ', '\t', '\r', '\n']);
    if !start.starts_with(['{', '[', '"']) || source.bytes().any(is_control) {
        return None;
    }
    let parsed = super::json::parse(source, most_values);
    (parsed.problems.is_empty() && parsed.bare_templates.is_empty()).then_some(parsed)
}

pub(super) fn parse_fully(source: &str, most_values: usize) -> Parsed {
    let mut builder = Builder {
        source,
        values_left: most_values,
        aliased_left: ALIASED_VALUES,
        anchored_left: ALIASED_VALUES,
        stack: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        problems: Vec::new(),
    };
    let whole = builder
        .refuse_control_characters()
        .and_then(|()| builder.refuse_long_lines())
        .and_then(|()| builder.run());
    let root = builder.root.filter(|_| whole.is_ok());
    let mut problems = builder.problems;
    if root.is_none() && problems.is_empty() {
        problems.push(Problem {
            rule: &rules::EMPTY_DOCUMENT,
            message: "the document holds nothing but comments".to_owned(),
            help: Some("`remit new` writes a manifest to start from".to_owned()),
            pointer: String::new(),
            span: Span::new(0, 0),
        });
    }
    Parsed { root, problems, bare_templates: Vec::new(), unit: Unit::Chars }
}

/// Is how many bytes of text weigh as much as a value when aliases copy them.
const BYTES_A_VALUE: usize = 64;

/// Marks that reading cannot go on; the problem has been noted.
struct Stop;

type Read<T> = Result<T, Stop>;

/// Is a container that is still open.
struct Open {
    start: usize,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    Array(Vec<Node>),
    Object { members: Vec<Member>, key: Option<(Box<str>, Span)> },
}

/// Is an anchored value, kept for its aliases.
struct Anchored {
    node: Node,
    values: usize,
    depth: usize,
}

struct Builder<'s> {
    source: &'s str,
    values_left: usize,
    aliased_left: usize,
    anchored_left: usize,
    stack: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    root: Option<Node>,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    /// The parser lets most control characters through; YAML and Remit do not.
    fn refuse_control_characters(&mut self) -> Read<()> {
        if !self.source.bytes().any(is_control) {
            return Ok(());
        }
        let Some((byte, c)) =
            self.source.char_indices().find(|(_, c)| u8::try_from(*c).is_ok_and(is_control))
        else {
            return Ok(());
        };
        let at = self.source.get(..byte).map_or(0, |before| before.chars().count());
        let message = format!("the control character U+{:04X} cannot stand in YAML", u32::from(c));
        let help = "if this is a text file, write the character as an escape in double quotes";
        self.note(&rules::CONTROL_CHARACTER, Span::new(at, at + 1), message, Some(help));
        Err(Stop)
    }

    fn refuse_long_lines(&mut self) -> Read<()> {
        let mut before = 0;
        for line in self.source.split(['\n', '\r']) {
            if line.len() > LONGEST_LINE {
                let message = format!("the line is longer than {LONGEST_LINE} bytes");
                let help = "break it into several lines";
                self.note(
                    &rules::LINE_TOO_LONG,
                    Span::new(before, before + 1),
                    message,
                    Some(help),
                );
                return Err(Stop);
            }
            before += line.chars().count() + 1;
        }
        Ok(())
    }

    fn run(&mut self) -> Read<()> {
        let source = self.source;
        let mut documents = 0;
        for event in Parser::new_from_str(source) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => return self.syntax(&error),
            };
            let span = Span::new(span.start.index(), span.end.index());
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        let message = "there is a second document in the file".to_owned();
                        let help = "put each manifest in a file of its own";
                        self.note(&rules::SEVERAL_DOCUMENTS, span, message, Some(help));
                        return Err(Stop);
                    }
                }
                Event::Alias(anchor) => self.alias(anchor, span)?,
                Event::Scalar(text, style, anchor, tag) => {
                    self.refuse_tag(tag.is_some(), span);
                    self.scalar(text, style, anchor, span)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    self.refuse_tag(tag.is_some(), span);
                    self.open(Inside::Array(Vec::new()), anchor, span)?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.refuse_tag(tag.is_some(), span);
                    self.open(Inside::Object { members: Vec::new(), key: None }, anchor, span)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Nothing => {}
            }
        }
        Ok(())
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for open in &self.stack {
            match &open.inside {
                Inside::Array(items) => pointer::push_index(&mut pointer, items.len()),
                Inside::Object { key: Some((key, _)), .. } => pointer::push_key(&mut pointer, key),
                Inside::Object { key: None, .. } => {}
            }
        }
        pointer
    }

    fn note(&mut self, rule: &'static Rule, span: Span, message: String, help: Option<&str>) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let pointer = self.pointer();
        let help = help.map(str::to_owned);
        self.problems.push(Problem { rule, message, help, pointer, span });
    }

    fn syntax(&mut self, error: &ScanError) -> Read<()> {
        let wording = wording::of(error.info(), error.marker().index(), self.source);
        let span = Span::new(wording.at, wording.at + 1);
        self.note(wording.rule, span, wording.message, wording.help);
        Err(Stop)
    }

    fn refuse_tag(&mut self, tagged: bool, span: Span) {
        if tagged {
            let message = "tags are not allowed in manifests".to_owned();
            let help = "remove the tag; put a text in quotes to keep it a text";
            self.note(&rules::YAML_TAG, span, message, Some(help));
        }
    }

    fn count(&mut self, values: usize, span: Span) -> Read<()> {
        match self.values_left.checked_sub(values) {
            Some(left) => {
                self.values_left = left;
                Ok(())
            }
            None => {
                let message = "the document holds too many values".to_owned();
                self.note(&rules::TOO_MANY_VALUES, span, message, None);
                Err(Stop)
            }
        }
    }

    fn too_deep(&mut self, span: Span) -> Read<()> {
        let message = format!("values are nested deeper than {DEPTH} levels");
        self.note(&rules::NESTING_TOO_DEEP, span, message, None);
        Err(Stop)
    }

    fn open(&mut self, inside: Inside, anchor: usize, span: Span) -> Read<()> {
        if self.stack.len() >= DEPTH {
            return self.too_deep(span);
        }
        if self.key_wanted() {
            let message = "a key must be a text, not an array or an object".to_owned();
            self.note(&rules::YAML_KEY, span, message, None);
            return Err(Stop);
        }
        self.count(1, span)?;
        self.stack.push(Open { start: span.start as usize, anchor, inside });
        Ok(())
    }

    fn key_wanted(&self) -> bool {
        matches!(self.stack.last(), Some(Open { inside: Inside::Object { key: None, .. }, .. }))
    }

    fn close(&mut self, span: Span) -> Read<()> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        // The end of a block container is only seen at the next token, lines further down.
        let flow_end = if span.end > span.start { span.end } else { 0 };
        let (value, last) = match open.inside {
            Inside::Array(items) => {
                let last = items.last().map_or(0, |item| item.span.end);
                (Value::array(items), last)
            }
            Inside::Object { members, .. } => {
                let last = members.last().map_or(0, |m| m.value.span.end.max(m.key_span.end));
                (Value::Object(self.unique(members)), last)
            }
        };
        let span = Span::new(open.start, flow_end.max(last) as usize);
        self.place(Node { value, span }, open.anchor)
    }

    /// Keeps the first of equal keys and reports the others.
    fn unique(&mut self, members: Vec<Member>) -> Object {
        let (object, repeated) = Object::new(members);
        for member in
            repeated.into_iter().take(MOST_PROBLEMS - self.problems.len().min(MOST_PROBLEMS))
        {
            let first = object.member(&member.key).map_or(0, |m| m.key_span.start) as usize;
            let byte = self.source.char_indices().nth(first).map_or(0, |(byte, _)| byte);
            let line = super::line_of(self.source, byte);
            let message = format!(
                "duplicate key {}; it is first written in line {line}",
                text::quoted(&member.key)
            );
            let mut pointer = self.pointer();
            pointer::push_key(&mut pointer, &member.key);
            let help = Some("keep one of them".to_owned());
            let span = member.key_span;
            self.problems.push(Problem {
                rule: &rules::DUPLICATE_KEY,
                message,
                help,
                pointer,
                span,
            });
        }
        object
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        span: Span,
    ) -> Read<()> {
        if self.key_wanted() {
            self.key(&text, style, span);
            if anchor != 0 {
                let node = Node { value: Value::String((*text).into()), span };
                let (values, depth) = measure(&node);
                self.anchors.insert(anchor, Anchored { node, values, depth });
            }
            return Ok(());
        }
        self.count(1, span)?;
        let value = if style == ScalarStyle::Plain {
            self.plain(text, span)
        } else {
            Value::String(text.into_owned().into_boxed_str())
        };
        self.place(Node { value, span }, anchor)
    }

    fn plain(&mut self, text: Cow<'_, str>, span: Span) -> Value {
        match scalar::resolve(&text) {
            Plain::Null => Value::Null,
            Plain::Bool(b) => Value::Bool(b),
            Plain::Number(n) => Value::Number(n),
            Plain::Text => Value::String(text.into_owned().into_boxed_str()),
            Plain::OutOfRange => {
                let (message, help) = scalar::out_of_range(&text);
                self.note(&rules::INTEGER_OUT_OF_RANGE, span, message, Some(help));
                Value::Number(text.parse().unwrap_or(f64::MAX))
            }
            Plain::NotFinite => {
                let message = "the number is not finite".to_owned();
                let help = "write a number within ±1.8e308, or quote it if it is a text";
                self.note(&rules::NON_FINITE_NUMBER, span, message, Some(help));
                Value::Number(f64::MAX)
            }
        }
    }

    fn key(&mut self, text: &str, style: ScalarStyle, span: Span) {
        let is_text = style != ScalarStyle::Plain || matches!(scalar::resolve(text), Plain::Text);
        if !is_text {
            let message = format!("the key {} is not a text", text::quoted(text));
            self.note(&rules::YAML_KEY, span, message, Some("put the key in quotes"));
        }
        if style == ScalarStyle::Plain && text == "<<" {
            // Taken as an ordinary key it would silently do nothing, which is not what was meant.
            let message = "YAML 1.2 has no merge keys".to_owned();
            self.note(&rules::YAML_KEY, span, message, Some("write the fields out"));
        }
        if let Some(Open { inside: Inside::Object { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some((text.into(), span));
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Read<()> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            let message = "the alias stands inside the value it names".to_owned();
            self.note(&rules::YAML_ALIAS, span, message, Some("write the value out"));
            return Err(Stop);
        };
        let (values, depth) = (anchored.values, anchored.depth);
        if values > self.aliased_left {
            let message = format!("aliases add more than {ALIASED_VALUES} values to the document");
            self.note(&rules::YAML_ALIAS, span, message, Some("write the values out"));
            return Err(Stop);
        }
        if self.stack.len() + depth > DEPTH {
            return self.too_deep(span);
        }
        self.aliased_left -= values;
        self.count(values, span)?;
        let Some(anchored) = self.anchors.get(&anchor) else { return Err(Stop) };
        let mut node = anchored.node.clone();
        if self.key_wanted() {
            let text = node.as_str().map(str::to_owned);
            let Some(text) = text else {
                let message = "a key must be a text".to_owned();
                self.note(&rules::YAML_KEY, span, message, Some("write the key out"));
                return Err(Stop);
            };
            self.key(&text, ScalarStyle::DoubleQuoted, span);
            return Ok(());
        }
        node.span = span;
        self.place(node, 0)
    }

    fn place(&mut self, node: Node, anchor: usize) -> Read<()> {
        if anchor != 0 {
            let (values, depth) = measure(&node);
            // The copy kept for aliases is work that anchors cause, so it is bounded like theirs.
            let Some(left) = self.anchored_left.checked_sub(values) else {
                let message = format!("anchored values hold more than {ALIASED_VALUES} values");
                self.note(&rules::YAML_ALIAS, node.span, message, Some("remove the anchor"));
                return Err(Stop);
            };
            self.anchored_left = left;
            self.anchors.insert(anchor, Anchored { node: node.clone(), values, depth });
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Open { inside: Inside::Array(items), .. }) => items.push(node),
            Some(Open { inside: Inside::Object { members, key }, .. }) => {
                if let Some((key, key_span)) = key.take() {
                    members.push(Member { key, key_span, value: node });
                }
            }
        }
        Ok(())
    }
}

/// Tells the characters that YAML does not allow. All of them are single bytes, which a plain loop
/// over bytes finds fastest.
pub(super) fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0xb | 0xc | 0xe..=0x1f | 0x7f)
}

/// Counts the values of a tree and how many containers deep it goes. A long text counts as many
/// values, so that what aliases copy is bounded in bytes too.
fn measure(node: &Node) -> (usize, usize) {
    let texts = |length: usize| 1 + length / BYTES_A_VALUE;
    let items = match &node.value {
        Value::Array(items) => items,
        Value::Object(object) => {
            let keys: usize = object.members().iter().map(|m| m.key.len() / BYTES_A_VALUE).sum();
            let values = object.members().iter().map(|m| measure(&m.value));
            return values.fold((1 + keys, 1), |(n, depth), (v, d)| (n + v, depth.max(d + 1)));
        }
        Value::String(text) | Value::Template(text) => return (texts(text.len()), 0),
        _ => return (1, 0),
    };
    items.iter().map(measure).fold((1, 1), |(values, depth), (v, d)| (values + v, depth.max(d + 1)))
}
