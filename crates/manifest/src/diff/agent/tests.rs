use remit_model::{Dialect, Node};
use serde_json::{Value, json};

use crate::dialect::agent::tests::variants;
use crate::diff::{Changes, diff};

fn compare(old: &Value, new: &Value) -> Changes {
    diff(Dialect::Agent, &Node::from_json(old), &Node::from_json(new))
}

/// Gives each change as its lists, its rule and its pointer.
fn said(changes: &Changes) -> Vec<String> {
    let lists = [("B", &changes.breaking), ("N", &changes.non_breaking), ("C", &changes.consent)];
    let each = |(mark, list): (&str, &Vec<crate::diff::Change>)| {
        list.iter().map(|c| format!("{mark} {} {}", c.rule, c.pointer)).collect::<Vec<_>>()
    };
    lists.into_iter().flat_map(each).collect()
}

fn agent() -> Value {
    json!({
        "name": "dev", "version": "1.0.0", "description": "d", "model": "m", "prompt": "p",
        "hooks": {"stop": [{"command": "x"}]}, "toolAliases": {"@git/a": "b"},
        "includeMcpJson": true, "useLegacyMcpJson": true, "welcomeMessage": "hi", "other": {"x": [1]},
        "inputSchema": {"type": "object", "properties": {"task": {"type": "string"}}},
        "mcpServers": {
            "git": {"command": "g", "args": ["-v"], "transport": "stdio", "env": {"A": "b"},
                "disabled": false, "autoApprove": ["status", "log"], "timeout": 5},
            "hub": {"url": "https://h.example", "headers": {"X": "y"}, "auth": {"type": "z"}}
        },
        "tools": ["fs-read", "@git", "#other"], "allowedTools": ["fs-read", "@git/status"],
        "toolsSettings": {"fs-write": {"allowedPaths": ["src/**"]}, "@git": {"x": 1}},
        "resources": ["file://a", "Be brief.", {"uri": "file://b", "name": "n"}]
    })
}

fn with(edit: impl FnOnce(&mut Value)) -> Value {
    let mut agent = agent();
    edit(&mut agent);
    agent
}

