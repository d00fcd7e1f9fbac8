//! Witnesses: that one is found for every kind of change, and that what is found is one.

mod dependent;
mod edits;
mod lengths;
mod random;

use edits::{edits, places, with};
use remit_manifest::schema::validator::Validator;
use remit_manifest::schema::witness::{self, Budget, Witness};
use serde_json::{Value, json};

/// Says which way a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Something is refused that was accepted.
    Tighter,
    /// Something is accepted that was refused.
    Looser,
    /// Both.
    Other,
}

use Way::{Looser, Other, Tighter};

/// Checks a witness with validators of its own.
fn verify(old: &Value, new: &Value, witness: &Witness) {
    let before = Validator::compile(old).unwrap().is_valid(&witness.input);
    let after = Validator::compile(new).unwrap().is_valid(&witness.input);
    let text = format!("{} for\n{old}\n{new}", witness.input);
    assert_ne!(before, after, "no witness: {text}");
    assert_eq!(before, witness.accepted_before, "the wrong way round: {text}");
}

/// Checks that a change has a witness, both from old to new and back.
fn expect(name: &str, old: &Value, new: &Value, way: Way) {
    let back = match way {
        Tighter => Looser,
        Looser => Tighter,
        Other => Other,
    };
    for (old, new, way) in [(old, new, way), (new, old, back)] {
        let Some(witness) = witness::find(old, new) else {
            panic!("{name}: no witness for\n{old}\n{new}");
        };
        verify(old, new, &witness);
        // A change that hurts callers must be shown to hurt them.
        assert_eq!(witness.accepted_before, way != Looser, "{name}: {}", witness.input);
        let size = witness.input.to_string().len();
        let longest = (old.to_string().len() + new.to_string().len()).max(200);
        assert!(size <= longest || name.contains("long"), "{name}: {} is large", witness.input);
    }
}

#[test]
fn every_kind_of_change_has_a_witness_everywhere() {
    let edits = edits();
    assert!(edits.len() >= 40);
    for (place, put) in places() {
        for (name, old, new, way) in &edits {
            let name = format!("{name} in {place}");
            expect(&name, &put(old.clone()), &put(new.clone()), *way);
        }
    }
}

#[test]
fn what_no_validator_looks_at_has_no_witness() {
    let base = json!({
        "type": "object",
        "title": "Search",
        "properties": {
            "query": {"type": "string", "description": "What to look for", "format": "password"},
            "title": {"$ref": "#/$defs/title"},
        },
        "required": ["query", "title"],
        "$defs": {"title": {"type": ["string", "null"], "default": "a", "examples": ["b"]}},
    });
    let edits: &[(&str, Value)] = &[
        ("/title", json!("Find")),
        ("/properties/query/description", json!("Words")),
        ("/properties/query/format", json!("search-words")),
        ("/$defs/title/default", json!(null)),
        ("/$defs/title/examples", json!([])),
        ("/required", json!(["title", "query"])),
        ("/$defs/title/type", json!(["null", "string"])),
    ];
    for (pointer, value) in edits {
        let mut new = base.clone();
        *new.pointer_mut(pointer).unwrap() = value.clone();
        assert_ne!(new, base);
        assert_eq!(witness::find(&base, &new), None, "{pointer}");
    }
    for (key, value) in [
        ("$comment", json!("a")),
        ("deprecated", json!(true)),
        ("readOnly", json!(true)),
        ("writeOnly", json!(true)),
        ("contentEncoding", json!("base64")),
        ("x-order", json!(3)),
        ("$id", json!("https://example.com/search.json")),
    ] {
        let new = with(base.clone(), json!({key: value}));
        assert_eq!(witness::find(&base, &new), None, "{key}");
    }
    let mut renamed = base.clone();
    renamed["properties"]["title"] = json!({"$ref": "#/$defs/other"});
    renamed["$defs"]["other"] = base["$defs"]["title"].clone();
    assert_eq!(witness::find(&base, &renamed), None);
    // A property with the name of an annotation is not one.
    let new = json!({"type": "object", "properties": {"title": {"type": "integer"}}});
    let old = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    assert!(witness::find(&old, &new).is_some());
}

#[test]
fn a_recursive_schema_has_a_witness_near_the_top() {
    let tree = |most: u64| {
        json!({
            "$defs": {"node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer", "maximum": most},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["value"],
                "additionalProperties": false,
            }},
            "$ref": "#/$defs/node",
        })
    };
    let found = witness::find(&tree(9), &tree(8)).unwrap();
    assert_eq!(found, Witness { input: json!({"value": 9}), accepted_before: true });
    let dynamic = |most: u64| {
        json!({
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"n": {"maximum": most}, "next": {"$dynamicRef": "#node"}},
        })
    };
    let found = witness::find(&dynamic(9), &dynamic(8)).unwrap();
    assert_eq!(found.input, json!({"n": 9}));
}

