//! A table of changes to schemas, and of the places where they can happen.

use serde_json::{Value, json};

use super::Way::{self, Looser, Other, Tighter};

/// Lists changes to the schema of one value.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn edits() -> Vec<(&'static str, Value, Value, Way)> {
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

pub(super) fn with(mut schema: Value, more: Value) -> Value {
    let (Value::Object(schema_), Value::Object(more)) = (&mut schema, more) else { panic!() };
    schema_.extend(more);
    schema
}

/// Puts the schema of a value where it stands in the schema of an input.
pub(super) type Place = fn(Value) -> Value;

/// Lists the places in an input where such a change can happen.
pub(super) fn places() -> Vec<(&'static str, Place)> {
    #[expect(clippy::needless_pass_by_value, reason = "the macro that makes them gives values")]
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
