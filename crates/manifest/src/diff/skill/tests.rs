use proptest::prelude::*;
use remit_model::{Dialect, Node};
use serde_json::{Value, json};

use crate::diff::{Changes, diff};

const EXAMPLE: &str =
    include_str!("../../../../../fixtures/skill/valid/complete-example/input.json");

fn example() -> Value {
    serde_json::from_str(EXAMPLE).unwrap()
}

fn with_oauth2() -> Value {
    let mut descriptor = example();
    descriptor["auth"] = json!({"type": "oauth2", "oauth2": {
        "authorization_url": "https://a.example/authorize",
        "token_url": "https://a.example/token",
        "scopes": {"skill:invoke": "call", "skill:read": "read"},
    }});
    descriptor
}

fn between(old: &Value, new: &Value) -> Changes {
    diff(Dialect::Skill, &Node::from_json(old), &Node::from_json(new))
}

/// Gives `verdict rule pointer` of every change, `!` marking what needs consent.
fn listed(changes: &Changes) -> Vec<String> {
    let mut list = Vec::new();
    for (verdict, kind) in [("breaking", &changes.breaking), ("fine", &changes.non_breaking)] {
        for change in kind {
            let consent = if changes.consent.contains(change) { "!" } else { "" };
            list.push(format!("{verdict}{consent} {} {}", change.rule, change.pointer));
        }
    }
    list
}

fn after(old: &Value, edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut new = old.clone();
    edit(&mut new);
    listed(&between(old, &new))
}

fn set(at: &str, value: Value) -> Vec<String> {
    after(&example(), |d| put(d, at, value))
}

fn put(descriptor: &mut Value, at: &str, value: Value) {
    let (parent, key) = at.rsplit_once('/').unwrap();
    match descriptor.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        other => other[key] = value,
    }
}

fn remove(descriptor: &mut Value, at: &str) {
    let (parent, key) = at.rsplit_once('/').unwrap();
    match descriptor.pointer_mut(parent).unwrap() {
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        other => drop(other.as_object_mut().unwrap().remove(key)),
    }
}

fn gone(at: &str) -> Vec<String> {
    after(&example(), |d| remove(d, at))
}

#[test]
fn each_field_changes_under_its_rule() {
    for (at, value, expected) in [
        ("/id", json!("b"), "breaking! id-changed"),
        ("/name", json!("B"), "fine text-changed"),
        ("/description", json!("B"), "fine! description-changed"),
        ("/version", json!("3.0.0"), "fine version-changed"),
        ("/capability_type", json!("task"), "breaking capability-type-changed"),
        ("/protocol/version", json!("2.0.0"), "breaking protocol-changed"),
        ("/protocol/version", json!("x"), "breaking protocol-changed"),
        ("/protocol/version", json!("1.1.0"), "fine field-changed"),
        ("/protocol/changelog_url", json!("https://b.example"), "fine field-changed"),
        ("/provider/name", json!("B"), "fine! provider-changed"),
        ("/provider/url", json!("https://b.example"), "fine! provider-changed"),
        ("/endpoint/url", json!("https://b.example"), "fine! endpoint-moved"),
        ("/endpoint/status_url", json!("https://b.example/"), "fine! endpoint-moved"),
        ("/endpoint/result_url", json!("https://b.example/"), "fine! endpoint-moved"),
        ("/endpoint/method", json!("PUT"), "breaking endpoint-contract-changed"),
        ("/endpoint/content_type", json!("text/plain"), "breaking endpoint-contract-changed"),
        ("/endpoint/timeout_ms", json!(1), "fine timeout-changed"),
        ("/endpoint/retry/max_attempts", json!(1), "fine field-changed"),
        ("/output/content_type", json!("text/plain"), "breaking output-changed"),
        ("/output/schema/type", json!("array"), "breaking output-changed"),
        ("/output/description", json!("B"), "fine text-changed"),
        ("/auth/type", json!("custom"), "breaking auth-changed"),
        ("/auth/header", json!("X-Key"), "breaking auth-changed"),
        ("/auth/description", json!("B"), "fine text-changed"),
        ("/access", json!("private"), "breaking access-narrowed"),
        ("/access", json!("public"), "fine access-widened"),
        ("/access", json!("hidden"), "breaking access-narrowed"),
        ("/tags", json!(["b"]), "fine tags-changed"),
        ("/documentation_url", json!("https://b.example"), "fine field-changed"),
        ("/x-more", json!(1), "fine field-changed"),
        ("/inputs/0/description", json!("B"), "fine! description-changed"),
        ("/inputs/0/x-more", json!(1), "fine field-changed"),
    ] {
        let at_schema = at.strip_suffix("/type").filter(|at| at.ends_with("schema"));
        let expected = format!("{expected} {}", at_schema.unwrap_or(at));
        assert_eq!(set(at, value), [expected]);
    }
}

