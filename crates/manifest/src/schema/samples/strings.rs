//! Strings on and beside the bounds of a schema.

use std::collections::HashSet;

use serde_json::Value;

use super::{Facts, LONGEST_TEXT, Side, Values, formats, patterns};

/// Is how many patterns are looked at.
const MOST_PATTERNS: usize = 4;

fn least(facts: &Facts<'_>) -> u64 {
    facts.counts("minLength").max().unwrap_or(0)
}

fn most(facts: &Facts<'_>) -> u64 {
    facts.counts("maxLength").min().unwrap_or(u64::MAX)
}

fn length(count: u64) -> usize {
    usize::try_from(count.min(LONGEST_TEXT)).unwrap_or(0)
}

/// Gives a string that a schema accepts, if that is easy.
pub(super) fn sample(side: &Side<'_>, facts: &Facts<'_>) -> String {
    let least = length(least(facts));
    if let Some(found) = facts.texts("pattern").find_map(|p| side.shape(p)?.sample(least)) {
        return found;
    }
    if let Some(format) = facts.texts("format").find(|format| formats::is_known(format)) {
        return formatted(format, least);
    }
    "a".repeat(least.max(1).min(length(most(facts))))
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

/// Gives the strings on and beside the bounds of two versions.
pub(super) fn edges(side: &Side<'_>, old: &Facts<'_>, new: &Facts<'_>, values: &mut Values) {
    let mut found = Vec::new();
    let lengths = lengths(old, new);
    let formats: Vec<&str> = both(old, new, "format");
    for format in &formats {
        found.extend(formats::good(format).iter().map(|text| (*text).to_owned()));
        found.extend(formats::bad(format).iter().map(|text| (*text).to_owned()));
        found.extend(lengths.iter().filter_map(|n| formats::of_length(format, *n)));
    }
    matching(side, &both(old, new, "pattern"), &lengths, &mut found);
    found.extend(lengths.iter().map(|n| "a".repeat(*n)));
    found.extend(["a", "", "0", "A", "a b", "é", "-"].map(str::to_owned));
    let mut seen = HashSet::new();
    found.retain(|text| seen.insert(text.clone()));
    values.extend(found.into_iter().map(Value::String));
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

fn lengths(old: &Facts<'_>, new: &Facts<'_>) -> Vec<usize> {
    let mut lengths = Vec::new();
    for keyword in ["minLength", "maxLength"] {
        for bound in old.counts(keyword).chain(new.counts(keyword)).filter(|n| *n < LONGEST_TEXT) {
            lengths.extend([bound, bound.saturating_sub(1), bound + 1].map(length));
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn matching(side: &Side<'_>, wanted: &[&str], lengths: &[usize], found: &mut Vec<String>) {
    let shapes: Vec<_> = wanted.iter().filter_map(|pattern| side.shape(pattern)).collect();
    // What one pattern accepts only just may be what the other refuses.
    let marks: Vec<char> = shapes.iter().flat_map(|shape| shape.marks()).collect();
    for shape in &shapes {
        let variety = shape.variety(&marks);
        let near: Vec<String> = variety.iter().take(3).cloned().collect();
        found.extend(variety);
        found.extend(lengths.iter().filter_map(|n| shape.sample(*n)));
        near.iter().for_each(|text| patterns::beside(text, found));
    }
}
