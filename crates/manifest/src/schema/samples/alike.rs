//! Whether two schemas say the same, but for what no validator looks at.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Side, is_known_format};
use crate::schema::keywords::{self, Kind};
use crate::schema::loops::address;

/// Compares schemas of the old version with schemas of the new one, and remembers.
pub(in crate::schema) struct Alike<'c, 's> {
    old: &'c Side<'s>,
    new: &'c Side<'s>,
    /// What is known of each pair. Those being compared count as alike: going round in a circle
    /// proves no difference.
    known: HashMap<(usize, usize), bool>,
    /// The pairs found alike in this comparison, certain only when all of it is.
    assumed: Vec<(usize, usize)>,
}

impl<'c, 's> Alike<'c, 's> {
    /// Prepares a comparison.
    pub(in crate::schema) fn new(old: &'c Side<'s>, new: &'c Side<'s>) -> Self {
        Self { old, new, known: HashMap::new(), assumed: Vec::new() }
    }

    /// Compares two lists of schemas.
    pub(in crate::schema) fn lists(&mut self, old: &[&Value], new: &[&Value]) -> bool {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| self.compare(old, new))
    }

    /// Compares two schemas. A yes is certain, a no is not.
    pub(in crate::schema) fn compare(&mut self, old: &Value, new: &Value) -> bool {
        let alike = self.schemas(old, new);
        for pair in self.assumed.drain(..) {
            if !alike && self.known.get(&pair) == Some(&true) {
                self.known.remove(&pair);
            }
        }
        alike
    }

    fn schemas(&mut self, old: &Value, new: &Value) -> bool {
        let (Value::Object(before), Value::Object(after)) = (old, new) else { return old == new };
        let pair = (address(old), address(new));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        self.known.insert(pair, true);
        self.assumed.push(pair);
        let added = after.keys().filter(|key| !before.contains_key(*key));
        let alike = before.keys().chain(added).all(|keyword| {
            match (before.get(keyword), after.get(keyword)) {
                _ if is_idle(keyword) => true,
                (Some(a), Some(b)) => self.keyword(keyword, (old, a), (new, b)),
                (Some(only), None) | (None, Some(only)) => keyword == "format" && !is_known(only),
                (None, None) => true,
            }
        });
        if !alike {
            self.known.insert(pair, false);
        }
        alike
    }

    fn keyword(&mut self, keyword: &str, old: (&Value, &Value), new: (&Value, &Value)) -> bool {
        let ((old_holder, a), (new_holder, b)) = (old, new);
        match keywords::kind(keyword) {
            Some(Kind::Schema | Kind::SchemaInPlace) => self.schemas(a, b),
            Some(Kind::SchemaList { .. }) => match (a, b) {
                (Value::Array(a), Value::Array(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.schemas(a, b))
                }
                _ => a == b,
            },
            Some(Kind::SchemaMap { .. } | Kind::PatternMap) => match (a, b) {
                (Value::Object(a), Value::Object(b)) => self.maps(a, b),
                _ => a == b,
            },
            Some(Kind::Reference) if keyword == "$ref" => match (a.as_str(), b.as_str()) {
                (Some(a), Some(b)) => {
                    let old = self.old.refs.target(old_holder, a);
                    let new = self.new.refs.target(new_holder, b);
                    old.zip(new).is_some_and(|(old, new)| self.schemas(old, new))
                }
                _ => false,
            },
            // What it means depends on the way to it; only equal documents are certainly alike.
            Some(Kind::Reference) => self.old.root == self.new.root,
            Some(Kind::Names | Kind::Type | Kind::List) => same_set(a, b),
            Some(Kind::Text) => a == b || !is_known(a) && !is_known(b),
            _ => same_value(a, b),
        }
    }

    fn maps(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
        let mut twin = |(name, old): (&String, &Value)| {
            new.get(name).is_some_and(|new| self.schemas(old, new))
        };
        old.len() == new.len() && old.iter().all(&mut twin)
    }
}

fn is_known(format: &Value) -> bool {
    format.as_str().is_some_and(is_known_format)
}

/// Tells whether a keyword has no say in what is valid; definitions have theirs where they are
/// referred to.
fn is_idle(keyword: &str) -> bool {
    match keywords::kind(keyword) {
        None | Some(Kind::Id | Kind::Anchor | Kind::BoolMap) => true,
        Some(_) => matches!(
            keyword,
            "title"
                | "description"
                | "$comment"
                | "default"
                | "examples"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
                | "contentMediaType"
                | "contentEncoding"
                | "contentSchema"
                | "$defs"
                | "definitions"
        ),
    }
}

fn same_set(a: &Value, b: &Value) -> bool {
    let (Value::Array(a), Value::Array(b)) = (a, b) else { return same_value(a, b) };
    // Lists that differ only in order are short, or they are compared in order.
    let within = |a: &[Value], b: &[Value]| a.iter().all(|a| b.iter().any(|b| same_value(a, b)));
    a == b || a.len().max(b.len()) <= 64 && within(a, b) && within(b, a)
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}
