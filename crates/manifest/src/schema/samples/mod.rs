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

pub(super) use alike::Alike;
pub(super) use facts::{Facts, Pick, Side};
pub(super) use formats::is_known as is_known_format;
pub(super) use sample::{Size, Types};
pub(super) use vary::{Groups, Variation};

/// Is the longest string worth building.
const LONGEST_TEXT: u64 = 5_000;

/// Is the largest array or object worth building.
const MOST_PARTS: u64 = 1_100;

/// Is how deep a value is built.
const DEEPEST: usize = 6;

/// Is a property that no schema is likely to know.
pub(super) const UNKNOWN: &str = "extra";
