//! Versions, conditions, retries.

use std::collections::BTreeSet;

use remit_engine::registry::{Page, Patch, RegistryError};
use remit_model::{Severity, canonical};
use serde_json::{Value, json};

use super::{changed, desk, manifest, without_read};

#[tokio::test]
async fn each_accepted_manifest_is_the_next_version() {
    let desk = desk(&[]).await;
    let first = desk.publish(&manifest()).await.unwrap();
    assert_eq!(first.version, 1);
    let answer: Value = serde_json::from_str(&first.to_json()).unwrap();
    let hash = first.hash.clone();
    let want = json!({
        "agent_id": desk.agent.id,
        "capability_manifest_version": 1,
        "capability_manifest_hash": hash,
        "breaking_changes": [],
    });
    assert_eq!(answer, want, "exactly S0's four fields");

    let same = desk.publish(&manifest()).await.unwrap();
    assert_eq!((same.version, &same.hash), (2, &hash), "also when nothing changed");
    assert!(!same.changes.is_breaking());

    let third = desk.publish(&without_read()).await.unwrap();
    let answer: Value = serde_json::from_str(&third.to_json()).unwrap();
    let rules: BTreeSet<&str> = answer["breaking_changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, BTreeSet::from(["scope-removed", "tool-removed"]));
    assert_eq!(answer.get("consent_changes"), None, "only where there are any");

    let lowered = changed(|m| m["permission_scopes"][2]["sensitivity"] = json!("low"));
    desk.publish(&manifest()).await.unwrap();
    let fifth = desk.publish(&lowered).await.unwrap();
    let answer: Value = serde_json::from_str(&fifth.to_json()).unwrap();
    assert_eq!(answer["breaking_changes"], json!([]));
    assert_eq!(answer["consent_changes"][0]["rule"], "sensitivity-lowered");

    let kept = desk.agents.version(&desk.agent.id, Some(5)).await.unwrap();
    assert_eq!(kept.changes, fifth.changes);
    assert_eq!(canonical::hash_bytes(kept.canonical.as_bytes()), kept.hash);
    let now = desk.agents.agent(&desk.agent.id).await.unwrap();
    assert_eq!((now.version, now.hash), (5, Some(fifth.hash)));
}

#[tokio::test]
async fn what_is_refused_says_everything_and_uses_no_number() {
    let desk = desk(&[manifest()]).await;
    let bad = changed(|m| {
        m["tools"][0]["permission_scope"] = json!("nowhere");
        m["odd"] = json!(1);
    });
    let Err(RegistryError::Invalid(found)) = desk.publish(&bad).await else { panic!("accepted") };
    let errors: BTreeSet<&str> =
        found.iter().filter(|d| d.severity == Severity::Error).map(|d| d.rule).collect();
    assert_eq!(errors, BTreeSet::from(["undefined-scope", "unknown-field"]));
    for body in ["", "{", "null", "[]", "{\"a\":1,\"a\":2}", "\u{feff}", "- &a [*a]"] {
        let patch = Patch { body: body.into(), ..desk.patch(&manifest()) };
        let refused = desk.agents.publish(patch).await;
        assert!(matches!(refused, Err(RegistryError::Invalid(_))), "{body}: {refused:?}");
    }
    let patch = Patch { body: vec![b'"', 0xff, b'"'], ..desk.patch(&manifest()) };
    assert!(matches!(desk.agents.publish(patch).await, Err(RegistryError::Invalid(_))));
    assert_eq!(desk.publish(&manifest()).await.unwrap().version, 2);
}

#[tokio::test]
async fn a_tool_manifest_is_no_capability_manifest() {
    let desk = desk(&[]).await;
    let skill = json!({"name": "x", "commands": []});
    assert!(matches!(desk.publish(&skill).await, Err(RegistryError::Invalid(_))));
}

#[tokio::test]
async fn a_condition_holds_or_nothing_is_published() {
    let desk = desk(&[]).await;
    let on = |version| Patch { if_match: Some(version), ..desk.patch(&manifest()) };
    let conflict = |current| Err(RegistryError::Conflict { current });
    assert_eq!(desk.agents.publish(on(1)).await, conflict(0));
    assert_eq!(desk.agents.publish(on(0)).await.unwrap().version, 1, "0 before the first");
    assert_eq!(desk.agents.publish(on(0)).await, conflict(1));
    assert_eq!(desk.agents.publish(on(2)).await, conflict(1));
    assert_eq!(desk.agents.publish(on(1)).await.unwrap().version, 2);
    assert_eq!(desk.agents.agent(&desk.agent.id).await.unwrap().version, 2);
}

#[tokio::test]
async fn a_retry_gets_the_first_answer() {
    let desk = desk(&[manifest()]).await;
    let keyed = |key: &str, manifest: &Value| Patch {
        key: Some(key.to_owned()),
        if_match: Some(1),
        ..desk.patch(manifest)
    };
    let first = desk.agents.publish(keyed("k", &without_read())).await.unwrap();
    assert_eq!(first.version, 2);
    // The condition was met when it was sent first.
    let again = desk.agents.publish(keyed("k", &without_read())).await.unwrap();
    assert_eq!(again, first);
    assert_eq!(again.to_json(), first.to_json());
    desk.publish(&manifest()).await.unwrap();
    assert_eq!(desk.agents.publish(keyed("k", &without_read())).await.unwrap(), first);
    let other = desk.agents.publish(keyed("k", &manifest())).await;
    assert_eq!(other, Err(RegistryError::KeyTaken));
    let conflict = desk.agents.publish(keyed("other", &manifest())).await;
    assert_eq!(conflict, Err(RegistryError::Conflict { current: 3 }));
    assert_eq!(desk.agents.agent(&desk.agent.id).await.unwrap().version, 3);
}

#[tokio::test]
async fn what_was_refused_leaves_its_key_free() {
    let desk = desk(&[]).await;
    let keyed = |body: &str| Patch {
        key: Some("k".to_owned()),
        body: body.into(),
        ..desk.patch(&manifest())
    };
    assert!(desk.agents.publish(keyed("{}")).await.is_err());
    let good = manifest().to_string();
    assert_eq!(desk.agents.publish(keyed(&good)).await.unwrap().version, 1);
}

#[tokio::test]
async fn a_key_ends_at_255_visible_characters() {
    let desk = desk(&[]).await;
    let keyed = |key: &str| Patch { key: Some(key.to_owned()), ..desk.patch(&manifest()) };
    assert_eq!(desk.agents.publish(keyed(&"k".repeat(255))).await.unwrap().version, 1);
    for bad in [&*"k".repeat(256), "", "é", "a\n", "\0"] {
        assert_eq!(desk.agents.publish(keyed(bad)).await, Err(RegistryError::BadKey), "{bad:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_one_request_sent_many_times_at_once_one_counts() {
    let desk = desk(&[manifest()]).await;
    let patch =
        Patch { key: Some("k".to_owned()), if_match: Some(1), ..desk.patch(&without_read()) };
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let (agents, patch) = (desk.agents.clone(), patch.clone());
            tokio::spawn(async move { agents.publish(patch).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap().version, 2);
    }
    let versions = desk.agents.registry().versions(&desk.agent.id, Page::default()).await.unwrap();
    assert_eq!(versions.len(), 2);
}

#[tokio::test]
async fn a_preview_keeps_nothing() {
    let desk = desk(&[manifest()]).await;
    let body = without_read().to_string().into_bytes();
    let preview = desk.agents.preview(&desk.agent.id, body, None).await.unwrap();
    assert_eq!(preview.base, 1);
    assert_eq!(preview.changes.breaking.len(), 2);
    assert_eq!(desk.agents.agent(&desk.agent.id).await.unwrap().version, 1);
    let published = desk.publish(&without_read()).await.unwrap();
    assert_eq!(published.hash, preview.hash);
    let bad = desk.agents.preview(&desk.agent.id, b"{}".to_vec(), None).await;
    assert!(matches!(bad, Err(RegistryError::Invalid(_))));
}

#[tokio::test]
async fn any_two_versions_can_be_compared() {
    let desk = desk(&[manifest(), without_read(), manifest()]).await;
    let id = &desk.agent.id;
    assert_eq!(desk.agents.diff(id, 1, 2).await.unwrap().breaking.len(), 2);
    assert!(desk.agents.diff(id, 1, 3).await.unwrap().is_empty());
    assert!(!desk.agents.diff(id, 3, 2).await.unwrap().is_empty());
    let missing = desk.agents.diff(id, 1, 4).await.err();
    assert_eq!(missing, Some(RegistryError::UnknownVersion { version: 4 }));
}

#[tokio::test]
async fn an_unknown_agent_is_said_to_be_unknown() {
    let desk = desk(&[]).await;
    let unknown = Some(RegistryError::UnknownAgent);
    let patch = Patch { agent: "nobody".to_owned(), ..desk.patch(&manifest()) };
    assert_eq!(desk.agents.publish(patch).await.err(), unknown);
    assert_eq!(desk.agents.agent("nobody").await.err(), unknown);
    assert_eq!(desk.agents.version("nobody", None).await.err(), unknown);
    assert_eq!(desk.agents.disclosure("nobody").await.err(), unknown);
    assert_eq!(desk.agents.add("ann", "nobody", 1).await.err(), unknown);
    assert_eq!(desk.agents.accept("ann", "nobody", 1).await.err(), unknown);
    assert_eq!(desk.agents.remove("ann", "nobody").await.err(), unknown);
    assert_eq!(desk.agents.review("ann", "nobody").await.err(), unknown);
    assert_eq!(desk.agents.diff("nobody", 1, 1).await.err(), unknown);
    let nothing = Some(RegistryError::NothingPublished);
    assert_eq!(desk.agents.version(&desk.agent.id, None).await.err(), nothing);
    assert_eq!(desk.agents.disclosure(&desk.agent.id).await.err(), nothing);
    assert_eq!(desk.agents.add("ann", &desk.agent.id, 0).await.err(), nothing);
}

#[tokio::test]
async fn names_are_judged_and_ids_say_nothing() {
    let desk = desk(&[]).await;
    assert!(matches!(desk.agents.create("", "olga").await, Err(RegistryError::BadName { .. })));
    let twin = desk.agents.create("DemoBot", "olga").await.unwrap();
    assert_ne!(twin.id, desk.agent.id);
    assert_eq!(twin.id.len(), 36);
    assert!(!twin.id.contains("DemoBot"));
}
