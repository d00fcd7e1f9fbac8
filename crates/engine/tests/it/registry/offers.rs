//! What the pipeline is told of an agent's tools.

use std::sync::Arc;

use remit_engine::policy::{CapabilityRule, Pattern, Policy};
use remit_engine::registry::{Offer, Offers as _};
use remit_engine::stage::authorise::Verdict;
use remit_model::{Binding, Caller, Denial, Outcome, Sensitivity};
use serde_json::json;

use super::{Desk, changed, desk, manifest, scope, tool, without_read};

impl Desk {
    fn name(&self, tool: &str) -> String {
        format!("{}/{tool}", self.agent.id)
    }

    fn caller(&self) -> Caller {
        Caller { agent: Some(self.agent.id.clone()), ..Caller::person("ann") }
    }

    async fn offer(&self, tool: &str) -> Option<Offer> {
        self.agents.offer(&self.caller(), &self.name(tool)).await.unwrap()
    }
}

#[tokio::test]
async fn tools_are_offered_to_the_person_and_the_agent_they_added() {
    let desk = desk(&[manifest()]).await;
    assert!(desk.offer("ping").await.is_none(), "nobody added it");
    assert!(desk.agents.offers(&desk.caller()).await.unwrap().is_empty());
    desk.add("ann").await;
    let offer = desk.offer("read").await.unwrap();
    let entry = offer.entry(&desk.name("read")).unwrap();
    assert_eq!(entry.capability.binding, Binding::Device);
    assert_eq!((&*entry.scope, entry.sensitivity), ("demo:read", Sensitivity::Medium));
    assert_eq!(entry.source.name, desk.agent.id);
    assert!(!entry.validator().unwrap().is_valid(&json!({"read": 1})));
    assert_eq!(offer.refusal(&desk.name("read")), None);
    assert!(offer.entry(&desk.name("other")).is_none());
    assert!(offer.entry("read").is_none());
    let names: Vec<_> = offer.view.entries().map(|e| e.capability.name.clone()).collect();
    assert_eq!(names, ["ping", "read", "wipe"].map(|tool| desk.name(tool)));
    let person = Caller::person("ann");
    assert!(desk.agents.offer(&person, &desk.name("ping")).await.unwrap().is_some());
    assert_eq!(desk.agents.offers(&person).await.unwrap().len(), 1);
    let robot = Caller { agent: Some("another".to_owned()), ..Caller::person("ann") };
    assert!(desk.agents.offer(&robot, &desk.name("ping")).await.unwrap().is_none());
    assert!(desk.agents.offers(&robot).await.unwrap().is_empty());
    let bob = Caller { user: "bob".to_owned(), ..desk.caller() };
    assert!(desk.agents.offer(&bob, &desk.name("ping")).await.unwrap().is_none());
    assert!(desk.agents.offer(&person, "file.read").await.unwrap().is_none());
}

#[tokio::test]
async fn what_changed_waits_for_a_review() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    let next = changed(|m| m["tools"][1]["description_i18n_key"] = json!("other"));
    desk.publish(&next).await.unwrap();
    let offer = desk.offer("read").await.unwrap();
    assert_eq!(offer.refusal(&desk.name("ping")), None, "what did not change goes on");
    let decision = offer.refusal(&desk.name("read")).unwrap();
    assert_eq!(decision.rule, "review-needed");
    let Verdict::Refuse(Outcome::Failed(failure)) = decision.verdict else { panic!("no failure") };
    assert_eq!(failure.code, "REVIEW_NEEDED", "a code of Remit's own, no fifth denied reason");
    let details = failure.details.unwrap();
    assert_eq!((&details["accepted_version"], &details["version"]), (&json!(1), &json!(2)));
    assert_eq!(details["changes"][0]["rule"], "consent-text-changed");
    desk.accept("ann").await;
    assert_eq!(desk.offer("read").await.unwrap().refusal(&desk.name("read")), None);
}

#[tokio::test]
async fn after_removal_everything_is_revoked() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    desk.agents.remove("ann", &desk.agent.id).await.unwrap();
    let offer = desk.offer("ping").await.unwrap();
    let decision = offer.refusal(&desk.name("ping")).unwrap();
    let denied = Outcome::Denied { reason: Denial::PermissionRevoked };
    assert_eq!(decision.verdict, Verdict::Refuse(denied));
    assert!(desk.agents.offers(&desk.caller()).await.unwrap().is_empty(), "it is not listed");
}

