//! Values worth trying against two versions of a schema.
//!
//! Nothing here proves anything: a value is built from what the schemas say, as small as can be, and
//! the validators decide. It only has to be likely that the few values which lie on the edge of a
//! change are among those tried, and certain that their number is bounded.

mod alike;
mod compound;
mod facts;
mod formats;
mod numbers;
mod patterns;
mod sample;
mod strings;
mod vary;

use serde_json::Value;

pub(super) use alike::Alike;
pub(super) use facts::{Facts, Pick, Side};
pub(super) use formats::is_known as is_known_format;
pub(super) use sample::{Size, Types};
pub(super) use vary::{Group, Groups, Variation};

/// Says how large a value may be, as long as there is a bound that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// The longest string with one bound.
    text: u64,
    /// The longest array with one bound.
    items: u64,
}

impl Reach {
    /// Goes as far as anybody's bounds are likely to be.
    pub(super) const FAR: Self = Self { text: 65_536, items: 10_000 };
    /// Goes as far as what is shown can be many times in one report. Up to here the values on
    /// both sides of a bound are tried; farther on only the one beyond it.
    pub(super) const NEAR: Self = Self { text: 5_000, items: MOST_PARTS };

    /// Gives the counts around a bound that are worth trying; `keyword` says which way it bounds.
    fn around(most: u64, near: u64, keyword: &str, bound: u64) -> impl Iterator<Item = u64> {
        let (below, above) = (bound.saturating_sub(1), bound.saturating_add(1));
        let counts = match keyword.starts_with("max") {
            _ if bound > most => [None; 3],
            _ if bound <= near => [Some(below), Some(bound), Some(above)],
            true => [Some(above), None, None],
            false => [Some(below), None, None],
        };
        counts.into_iter().flatten()
    }

    /// Gives the lengths of strings around a bound.
    fn lengths(self, keyword: &str, bound: u64) -> impl Iterator<Item = u64> {
        Self::around(self.text, Self::NEAR.text, keyword, bound)
    }

    /// Gives the numbers of elements around a bound.
    fn counts(self, keyword: &str, bound: u64) -> impl Iterator<Item = u64> {
        Self::around(self.items, Self::NEAR.items, keyword, bound)
    }
}

/// Is the longest string that is made to match a pattern or to be of a format: making one takes
/// longer than repeating a letter.
const LONGEST_MATCH: usize = 16_384;

/// Is how many properties are worth having, and how many elements where no bound asks for more.
const MOST_PARTS: u64 = 1_100;

/// Is how deep a value is built.
const DEEPEST: usize = 6;

/// Is how many bytes of text count as much as a value.
const TEXT_A_VALUE: usize = 32;

/// Is a property that no schema is likely to know.
pub(super) const UNKNOWN: &str = "extra";

/// Collects values, as long as there is room for them.
#[derive(Debug)]
pub(super) struct Values {
    list: Vec<Value>,
    room: usize,
}

impl Values {
    /// Is how many values, those inside others counted, are made for one place.
    const ROOM: usize = 24_000;

    fn new() -> Self {
        Self { list: Vec::new(), room: Self::ROOM }
    }

    /// Tells whether there is no more room, so that nothing more need be made.
    fn is_full(&self) -> bool {
        self.room == 0
    }

    fn push(&mut self, value: Value) {
        if let Some(room) = self.room.checked_sub(size(&value)) {
            self.room = room;
            self.list.push(value);
        } else {
            self.room = 0;
        }
    }

    /// Takes values until there is no more room; what comes after is not even made.
    fn extend(&mut self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            self.push(value);
            if self.is_full() {
                return;
            }
        }
    }
}

/// Counts the values in a value, a long text as several.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).fold(1, usize::saturating_add),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.len() / TEXT_A_VALUE).saturating_add(size(value)))
            .fold(1, usize::saturating_add),
        Value::String(text) => 1 + text.len() / TEXT_A_VALUE,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
