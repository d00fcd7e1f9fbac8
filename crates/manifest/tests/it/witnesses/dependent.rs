//! Schemas that hold only where some property is there.

use serde_json::{Value, json};

use super::Way::{Looser, Other, Tighter};
use super::expect;

/// Makes an object with these schemas, closed or open.
fn object(dependent: &Value, open: bool) -> Value {
    json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"},
            "d": {"type": "integer"}, "kind": {"type": "integer"},
        },
        "dependentSchemas": dependent,
        "additionalProperties": open,
    })
}

#[test]
fn each_schema_is_looked_at_by_itself() {
    let bounded = |a: i64, c: i64| {
        json!({
            "a": {"properties": {"b": {"maximum": a}}, "required": ["b"]},
            "c": {"properties": {"b": {"minimum": c}}, "required": ["b"]},
        })
    };
    let apart = |most: i64| {
        json!({
            "a": {"properties": {"c": false}},
            "c": {"properties": {"a": false, "d": {"maximum": most}}},
        })
    };
    let not_both = |most: i64| {
        json!({
            "a": {"not": {"required": ["c"]}},
            "c": {"not": {"required": ["a"]}, "properties": {"d": {"maximum": most}}},
        })
    };
    let one = json!({"a": {"required": ["b"]}});
    let two = json!({"a": {"required": ["b"]}, "c": {"required": ["d"]}});
    let cases = [
        ("one more", one.clone(), two.clone(), Tighter),
        ("one that excludes the other", bounded(2, 5), bounded(1, 5), Tighter),
        ("another that does", bounded(2, 5), bounded(2, 6), Tighter),
        ("names that exclude each other", apart(9), apart(8), Tighter),
        ("not both", not_both(9), not_both(8), Tighter),
        ("never", json!({}), json!({"a": false}), Tighter),
        ("never beside another", two.clone(), json!({"a": false, "c": two["c"]}), Tighter),
        ("nothing depends any more", one.clone(), json!({}), Looser),
        ("another trigger", one, json!({"c": {"required": ["b"]}}), Other),
        (
            "one within another",
            json!({"a": {}}),
            json!({"a": {"dependentSchemas": {"b": {"required": ["c"]}}}}),
            Tighter,
        ),
    ];
    for (name, old, new, way) in &cases {
        for open in [true, false] {
            let (old, new) = (object(old, open), object(new, open));
            expect(name, &old, &new, *way);
            let inside = |schema: &Value| {
                json!({
                    "type": "object",
                    "properties": {"q": {"type": "string", "minLength": 2}, "x": schema},
                    "required": ["q"],
                })
            };
            expect(name, &inside(&old), &inside(&new), *way);
        }
    }
}

#[test]
fn one_of_many_that_exclude_each_other_is_found() {
    let schema = |changed: usize, number: usize| {
        let one = |i: usize| if i == changed { number } else { i };
        let dependent: serde_json::Map<String, Value> = (0..20)
            .map(|i| {
                let schema = json!({"properties": {"b": {"const": one(i)}}, "required": ["b"]});
                (format!("t{i}"), schema)
            })
            .collect();
        object(&Value::Object(dependent), true)
    };
    for changed in [0, 3, 19] {
        expect("many", &schema(changed, changed), &schema(changed, 100), Other);
    }
}
