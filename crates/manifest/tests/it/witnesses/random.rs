//! Schemas at random, and changes to them with an effect that is known.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Way::{self, Looser, Other, Tighter};
use super::edits::with;
use super::{verify, witness};

/// Makes the schema of a value that can be satisfied in more than one way.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (-50i64..50, 3i64..50).prop_map(|(low, more)| {
            json!({"type": "integer", "minimum": low, "maximum": low + more})
        }),
        (1i64..9).prop_map(|step| json!({"type": "integer", "multipleOf": step})),
        (-5.0f64..5.0).prop_map(|low| json!({"type": "number", "exclusiveMinimum": low})),
        (0u64..4, 3u64..30).prop_map(|(least, more)| {
            json!({"type": "string", "minLength": least, "maxLength": least + more})
        }),
        (0..PATTERNS.len())
            .prop_map(|i| json!({"type": "string", "pattern": PATTERNS.get(i).unwrap().0})),
        (0..FORMATS.len())
            .prop_map(|i| json!({"type": "string", "format": FORMATS.get(i).unwrap()})),
        prop::collection::btree_set("[a-z]{1,6}", 2..6).prop_map(|words| json!({"enum": words})),
        Just(json!({"type": "boolean"})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            3 => (any_properties(inner.clone()), any::<bool>(), any::<u8>())
                .prop_map(|(properties, closed, required)| object(&properties, closed, required)),
            2 => (inner.clone(), 0u64..3, 2u64..6).prop_map(|(items, least, more)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})
            }),
            1 => (inner.clone(), inner).prop_map(|(a, b)| {
                let branch = |kind: &str, schema: Value| json!({
                    "type": "object",
                    "properties": {"kind": {"const": kind}, "of": schema},
                    "required": ["kind", "of"],
                });
                json!({"oneOf": [branch("a", a), branch("b", b)]})
            }),
        ]
    })
}

fn any_properties(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(inner, 1..5)
}