#[test]
fn a_default_written_out_changes_nothing() {
    for at in ["/endpoint/method", "/endpoint/content_type", "/endpoint/timeout_ms"] {
        assert_eq!(gone(at), [format!("fine default-written {at}")]);
    }
    assert_eq!(gone("/output/content_type"), ["fine default-written /output/content_type"]);
    assert_eq!(gone("/inputs/2/required"), ["fine default-written /inputs/2/required"]);
    assert_eq!(set("/inputs/0/default", Value::Null), ["fine default-written /inputs/0/default"]);
    assert_eq!(set("/inputs/1/schema", json!({})), ["fine default-written /inputs/1/schema"]);
}

#[test]
fn whatever_changes_the_input_schema_is_breaking() {
    let changed = ["breaking input-schema-changed /inputs"];
    assert_eq!(set("/inputs/0/type", json!("array")), changed);
    assert_eq!(set("/inputs/0/schema/maxLength", json!(9)), changed);
    assert_eq!(set("/inputs/2/default", json!("en")), changed);
    assert_eq!(set("/inputs/2/required", json!(true)), changed);
    assert_eq!(set("/inputs/1/name", json!("language")), changed);
    assert_eq!(gone("/inputs/2"), changed);
    assert_eq!(gone("/inputs"), changed);
    let mut new = example();
    new["inputs"].as_array_mut().unwrap().push(json!({"name": "tone", "type": "string"}));
    new["inputs"][0]["schema"]["maxLength"] = json!(9);
    let change = between(&example(), &new).breaking.remove(0);
    let told = "the input schema (`text` changed, `tone` added) changed";
    assert!(change.message.starts_with(told), "{}", change.message);
    assert_eq!(change.after.unwrap()["properties"]["text"]["maxLength"], json!(9));
}

#[test]
fn a_renamed_input_is_recognised() {
    let mut new = example();
    new["inputs"][1]["name"] = json!("target");
    new["inputs"][1]["description"] = json!("B");
    let changes = between(&example(), &new);
    assert_eq!(
        listed(&changes),
        [
            "breaking input-schema-changed /inputs",
            "fine! description-changed /inputs/1/description"
        ]
    );
    let message = &changes.breaking[0].message;
    assert!(message.contains("(`target_language` now called `target`)"), "{message}");
}

#[test]
fn texts_and_ways_of_writing_do_not_change_the_input_schema() {
    assert_eq!(
        set("/inputs/0/schema/type", json!("string")),
        ["fine field-changed /inputs/0/schema/type"]
    );
    assert_eq!(
        set("/inputs/0/schema/description", json!("B")),
        ["fine! description-changed /inputs/0/schema/description"]
    );
    let mut reordered = example();
    reordered["inputs"].as_array_mut().unwrap().swap(0, 1);
    let changes = between(&example(), &reordered);
    assert_eq!(listed(&changes), ["fine order-changed /inputs"]);
    assert_eq!(
        changes.non_breaking[0].after,
        Some(json!(["target_language", "text", "source_language"]))
    );
}

