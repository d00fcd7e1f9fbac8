//! The card that tells users that an agent changed.

use remit_manifest::diff::{Change, Changes};
use serde_json::{Value, json};

use super::record::Agent;

/// How many changes a card tells; the review has them all.
const MOST_TOLD: usize = 20;

/// Tells whether users must look at a difference.
pub(super) fn matters(changes: &Changes) -> bool {
    !changes.breaking.is_empty() || !changes.consent.is_empty()
}

/// Makes the card for users who accepted a version. Without changes it says only that there are some.
pub(super) fn card(agent: &Agent, accepted: u64, version: u64, changes: Option<&Changes>) -> Value {
    let mut card = json!({
        "kind": "review",
        "title": {
            "en": "What this agent can do has changed: please review its permissions",
            "zh": "Agent 能力变更,请重新审阅权限",
        },
        "agent_id": agent.id,
        "agent_name": agent.name,
        "accepted_version": accepted,
        "version": version,
    });
    if let (Some(changes), Some(fields)) = (changes, card.as_object_mut()) {
        let is_new = |change: &&Change| !changes.breaking.contains(change);
        let all = changes.breaking.iter().chain(changes.consent.iter().filter(is_new));
        let told: Vec<Value> = all
            .take(MOST_TOLD)
            .map(|change| json!({"rule": change.rule, "message": change.message}))
            .collect();
        fields.insert("breaking".to_owned(), changes.breaking.len().into());
        fields.insert("consent".to_owned(), changes.consent.len().into());
        fields.insert("changes".to_owned(), told.into());
    }
    card
}
