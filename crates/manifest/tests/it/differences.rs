//! Changes made by a generator are reported under the right rule.

use proptest::prelude::*;
use remit_manifest::diff::{self, Changes};
use remit_model::{Dialect, Node};
use serde_json::{Value, json};

fn compare(dialect: Dialect, old: &Value, new: &Value) -> Changes {
    diff::diff(dialect, &Node::from_json(old), &Node::from_json(new))
}

fn rules(list: &[diff::Change]) -> Vec<&'static str> {
    list.iter().map(|c| c.rule).collect()
}

fn capability() -> Value {
    let schema = json!({"type": "object", "properties": {"p": {"type": "string"}}, "additionalProperties": false});
    json!({
        "schema_version": "1.0", "agent_version": "1.0.0",
        "tools": [
            {"name": "read_file", "description_i18n_key": "t.read", "input_schema": schema, "permission_scope": "filesystem:read"},
            {"name": "notify", "description_i18n_key": "t.notify", "input_schema": schema, "permission_scope": "notification:send", "timeout_ms": 5000},
        ],
        "permission_scopes": [
            {"id": "filesystem:read", "label_i18n_key": "s.fs", "sensitivity": "medium"},
            {"id": "notification:send", "label_i18n_key": "s.notify", "sensitivity": "low"},
            {"id": "shell:run", "label_i18n_key": "s.shell", "sensitivity": "high"},
            {"id": "net:get", "label_i18n_key": "s.net", "sensitivity": "medium"},
        ],
        "capability_flags": {"supports_streaming": true, "supports_artifacts": false, "supports_voice": false, "supports_group_chat": true},
    })
}

/// Where a change must be reported: rules in `breaking`, in `non_breaking`, in `consent`.
type Expected = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