#[test]
fn each_change_falls_under_its_rule() {
    type Edit = fn(&mut Value);
    let cases: &[(Edit, &[&str])] = &[
        (|a| a["name"] = json!("x"), &["B name-changed /name", "C name-changed /name"]),
        (|a| a["version"] = json!("2.0.0"), &["N version-changed /version"]),
        (
            |a| a["description"] = json!("x"),
            &["N description-changed /description", "C description-changed /description"],
        ),
        (|a| a["model"] = json!("x"), &["N model-changed /model", "C model-changed /model"]),
        (|a| a["prompt"] = json!("x"), &["N prompt-changed /prompt", "C prompt-changed /prompt"]),
        (|a| a["hooks"] = json!({}), &["N hooks-changed /hooks", "C hooks-changed /hooks"]),
        (
            |a| a["toolAliases"] = json!({}),
            &["N tool-settings-changed /toolAliases", "C tool-settings-changed /toolAliases"],
        ),
        (
            |a| a["includeMcpJson"] = json!(false),
            &["N tool-settings-changed /includeMcpJson", "C tool-settings-changed /includeMcpJson"],
        ),
        (|a| a["welcomeMessage"] = json!("x"), &["N text-changed /welcomeMessage"]),
        (
            |a| a["other"] = json!(1),
            &["N unknown-field-changed /other", "C unknown-field-changed /other"],
        ),
        (
            |a| a["mcpServers"]["new"] = json!({"command": "c"}),
            &["N server-added /mcpServers/new", "C server-added /mcpServers/new"],
        ),
        (
            |a| a["mcpServers"]["hub"]["url"] = json!("https://i.example"),
            &["N server-changed /mcpServers/hub/url", "C server-changed /mcpServers/hub/url"],
        ),
        (
            |a| a["mcpServers"]["git"] = json!("x"),
            &["N server-changed /mcpServers/git", "C server-changed /mcpServers/git"],
        ),
        (
            |a| a["mcpServers"]["git"]["timeout"] = json!(6),
            &["N timeout-changed /mcpServers/git/timeout"],
        ),
        (
            |a| a["mcpServers"]["git"]["disabled"] = json!(true),
            &["B server-disabled /mcpServers/git/disabled"],
        ),
        (
            |a| a["mcpServers"]["git"]["autoApprove"] = json!(["status", "push"]),
            &[
                "N auto-approval-removed /mcpServers/git/autoApprove/1",
                "N auto-approval-added /mcpServers/git/autoApprove/1",
                "C auto-approval-added /mcpServers/git/autoApprove/1",
            ],
        ),
        (|a| a["tools"] = json!(["fs-read", "@git"]), &["B tool-reference-removed /tools/2"]),
        (
            |a| a["tools"] = json!(["fs-read", "@git", "#other", "*"]),
            &["N tool-reference-added /tools/3", "C tool-reference-added /tools/3"],
        ),
        (
            |a| a["allowedTools"] = json!(["fs-read", "@git"]),
            &[
                "N auto-approval-removed /allowedTools/1",
                "N auto-approval-added /allowedTools/1",
                "C auto-approval-added /allowedTools/1",
            ],
        ),
        (
            |a| a["toolsSettings"]["fs-write"]["allowedPaths"] = json!(["**"]),
            &[
                "N tool-settings-changed /toolsSettings/fs-write/allowedPaths",
                "C tool-settings-changed /toolsSettings/fs-write/allowedPaths",
            ],
        ),
        (
            |a| a["toolsSettings"] = json!({"fs-write": {"allowedPaths": ["src/**"]}}),
            &[
                "N tool-settings-changed /toolsSettings/@git",
                "C tool-settings-changed /toolsSettings/@git",
            ],
        ),
        (
            |a| a["resources"][0] = json!("file://c"),
            &[
                "N resource-removed /resources/0",
                "N resource-added /resources/0",
                "C resource-added /resources/0",
            ],
        ),
        (
            |a| a["resources"][2]["name"] = json!("x"),
            &["N resource-changed /resources/2", "C resource-changed /resources/2"],
        ),
        (|a| a["tools"] = json!(["@git", "fs-read", "#other"]), &["N order-changed /tools"]),
        (
            |a| a["resources"] = json!(["Be brief.", "file://a", {"uri": "file://b", "name": "n"}]),
            &["N order-changed /resources"],
        ),
    ];
    for (edit, wanted) in cases {
        let new = with(edit);
        assert_eq!(said(&compare(&agent(), &new)), *wanted, "{new}");
    }
}

#[test]
fn servers_are_removed_renamed_and_switched() {
    let removed = with(|a| drop(a["mcpServers"].as_object_mut().unwrap().remove("hub")));
    assert_eq!(said(&compare(&agent(), &removed)), ["B server-removed /mcpServers/hub"]);
    let renamed = with(|a| {
        let servers = a["mcpServers"].as_object_mut().unwrap();
        let hub = servers.remove("hub").unwrap();
        servers.insert("center".to_owned(), hub);
    });
    assert_eq!(
        said(&compare(&agent(), &renamed)),
        ["B server-renamed /mcpServers/center", "C server-renamed /mcpServers/center"]
    );
    let off = with(|a| a["mcpServers"]["git"]["disabled"] = json!(true));
    let wanted =
        ["N server-enabled /mcpServers/git/disabled", "C server-enabled /mcpServers/git/disabled"];
    assert_eq!(said(&compare(&off, &agent())), wanted);
    let unstated =
        with(|a| drop(a["mcpServers"]["git"].as_object_mut().unwrap().remove("disabled")));
    let enabled = said(&compare(&off, &unstated));
    assert!(enabled.contains(&"C server-enabled /mcpServers/git/disabled".to_owned()));
    assert_eq!(said(&compare(&unstated, &agent())), ["N default-written /mcpServers/git/disabled"]);
    let gone = with(|a| drop(a["mcpServers"].as_object_mut().unwrap().remove("git")));
    let off_gone = said(&compare(&off, &gone));
    assert!(!off_gone.iter().any(|c| c.contains("server-removed")), "{off_gone:?}");
}

