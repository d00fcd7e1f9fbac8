//! What is written down, and what can be asked of it.

use std::sync::Arc;

use remit_model::{Call, CallId, CallKey, Denial, Grant, Instant, Outcome, Sensitivity, ThreadId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Is what is recorded before a call runs, or in place of running it.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// The call.
    pub call: Arc<Call>,
    /// The declaration it was judged by; none if nothing was found.
    pub basis: Option<Basis>,
    /// What decided.
    pub rule: String,
    /// What happens next.
    pub next: Next,
    /// When.
    pub at: Instant,
}

/// Is the declaration a call was judged by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The tool, skill or agent.
    pub source: String,
    /// The hash of its declaration.
    pub manifest_hash: String,
    /// The permission needed.
    pub scope: String,
    /// How much care that takes.
    pub sensitivity: Sensitivity,
    /// Whether the work is confined; false is said in every line about the call.
    pub confined: bool,
}

/// Says what happens after the intent.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It runs.
    Run,
    /// A person is asked.
    Ask {
        /// Why.
        why: String,
    },
    /// It is refused.
    Refuse(Outcome),
}

/// Is what came of recording an intent.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// It is new.
    Fresh,
    /// The same caller used this id before.
    Known(Box<CallRecord>),
}

/// Is a person's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The call.
    pub key: CallKey,
    /// Nothing if they said yes.
    pub denial: Option<Denial>,
    /// When.
    pub at: Instant,
    /// Who answered.
    pub by: Option<String>,
    /// The grant that was given with the yes.
    pub grant: Option<Grant>,
}

/// Is how a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The call.
    pub key: CallKey,
    /// How.
    pub outcome: Outcome,
    /// When.
    pub at: Instant,
    /// How long the work took.
    pub duration_ms: u64,
    /// A grant whose use is to be written down.
    pub grant: Option<Grant>,
}

/// Says how far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// A person is being asked.
    Asking,
    /// It runs.
    Running,
    /// It ended.
    Ended(Outcome),
}

impl CallState {
    /// Gives the word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Running => "running",
            Self::Ended(outcome) => outcome.status(),
        }
    }
}

/// Is how far the work says it has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// From 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Is what is known of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// The call.
    pub call: Call,
    /// What it was judged by.
    pub basis: Option<Basis>,
    /// What decided.
    pub rule: String,
    /// How far it has come.
    pub state: CallState,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: i64,
    /// How long the work took, once it ended.
    pub duration_ms: Option<u64>,
    /// What it said of its progress last.
    pub progress: Option<Progress>,
}

/// Asks for calls. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct CallQuery {
    /// Only of this user.
    pub user: Option<String>,
    /// Only in this thread.
    pub thread: Option<ThreadId>,
    /// Only of this capability.
    pub capability: Option<String>,
    /// Only in this state.
    pub state: Option<String>,
    /// Only calls with this id, of different callers.
    pub id: Option<CallId>,
    /// Only calls whose id starts so.
    pub id_start: Option<String>,
    /// At most so many; none means all.
    pub limit: Option<usize>,
}

/// Asks for the events of a thread.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// The thread.
    pub thread: ThreadId,
    /// Only those behind this number.
    pub after: u64,
    /// At most so many; none means all.
    pub limit: Option<usize>,
}

/// Is the end of a thread's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadHead {
    /// The thread.
    pub thread: ThreadId,
    /// How many events it has.
    pub events: u64,
    /// The hash of the last.
    pub hash: String,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Is a manifest that may be a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// The tool, skill or agent.
    pub source: String,
    /// The canonical form.
    pub canonical: String,
    /// Its hash.
    pub hash: String,
    /// When.
    pub at: Instant,
}

/// Is what came of keeping a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its number, from 1.
    pub version: u64,
    /// Whether it differs from the one before.
    pub changed: bool,
}

/// Is a version that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number, from 1.
    pub version: u64,
    /// The hash of the canonical form.
    pub hash: String,
    /// The canonical form.
    pub canonical: String,
    /// When it was kept, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Is a step of a run: a turn of a conversation, in which something answers.
#[derive(Clone, Debug, PartialEq)]
pub struct RunNote {
    /// The thread.
    pub thread: ThreadId,
    /// The run's id, as whoever started it named it.
    pub run: String,
    /// What happened.
    pub step: RunStep,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Says what happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum RunStep {
    /// It began.
    Started,
    /// It ended well.
    Succeeded,
    /// It waits for answers; another run goes on from there.
    Interrupted {
        /// What it waits for.
        interrupts: Vec<Interrupt>,
    },
    /// It could not go on.
    Failed {
        /// For programs.
        code: String,
        /// For people.
        message: String,
    },
}

/// Is a question that a run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The question's id.
    pub id: String,
    /// The call that waits.
    pub call_id: CallId,
    /// What is asked, in words.
    pub message: String,
}

/// Is something said in a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The thread.
    pub thread: ThreadId,
    /// `user`, `assistant`, `tool` or `system`.
    pub role: String,
    /// What was said; always a text.
    pub content: String,
    /// What belongs to it.
    pub metadata: Value,
    /// The call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}