#[test]
fn a_witness_has_nothing_that_it_does_not_need() {
    let old = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
            "d": {"type": "object", "properties": {"e": {}, "f": {"enum": [1, 2]}}},
        },
        "required": ["a"],
    });
    let mut new = old.clone();
    new["properties"]["d"]["properties"]["f"] = json!({"enum": [1]});
    let found = witness::find(&old, &new).unwrap();
    assert_eq!(found.input, json!({"a": "a", "d": {"f": 2}}));
}

#[test]
fn schemas_that_no_validator_takes_have_no_witness() {
    let good = json!({"type": "object"});
    for bad in [
        json!({"$ref": "#"}),
        json!({"$ref": "https://example.com/a"}),
        json!({"type": "thing"}),
        json!({"pattern": "("}),
        json!(5),
        json!([]),
    ] {
        assert_eq!(witness::find(&good, &bad), None, "{bad}");
        assert_eq!(witness::find(&bad, &good), None, "{bad}");
    }
}

#[test]
fn a_budget_is_used_up_and_then_nothing_is_done() {
    let pair = |i: u64| {
        let schema = |most: u64| json!({"properties": {format!("p{i}"): {"maximum": most}}});
        (schema(10), schema(9))
    };
    let mut budget = Budget::default();
    let all = (0..300).map(pair);
    let found = all.filter(|(old, new)| witness::find_within(old, new, &mut budget).is_some());
    assert_eq!(found.count(), 300, "three hundred small changes fit into one budget");
    let mut budget = Budget::default();
    let all = (0..100_000).map(pair);
    let found = all.filter(|(old, new)| witness::find_within(old, new, &mut budget).is_some());
    assert!(found.count() < 10_000);
    // A pattern that takes long to compile costs more than it looks.
    let mut budget = Budget::default();
    let heavy = |i: usize| (json!({"pattern": format!("[a-z]{{1,{}}}", 3_000 + i)}), json!(true));
    let found = (0..100)
        .map(heavy)
        .filter(|(old, new)| witness::find_within(old, new, &mut budget).is_some());
    assert!(found.count() < 10);
}

#[test]
fn hostile_schemas_come_to_an_end() {
    let mut wide = serde_json::Map::new();
    for i in 0..3_000 {
        wide.insert(format!("p{i}"), json!({"type": "string"}));
    }
    let names: Vec<&String> = wide.keys().collect();
    let required = json!({"type": "object", "properties": wide, "required": names});
    let mut deep = json!({"type": "string"});
    for _ in 0..5 {
        let mut map = serde_json::Map::new();
        for i in 0..5 {
            map.insert(format!("p{i}"), deep.clone());
        }
        let names: Vec<&String> = map.keys().collect();
        deep = json!({"type": "object", "properties": map.clone(), "required": names});
    }
    let mut arrays = json!({"type": "string"});
    for _ in 0..6 {
        arrays = json!({"type": "array", "items": arrays, "minItems": 1000});
    }
    let branches: Vec<Value> =
        (0..300).map(|i| json!({"properties": {"k": {"const": i}}})).collect();
    let many = json!({"anyOf": branches, "allOf": [{"oneOf": branches}]});
    let counted =
        json!({"pattern": "^(?:a?){100000}$", "minLength": 100_000, "minProperties": 1e15});
    for schema in [required, deep, arrays, many, counted] {
        for change in [json!({"minProperties": 1}), json!({"maxItems": 3}), json!({"x": 1})] {
            let new = with(schema.clone(), change);
            for (old, new) in [(&schema, &new), (&new, &schema)] {
                if let Some(found) = witness::find(old, new) {
                    verify(old, new, &found);
                }
            }
        }
    }
}

#[test]
fn any_two_schemas_of_the_suite_can_be_compared() {
    let suite = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpora/json-schema-suite/draft2020-12");
    let Ok(files) = std::fs::read_dir(suite) else { return };
    for file in files.map(|file| file.unwrap().path()).filter(|file| file.is_file()) {
        let groups: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let schemas: Vec<&Value> =
            groups.as_array().unwrap().iter().map(|group| &group["schema"]).collect();
        for pair in schemas.windows(2) {
            let [old, new] = pair else { continue };
            if let Some(found) = witness::find(old, new) {
                verify(old, new, &found);
            }
        }
    }
}