type Edit = (&'static str, fn(&mut Value), Expected);

/// S0's lists and the consent axis of SPEC §3, one edit for each line of them.
const EDITS: &[Edit] = &[
    (
        "tool removed",
        |m| drop(m["tools"].as_array_mut().unwrap().remove(1)),
        (&["tool-removed"], &[], &[]),
    ),
    (
        "schema loses a field",
        |m| drop(m["tools"][0]["input_schema"]["properties"].as_object_mut().unwrap().remove("p")),
        (&["input-schema-changed"], &[], &[]),
    ),
    (
        "schema changes a type",
        |m| m["tools"][0]["input_schema"]["properties"]["p"]["type"] = json!("integer"),
        (&["input-schema-changed"], &[], &[]),
    ),
    (
        "schema requires more",
        |m| m["tools"][0]["input_schema"]["required"] = json!(["p"]),
        (&["input-schema-changed"], &[], &[]),
    ),
    (
        "schema gains a description",
        |m| m["tools"][0]["input_schema"]["description"] = json!("x"),
        (&["input-schema-changed"], &[], &[]),
    ),
    (
        "tool moves to a higher scope",
        |m| m["tools"][0]["permission_scope"] = json!("shell:run"),
        (&["sensitivity-raised"], &[], &[]),
    ),
    (
        "scope is raised under a tool",
        |m| m["permission_scopes"][0]["sensitivity"] = json!("high"),
        (&["sensitivity-raised"], &[], &[]),
    ),
    (
        "unused scope is raised",
        |m| m["permission_scopes"][3]["sensitivity"] = json!("high"),
        (&[], &["unused-scope-raised"], &[]),
    ),
    (
        "scope removed",
        |m| drop(m["permission_scopes"].as_array_mut().unwrap().remove(3)),
        (&["scope-removed"], &[], &[]),
    ),
    (
        "flag withdrawn",
        |m| m["capability_flags"]["supports_streaming"] = json!(false),
        (&["flag-withdrawn"], &[], &[]),
    ),
    (
        "flag left out",
        |m| drop(m["capability_flags"].as_object_mut().unwrap().remove("supports_streaming")),
        (&["flag-withdrawn"], &[], &[]),
    ),
    (
        "tool added under a new scope",
        |m| {
            m["tools"].as_array_mut().unwrap().push(json!({"name": "zap", "description_i18n_key": "z", "input_schema": {"type": "object"}, "permission_scope": "zap:zap"}));
            m["permission_scopes"]
                .as_array_mut()
                .unwrap()
                .push(json!({"id": "zap:zap", "label_i18n_key": "z", "sensitivity": "high"}));
        },
        (&[], &["tool-added", "scope-added"], &[]),
    ),
    (
        "tool added under a granted scope",
        |m| {
            m["tools"].as_array_mut().unwrap().push(json!({"name": "zap", "description_i18n_key": "z", "input_schema": {"type": "object"}, "permission_scope": "net:get"}))
        },
        (&[], &["tool-added-under-known-scope"], &["tool-added-under-known-scope"]),
    ),
    (
        "medium scope added",
        |m| {
            m["permission_scopes"]
                .as_array_mut()
                .unwrap()
                .push(json!({"id": "x:y", "label_i18n_key": "q", "sensitivity": "medium"}))
        },
        (&[], &["scope-added"], &[]),
    ),
    (
        "low scope added",
        |m| {
            m["permission_scopes"]
                .as_array_mut()
                .unwrap()
                .push(json!({"id": "x:y", "label_i18n_key": "q", "sensitivity": "low"}))
        },
        (&[], &["low-scope-added"], &["low-scope-added"]),
    ),
    (
        "tool text key changed",
        |m| m["tools"][0]["description_i18n_key"] = json!("t.other"),
        (&[], &["consent-text-changed"], &["consent-text-changed"]),
    ),
    (
        "scope text key changed",
        |m| m["permission_scopes"][0]["label_i18n_key"] = json!("s.other"),
        (&[], &["consent-text-changed"], &["consent-text-changed"]),
    ),
    (
        "flag raised",
        |m| m["capability_flags"]["supports_voice"] = json!(true),
        (&[], &["flag-raised"], &[]),
    ),
    (
        "agent version changed",
        |m| m["agent_version"] = json!("2.0.0"),
        (&[], &["version-changed"], &[]),
    ),
    (
        "timeout changed",
        |m| m["tools"][1]["timeout_ms"] = json!(6000),
        (&[], &["timeout-changed"], &[]),
    ),
    (
        "default timeout written out",
        |m| m["tools"][0]["timeout_ms"] = json!(10000),
        (&[], &["default-written"], &[]),
    ),
    (
        "sensitivity lowered",
        |m| m["permission_scopes"][0]["sensitivity"] = json!("low"),
        (&[], &["sensitivity-lowered"], &["sensitivity-lowered"]),
    ),
    (
        "tool moves to an equal scope",
        |m| m["tools"][0]["permission_scope"] = json!("net:get"),
        (&[], &["tool-repointed"], &["tool-repointed"]),
    ),
    (
        "tool moves to a lower scope",
        |m| m["tools"][0]["permission_scope"] = json!("notification:send"),
        (
            &[],
            &["tool-repointed", "sensitivity-lowered"],
            &["tool-repointed", "sensitivity-lowered"],
        ),
    ),
    (
        "tool renamed",
        |m| m["tools"][0]["name"] = json!("read_text_file"),
        (&["tool-renamed"], &[], &["tool-renamed"]),
    ),
    (
        "scope renamed",
        |m| m["permission_scopes"][3]["id"] = json!("net:fetch"),
        (&["scope-renamed"], &[], &["scope-renamed"]),
    ),
    (
        "tools in another order",
        |m| m["tools"].as_array_mut().unwrap().reverse(),
        (&[], &["order-changed"], &[]),
    ),
    (
        "scopes in another order",
        |m| m["permission_scopes"].as_array_mut().unwrap().swap(0, 1),
        (&[], &["order-changed"], &[]),
    ),
];

#[test]
fn every_edit_is_reported_under_its_rule_and_no_other() {
    for (name, edit, (breaking, non_breaking, consent)) in EDITS {
        let old = capability();
        let mut new = old.clone();
        edit(&mut new);
        let changes = compare(Dialect::Capability, &old, &new);
        assert_eq!(rules(&changes.breaking), *breaking, "{name}: breaking");
        assert_eq!(rules(&changes.non_breaking), *non_breaking, "{name}: non-breaking");
        assert_eq!(rules(&changes.consent), *consent, "{name}: consent");
        for change in changes.breaking.iter().chain(&changes.non_breaking) {
            // Gone things are found in the old version, all others in the new one.
            let at = if change.after.is_none() && change.before.is_some() { &old } else { &new };
            assert!(at.pointer(&change.pointer).is_some(), "{name}: {}", change.pointer);
        }
    }
}

#[test]
fn the_envelope_of_a_response_says_nothing() {
    let wrap = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": mcp_tools()});
    assert!(compare(Dialect::McpTools, &wrap(1), &wrap(2)).is_empty());
    assert!(compare(Dialect::McpTools, &wrap(1), &mcp_tools()).is_empty());
}

#[test]
fn a_crowd_of_long_names_is_compared_in_no_time() {
    // Each of 64 names could be the new name of each other; trying them all again after every hit,
    // or measuring the distance of long names, would take minutes.
    let tools = |mark: &str| {
        let list: Vec<_> = (0..64).map(|i| json!({"name": format!("{mark}{i}{}", "x".repeat(4_000)), "inputSchema": {"type": "object"}})).collect();
        json!({"tools": list})
    };
    let changes = compare(Dialect::McpTools, &tools("a"), &tools("b"));
    assert_eq!(changes.breaking.len(), 64);
}

#[test]
fn removing_and_adding_again_is_seen_against_the_version_that_was_accepted() {
    let accepted = capability();
    let mut without = accepted.clone();
    let tool = without["tools"].as_array_mut().unwrap().remove(0);
    let mut back = without.clone();
    back["tools"].as_array_mut().unwrap().push(tool);
    back["tools"][1]["permission_scope"] = json!("notification:send");
    let changes = compare(Dialect::Capability, &accepted, &back);
    assert!(rules(&changes.consent).contains(&"tool-repointed"));
}

proptest! {
    #[test]
    fn edits_do_not_hide_each_other(picks in prop::collection::vec(0..EDITS.len(), 1..4)) {
        let old = capability();
        let mut new = old.clone();
        let mut wanted: Vec<&str> = Vec::new();
        // Edits that touch the same place cannot be asked about together.
        let mut spent: Vec<usize> = Vec::new();
        for pick in picks {
            let clash = |a: usize, b: usize| a == b || conflicts(EDITS[a].0, EDITS[b].0);
            if spent.iter().any(|s| clash(*s, pick)) {
                continue;
            }
            spent.push(pick);
            EDITS[pick].1(&mut new);
            wanted.extend(EDITS[pick].2.0);
            wanted.extend(EDITS[pick].2.1);
        }
        let changes = compare(Dialect::Capability, &old, &new);
        let mut found = rules(&changes.breaking);
        found.extend(rules(&changes.non_breaking));
        for rule in wanted {
            prop_assert!(found.contains(&rule), "{rule} is missing from {found:?}");
        }
    }
}

/// Edits of one tool's or one scope's identity change what the others are about.
fn conflicts(a: &str, b: &str) -> bool {
    let structural = |name: &str| {
        [
            "removed", "renamed", "moves", "order", "lowered", "raised", "scope", "text key",
            "schema", "timeout",
        ]
        .iter()
        .any(|word| name.contains(word))
    };
    structural(a) && structural(b)
}

/// Any small JSON value to put somewhere.
fn scrap() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..5).prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["x", "y"])),
        Just(json!({"type": "object"})),
    ]
}

