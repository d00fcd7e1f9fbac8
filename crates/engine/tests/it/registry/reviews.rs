//! What users see, add, are told of, review and remove.

use remit_engine::registry::{DisclosedTool, RegistryError};
use remit_model::{Grant, Instant, Sensitivity};
use serde_json::json;

use super::{Desk, changed, desk, manifest, scope, tool, without_read};

#[tokio::test]
async fn a_disclosure_shows_all_that_is_asked_for_the_gravest_first() {
    let desk = desk(&[manifest()]).await;
    let shown = desk.agents.disclosure(&desk.agent.id).await.unwrap();
    assert_eq!((shown.version, shown.agent_name.as_str()), (1, "DemoBot"));
    let scopes: Vec<_> =
        shown.scopes.iter().map(|s| (s.id.as_str(), s.sensitivity, s.is_silent)).collect();
    let want = [
        ("demo:wipe", Sensitivity::High, false),
        ("demo:read", Sensitivity::Medium, false),
        ("demo:ping", Sensitivity::Low, true),
    ];
    assert_eq!(scopes, want);
    let ping = DisclosedTool { name: "ping".into(), description_i18n_key: "ping.text".into() };
    assert_eq!(shown.scopes[2].tools, [ping]);
}

#[tokio::test]
async fn only_what_was_seen_is_added_and_accepted() {
    let desk = desk(&[manifest()]).await;
    let id = &desk.agent.id;
    desk.publish(&without_read()).await.unwrap();
    let stale = desk.agents.add("ann", id, 1).await;
    assert_eq!(stale, Err(RegistryError::Conflict { current: 2 }));
    assert_eq!(desk.agents.review("ann", id).await.err(), Some(RegistryError::NotAdded));
    assert_eq!(desk.agents.accept("ann", id, 2).await, Err(RegistryError::NotAdded));
    assert_eq!(desk.agents.remove("ann", id).await, Err(RegistryError::NotAdded));
    assert_eq!(desk.add("ann").await, 2);
    desk.publish(&manifest()).await.unwrap();
    let stale = desk.agents.accept("ann", id, 2).await;
    assert_eq!(stale, Err(RegistryError::Conflict { current: 3 }));
    assert_eq!(desk.agents.accept("ann", id, 3).await.unwrap().accepted_version, 3);
}

#[tokio::test]
async fn what_changed_is_held_until_it_is_accepted_and_the_rest_goes_on() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    assert!(desk.held("ann").await.is_empty());
    let next = changed(|m| {
        m["tools"][1]["input_schema"]["properties"]["more"] = json!({"type": "string"});
        m["tools"].as_array_mut().unwrap().push(tool("peek", "demo:ping"));
        m["agent_version"] = json!("2.0.0");
    });
    desk.publish(&next).await.unwrap();
    assert_eq!(desk.held("ann").await, ["peek", "read"]);
    let review = desk.agents.review("ann", &desk.agent.id).await.unwrap();
    assert_eq!((review.relation.accepted_version, review.agent.version), (1, 2));
    assert_eq!(review.changes.breaking[0].rule, "input-schema-changed");
    assert!(review.changes.breaking[0].witness.is_some());
    assert_eq!(review.held.why("read").unwrap()[0].rule, "input-schema-changed");
    assert_eq!(desk.unread("ann").await.len(), 1);
    desk.accept("ann").await;
    assert!(desk.held("ann").await.is_empty());
    assert!(desk.unread("ann").await.is_empty());
}

#[tokio::test]
async fn taking_away_and_bringing_back_gains_nothing() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    desk.publish(&without_read()).await.unwrap();
    // Between these two versions it looks like something new that nobody has granted.
    let back = changed(|m| m["tools"][1]["input_schema"]["properties"]["x"] = json!({}));
    let step = desk.publish(&back).await.unwrap();
    assert!(!step.changes.is_breaking() && !step.changes.asks_consent(), "{step:?}");
    assert_eq!(desk.held("ann").await, ["read"]);
    let told = desk.unread("ann").await;
    assert_eq!(told.len(), 1, "one card, not one for each version");
    let rules: Vec<_> = told[0].body["changes"].as_array().unwrap().clone();
    assert_eq!(rules[0]["rule"], "input-schema-changed");
    // And lowered on the way back.
    let lowered = changed(|m| m["permission_scopes"][1]["sensitivity"] = json!("low"));
    desk.publish(&without_read()).await.unwrap();
    desk.publish(&lowered).await.unwrap();
    assert_eq!(desk.held("ann").await, ["read"]);
    // As it was, there is nothing left to look at.
    desk.publish(&manifest()).await.unwrap();
    assert!(desk.held("ann").await.is_empty());
    assert!(desk.unread("ann").await.is_empty());
}