#[test]
fn tokens_and_their_scopes_are_followed() {
    let edited = |edit: fn(&mut Value)| after(&with_oauth2(), |d| edit(&mut d["auth"]["oauth2"]));
    assert_eq!(
        edited(|o| o["authorization_url"] = json!("https://b.example")),
        ["fine! auth-moved /auth/oauth2/authorization_url"]
    );
    assert_eq!(
        edited(|o| o["token_url"] = json!("https://b.example")),
        ["fine! auth-moved /auth/oauth2/token_url"]
    );
    assert_eq!(
        edited(|o| o["scopes"]["skill:admin"] = json!("all")),
        ["fine! auth-scope-added /auth/oauth2/scopes/skill:admin"]
    );
    assert_eq!(
        edited(|o| remove(o, "/scopes/skill:read")),
        ["fine auth-scope-removed /auth/oauth2/scopes/skill:read"]
    );
    assert_eq!(
        edited(|o| o["scopes"]["skill:read"] = json!("read and write")),
        ["fine! consent-text-changed /auth/oauth2/scopes/skill:read"]
    );
    assert_eq!(edited(|o| remove(o, "/scopes")).len(), 2);
    let mut none = with_oauth2();
    remove(&mut none, "/auth/oauth2/scopes");
    let empty = |d: &mut Value| d["auth"]["oauth2"]["scopes"] = json!({});
    assert_eq!(after(&none, empty), ["fine default-written /auth/oauth2/scopes"]);
    let mut old = with_oauth2();
    empty(&mut old);
    assert_eq!(listed(&between(&old, &with_oauth2())).len(), 2);
}

#[test]
fn another_kind_of_auth_tells_of_each_new_scope() {
    assert_eq!(
        listed(&between(&example(), &with_oauth2())),
        [
            "breaking auth-changed /auth/oauth2",
            "breaking auth-changed /auth/type",
            "breaking auth-changed /auth/header",
            "fine text-changed /auth/description",
            "fine! auth-scope-added /auth/oauth2/scopes/skill:invoke",
            "fine! auth-scope-added /auth/oauth2/scopes/skill:read",
        ]
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        Just(json!([])),
        Just(json!([{"name": "text"}, 3, {"name": "text", "type": "string"}])),
        Just(json!({"name": "x", "type": "number", "schema": {"type": "integer"}})),
        "[a-c]{0,2}".prop_map(Value::String),
        (0..3i32).prop_map(|n| json!(n)),
        any::<bool>().prop_map(Value::Bool),
    ]
}

fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(k, v)| pointers(v, &format!("{at}/{k}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{at}/{i}"), found));
        }
        _ => {}
    }
}

/// Puts a value somewhere, takes one out, or adds a key.
fn edited(mut descriptor: Value, edits: &[(usize, usize, Value)]) -> Value {
    for (place, kind, value) in edits {
        let mut places = Vec::new();
        pointers(&descriptor, "", &mut places);
        let at = &places[place % places.len()];
        match (kind % 3, descriptor.pointer_mut(at).unwrap()) {
            (0, Value::Object(map)) => drop(map.insert("extra".to_owned(), value.clone())),
            (0, Value::Array(items)) => items.push(value.clone()),
            (1, _) if !at.is_empty() => remove(&mut descriptor, at),
            (_, target) => *target = value.clone(),
        }
    }
    descriptor
}

proptest! {
    #[test]
    fn no_difference_is_passed_over(
        old in prop::collection::vec((any::<usize>(), any::<usize>(), any_value()), 0..2),
        new in prop::collection::vec((any::<usize>(), any::<usize>(), any_value()), 1..4),
    ) {
        let old = edited(with_oauth2(), &old);
        let new = edited(old.clone(), &new);
        let (old, new) = (Node::from_json(&old), Node::from_json(&new));
        prop_assume!(!old.same(&new));
        for (old, new) in [(&old, &new), (&new, &old)] {
            let mut changes = Changes::default();
            super::diff(old, new, &mut changes);
            prop_assert!(!changes.is_empty());
        }
    }
}
