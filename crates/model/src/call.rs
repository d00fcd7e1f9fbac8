//! A call: who wants what, and what came of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Is how long an id may be.
const LONGEST_ID: usize = 128;

fn is_id(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(allowed)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        // Shared: an id goes wherever its call goes.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes an id of 1 to 128 letters, digits, `-`, `_`, `.` and `:`.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                is_id(text).then(|| Self(text.into()))
            }

            /// Gives it as it was written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom(
                    "an id is 1 to 128 letters, digits, `-`, `_`, `.` and `:`",
                ))
            }
        }
    };
}

id! {
    /// Names one call of a caller. The same caller with the same id gets the first outcome again.
    CallId
}
id! {
    /// Names a conversation: messages, runs and calls in order.
    ThreadId
}

/// Says on whose behalf a call is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Caller {
    /// The person.
    pub user: String,
    /// The agent that acts for them, if it is not they themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The device they are at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Caller {
    /// Makes a person who acts without an agent.
    #[must_use]
    pub fn person(user: &str) -> Self {
        Self { user: user.to_owned(), agent: None, device: None }
    }
}

/// Tells a call from all others: ids are the caller's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallKey {
    /// The person.
    pub user: String,
    /// The agent, empty for the person themselves.
    pub agent: String,
    /// The call's id.
    pub id: CallId,
}

/// Is one attempt to use a capability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Who makes it.
    pub caller: Caller,
    /// The conversation it belongs to.
    pub thread: ThreadId,
    /// Whether that conversation has more than two sides.
    #[serde(default)]
    pub group: bool,
    /// The qualified name of what is called.
    pub capability: String,
    /// What it is given.
    pub input: Value,
    /// A shorter timeout than the capability's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl Call {
    /// Gives what tells it from all other calls.
    #[must_use]
    pub fn key(&self) -> CallKey {
        CallKey {
            user: self.caller.user.clone(),
            agent: self.caller.agent.clone().unwrap_or_default(),
            id: self.id.clone(),
        }
    }
}

/// Is what a capability gave back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The result.
    pub result: Value,
    /// A sentence for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Binary data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Says why a person's permission was missing: S0's closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denial {
    /// They said no.
    UserRejected,
    /// They did not answer in time.
    UserTimeout,
    /// Tools do not run in group conversations.
    ToolNotSupportedInGroup,
    /// They took the permission back.
    PermissionRevoked,
}

impl Denial {
    /// Gives the word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserRejected => "user_rejected",
            Self::UserTimeout => "user_timeout",
            Self::ToolNotSupportedInGroup => "tool_not_supported_in_group",
            Self::PermissionRevoked => "permission_revoked",
        }
    }
}

/// Is what went wrong, for a model that can correct itself and a person who reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Upper-case words joined by `_`: Remit's own or the tool's.
    pub code: String,
    /// What happened and what to do.
    pub message: String,
    /// What a program can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Failure {
    /// Makes one without details.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: None }
    }

    /// Adds what a program can use.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// Is how a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it should.
    Succeeded(Answer),
    /// It did part of it; the message says what is missing.
    Partial(Answer),
    /// A person's permission was missing.
    Denied {
        /// Why.
        reason: Denial,
    },
    /// It was refused by Remit, or went wrong.
    Failed(Failure),
    /// It took too long and was stopped.
    TimedOut {
        /// After how long.
        after_ms: u64,
    },
    /// It was called off.
    Cancelled {
        /// By what.
        message: String,
    },
    /// Remit stopped while it ran: nobody knows. It is not run again by itself.
    OutcomeUnknown,
}

impl Outcome {
    /// Gives the word for how it ended.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self {
            Self::Succeeded(_) => "succeeded",
            Self::Partial(_) => "partial",
            Self::Denied { .. } => "denied",
            Self::Failed(_) => "failed",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled { .. } => "cancelled",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// Tells whether the caller got something to use.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Succeeded(_) | Self::Partial(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_ends_at_128_characters_and_holds_no_others() {
        assert!(CallId::parse(&"a".repeat(128)).is_some());
        assert!(CallId::parse(&"a".repeat(129)).is_none());
        for bad in ["", "a b", "a/b", "a\n", "é", "a\u{202e}"] {
            assert!(CallId::parse(bad).is_none(), "{bad:?}");
        }
        assert!(serde_json::from_str::<ThreadId>("\"a b\"").is_err());
    }

    #[test]
    fn an_outcome_survives_json() {
        for outcome in [
            Outcome::Succeeded(Answer { result: serde_json::json!([1]), ..Answer::default() }),
            Outcome::Denied { reason: Denial::UserTimeout },
            Outcome::Failed(Failure::new("NOT_FOUND", "there is none")),
            Outcome::TimedOut { after_ms: 5 },
            Outcome::OutcomeUnknown,
        ] {
            let text = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
            assert!(text.contains(outcome.status()), "{text}");
        }
    }
}