#[tokio::test]
async fn each_user_is_told_what_changed_since_they_accepted() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    let scoped = changed(|m| {
        m["permission_scopes"].as_array_mut().unwrap().push(scope("demo:new", "medium"));
        m["tools"].as_array_mut().unwrap().push(tool("fresh", "demo:new"));
    });
    desk.publish(&scoped).await.unwrap();
    assert!(desk.unread("ann").await.is_empty(), "what is new and ungranted needs no review");
    desk.add("bob").await;
    desk.publish(&manifest()).await.unwrap();
    assert!(desk.unread("ann").await.is_empty(), "for her nothing changed");
    let told = desk.unread("bob").await;
    assert_eq!(told.len(), 1);
    let card = &told[0].body;
    assert_eq!((&card["accepted_version"], &card["version"]), (&json!(2), &json!(3)));
    assert_eq!((&card["agent_name"], &card["breaking"]), (&json!("DemoBot"), &json!(2)));
    assert_eq!(card["title"]["zh"], "Agent 能力变更,请重新审阅权限");
    // The same content again tells nobody anything, and takes nothing back.
    desk.publish(&manifest()).await.unwrap();
    assert_eq!(desk.unread("bob").await, told);
    desk.agents.remove("bob", &desk.agent.id).await.unwrap();
    assert!(desk.unread("bob").await.is_empty());
}

#[tokio::test]
async fn whoever_accepted_long_ago_is_told_to_look_all_the_same() {
    let desk = desk(&[]).await;
    for n in 0..12 {
        let version = changed(|m| m["agent_version"] = json!(format!("{n}.0.0")));
        desk.publish(&version).await.unwrap();
        desk.add(&format!("user {n}")).await;
    }
    desk.publish(&without_read()).await.unwrap();
    for n in 0..12 {
        let told = desk.unread(&format!("user {n}")).await;
        assert_eq!(told.len(), 1, "{n}");
        assert_eq!(told[0].body["accepted_version"], json!(n + 1));
        assert_eq!(told[0].body.get("changes").is_some(), n >= 3, "{n}");
    }
}

fn grant(desk: &Desk, scope: &str, revoked: bool) -> Grant {
    Grant {
        user: "ann".to_owned(),
        agent: desk.agent.id.clone(),
        source: desk.agent.id.clone(),
        scope: scope.to_owned(),
        sensitivity: Sensitivity::Medium,
        manifest_hash: "h".to_owned(),
        device: "laptop".to_owned(),
        thread: "t".to_owned(),
        used: Instant { wall_ms: 1, boot_ms: 1, boot: "boot".to_owned() },
        revoked,
    }
}

#[tokio::test]
async fn removing_takes_back_what_was_granted_and_adding_again_begins_anew() {
    let desk = desk(&[manifest()]).await;
    let id = desk.agent.id.clone();
    desk.add("ann").await;
    let other = Grant { source: "another".to_owned(), ..grant(&desk, "demo:read", false) };
    for given in [grant(&desk, "demo:read", false), grant(&desk, "demo:ping", true), other.clone()]
    {
        desk.store.give(given).await.unwrap();
    }
    desk.clock.pass(1_000);
    let ended = desk.agents.remove("ann", &id).await.unwrap();
    assert!(!ended.stands());
    let granted = desk.store.granted_by("ann").await.unwrap();
    assert!(granted.iter().all(|grant| grant.revoked == (grant.source == id)), "{granted:?}");
    assert_eq!(desk.agents.review("ann", &id).await.err(), Some(RegistryError::NotAdded));
    let first = desk.agents.standing("ann", &id).await.unwrap().relation.unwrap();
    assert_eq!(first, ended);
    assert_eq!(desk.add("ann").await, 1);
    assert_eq!(
        desk.store.granted_by("ann").await.unwrap(),
        [other],
        "nothing stands, nothing bars"
    );
    desk.store.give(grant(&desk, "demo:read", false)).await.unwrap();
    desk.add("ann").await;
    assert_eq!(desk.store.granted_by("ann").await.unwrap().len(), 2, "adding twice is adding once");
}
