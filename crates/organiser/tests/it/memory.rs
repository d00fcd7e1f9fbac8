//! What is remembered, and how much of it.

use remit_organiser::limits::{FACT_CHARS, FACTS, MEMORY_BYTES, MEMORY_OPERATIONS};
use serde_json::{Value, json};

use crate::world::World;

fn set(key: &str, value: &str) -> Value {
    json!({ "op": "set", "key": key, "value": value })
}

fn update(operations: &[Value]) -> Value {
    json!({ "operations": operations })
}

fn statuses(data: &Value) -> Vec<&str> {
    data["operations"].as_array().unwrap().iter().map(|op| op["status"].as_str().unwrap()).collect()
}

#[test]
fn facts_are_set_appended_removed_and_read() {
    let mut world = World::new();
    let data = world.ok(
        "ann",
        "memory.update",
        &update(&[
            set("diet", "vegetarian"),
            json!({ "op": "append", "key": "diet", "value": "no nuts" }),
            set("city", "Ulm"),
        ]),
    );
    assert_eq!(statuses(&data), ["created", "appended", "created"]);
    assert_eq!((&data["total"], &data["revision"]), (&json!(2), &json!(1)));
    let data = world.ok("ann", "memory.read", &json!({ "keys": ["diet", "shoes"] }));
    assert_eq!(data["items"][0]["value"], "vegetarian\nno nuts");
    assert_eq!((&data["count"], &data["absent"]), (&json!(1), &json!(["shoes"])));
    let data = world.ok("ann", "memory.read", &json!({ "prefix": "c" }));
    assert_eq!(data["items"][0]["key"], "city");
    let data = world.ok(
        "ann",
        "memory.update",
        &update(&[
            json!({ "op": "remove", "key": "city" }),
            json!({ "op": "remove", "key": "city" }),
            set("diet", "vegan"),
        ]),
    );
    assert_eq!(statuses(&data), ["removed", "absent", "replaced"]);
    let done = world.run("ann", "memory.update", &update(&[set("diet", "vegan")]));
    assert!(done.changes.is_empty());
    assert_eq!(done.outcome.unwrap()["changed"], false);
    assert_eq!(world.ok("bob", "memory.read", &json!({}))["total"], 0);
}

#[test]
fn a_memory_holds_so_many_facts_and_no_more() {
    let mut world = World::new();
    let all: Vec<Value> = (0..FACTS).map(|n| set(&format!("k{n}"), "x")).collect();
    for part in all.chunks(MEMORY_OPERATIONS) {
        world.ok("ann", "memory.update", &update(part));
    }
    let error = world.fails("ann", "memory.update", &update(&[set("more", "x")]));
    assert_eq!((&error["code"], &error["total"]), (&json!("LIMIT_EXCEEDED"), &json!(FACTS)));
    // A swap in one call is within the limit, because all happens or none.
    let swap = [set("more", "x"), json!({ "op": "remove", "key": "k0" })];
    assert_eq!(world.ok("ann", "memory.update", &update(&swap))["total"], FACTS);
}

#[test]
fn a_fact_and_a_memory_have_a_size() {
    let mut world = World::new();
    world.ok("ann", "memory.update", &update(&[set("a", &"ü".repeat(FACT_CHARS))]));
    let error =
        world.fails("ann", "memory.update", &update(&[set("a", &"ü".repeat(FACT_CHARS + 1))]));
    assert_eq!(
        (&error["code"], &error["pointer"]),
        (&json!("INVALID_ACTION_INPUT"), &json!("/operations/0"))
    );
    let append = json!({ "op": "append", "key": "a", "value": "x" });
    let error = world.fails("ann", "memory.update", &update(&[append]));
    assert_eq!(
        (&error["code"], &error["pointer"]),
        (&json!("LIMIT_EXCEEDED"), &json!("/operations/0/value"))
    );

    let mut world = World::new();
    let many: Vec<Value> = (10..42).map(|n| set(&format!("k{n}"), &"x".repeat(1997))).collect();
    world.ok("ann", "memory.update", &update(&many));
    let left = MEMORY_BYTES - 32 * 2000;
    let last = |length: usize| update(&[set("z", &"x".repeat(length))]);
    assert_eq!(world.fails("ann", "memory.update", &last(left))["code"], "LIMIT_EXCEEDED");
    assert_eq!(world.ok("ann", "memory.update", &last(left - 1))["bytes"], MEMORY_BYTES);
}

#[test]
fn a_call_brings_so_many_operations_and_no_more() {
    let mut world = World::new();
    let many: Vec<Value> = (0..=MEMORY_OPERATIONS).map(|n| set(&format!("k{n}"), "x")).collect();
    world.ok("ann", "memory.update", &update(&many[1..]));
    let error = world.fails("ann", "memory.update", &update(&many));
    assert_eq!(error["code"], "INVALID_ACTION_INPUT");
}

#[test]
fn keys_are_of_one_kind() {
    let mut world = World::new();
    world.ok("ann", "memory.update", &update(&[set(&"k".repeat(64), "x")]));
    for key in ["", "Diet", "two words", "-a", "ключ", &"k".repeat(65)] {
        let error = world.fails("ann", "memory.update", &update(&[set(key, "x")]));
        assert_eq!(error["code"], "INVALID_ACTION_INPUT", "{key}");
    }
}