/// Lists the pointers of all values.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{key}"), all);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                pointers(value, &format!("{at}/{i}"), all);
            }
        }
        _ => {}
    }
}

fn scaffold(dialect: Dialect) -> Value {
    let text = remit_manifest::dialect::scaffold(dialect).unwrap();
    let checked = remit_manifest::compile::check(text.as_bytes(), Default::default());
    checked.tree().unwrap().to_json()
}

fn mcp_tools() -> Value {
    json!({"tools": [
        {"name": "a", "description": "does a", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}},
        {"name": "b", "title": "B", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    ]})
}

proptest! {
    /// Wherever a value is replaced or taken out, in any dialect, the diff is empty exactly when the
    /// values are the same, and a rule knows what happened.
    #[test]
    fn no_edit_goes_unseen(which in 0usize..5, place in any::<prop::sample::Index>(), put in prop::option::of(scrap())) {
        let dialect = Dialect::ALL[which];
        let old = if dialect == Dialect::McpTools { mcp_tools() } else { scaffold(dialect) };
        let mut all = Vec::new();
        pointers(&old, "", &mut all);
        let pointer = all[place.index(all.len())].clone();
        let mut new = old.clone();
        match (put, pointer.rsplit_once('/')) {
            (Some(value), _) => *new.pointer_mut(&pointer).unwrap() = value,
            (None, Some((parent, key))) => match new.pointer_mut(parent).unwrap() {
                Value::Object(map) => drop(map.remove(&key.replace("~1", "/").replace("~0", "~"))),
                Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                _ => unreachable!(),
            },
            (None, None) => {}
        }
        let changes = compare(dialect, &old, &new);
        prop_assert_eq!(changes.is_empty(), old == new, "{} at {}", dialect.as_str(), pointer);
        prop_assert!(compare(dialect, &new, &new).is_empty());
        let all = changes.breaking.iter().chain(&changes.non_breaking);
        if new.is_object() {
            for change in all {
                prop_assert_ne!(change.rule, "other-change", "{} at {}", dialect.as_str(), pointer);
            }
        }
        for change in &changes.consent {
            prop_assert!(changes.breaking.contains(change) || changes.non_breaking.contains(change));
        }
    }
}
