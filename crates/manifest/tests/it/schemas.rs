//! The walk that judges schemas, held against the meta-schema and against the validator.

mod editors;

use std::path::Path;

use proptest::prelude::*;
use remit_manifest::Report;
use remit_manifest::schema::{self, validator::Validator};
use remit_model::{Node, Severity, Source, Unit};
use serde_json::{Map, Value, json};

/// Gives the rules of the errors found in a schema.
fn errors(schema: &Value) -> Vec<&'static str> {
    let node = Node::from_json(schema);
    let mut report = Report::default();
    schema::check(&node, schema::Manner::default(), &mut report);
    let source = Source::new(String::new(), Unit::Bytes);
    let found = report.finish(&node, &source, false);
    found.into_iter().filter(|d| d.severity == Severity::Error).map(|d| d.rule).collect()
}

fn agrees(schema: &Value) -> Result<(), String> {
    let found = errors(schema);
    let valid = jsonschema::draft202012::meta::is_valid(schema);
    if valid == found.contains(&"bad-schema") {
        return Err(format!("the meta-schema says {valid}, the walk {found:?}: {schema}"));
    }
    if found.is_empty() {
        Validator::compile(schema).map_err(|e| format!("does not compile: {e}: {schema}"))?;
    }
    Ok(())
}

const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "format",
    "properties",
    "$defs",
    "patternProperties",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "enum",
    "examples",
    "const",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "uniqueItems",
    "deprecated",
    "readOnly",
    "writeOnly",
    "pattern",
    "$anchor",
    "$dynamicAnchor",
    "$id",
    "$ref",
    "$comment",
    "title",
    "contentMediaType",
    "contentEncoding",
    "contentSchema",
    "x-own",
    "unheard-of",
];

/// Anything that may stand behind a keyword, right or wrong.
fn anything(schema: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![
        4 => schema.clone(),
        2 => prop::collection::vec(schema.clone(), 0..3).prop_map(Value::from),
        2 => prop::collection::hash_map("[a-c]", schema, 0..3).prop_map(|m| Value::Object(m.into_iter().collect::<Map<_, _>>())),
        2 => prop::sample::select(vec!["string", "object", "array", "integer", "null", "a", "b", "date", "^x+$", "name", "#", "#/$defs/a", "#name", "//h:x", "a:b", "%zz"]).prop_map(Value::from),
        2 => prop::collection::vec(prop::sample::select(vec!["string", "integer", "a", "b"]), 0..3).prop_map(Value::from),
        2 => (-2i64..6).prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!({"a": ["b"], "b": ["a", "c"]})),
    ]
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(json!({})), Just(json!(true)), Just(json!({"type": "string"}))].boxed();
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::hash_map(prop::sample::select(KEYWORDS), anything(inner.boxed()), 0..4)
            .prop_map(|m| Value::Object(m.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))
    })
}

proptest! {
    #[test]
    fn the_walk_agrees_with_the_meta_schema_and_the_validator(schema in schema()) {
        if let Err(message) = agrees(&schema) {
            prop_assert!(false, "{message}");
        }
    }
}

#[test]
fn the_walk_agrees_on_the_schemas_of_the_public_suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpora/json-schema-suite/draft2020-12");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()))
    {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let groups: Value = serde_json::from_str(&text).unwrap();
        for group in groups.as_array().unwrap() {
            seen += 1;
            // Schemas that leave the document are refused by SPEC §2, whatever the meta-schema says.
            let found = errors(&group["schema"]);
            let outside = ["external-ref", "unresolved-ref", "schema-draft", "bad-pattern"];
            if found.iter().any(|rule| outside.contains(rule)) {
                continue;
            }
            if let Err(message) = agrees(&group["schema"]) {
                wrong.push(format!("{}: {}: {message}", file.display(), group["description"]));
            }
        }
    }
    println!("schemas of the public suite: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
