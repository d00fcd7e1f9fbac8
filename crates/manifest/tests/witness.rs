//! Witnesses: that one is found for every kind of change, and that what is found is one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where something is missing")]

use proptest::prelude::*;
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

/// Lists changes to the schema of one value.
fn edits() -> Vec<(&'static str, Value, Value, Way)> {
    let string = |more: Value| with(json!({"type": "string"}), more);
    let integer = |more: Value| with(json!({"type": "integer"}), more);
    let number = |more: Value| with(json!({"type": "number"}), more);
    let array = |more: Value| with(json!({"type": "array"}), more);
    let object = |more: Value| with(json!({"type": "object"}), more);
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}$";
    vec![
        ("type changed", string(json!({})), integer(json!({})), Other),
        ("type added", json!({}), string(json!({})), Tighter),
        ("integer to number", number(json!({})), integer(json!({})), Tighter),
        ("null allowed", json!({"type": ["string", "null"]}), string(json!({})), Tighter),
        (
            "type lists",
            json!({"type": ["string", "null"]}),
            json!({"type": ["null", "array"]}),
            Other,
        ),
        ("minimum", integer(json!({"minimum": 1})), integer(json!({"minimum": 2})), Tighter),
        ("minimum added", integer(json!({})), integer(json!({"minimum": 0})), Tighter),
        ("maximum", integer(json!({"maximum": 100})), integer(json!({"maximum": 50})), Tighter),
        (
            "fraction bound",
            number(json!({"maximum": 0.5})),
            number(json!({"maximum": 0.25})),
            Tighter,
        ),
        (
            "exclusive",
            number(json!({"minimum": 0})),
            number(json!({"exclusiveMinimum": 0})),
            Tighter,
        ),
        (
            "exclusive maximum",
            integer(json!({"exclusiveMaximum": 10})),
            integer(json!({"exclusiveMaximum": 9})),
            Tighter,
        ),
        (
            "bounds apart",
            integer(json!({"minimum": 0, "maximum": 10})),
            integer(json!({"minimum": 20, "maximum": 30})),
            Other,
        ),
        ("multipleOf added", integer(json!({})), integer(json!({"multipleOf": 5})), Tighter),
        ("multipleOf", integer(json!({"multipleOf": 2})), integer(json!({"multipleOf": 3})), Other),
        (
            "fine steps",
            number(json!({"multipleOf": 0.01})),
            number(json!({"multipleOf": 0.1})),
            Tighter,
        ),
        (
            "steps in bounds",
            integer(json!({"multipleOf": 7, "minimum": 100})),
            integer(json!({"multipleOf": 14, "minimum": 100})),
            Tighter,
        ),
        ("minLength", string(json!({"minLength": 1})), string(json!({"minLength": 3})), Tighter),
        ("maxLength", string(json!({"maxLength": 20})), string(json!({"maxLength": 10})), Tighter),
        ("long maxLength", string(json!({})), string(json!({"maxLength": 2000})), Tighter),
        ("pattern added", string(json!({})), string(json!({"pattern": "^[a-z]+$"})), Tighter),
        (
            "narrower class",
            string(json!({"pattern": "^[a-z]+$"})),
            string(json!({"pattern": "^[a-f]+$"})),
            Tighter,
        ),
        (
            "first character",
            string(json!({"pattern": "^[a-z0-9-]+$"})),
            string(json!({"pattern": "^[a-z][a-z0-9-]*$"})),
            Tighter,
        ),
        (
            "fewer alternatives",
            string(json!({"pattern": "^(foo|bar|baz)$"})),
            string(json!({"pattern": "^(foo|bar)$"})),
            Tighter,
        ),
        (
            "fewer repetitions",
            string(json!({"pattern": "^[A-Z]{2,6}$"})),
            string(json!({"pattern": "^[A-Z]{2,5}$"})),
            Tighter,
        ),
        ("anchor", string(json!({"pattern": "abc"})), string(json!({"pattern": "^abc$"})), Tighter),
        (
            "scheme",
            string(json!({"pattern": "^https?://"})),
            string(json!({"pattern": "^https://"})),
            Tighter,
        ),
        (
            "pattern with length",
            string(json!({"pattern": "^[a-z]+$", "maxLength": 12})),
            string(json!({"pattern": "^[a-z]+$", "maxLength": 8})),
            Tighter,
        ),
        (
            "another pattern",
            string(json!({"pattern": uuid})),
            string(json!({"pattern": "^[0-9]+$"})),
            Other,
        ),
        ("format added", string(json!({})), string(json!({"format": "date"})), Tighter),
        (
            "format",
            string(json!({"format": "date"})),
            string(json!({"format": "date-time"})),
            Other,
        ),
        ("email", string(json!({"format": "email"})), string(json!({"format": "uri"})), Other),
        (
            "format with length",
            string(json!({"format": "email", "maxLength": 64})),
            string(json!({"format": "email", "maxLength": 40})),
            Tighter,
        ),
        (
            "enum member gone",
            json!({"enum": ["a", "b", "c"]}),
            json!({"enum": ["a", "b"]}),
            Tighter,
        ),
        ("enum member other", json!({"enum": ["a", "b"]}), json!({"enum": ["a", "c"]}), Other),
        ("enum added", string(json!({})), string(json!({"enum": ["a", "b"]})), Tighter),
        (
            "enum of many",
            json!({"enum": (0..50).collect::<Vec<_>>()}),
            json!({"enum": (0..49).collect::<Vec<_>>()}),
            Tighter,
        ),
        ("const", json!({"const": 1}), json!({"const": 2}), Other),
        ("const to enum", json!({"enum": ["x", "y"]}), json!({"const": "x"}), Tighter),
        ("not", string(json!({})), string(json!({"not": {"const": "root"}})), Tighter),
        ("not pattern", string(json!({})), string(json!({"not": {"pattern": "^_"}})), Tighter),
        ("minItems", array(json!({})), array(json!({"minItems": 1})), Tighter),
        ("maxItems", array(json!({"maxItems": 5})), array(json!({"maxItems": 4})), Tighter),
        (
            "long maxItems",
            array(json!({"maxItems": 600})),
            array(json!({"maxItems": 500})),
            Tighter,
        ),
        ("uniqueItems", array(json!({})), array(json!({"uniqueItems": true})), Tighter),
        (
            "maxItems of unique ones",
            array(json!({"uniqueItems": true, "maxItems": 5, "items": {"type": "integer"}})),
            array(json!({"uniqueItems": true, "maxItems": 4, "items": {"type": "integer"}})),
            Tighter,
        ),
        (
            "items",
            array(json!({"items": {"type": "string"}})),
            array(json!({"items": {"type": "integer"}})),
            Other,
        ),
        (
            "items of items",
            array(json!({"items": {"items": {"maximum": 9}}})),
            array(json!({"items": {"items": {"maximum": 8}}})),
            Tighter,
        ),
        (
            "prefixItems",
            array(json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]})),
            array(json!({"prefixItems": [{"type": "string"}, {"type": "boolean"}]})),
            Other,
        ),
        (
            "items after prefix",
            array(json!({"prefixItems": [{"type": "string"}]})),
            array(json!({"prefixItems": [{"type": "string"}], "items": false})),
            Tighter,
        ),
        ("contains", array(json!({})), array(json!({"contains": {"const": 7}})), Tighter),
        (
            "minContains",
            array(json!({"contains": {"const": 7}})),
            array(json!({"contains": {"const": 7}, "minContains": 3})),
            Tighter,
        ),
        (
            "maxContains",
            array(json!({"contains": {"const": 7}})),
            array(json!({"contains": {"const": 7}, "maxContains": 2})),
            Tighter,
        ),
        (
            "contained",
            array(json!({"contains": {"type": "integer", "minimum": 5}})),
            array(json!({"contains": {"type": "integer", "minimum": 6}})),
            Tighter,
        ),
        (
            "required",
            object(json!({"properties": {"a": {"type": "string"}}})),
            object(json!({"properties": {"a": {"type": "string"}}, "required": ["a"]})),
            Tighter,
        ),
        (
            "property closed",
            object(json!({"properties": {"a": {}, "b": {}}, "additionalProperties": false})),
            object(json!({"properties": {"a": {}}, "additionalProperties": false})),
            Tighter,
        ),
        (
            "additionalProperties closed",
            object(json!({"properties": {"a": {}}})),
            object(json!({"properties": {"a": {}}, "additionalProperties": false})),
            Tighter,
        ),
        (
            "additionalProperties typed",
            object(json!({"additionalProperties": {"type": "string"}})),
            object(json!({"additionalProperties": {"type": "integer"}})),
            Other,
        ),
        (
            "unevaluatedProperties",
            object(json!({"allOf": [{"properties": {"a": {}}}]})),
            object(json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false})),
            Tighter,
        ),
        (
            "patternProperties",
            object(json!({"patternProperties": {"^x-": {"type": "string"}}})),
            object(json!({"patternProperties": {"^x-": {"type": "integer"}}})),
            Other,
        ),
        (
            "patternProperties allowed",
            object(json!({"patternProperties": {"^x-": {}}, "additionalProperties": false})),
            object(json!({"additionalProperties": false})),
            Tighter,
        ),
        (
            "propertyNames",
            object(json!({})),
            object(json!({"propertyNames": {"pattern": "^[a-z]+$"}})),
            Tighter,
        ),
        (
            "propertyNames length",
            object(json!({"propertyNames": {"maxLength": 8}})),
            object(json!({"propertyNames": {"maxLength": 4}})),
            Tighter,
        ),
        ("minProperties", object(json!({})), object(json!({"minProperties": 2})), Tighter),
        (
            "maxProperties",
            object(json!({"maxProperties": 4})),
            object(json!({"maxProperties": 3})),
            Tighter,
        ),
        (
            "dependentRequired",
            object(json!({"properties": {"a": {}, "b": {}}})),
            object(json!({"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}})),
            Tighter,
        ),
        (
            "dependentSchemas",
            object(json!({"properties": {"a": {}, "b": {}}})),
            object(json!({
                "properties": {"a": {}, "b": {}},
                "dependentSchemas": {"a": {"required": ["b"]}},
            })),
            Tighter,
        ),
        (
            "condition",
            object(json!({"properties": {"kind": {"enum": ["x", "y"]}}})),
            object(json!({
                "properties": {"kind": {"enum": ["x", "y"]}},
                "if": {"properties": {"kind": {"const": "y"}}, "required": ["kind"]},
                "then": {"required": ["target"]},
            })),
            Tighter,
        ),
        (
            "condition changed",
            object(json!({
                "if": {"properties": {"kind": {"const": "x"}}, "required": ["kind"]},
                "then": {"required": ["a"]},
                "else": {"required": ["b"]},
            })),
            object(json!({
                "if": {"properties": {"kind": {"const": "y"}}, "required": ["kind"]},
                "then": {"required": ["a"]},
                "else": {"required": ["b"]},
            })),
            Other,
        ),
        (
            "alternative gone",
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            Tighter,
        ),
        (
            "alternative in front",
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "string"}, {"type": "integer"}]}),
            Looser,
        ),
        (
            "alternative narrowed",
            json!({"oneOf": [
                {"properties": {"kind": {"const": "a"}, "n": {"maximum": 5}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "b"}, "n": {"maximum": 9}}, "required": ["kind"]},
            ]}),
            json!({"oneOf": [
                {"properties": {"kind": {"const": "a"}, "n": {"maximum": 5}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "b"}, "n": {"maximum": 8}}, "required": ["kind"]},
            ]}),
            Tighter,
        ),
        (
            "any to one",
            json!({"anyOf": [{"minimum": 3}, {"maximum": 5}]}),
            json!({"oneOf": [{"minimum": 3}, {"maximum": 5}]}),
            Tighter,
        ),
        (
            "all of",
            json!({"allOf": [{"minimum": 3}]}),
            json!({"allOf": [{"minimum": 3}, {"maximum": 5}]}),
            Tighter,
        ),
        ("nothing", string(json!({})), json!(false), Tighter),
    ]
}

