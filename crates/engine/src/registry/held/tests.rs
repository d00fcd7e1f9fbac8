use std::collections::BTreeSet;

use remit_manifest::dialect::capability::lower;
use remit_manifest::diff::{Verdict, diff};
use remit_model::{Dialect, Node};
use serde_json::{Value, json};

use super::*;

fn tool(name: &str, scope: &str) -> Value {
    json!({
        "name": name,
        "description_i18n_key": format!("{name}.text"),
        "input_schema": {
            "type": "object",
            "properties": {name: {"type": "string"}},
            "additionalProperties": false,
        },
        "permission_scope": scope,
    })
}

fn scope_of(id: &str, sensitivity: &str) -> Value {
    json!({"id": id, "label_i18n_key": format!("{id}.label"), "sensitivity": sensitivity})
}

/// Three tools under two scopes.
fn base() -> Value {
    json!({
        "schema_version": "1.0",
        "agent_version": "1.0.0",
        "tools": [tool("alpha", "a:use"), tool("beta", "a:use"), tool("gamma", "b:use")],
        "permission_scopes": [scope_of("a:use", "medium"), scope_of("b:use", "medium")],
        "capability_flags": {"supports_streaming": true, "supports_voice": false},
    })
}

struct Case {
    rule: &'static str,
    held: &'static [&'static str],
    change: fn(&mut Value),
}

const ALL_THREE: &[&str] = &["alpha", "beta", "gamma"];

