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

/// Is the longest string worth building.
const LONGEST_TEXT: u64 = 5_000;

/// Is the largest array or object worth building.
const MOST_PARTS: u64 = 1_100;

/// Is how deep a value is built.
const DEEPEST: usize = 6;

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
    const ROOM: usize = 20_000;

    fn new() -> Self {
        Self { list: Vec::new(), room: Self::ROOM }
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
            if self.room == 0 {
                return;
            }
        }
    }
}

/// Counts the values in a value, a long string as several.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).fold(1, usize::saturating_add),
        Value::Object(members) => members.values().map(size).fold(1, usize::saturating_add),
        Value::String(text) => 1 + text.len() / 32,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
