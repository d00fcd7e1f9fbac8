//! The difference of two versions of a manifest, and whom it hurts.
//!
//! Each dialect has a file that walks both trees with the helpers of [`compare`]; every change it
//! reports names a rule of [`rules`]. What no rule covers falls to a general one, so that two
//! manifests with different hashes never compare as equal.

mod agent;
mod capability;
mod compare;
mod listing;
mod matching;
mod mcp_tools;
mod redact;
pub mod rules;
mod skill;
mod tool;

use remit_model::{Dialect, Node};
use serde::Serialize;
use serde_json::Value;

use crate::schema::witness::Budget;

pub(crate) use redact::is_secret_name;
pub use rules::{ChangeRule, Verdict};

/// Is one change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The stable id of the rule.
    pub rule: &'static str,
    /// Where: in the new version, or in the old one if it is gone, which is if there is something
    /// before and nothing after.
    pub pointer: String,
    /// What happened, for a person.
    pub message: String,
    /// The value before, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// An input that one version accepts and the other refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Value>,
}

/// Is the whole difference, by verdict. A consent change stands in `breaking` or `non_breaking`
/// as well: the second axis leaves the first alone.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Changes {
    /// What breaks callers or the user's trust.
    pub breaking: Vec<Change>,
    /// What does not.
    pub non_breaking: Vec<Change>,
    /// What a user must see before it takes effect.
    pub consent: Vec<Change>,
    /// What is left for looking for witnesses, which all schemas of the two versions share.
    #[serde(skip)]
    pub(crate) budget: Budget,
}

impl Changes {
    /// Files a change under its rule's verdict.
    pub(crate) fn add(&mut self, rule: &'static ChangeRule, change: Change) {
        debug_assert_eq!(rule.id, change.rule);
        if rule.consent {
            self.consent.push(change.clone());
        }
        match rule.verdict {
            Verdict::Breaking => self.breaking.push(change),
            Verdict::NonBreaking => self.non_breaking.push(change),
        }
    }

    /// Tells whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.breaking.is_empty() && self.non_breaking.is_empty() && self.consent.is_empty()
    }
}

/// Compares two versions of a manifest. Both must have the shape of the dialect; what is missing or
/// of another type in one of them is reported as a change, never passed over.
#[must_use]
pub fn diff(dialect: Dialect, old: &Node, new: &Node) -> Changes {
    let mut changes = Changes::default();
    let unwrapped = |root| {
        if dialect == Dialect::McpTools { crate::dialect::mcp_tools::unwrapped(root) } else { root }
    };
    if unwrapped(old).same(unwrapped(new)) {
        return changes;
    }
    match dialect {
        Dialect::Capability => capability::diff(old, new, &mut changes),
        Dialect::Tool => tool::diff(old, new, &mut changes),
        Dialect::Skill => skill::diff(old, new, &mut changes),
        Dialect::Agent => agent::diff(old, new, &mut changes),
        Dialect::McpTools => mcp_tools::diff(old, new, &mut changes),
    }
    if changes.is_empty() {
        // No rule saw it, which must not mean that it did not happen.
        let rule = &rules::OTHER_CHANGE;
        changes.add(
            rule,
            Change {
                rule: rule.id,
                pointer: String::new(),
                message: "the manifest changed in a way that no rule describes".to_owned(),
                before: Some(old.to_json()),
                after: Some(new.to_json()),
                witness: None,
            },
        );
    }
    redact::secrets(&mut changes);
    changes
}
