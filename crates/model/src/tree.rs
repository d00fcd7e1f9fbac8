//! The tree every manifest is read into: JSON's data model, with a place in the source for each
//! value and each key.

use serde_json::{Map, Number};

/// Gives a stretch of the source, in the unit of its [`Source`](crate::Source).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// Where it ends; never before `start`.
    pub end: u32,
}

impl Span {
    /// Makes a span; offsets that do not fit are clamped, since every size cap is far below 4 GiB.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(start);
        Self { start, end }
    }
}

/// Is one value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// Where.
    pub span: Span,
}

/// Is a JSON value. Numbers are doubles, because RFC 8785 knows no others; the reader refuses the
/// integers that a double cannot hold.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any finite number.
    Number(f64),
    /// A string.
    String(Box<str>),
    /// `${name}` written bare where a value goes, as agent manifests allow. It means the same as
    /// the string `"${name}"`, which is what this holds.
    Template(Box<str>),
    /// An array.
    Array(Vec<Node>),
    /// An object.
    Object(Object),
}

/// Is one key with its value.
#[derive(Clone, Debug)]
pub struct Member {
    /// The key.
    pub key: Box<str>,
    /// Where the key was written.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// Is an object in source order with unique keys.
///
/// Most objects are small and searched in line; a large one carries an index sorted by key, so
/// that a hostile document cannot make look-ups quadratic.
#[derive(Clone, Debug, Default)]
pub struct Object {
    members: Vec<Member>,
    index: Option<Box<[u32]>>,
}

/// From how many members on an object is indexed.
const INDEXED_FROM: usize = 17;

/// How many members with a repeated key are handed back.
const MOST_REPEATED: usize = 128;

/// Gives back what a vector holds in reserve. A document of a hundred thousand tiny containers
/// would otherwise take several times the memory it needs.
fn fitted<T>(mut items: Vec<T>) -> Vec<T> {
    if items.len() * 2 <= items.capacity() {
        items.shrink_to_fit();
    }
    items
}

impl Value {
    /// Makes an array.
    #[must_use]
    pub fn array(items: Vec<Node>) -> Self {
        Self::Array(fitted(items))
    }
}

impl Object {
    /// Takes the members in order. Of members with one key the first stays; the later ones are
    /// handed back so that the reader can report them.
    #[must_use]
    pub fn new(mut members: Vec<Member>) -> (Self, Vec<Member>) {
        if members.len() < INDEXED_FROM {
            let mut repeated = Vec::new();
            let mut at = 1;
            while at < members.len() {
                let (before, rest) = members.split_at(at);
                let again =
                    rest.first().is_some_and(|next| before.iter().any(|m| m.key == next.key));
                if again {
                    repeated.push(members.remove(at));
                } else {
                    at += 1;
                }
            }
            return (Self { members: fitted(members), index: None }, repeated);
        }
        let mut order = sorted_order(&members);
        let key = |i: u32| members.get(i as usize).map(|m| &*m.key);
        let mut later: Vec<u32> = order
            .windows(2)
            .filter_map(|w| match w {
                [a, b] if key(*a) == key(*b) => Some(*b),
                _ => None,
            })
            .collect();
        let mut repeated = Vec::new();
        if !later.is_empty() {
            later.sort_unstable();
            let mut position = 0u32;
            let mut drop = later.iter().peekable();
            let gone = members.extract_if(.., |_| {
                let hit = drop.peek() == Some(&&position);
                if hit {
                    drop.next();
                }
                position += 1;
                hit
            });
            // Nobody reads thousands of them, and a flood of them must not fill the memory.
            for member in gone {
                if repeated.len() < MOST_REPEATED {
                    repeated.push(member);
                }
            }
            order = sorted_order(&members);
        }
        (Self { members: fitted(members), index: Some(order.into_boxed_slice()) }, repeated)
    }

    /// Gives the members in source order.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Finds the member with this key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member> {
        match &self.index {
            None => self.members.iter().find(|m| &*m.key == key),
            Some(index) => {
                let at = index
                    .binary_search_by(|&i| {
                        self.members.get(i as usize).map_or("", |m| &*m.key).cmp(key)
                    })
                    .ok()?;
                self.members.get(*index.get(at)? as usize)
            }
        }
    }

    /// Finds the value under this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.member(key).map(|m| &m.value)
    }

    /// Tells how many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Tells whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

fn sorted_order(members: &[Member]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(members.len()).unwrap_or(u32::MAX)).collect();
    // Stable, so that of equal keys the first in the source comes first.
    order.sort_by(|&a, &b| {
        let key = |i: u32| members.get(i as usize).map_or("", |m| &*m.key);
        key(a).cmp(key(b))
    });
    order
}