fn with(mut schema: Value, more: Value) -> Value {
    let (Value::Object(schema_), Value::Object(more)) = (&mut schema, more) else { panic!() };
    schema_.extend(more);
    schema
}

/// Lists the places in an input where such a change can happen.
fn places() -> Vec<(&'static str, fn(Value) -> Value)> {
    fn tool(properties: Value, required: Value) -> Value {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
    vec![
        ("the whole", |s| s),
        ("an optional property", |s| {
            tool(json!({"path": {"type": "string", "minLength": 1}, "x": s}), json!(["path"]))
        }),
        ("a required property", |s| tool(json!({"x": s, "y": {"type": "boolean"}}), json!(["x"]))),
        ("a nested property", |s| {
            let inner =
                tool(json!({"id": {"type": "integer", "minimum": 10}, "x": s}), json!(["id"]));
            tool(json!({"a": {"type": "string"}, "outer": inner}), json!(["a", "outer"]))
        }),
        ("an element", |s| tool(json!({"list": {"type": "array", "items": s}}), json!(["list"]))),
        ("an element of two", |s| {
            tool(json!({"list": {"type": "array", "items": s, "minItems": 2}}), json!(["list"]))
        }),
        ("a definition", |s| {
            let mut schema = tool(json!({"x": {"$ref": "#/$defs/x"}}), json!(["x"]));
            schema["$defs"] = json!({"x": s});
            schema
        }),
        ("an anchor", |s| {
            let mut schema = tool(json!({"x": {"$ref": "#x"}}), json!(["x"]));
            schema["$defs"] = json!({"x": {"$anchor": "x", "allOf": [s]}});
            schema
        }),
        ("an alternative", |s| {
            let a = tool(json!({"kind": {"const": "a"}}), json!(["kind"]));
            let b = tool(json!({"kind": {"const": "b"}, "x": s}), json!(["kind", "x"]));
            tool(json!({"choice": {"oneOf": [a, b]}}), json!(["choice"]))
        }),
        ("another property", |s| json!({"type": "object", "additionalProperties": s})),
        ("a tuple", |s| {
            let tuple = json!({"prefixItems": [{"type": "string"}, s], "minItems": 2});
            tool(json!({"pair": with(json!({"type": "array"}), tuple)}), json!(["pair"]))
        }),
    ]
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