#[test]
fn references_are_compared_by_what_they_mean() {
    let of = |servers: Value, tools: Value| json!({"mcpServers": servers, "tools": tools});
    let one = json!({"command": "c"});
    let old = of(json!({"a": one}), json!(["@a.b", "fs_read"]));
    // Another spelling of the same tools.
    let spelt = of(json!({"a": one}), json!(["@a/b", "fs-read"]));
    assert_eq!(
        said(&compare(&old, &spelt)),
        ["N field-changed /tools/0", "N field-changed /tools/1"]
    );
    // The same spelling, but now of a whole server.
    let other = of(json!({"a.b": {"command": "evil"}}), json!(["@a.b", "fs_read"]));
    let found = said(&compare(&old, &other));
    assert!(found.contains(&"B tool-reference-removed /tools/0".to_owned()), "{found:?}");
    assert!(found.contains(&"C tool-reference-added /tools/0".to_owned()), "{found:?}");
    // Listed twice is no new permission, listed once less no loss.
    let twice = of(json!({"a": one}), json!(["@a.b", "fs_read", "fs-read"]));
    assert_eq!(said(&compare(&old, &twice)), ["N field-changed /tools/2"]);
    assert_eq!(said(&compare(&twice, &old)), ["N field-changed /tools/2"]);
}

#[test]
fn the_input_schema_is_compared_as_it_is_lowered() {
    let narrower = with(|a| a["inputSchema"]["required"] = json!(["task"]));
    let found = compare(&agent(), &narrower);
    assert_eq!(said(&found), ["B input-schema-changed /inputSchema"]);
    let bare = json!({"name": "a"});
    let written = json!({"name": "a", "inputSchema": {"type": "object", "properties": {}}});
    assert_eq!(said(&compare(&bare, &written)), ["N default-written /inputSchema"]);
    let null = json!({"name": "a", "inputSchema": null});
    assert_eq!(said(&compare(&bare, &null)), ["N field-changed /inputSchema"]);
}

#[test]
fn empty_null_and_malformed_parts_are_changes_too() {
    let bare = json!({"name": "a"});
    for field in ["tools", "allowedTools", "mcpServers", "toolsSettings", "resources"] {
        for value in [json!(null), json!([]), json!({}), json!("x"), json!([1]), json!(7)] {
            let mut new = bare.clone();
            new[field] = value.clone();
            let found = said(&compare(&bare, &new));
            assert!(
                !found.is_empty() && found.iter().all(|c| c.contains(&format!("/{field}"))),
                "{field} {value} {found:?}"
            );
        }
    }
    let found = said(&compare(&json!({"tools": [1, "a"]}), &json!({"tools": [2, "b"]})));
    assert_eq!(found, ["N tool-reference-added /tools", "C tool-reference-added /tools"]);
}

#[test]
fn secrets_are_not_shown() {
    let of =
        |token: &str| json!({"mcpServers": {"s": {"command": "c", "env": {"API_TOKEN": token}}}});
    let found = compare(&of("0123456789abcdef"), &of("fedcba9876543210"));
    let shown = serde_json::to_string(&found).unwrap();
    assert!(!shown.contains("0123456789abcdef") && !shown.contains("fedcba9876543210"), "{shown}");
}

#[test]
fn no_edit_goes_unseen_in_either_direction() {
    let agent = agent();
    let mut seen = 0;
    variants(&agent, &mut |other| {
        if !other.is_object() {
            return;
        }
        for (old, new) in [(&agent, &other), (&other, &agent)] {
            let found = said(&compare(old, new));
            assert!(!found.is_empty(), "{other}");
            assert!(!found.iter().any(|c| c.contains("other-change")), "{other} {found:?}");
        }
        seen += 1;
    });
    assert!(seen > 300, "{seen}");
}