fn object(properties: &[Value], closed: bool, required: u8) -> Value {
    let named = properties.iter().enumerate();
    let named: serde_json::Map<String, Value> =
        named.map(|(i, schema)| (format!("p{i}"), schema.clone())).collect();
    let names: Vec<String> = named
        .keys()
        .enumerate()
        .filter(|(i, _)| required >> i & 1 == 1)
        .map(|(_, n)| n.clone())
        .collect();
    let mut schema = json!({"type": "object", "properties": named, "required": names});
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

/// Are patterns, each with one that accepts less.
static PATTERNS: &[(&str, &str)] = &[
    ("^[a-z]+$", "^[a-m]+$"),
    ("^[a-z0-9_]{1,16}$", "^[a-z][a-z0-9_]{0,15}$"),
    (r"^\d+$", r"^[1-9]\d*$"),
    ("^(get|set|list)$", "^(get|list)$"),
    (r"^v?\d+\.\d+$", r"^\d+\.\d+$"),
    ("^[A-Z]{2,4}$", "^[A-Z]{2,3}$"),
];

static FORMATS: &[&str] = &["date", "date-time", "email", "uri", "uuid", "ipv4", "time"];

/// Lists what can be done to a schema and every schema in it, with the effect that it must have.
fn changes(schema: &Value) -> Vec<(&'static str, Value, Way)> {
    let mut all = own_changes(schema);
    let mut inside = |pointer: &str| {
        let Some(inner) = schema.pointer(pointer) else { return };
        for (name, changed, way) in changes(inner) {
            let mut outer = schema.clone();
            *outer.pointer_mut(pointer).unwrap() = changed;
            all.push((name, outer, way));
        }
    };
    for name in schema["properties"].as_object().into_iter().flat_map(|map| map.keys()) {
        inside(&format!("/properties/{name}"));
    }
    inside("/items");
    inside("/oneOf/0/properties/of");
    inside("/oneOf/1/properties/of");
    all
}

fn own_changes(schema: &Value) -> Vec<(&'static str, Value, Way)> {
    let mut all = Vec::new();
    let mut set = |name, key: &str, value: Value, way| {
        all.push((name, with(schema.clone(), json!({key: value})), way));
    };
    for (key, up, down) in [
        ("minimum", Tighter, Looser),
        ("maximum", Looser, Tighter),
        ("minLength", Tighter, Looser),
        ("maxLength", Looser, Tighter),
        ("minItems", Tighter, Looser),
        ("maxItems", Looser, Tighter),
    ] {
        if let Some(bound) = schema[key].as_i64() {
            set("a bound up", key, json!(bound + 1), up);
            if bound > 0 || key.ends_with("imum") {
                set("a bound down", key, json!(bound - 1), down);
            }
        }
    }
    if let Some(step) = schema["multipleOf"].as_i64() {
        set("a coarser step", "multipleOf", json!(step * 2), Tighter);
    }
    if let Some(bound) = schema["exclusiveMinimum"].as_f64() {
        set("a fraction up", "exclusiveMinimum", json!(bound + 0.25), Tighter);
    }
    if let Some((_, narrow)) = PATTERNS.iter().find(|(wide, _)| schema["pattern"] == *wide) {
        set("a narrower pattern", "pattern", json!(narrow), Tighter);
    }
    if let Some(at) = FORMATS.iter().position(|format| schema["format"] == *format) {
        let next = FORMATS.get((at + 1) % FORMATS.len()).unwrap();
        set("another format", "format", json!(next), Other);
    }
    if let Some(words) = schema["enum"].as_array() {
        set("a word less", "enum", json!(words.get(1..).unwrap()), Tighter);
        set("a word more", "enum", json!([words.as_slice(), &[json!("WORD")]].concat()), Looser);
    }
    if schema["type"] == "boolean" {
        set("only yes", "const", json!(true), Tighter);
        set("another type", "type", json!("null"), Other);
    }
    if schema["type"] == "array" {
        set("no twins", "uniqueItems", json!(true), Tighter);
    }
    if schema["type"] == "object" {
        object_changes(schema, &mut set);
    }
    all
}

fn object_changes(schema: &Value, set: &mut impl FnMut(&'static str, &str, Value, Way)) {
    let required = schema["required"].as_array().unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for name in properties.keys() {
        let others: Vec<&Value> = required.iter().filter(|n| *n != name).collect();
        if others.len() < required.len() {
            set("one that need not be there", "required", json!(others), Looser);
        } else {
            let more = [required.as_slice(), &[json!(name)]].concat();
            set("one that must be there", "required", json!(more), Tighter);
            if schema["additionalProperties"] == false {
                let mut fewer = properties.clone();
                fewer.remove(name);
                set("one that is gone", "properties", json!(fewer), Tighter);
            }
        }
    }
    if schema["additionalProperties"] == false {
        set("an opening", "additionalProperties", json!({"type": "string"}), Looser);
        let more = [required.as_slice(), &[json!("new")]].concat();
        set("nothing fits", "required", json!(more), Tighter);
    } else {
        set("a closing", "additionalProperties", json!(false), Tighter);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_change_to_any_schema_has_a_witness(
        properties in any_properties(any_schema()),
        closed: bool,
        required: u8,
        at: prop::sample::Index,
    ) {
        let old = object(&properties, closed, required);
        let changes = changes(&old);
        let (name, new, way) = at.get(&changes);
        let Some(found) = witness::find(&old, new) else {
            panic!("{name}: no witness for\n{old}\n{new}");
        };
        verify(&old, new, &found);
        prop_assert_eq!(found.accepted_before, *way != Looser, "{}\n{}\n{}", name, old, new);
    }

    #[test]
    fn any_two_schemas_can_be_compared(old in any_schema(), new in any_schema()) {
        match witness::find(&old, &new) {
            Some(found) => verify(&old, &new, &found),
            None => prop_assert_eq!(old, new),
        }
    }
}