/// One way to bring about each rule, and what it holds.
const CASES: &[Case] = &[
    Case {
        rule: "default-written",
        held: &[],
        change: |m| m["tools"][0]["timeout_ms"] = json!(10_000),
    },
    Case { rule: "version-changed", held: &[], change: |m| m["agent_version"] = json!("2.0.0") },
    Case { rule: "timeout-changed", held: &[], change: |m| m["tools"][0]["timeout_ms"] = json!(5) },
    Case { rule: "order-changed", held: &[], change: |m| swap(m, "tools", 0, 1) },
    Case {
        rule: "tool-added",
        held: &[],
        change: |m| {
            push(m, "permission_scopes", scope_of("c:use", "high"));
            push(m, "tools", tool("delta", "c:use"));
        },
    },
    Case {
        rule: "scope-added",
        held: &[],
        change: |m| push(m, "permission_scopes", scope_of("c:use", "medium")),
    },
    Case {
        rule: "unused-scope-raised",
        held: &["gamma"],
        change: |m| {
            // The only tool under it moves away; that holds it, the scope does not.
            m["tools"][2]["permission_scope"] = json!("a:use");
            m["permission_scopes"][1]["sensitivity"] = json!("high");
        },
    },
    Case {
        rule: "flag-raised",
        held: &[],
        change: |m| m["capability_flags"]["supports_voice"] = json!(true),
    },
    Case {
        rule: "flag-withdrawn",
        held: &[],
        change: |m| m["capability_flags"]["supports_streaming"] = json!(false),
    },
    Case { rule: "tool-removed", held: &[], change: |m| remove(m, "tools", 0) },
    Case {
        rule: "scope-removed",
        held: &[],
        change: |m| {
            remove(m, "tools", 2);
            remove(m, "permission_scopes", 1);
        },
    },
    Case {
        rule: "scope-removed",
        held: &["gamma"],
        change: |m| {
            m["tools"][2]["permission_scope"] = json!("a:use");
            remove(m, "permission_scopes", 1);
        },
    },
    Case {
        rule: "input-schema-changed",
        held: &["beta"],
        change: |m| m["tools"][1]["input_schema"]["properties"]["more"] = json!({"type": "null"}),
    },
    Case {
        rule: "tool-added-under-known-scope",
        held: &["delta"],
        change: |m| push(m, "tools", tool("delta", "a:use")),
    },
    Case {
        rule: "tool-renamed",
        held: &["alpha_two"],
        change: |m| m["tools"][0]["name"] = json!("alpha_two"),
    },
    Case {
        rule: "tool-repointed",
        held: &["alpha"],
        change: |m| m["tools"][0]["permission_scope"] = json!("b:use"),
    },
    Case {
        rule: "sensitivity-raised",
        held: &["alpha", "beta"],
        change: |m| m["permission_scopes"][0]["sensitivity"] = json!("high"),
    },
    Case {
        rule: "sensitivity-raised",
        held: &["alpha"],
        change: |m| {
            push(m, "permission_scopes", scope_of("c:use", "high"));
            m["tools"][0]["permission_scope"] = json!("c:use");
        },
    },
    Case {
        rule: "sensitivity-lowered",
        held: &["alpha", "beta"],
        change: |m| m["permission_scopes"][0]["sensitivity"] = json!("low"),
    },
    Case {
        rule: "sensitivity-lowered",
        held: &["gamma"],
        change: |m| {
            push(m, "permission_scopes", scope_of("c:use", "low"));
            m["tools"][2]["permission_scope"] = json!("c:use");
        },
    },
    Case {
        rule: "sensitivity-unreadable",
        held: ALL_THREE,
        change: |m| m["permission_scopes"][1]["sensitivity"] = json!("odd"),
    },
    Case {
        rule: "low-scope-added",
        held: &["delta"],
        change: |m| {
            push(m, "permission_scopes", scope_of("c:use", "low"));
            push(m, "tools", tool("delta", "c:use"));
        },
    },
    Case {
        rule: "scope-renamed",
        held: &["gamma"],
        change: |m| {
            m["permission_scopes"][1]["id"] = json!("b:read");
            m["tools"][2]["permission_scope"] = json!("b:read");
        },
    },
    Case {
        rule: "consent-text-changed",
        held: &["beta"],
        change: |m| m["tools"][1]["description_i18n_key"] = json!("other"),
    },
    Case {
        rule: "consent-text-changed",
        held: &["alpha", "beta"],
        change: |m| m["permission_scopes"][0]["label_i18n_key"] = json!("other"),
    },
    Case { rule: "unknown-field-changed", held: ALL_THREE, change: |m| m["odd"] = json!(1) },
    Case {
        rule: "unknown-field-changed",
        held: &["gamma"],
        change: |m| m["tools"][2]["odd"] = json!(1),
    },
    Case {
        rule: "schema-version-changed",
        held: ALL_THREE,
        change: |m| m["schema_version"] = json!("2"),
    },
];

/// Rules that no pair of readable manifests brings about.
const LAST_RESORT: &[&str] = &["other-change"];

fn push(manifest: &mut Value, list: &str, item: Value) {
    manifest[list].as_array_mut().unwrap().push(item);
}

fn remove(manifest: &mut Value, list: &str, at: usize) {
    manifest[list].as_array_mut().unwrap().remove(at);
}

fn swap(manifest: &mut Value, list: &str, one: usize, other: usize) {
    manifest[list].as_array_mut().unwrap().swap(one, other);
}

fn compare(old: &Value, new: &Value) -> (Changes, Held) {
    let (old, new) = (Node::from_json(old), Node::from_json(new));
    let changes = diff(Dialect::Capability, &old, &new);
    let held = Held::between(&lower(&old), &lower(&new), &changes);
    (changes, held)
}

#[test]
fn each_rule_holds_what_it_touches_and_nothing_else() {
    for case in CASES {
        let (old, mut new) = (base(), base());
        (case.change)(&mut new);
        let (changes, held) = compare(&old, &new);
        let seen: Vec<&str> = changes
            .breaking
            .iter()
            .chain(&changes.non_breaking)
            .map(|change| change.rule)
            .collect();
        assert!(seen.contains(&case.rule), "{}: {seen:?}", case.rule);
        assert_eq!(held.tools().collect::<Vec<_>>(), case.held, "{}", case.rule);
        for holds in held.0.values() {
            let unique: BTreeSet<_> = holds.iter().map(|h| (h.rule, &h.message)).collect();
            assert_eq!(unique.len(), holds.len(), "each reason once");
        }
    }
}