#[tokio::test]
async fn until_it_is_accepted_the_stricter_care_counts() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    let care = async |tool: &str| {
        desk.offer(tool).await.unwrap().entry(&desk.name(tool)).unwrap().sensitivity
    };
    // Lowered scope; a tool moved to a lower scope; a raised scope; a new tool under a lowered one.
    let next = changed(|m| {
        m["permission_scopes"][1]["sensitivity"] = json!("low");
        m["tools"][2]["permission_scope"] = json!("demo:ping");
        m["permission_scopes"][0]["sensitivity"] = json!("medium");
        m["tools"].as_array_mut().unwrap().push(tool("peek", "demo:read"));
    });
    desk.publish(&next).await.unwrap();
    assert_eq!(care("read").await, Sensitivity::Medium);
    assert_eq!(care("peek").await, Sensitivity::Medium);
    assert_eq!(care("wipe").await, Sensitivity::High);
    assert_eq!(care("ping").await, Sensitivity::Medium);
    let offer = desk.offer("ping").await.unwrap();
    for tool in ["read", "peek", "wipe", "ping"] {
        assert!(offer.refusal(&desk.name(tool)).is_some(), "{tool}");
    }
    desk.accept("ann").await;
    assert_eq!(care("read").await, Sensitivity::Low);
    assert_eq!(care("wipe").await, Sensitivity::Medium);
}

/// Tells whether a grant that was given with a declaration still speaks of the same one.
async fn stands(desk: &Desk, tool: &str, hash: &str) -> bool {
    let offer = desk.offer(tool).await.unwrap();
    offer.entry(&desk.name(tool)).unwrap().source.hash == hash
}

#[tokio::test]
async fn a_grant_lasts_as_long_as_what_was_shown_with_it() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    let shown = desk.offer("read").await.unwrap();
    let hash = shown.entry(&desk.name("read")).unwrap().source.hash.clone();
    assert!(stands(&desk, "read", &hash).await);
    // Something else changes.
    let next = changed(|m| {
        m["permission_scopes"].as_array_mut().unwrap().push(scope("demo:new", "medium"));
        m["tools"].as_array_mut().unwrap().push(tool("fresh", "demo:new"));
    });
    let second = desk.publish(&next).await.unwrap();
    assert!(stands(&desk, "read", &hash).await, "what did not change goes on working");
    // What is new is bound to the version it came with.
    assert!(stands(&desk, "fresh", &second.hash).await);
    assert!(!stands(&desk, "fresh", &hash).await);
    let relabelled = {
        let mut next = next;
        next["permission_scopes"][3]["label_i18n_key"] = json!("something else");
        next
    };
    desk.publish(&relabelled).await.unwrap();
    assert!(!stands(&desk, "fresh", &second.hash).await, "and asked for anew with the next");
    assert!(stands(&desk, "read", &hash).await);
    desk.accept("ann").await;
    assert!(!stands(&desk, "read", &hash).await, "another version is shown now");
}

#[tokio::test]
async fn the_operator_has_the_last_word_on_care() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    let care =
        async || desk.offer("ping").await.unwrap().entry(&desk.name("ping")).unwrap().sensitivity;
    assert_eq!(care().await, Sensitivity::Low);
    let policy = Policy {
        capabilities: vec![CapabilityRule {
            pattern: Pattern::new("*/ping"),
            scope: None,
            sensitivity: Some(Sensitivity::High),
        }],
        ..Policy::default()
    };
    desk.agents.under(Arc::new(policy));
    assert_eq!(care().await, Sensitivity::High);
}

#[tokio::test]
async fn a_tool_that_is_gone_is_not_offered() {
    let desk = desk(&[manifest()]).await;
    desk.add("ann").await;
    desk.publish(&without_read()).await.unwrap();
    let offer = desk.offer("read").await.unwrap();
    assert!(offer.entry(&desk.name("read")).is_none());
    assert_eq!(offer.refusal(&desk.name("ping")), None);
}
