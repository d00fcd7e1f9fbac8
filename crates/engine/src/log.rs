//! What the log says: the one place that words the events of a record, so that every store keeps the
//! same log. A call can be read back from its events; nothing of it is written twice.

use std::borrow::Cow;

use remit_model::event::Draft;
use remit_model::{
    Call, CallId, CallKey, Caller, Denial, EventKind, Grant, Instant, Outcome, Permit, Sensitivity,
    ThreadId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{Answered, Basis, Ending, Intent, Message, Next, RunNote, RunStep};

/// Is what the first event of a call says: its intent, a question about it, or its refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning<'a> {
    /// The qualified name of what is called.
    pub capability: Cow<'a, str>,
    /// Who makes the call.
    pub caller: Cow<'a, Caller>,
    /// Whether the conversation has more than two sides.
    #[serde(default, skip_serializing_if = "is_false")]
    pub group: bool,
    /// What it is given.
    pub input: Cow<'a, Value>,
    /// A shorter timeout than the capability's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What decided.
    pub rule: Cow<'a, str>,
    /// The declaration it was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Cow<'a, Basis>>,
    /// Why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Cow<'a, str>>,
    /// The refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'a, Outcome>>,
}

/// Is what the last event of a call says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conclusion<'a> {
    /// How it ended.
    pub outcome: Cow<'a, Outcome>,
    /// How long the work took.
    #[serde(default)]
    pub duration_ms: u64,
}

/// Is what the event of a message says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saying<'a> {
    /// `user`, `assistant`, `tool` or `system`.
    pub role: Cow<'a, str>,
    /// What was said.
    pub content: Cow<'a, str>,
    /// What belongs to it.
    pub metadata: Cow<'a, Value>,
}

#[derive(Serialize)]
struct Reply<'a> {
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Denial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

/// Is what the events of a run say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn<'a> {
    /// The run's id.
    pub run: Cow<'a, str>,
    /// What happened.
    #[serde(flatten)]
    pub step: Cow<'a, RunStep>,
}

#[derive(Serialize)]
struct Wish<'a> {
    by: &'a str,
}

#[derive(Serialize)]
struct Permission<'a> {
    user: &'a str,
    agent: &'a str,
    source: &'a str,
    scope: &'a str,
    device: &'a str,
    sensitivity: Sensitivity,
    manifest_hash: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

fn draft<T: Serialize>(at_ms: i64, kind: EventKind, call: Option<&CallId>, says: &T) -> Draft {
    // Room for most, at once.
    let mut body = Vec::with_capacity(512);
    serde_json::to_writer(&mut body, says).expect("texts, numbers and JSON values can be written");
    let body = String::from_utf8(body).expect("JSON is text");
    Draft { at_ms, kind, call: call.cloned(), body }
}

impl Intent {
    /// Gives the event that tells it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let (kind, why, outcome) = match &self.next {
            Next::Run => (EventKind::Intent, None, None),
            Next::Ask { why } => (EventKind::Asked, Some(why), None),
            Next::Refuse(outcome) => (EventKind::Outcome, None, Some(outcome)),
        };
        let call = &self.call;
        let says = Beginning {
            capability: Cow::Borrowed(&call.capability),
            caller: Cow::Borrowed(&call.caller),
            group: call.group,
            input: Cow::Borrowed(&call.input),
            timeout_ms: call.timeout_ms,
            rule: Cow::Borrowed(&self.rule),
            basis: self.basis.as_ref().map(Cow::Borrowed),
            why: why.map(|why| Cow::Borrowed(why.as_str())),
            outcome: outcome.map(Cow::Borrowed),
        };
        draft(self.at.wall_ms, kind, Some(&call.id), &says)
    }
}

impl Beginning<'_> {
    /// Gives the call it tells of, what it was judged by, and what decided.
    #[must_use]
    pub fn into_parts(self, id: CallId, thread: ThreadId) -> (Call, Option<Basis>, String) {
        let call = Call {
            id,
            caller: self.caller.into_owned(),
            thread,
            group: self.group,
            capability: self.capability.into_owned(),
            input: self.input.into_owned(),
            timeout_ms: self.timeout_ms,
        };
        (call, self.basis.map(Cow::into_owned), self.rule.into_owned())
    }
}

impl Answered {
    /// Gives the event that tells it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let answer = if self.denial.is_none() { "yes" } else { "no" };
        let says = Reply { answer, reason: self.denial, by: self.by.as_deref() };
        draft(self.at.wall_ms, EventKind::Answered, Some(&self.key.id), &says)
    }
}

impl Ending {
    /// Gives the event that tells it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let says =
            Conclusion { outcome: Cow::Borrowed(&self.outcome), duration_ms: self.duration_ms };
        draft(self.at.wall_ms, EventKind::Outcome, Some(&self.key.id), &says)
    }
}

/// Gives the event that tells that somebody wants a call stopped.
#[must_use]
pub fn stop_asked(key: &CallKey, by: &str, at: &Instant) -> Draft {
    draft(at.wall_ms, EventKind::StopAsked, Some(&key.id), &Wish { by })
}

/// Gives the end of a call about which a person was asked by a process that is gone.
#[must_use]
pub fn never_answered() -> Outcome {
    let message = "Remit stopped before anybody answered".to_owned();
    Outcome::Cancelled { message }
}

impl RunNote {
    /// Gives the event that tells it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let kind = match &self.step {
            RunStep::Started => EventKind::RunStarted,
            RunStep::Succeeded | RunStep::Interrupted { .. } | RunStep::Failed { .. } => {
                EventKind::RunFinished
            }
        };
        let says = Turn { run: Cow::Borrowed(&self.run), step: Cow::Borrowed(&self.step) };
        draft(self.at_ms, kind, None, &says)
    }
}

impl Message {
    /// Gives the event that tells it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let says = Saying {
            role: Cow::Borrowed(&self.role),
            content: Cow::Borrowed(&self.content),
            metadata: Cow::Borrowed(&self.metadata),
        };
        draft(self.at_ms, EventKind::Message, self.call.as_ref(), &says)
    }
}

/// Gives the event that tells that a grant was given, with a call or by itself.
#[must_use]
pub fn given(grant: &Grant, call: Option<&CallId>) -> Draft {
    draft(grant.used.wall_ms, EventKind::GrantGiven, call, &permission(grant))
}

/// Gives the event that tells that a grant was taken back.
#[must_use]
pub fn revoked(grant: &Grant, at: &Instant) -> Draft {
    draft(at.wall_ms, EventKind::GrantRevoked, None, &permission(grant))
}

/// Gives the event that tells that what was taken back may be asked for again.
#[must_use]
pub fn lifted(permit: &Permit, at: &Instant) -> Draft {
    draft(at.wall_ms, EventKind::GrantLifted, None, permit)
}

/// Gives the thread of what is decided about permissions outside of any conversation.
#[must_use]
pub fn permissions() -> ThreadId {
    ThreadId::parse("permissions").expect("the word is an id")
}

fn permission(grant: &Grant) -> Permission<'_> {
    Permission {
        user: &grant.user,
        agent: &grant.agent,
        source: &grant.source,
        scope: &grant.scope,
        device: &grant.device,
        sensitivity: grant.sensitivity,
        manifest_hash: &grant.manifest_hash,
    }
}
