//! Long witnesses: how long they get, and how much of them there is in one report.

use remit_manifest::diff;
use remit_model::{Dialect, Node};
use serde_json::{Value, json};

use super::Way::Tighter;
use super::{Budget, edits::with, expect, witness};

/// Puts the schema of a value beside one that must be there.
fn input(value: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {"q": {"type": "string", "minLength": 2}, "x": value},
        "required": ["q"],
        "additionalProperties": false,
    })
}

#[test]
fn a_long_bound_has_a_witness_just_beyond_it() {
    let text = |most: u64| json!({"type": "string", "maxLength": most});
    let long = |least: u64| json!({"type": "string", "minLength": least});
    let list = |most: u64| json!({"type": "array", "maxItems": most});
    let full = |least: u64| json!({"type": "array", "minItems": least});
    let set = |most: u64| with(list(most), json!({"uniqueItems": true}));
    let rows = |most: u64| with(list(most), json!({"items": {"required": ["a"]}}));
    let words = |most: u64| with(text(most), json!({"pattern": "^[b-y]+(-[b-y]+)*$"}));
    let links = |most: u64| with(text(most), json!({"format": "uri"}));
    for (name, old, new) in [
        ("long text", text(10_000), text(5_000)),
        ("long text, one less", text(65_536), text(65_535)),
        ("long text, no bound before", json!({"type": "string"}), text(65_536)),
        ("long text needed", long(10_000), long(65_536)),
        ("long text of a pattern", words(16_384), words(16_383)),
        ("long text of a format", links(10_000), links(8_000)),
        ("long list", list(10_000), list(5_000)),
        ("long list, one less", list(10_000), list(9_999)),
        ("long list needed", full(5_000), full(10_000)),
        ("long list of different things", set(10_000), set(9_999)),
        ("long list of objects", rows(3_000), rows(2_000)),
    ] {
        expect(name, &old, &new, Tighter);
        expect(name, &input(&old), &input(&new), Tighter);
    }
    let found = witness::find(&input(&text(10_000)), &input(&text(8_000))).unwrap();
    assert_eq!(found.input, json!({"q": "aa", "x": "a".repeat(8_001)}));
}

#[test]
fn beyond_the_limits_there_is_none() {
    let string = |most: u64| json!({"type": "string", "maxLength": most});
    let words = |most: u64| with(string(most), json!({"pattern": "^[b-y]+$"}));
    let list = |most: u64| json!({"type": "array", "maxItems": most});
    for (old, new) in [
        (string(65_538), string(65_537)),
        (words(16_385), words(16_384)),
        (list(10_002), list(10_001)),
    ] {
        assert_eq!(witness::find(&old, &new), None, "{new}");
    }
}

#[test]
fn a_report_has_room_for_a_few_long_ones() {
    let tools = |most: u64| {
        let tool = |i: usize| {
            let text = json!({"type": "string", "maxLength": most});
            json!({"name": format!("t{i}"), "inputSchema": input(&text)})
        };
        Node::from_json(&json!({"tools": (0..300).map(tool).collect::<Vec<_>>()}))
    };
    let count = |old: u64, new: u64| {
        let changes = diff::diff(Dialect::McpTools, &tools(old), &tools(new));
        assert_eq!(changes.breaking.len(), 300);
        let found = changes.breaking.iter().filter_map(|change| change.witness.as_ref());
        let sizes: Vec<usize> = found.map(|witness| witness.to_string().len()).collect();
        (sizes.len(), sizes.iter().sum::<usize>())
    };
    let (long, bytes) = count(65_536, 60_000);
    assert!(long >= 10, "{long}");
    assert!(bytes < 5_000_000, "{bytes}");
    let (short, _) = count(40, 30);
    assert_eq!(short, 300);
    // What does not take long goes on when there is no more room for what does.
    let mut budget = Budget::default();
    let text = |most: u64| input(&json!({"type": "string", "maxLength": most}));
    let mut longer = |i: u64| witness::find_within(&text(60_000 + i), &text(61_000), &mut budget);
    let found = (0..300).take_while(|i| longer(*i).is_some()).count();
    assert!((10..100).contains(&found), "{found}");
    assert!(witness::find_within(&text(40), &text(30), &mut budget).is_some());
}

#[test]
fn much_that_must_be_long_comes_to_an_end() {
    // Each place that waits for its turn has an input of its own, as large as this asks for.
    let schema = |least: u64| {
        let names = (0..2_500).map(|i| format!("p{i}"));
        let properties: serde_json::Map<String, Value> =
            names.map(|name| (name, json!({"type": "string", "minLength": least}))).collect();
        let required: Vec<&String> = properties.keys().collect();
        json!({"type": "object", "properties": properties, "required": required})
    };
    for least in [4_990, 60_000] {
        assert_eq!(witness::find(&schema(least), &schema(least - 1)), None);
    }
    let contained = |most: u64| {
        let row = vec![0; 100];
        let large = json!({"type": "array", "minItems": 1_000, "items": {"const": row}});
        json!({"contains": large, "maxContains": most})
    };
    assert_eq!(witness::find(&contained(1_000), &contained(999)), None);
}
