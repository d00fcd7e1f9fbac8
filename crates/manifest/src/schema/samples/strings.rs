//! Strings on and beside the bounds of a schema.

use std::collections::HashSet;

use serde_json::Value;

use super::{Facts, LONGEST_MATCH, Side, Values, formats, patterns};

/// Is how many patterns are looked at.
const MOST_PATTERNS: usize = 4;

fn least(facts: &Facts<'_>) -> u64 {
    facts.counts("minLength").max().unwrap_or(0)
}

fn most(facts: &Facts<'_>) -> u64 {
    facts.counts("maxLength").min().unwrap_or(u64::MAX)
}

fn length(side: &Side<'_>, count: u64) -> usize {
    usize::try_from(count.min(side.reach.text)).unwrap_or(0)
}

/// Gives a string that a schema accepts, if that is easy.
pub(super) fn sample(side: &Side<'_>, facts: &Facts<'_>) -> String {
    let least = length(side, least(facts));
    let matched = least.min(LONGEST_MATCH);
    if let Some(found) = facts.texts("pattern").find_map(|p| side.shape(p)?.sample(matched)) {
        return found;
    }
    if let Some(format) = facts.texts("format").find(|format| formats::is_known(format)) {
        return formatted(format, matched);
    }
    "a".repeat(least.max(1).min(length(side, most(facts))))
}

fn formatted(format: &str, least: usize) -> String {
    let usual = formats::good(format).first().copied().unwrap_or_default();
    if usual.len() < least
        && let Some(long) = formats::of_length(format, least)
    {
        return long;
    }
    usual.to_owned()
}

/// Collects strings, each once, as long as there is room for them.
struct Texts<'v> {
    seen: HashSet<String>,
    values: &'v mut Values,
}

impl Texts<'_> {
    /// Takes strings until there is no more room; what comes after is not even made.
    fn extend(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            if self.seen.insert(text.clone()) {
                self.values.push(Value::String(text));
            }
            if self.values.is_full() {
                return;
            }
        }
    }
}

/// Gives the strings on and beside the bounds of two versions.
pub(super) fn edges(side: &Side<'_>, old: &Facts<'_>, new: &Facts<'_>, values: &mut Values) {
    let mut texts = Texts { seen: HashSet::new(), values };
    let lengths = lengths(side, old, new);
    let matched: Vec<usize> = lengths.iter().copied().filter(|n| *n <= LONGEST_MATCH).collect();
    for format in both(old, new, "format") {
        let known = formats::good(format).iter().chain(formats::bad(format));
        texts.extend(known.map(|text| (*text).to_owned()));
        texts.extend(matched.iter().filter_map(|n| formats::of_length(format, *n)));
    }
    matching(side, &both(old, new, "pattern"), &matched, &mut texts);
    texts.extend(lengths.iter().map(|n| "a".repeat(*n)));
    texts.extend(["a", "", "0", "A", "a b", "é", "-"].map(str::to_owned));
}

/// Gives the strings a keyword has in either version, each once.
fn both<'s>(old: &Facts<'s>, new: &Facts<'s>, keyword: &str) -> Vec<&'s str> {
    let mut texts: Vec<&str> = Vec::new();
    for text in old.texts(keyword).chain(new.texts(keyword)) {
        if !texts.contains(&text) && texts.len() < MOST_PATTERNS {
            texts.push(text);
        }
    }
    texts
}

fn lengths(side: &Side<'_>, old: &Facts<'_>, new: &Facts<'_>) -> Vec<usize> {
    let mut lengths = Vec::new();
    for keyword in ["minLength", "maxLength"] {
        for bound in old.counts(keyword).chain(new.counts(keyword)) {
            let around = side.reach.lengths(keyword, bound);
            lengths.extend(around.filter_map(|count| usize::try_from(count).ok()));
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn matching(side: &Side<'_>, wanted: &[&str], lengths: &[usize], texts: &mut Texts<'_>) {
    let shapes: Vec<_> = wanted.iter().filter_map(|pattern| side.shape(pattern)).collect();
    // What one pattern accepts only just may be what the other refuses.
    let marks: Vec<char> = shapes.iter().flat_map(|shape| shape.marks()).collect();
    for shape in &shapes {
        let variety = shape.variety(&marks);
        let near: Vec<String> = variety.iter().take(3).cloned().collect();
        texts.extend(variety);
        texts.extend(lengths.iter().filter_map(|n| shape.sample(*n)));
        texts.extend(near.iter().flat_map(|text| patterns::beside(text)));
    }
}
