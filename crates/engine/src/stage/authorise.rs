//! Decides whether a call may run: a pure function of what is known. It does no I/O, and the same
//! code answers `remit explain`.

use remit_model::{Call, Denial, Failure, Grant, Instant, Outcome, Sensitivity};

use crate::catalog::Entry;
use crate::policy::Policy;
use crate::registry::Offer;

/// How long a medium permission stays without being used.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Is what a call is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The call.
    pub call: &'a Call,
    /// What is called.
    pub entry: &'a Entry,
    /// What the user has granted.
    pub grants: &'a [Grant],
    /// What the operator decided.
    pub policy: &'a Policy,
    /// The present moment.
    pub now: &'a Instant,
    /// Whether the work will be confined.
    pub confined: bool,
    /// What the agent offers whose tool is called.
    pub offer: Option<&'a Offer>,
}

/// Is the decision, and what made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Which rule decided, as `remit explain` names it.
    pub rule: &'static str,
    /// Why, for a person.
    pub because: String,
    /// What is to be done.
    pub verdict: Verdict,
}

/// Says what is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Run it; the grant that allows it, if one does.
    Allow {
        /// To be renewed by the use.
        by: Option<Grant>,
    },
    /// Ask.
    Ask,
    /// Refuse it.
    Refuse(Outcome),
}

/// Proves that a call may run. Only this module makes one: from a verdict that allows it, or from a
/// person's yes to a verdict that asks.
#[derive(Debug)]
pub(crate) struct Allowed(());

impl Decision {
    /// Gives the proof if the rules allow the call.
    pub(crate) fn allowed(&self) -> Option<Allowed> {
        matches!(self.verdict, Verdict::Allow { .. }).then_some(Allowed(()))
    }

    /// Gives the proof if a person was to be asked and said yes.
    pub(crate) fn approved(&self, yes: bool) -> Option<Allowed> {
        (yes && matches!(self.verdict, Verdict::Ask)).then_some(Allowed(()))
    }
}

/// Decides.
#[must_use]
pub fn authorise(facts: Facts<'_>) -> Decision {
    let Facts { call, entry, grants, policy, now, confined, offer } = facts;
    if call.group {
        return refuse(
            "group-conversation",
            "tools do not run in group conversations",
            Outcome::Denied { reason: Denial::ToolNotSupportedInGroup },
        );
    }
    if let Some(pattern) = policy.denied_by(&call.capability) {
        let because = format!("the operator denies `{}`", pattern.as_str());
        let failure = Failure::new("POLICY_DENIED", because.clone());
        return refuse("operator-denies", &because, Outcome::Failed(failure));
    }
    if let Some(decision) = offer.and_then(|offer| offer.refusal(&call.capability)) {
        return decision;
    }
    let ours = |grant: &&Grant| {
        grant.user == call.caller.user
            && grant.agent == call.caller.agent.as_deref().unwrap_or_default()
            && grant.source == entry.source.name
            && grant.scope == entry.scope
    };
    if grants.iter().filter(ours).any(|grant| grant.revoked) {
        return refuse(
            "permission-revoked",
            &format!("the permission `{}` was taken back", entry.scope),
            Outcome::Denied { reason: Denial::PermissionRevoked },
        );
    }
    match entry.sensitivity {
        Sensitivity::Low => Decision {
            rule: "low-is-silent",
            because: format!("`{}` takes little care", entry.scope),
            verdict: Verdict::Allow { by: None },
        },
        Sensitivity::Medium => {
            let standing = grants
                .iter()
                .filter(ours)
                .find(|grant| stands(grant, call, now, entry.sensitivity, &shown(entry, confined)));
            match standing {
                Some(grant) => Decision {
                    rule: "granted-within-a-day",
                    because: format!("`{}` was granted here and used within a day", entry.scope),
                    verdict: Verdict::Allow {
                        by: Some(Grant { used: now.clone(), ..grant.clone() }),
                    },
                },
                None => ask("medium-asks-once-a-day", entry),
            }
        }
        Sensitivity::High => ask("high-asks-every-time", entry),
    }
}

fn ask(rule: &'static str, entry: &Entry) -> Decision {
    let because = format!("`{}` takes {} care", entry.scope, word(entry.sensitivity));
    Decision { rule, because, verdict: Verdict::Ask }
}

fn word(sensitivity: Sensitivity) -> &'static str {
    match sensitivity {
        Sensitivity::Low => "little",
        Sensitivity::Medium => "some",
        Sensitivity::High => "great",
    }
}

fn refuse(rule: &'static str, because: &str, outcome: Outcome) -> Decision {
    Decision { rule, because: because.to_owned(), verdict: Verdict::Refuse(outcome) }
}

/// Tells whether a grant still holds: given for this declaration, at this device, in this
/// conversation, for no less care, and used within a day.
fn stands(
    grant: &Grant,
    call: &Call,
    now: &Instant,
    sensitivity: Sensitivity,
    shown: &str,
) -> bool {
    grant.manifest_hash == shown
        && grant.device == call.caller.device.as_deref().unwrap_or_default()
        && grant.thread == call.thread.as_str()
        && grant.sensitivity >= sensitivity
        && now.since(&grant.used).is_some_and(|elapsed| elapsed <= DAY_MS)
}

/// Names what a person agrees to: the declaration, and that nothing holds the work back. A yes to
/// confined work is none to the same work unconfined.
fn shown(entry: &Entry, confined: bool) -> String {
    let hash = &entry.source.hash;
    if confined { hash.clone() } else { format!("{hash} unconfined") }
}

/// Makes the grant that a yes to a medium question gives.
#[must_use]
pub(crate) fn granted(call: &Call, entry: &Entry, now: &Instant, confined: bool) -> Option<Grant> {
    (entry.sensitivity == Sensitivity::Medium).then(|| Grant {
        user: call.caller.user.clone(),
        agent: call.caller.agent.clone().unwrap_or_default(),
        source: entry.source.name.clone(),
        scope: entry.scope.clone(),
        sensitivity: entry.sensitivity,
        manifest_hash: shown(entry, confined),
        device: call.caller.device.clone().unwrap_or_default(),
        thread: call.thread.as_str().to_owned(),
        used: now.clone(),
        revoked: false,
    })
}