impl Node {
    /// Makes a node without a place, for values that were computed rather than read.
    #[must_use]
    pub fn unplaced(value: Value) -> Self {
        Self { value, span: Span::default() }
    }

    /// Gives the text of a string, or of a bare template.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(s) | Value::Template(s) => Some(s),
            _ => None,
        }
    }

    /// Gives the boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// Gives the number.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            Value::Number(n) => Some(n),
            _ => None,
        }
    }

    /// Gives the number if it is an integer that a double holds exactly.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        self.as_number().and_then(exact_integer)
    }

    /// Gives the elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Gives the object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match &self.value {
            Value::Object(o) => Some(o),
            _ => None,
        }
    }

    /// Finds the value under a key, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_object()?.get(key)
    }

    /// Gives the strings of an array; anything else in it is passed over.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.as_array().unwrap_or_default().iter().filter_map(Node::as_str)
    }

    /// Tells whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Names the JSON type for a person, with its article.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Template(_) => "a template",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// Tells whether two trees are the same JSON value, whatever the order of keys and the place.
    #[must_use]
    pub fn same(&self, other: &Node) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.members.iter().zip(&b.members).all(|(m, n)| {
                        let twin = if m.key == n.key { Some(&n.value) } else { b.get(&m.key) };
                        twin.is_some_and(|twin| m.value.same(twin))
                    })
            }
            _ => match (self.as_str(), other.as_str()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// Copies the tree into serde's form, which validators take.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => serde_json::Value::Bool(*b),
            Value::Number(n) => number_to_json(*n),
            Value::String(s) | Value::Template(s) => serde_json::Value::String(s.to_string()),
            Value::Array(items) => items.iter().map(Node::to_json).collect(),
            Value::Object(o) => serde_json::Value::Object(
                o.members
                    .iter()
                    .map(|m| (m.key.to_string(), m.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// Copies serde's form into a tree without places.
    #[must_use]
    pub fn from_json(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::unplaced(match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => Value::Number(n.as_f64().unwrap_or_default()),
            Json::String(s) => Value::String(s.as_str().into()),
            Json::Array(items) => Value::Array(items.iter().map(Self::from_json).collect()),
            Json::Object(map) => {
                let members = map
                    .iter()
                    .map(|(key, value)| Member {
                        key: key.as_str().into(),
                        key_span: Span::default(),
                        value: Self::from_json(value),
                    })
                    .collect();
                Value::Object(Object::new(members).0)
            }
        })
    }
}

/// The largest integer up to which every integer is a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn exact_integer(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53, checked here")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

fn number_to_json(number: f64) -> serde_json::Value {
    match exact_integer(number) {
        Some(integer) => serde_json::Value::Number(integer.into()),
        None => Number::from_f64(number).map_or(serde_json::Value::Null, serde_json::Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(key: &str, n: f64) -> Member {
        Member {
            key: key.into(),
            key_span: Span::default(),
            value: Node::unplaced(Value::Number(n)),
        }
    }

    #[test]
    fn the_first_of_equal_keys_stays_in_small_and_in_indexed_objects() {
        for filler in [0, 40] {
            let mut members: Vec<_> =
                (0..filler).map(|i| member(&format!("k{i}"), f64::from(i))).collect();
            members.extend([
                member("a", 1.0),
                member("b", 2.0),
                member("a", 3.0),
                member("a", 4.0),
            ]);
            let (object, repeated) = Object::new(members);
            assert_eq!(object.get("a").and_then(Node::as_integer), Some(1));
            assert_eq!(object.get("b").and_then(Node::as_integer), Some(2));
            assert!(object.get("c").is_none());
            let values: Vec<_> = repeated.iter().map(|m| m.value.as_integer()).collect();
            assert_eq!(values, [Some(3), Some(4)]);
        }
    }

    #[test]
    fn sameness_ignores_order_and_notation_but_not_content() {
        let tree = |text: &str| Node::from_json(&serde_json::from_str(text).unwrap());
        assert!(tree(r#"{"a":1,"b":[1.0]}"#).same(&tree(r#"{"b":[1],"a":1.0}"#)));
        assert!(!tree(r#"{"a":1}"#).same(&tree(r#"{"a":1,"b":2}"#)));
        assert!(!tree(r#"{"a":1,"b":2}"#).same(&tree(r#"{"a":1,"c":2}"#)));
        assert!(!tree("[1,2]").same(&tree("[2,1]")));
    }
}