#[test]
fn every_rule_that_a_capability_manifest_can_change_under_is_in_the_table_and_has_a_case() {
    // Read from where they are reported, so that a new one cannot be forgotten.
    let sources = [
        include_str!("../../../../manifest/src/diff/capability.rs"),
        include_str!("../../../../manifest/src/diff/compare.rs"),
        include_str!("../../../../manifest/src/diff/mod.rs"),
    ];
    let mut reported = BTreeSet::new();
    for source in sources {
        for rest in source.split("rules::").skip(1) {
            let name = rest.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).next();
            let id = name.unwrap_or_default().to_lowercase().replace('_', "-");
            reported.extend(rules::ALL.iter().map(|rule| rule.id).find(|known| *known == id));
        }
    }
    assert!(reported.len() > 20, "{reported:?}");
    let table: BTreeSet<&str> = REACHES.iter().map(|(rule, _)| rule.id).collect();
    assert_eq!(reported, table);
    assert_eq!(table.len(), REACHES.len(), "each once");
    let mut cases: BTreeSet<&str> = CASES.iter().map(|case| case.rule).collect();
    cases.extend(LAST_RESORT);
    assert_eq!(cases, table);
}

#[test]
fn every_rule_of_every_dialect_is_classified_and_none_that_matters_reaches_nothing_unsaid() {
    const GONE_OR_NO_TOOL: [&str; 3] = ["tool-removed", "scope-removed", "flag-withdrawn"];
    for rule in rules::ALL {
        let matters = rule.verdict == Verdict::Breaking || rule.consent;
        let is_known = REACHES.iter().any(|(known, _)| known.id == rule.id);
        match reach(rule.id) {
            Reach::Nothing => {
                assert!(!matters || GONE_OR_NO_TOOL.contains(&rule.id), "{}", rule.id);
            }
            Reach::Pointed => assert!(matters && is_known, "{}", rule.id),
            // What the table does not know holds everything.
            Reach::Everything => assert!(matters || !is_known, "{}", rule.id),
        }
    }
    assert_eq!(reach("a-rule-of-tomorrow"), Reach::Everything);
}

#[test]
fn what_cannot_be_placed_holds_everything() {
    let manifest = lower(&Node::from_json(&base()));
    for pointer in ["", "/", "/tools", "/tools/x", "/tools/9", "/permission_scopes/2/id", "/odd/0"]
    {
        let change = Change {
            rule: "input-schema-changed",
            pointer: pointer.to_owned(),
            message: String::new(),
            before: Some(json!(1)),
            after: Some(json!(2)),
            witness: None,
        };
        assert_eq!(touched(&manifest, &manifest, &change).len(), 3, "{pointer}");
    }
}

#[test]
fn removing_and_bringing_back_over_several_versions_gains_nothing() {
    let accepted = base();
    let mut without = base();
    remove(&mut without, "tools", 1);
    remove(&mut without, "tools", 0);
    remove(&mut without, "permission_scopes", 0);
    let mut back = base();
    back["permission_scopes"][0]["sensitivity"] = json!("low");
    // From one version to the next it looks like something new.
    let (step, _) = compare(&without, &back);
    assert!(step.consent.iter().all(|change| change.rule != "sensitivity-lowered"));
    // For whoever accepted the first it does not.
    let (whole, held) = compare(&accepted, &back);
    assert!(whole.consent.iter().any(|change| change.rule == "sensitivity-lowered"));
    assert_eq!(held.tools().collect::<Vec<_>>(), ["alpha", "beta"]);
    // And what is back as it was is as it was.
    let (_, held) = compare(&accepted, &base());
    assert!(held.is_empty());
}
