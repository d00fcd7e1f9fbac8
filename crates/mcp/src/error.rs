//! What can go wrong with a server, each kind with words of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use remit_model::text::{quoted, visible};

/// How much of what a server wrote is shown in a message.
const SHOWN: usize = 300;

/// Says why a server did not give what was asked of it. Clones share what is large.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be started.
    NotStarted {
        /// Why, and what to do.
        why: String,
    },
    /// The server cannot be reached.
    Unreachable {
        /// Why.
        why: String,
    },
    /// The process or the connection ended.
    Ended {
        /// How.
        how: String,
        /// The last of what it wrote to standard error.
        said: Arc<str>,
    },
    /// It was not ready in time.
    NotReady {
        /// After how long.
        after: Duration,
        /// What it was waited for with.
        waiting_for: &'static str,
        /// The last of what it wrote to standard error.
        said: Arc<str>,
    },
    /// It failed before and is not started again yet.
    BackingOff {
        /// What went wrong.
        why: Arc<McpError>,
        /// When it is tried again, from now.
        again_in: Duration,
    },
    /// It was stopped, or never belonged to this set.
    Stopped,
    /// It wants to know who asks.
    Unauthorised {
        /// The status of HTTP.
        status: u16,
        /// What it says about how to prove that.
        challenge: Option<String>,
    },
    /// It answered with a status that says no, and not in the words of the protocol.
    Status {
        /// The status of HTTP.
        status: u16,
        /// How the answer starts.
        said: String,
    },
    /// The session is gone; nothing of the request was done.
    SessionGone,
    /// It speaks no revision that is spoken here.
    NoCommonRevision {
        /// Those it named.
        theirs: Vec<String>,
    },
    /// What it says is not the protocol.
    Nonsense {
        /// In words.
        why: String,
    },
    /// A message is larger than allowed.
    TooLarge {
        /// What.
        what: &'static str,
        /// The most it may have.
        most: usize,
    },
    /// It sends more than anybody asked for.
    Flood {
        /// How many at once are fine.
        most: u32,
    },
    /// It does not read what is sent to it, or too much is under way.
    Busy {
        /// In words.
        why: String,
    },
    /// It answered a request with an error.
    Refused {
        /// The code of JSON-RPC.
        code: i64,
        /// Its words.
        message: String,
        /// What else it said.
        data: Option<serde_json::Value>,
    },
    /// It asked something that nobody here can answer.
    InputRequired {
        /// What it asked for.
        methods: Vec<String>,
    },
    /// It did not answer in time; it was told to stop.
    TimedOut {
        /// After how long.
        after: Duration,
    },
    /// The caller called it off; the server was told.
    Cancelled,
}

impl McpError {
    pub(crate) fn nonsense(why: impl Into<String>) -> Self {
        Self::Nonsense { why: why.into() }
    }

    pub(crate) fn unreachable(why: impl fmt::Display) -> Self {
        Self::Unreachable { why: why.to_string() }
    }

    /// Adds what the process said, where there is a place for it.
    pub(crate) fn saying(self, words: &str) -> Self {
        match self {
            Self::Ended { how, .. } => Self::Ended { how, said: words.into() },
            Self::NotReady { after, waiting_for, .. } => {
                Self::NotReady { after, waiting_for, said: words.into() }
            }
            other => other,
        }
    }

    /// Gives the upper-case word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "SERVER_NOT_STARTED",
            Self::Unreachable { .. } | Self::BackingOff { .. } => "SERVER_UNREACHABLE",
            Self::Ended { .. } | Self::SessionGone => "SERVER_ENDED",
            Self::NotReady { .. } => "SERVER_NOT_READY",
            Self::Stopped => "SERVER_STOPPED",
            Self::Unauthorised { .. } => "SERVER_WANTS_AUTHORISATION",
            Self::NoCommonRevision { .. } | Self::Nonsense { .. } => "SERVER_SPEAKS_NONSENSE",
            Self::TooLarge { .. } => "RESULT_TOO_LARGE",
            Self::Flood { .. } => "SERVER_FLOODS",
            Self::Busy { .. } => "SERVER_BUSY",
            Self::Refused { .. } | Self::Status { .. } => "SERVER_REFUSED",
            Self::InputRequired { .. } => "INPUT_REQUIRED",
            Self::TimedOut { .. } => "TIMED_OUT",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// Gives the start of a text, fit to be shown.
pub(crate) fn start_of(text: &[u8]) -> String {
    let cut = text.get(..SHOWN);
    let mut shown = String::from_utf8_lossy(cut.unwrap_or(text)).into_owned();
    if cut.is_some() {
        shown.push('…');
    }
    quoted(shown.trim())
}

fn seconds(time: &Duration) -> String {
    if time.as_millis() < 10_000 {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs())
    }
}

fn say(out: &mut fmt::Formatter<'_>, said: &str) -> fmt::Result {
    if said.is_empty() { Ok(()) } else { write!(out, "; it said: {}", visible(said)) }
}

impl fmt::Display for McpError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { why } => write!(out, "the server cannot be started: {why}"),
            Self::Unreachable { why } => write!(out, "the server cannot be reached: {why}"),
            Self::Ended { how, said } => {
                write!(out, "the server ended ({how})")?;
                say(out, said)
            }
            Self::NotReady { after, waiting_for, said } => {
                let after = seconds(after);
                write!(out, "the server gave no answer to {waiting_for} within {after}")?;
                say(out, said)
            }
            Self::BackingOff { why, again_in } => {
                write!(out, "{why}; it is tried again in {}", seconds(again_in))
            }
            Self::Stopped => out.write_str("the server was stopped"),
            Self::Unauthorised { status, challenge } => {
                write!(out, "the server wants authorisation (status {status})")?;
                match challenge {
                    Some(challenge) => write!(out, ": {}", quoted(challenge)),
                    None => out.write_str("; give it the header it expects"),
                }
            }
            Self::Status { status, .. } if (300..400).contains(status) => write!(
                out,
                "the server answered with status {status}: it is somewhere else, and that is not followed; write the address it has now"
            ),
            Self::Status { status: 404, .. } => {
                out.write_str("there is no server at this address (status 404)")
            }
            Self::Status { status, said } => {
                write!(out, "the server answered with status {status}: {said}")
            }
            Self::SessionGone => out.write_str("the server has forgotten the session"),
            Self::NoCommonRevision { theirs } => {
                let theirs: Vec<_> = theirs.iter().take(8).map(|one| quoted(one)).collect();
                write!(
                    out,
                    "the server speaks no revision of the protocol that is spoken here, only {}",
                    if theirs.is_empty() { "unnamed ones".to_owned() } else { theirs.join(", ") }
                )
            }
            Self::Nonsense { why } => write!(out, "the server does not speak the protocol: {why}"),
            Self::TooLarge { what, most } => {
                write!(
                    out,
                    "the server sent {what} of more than {most} bytes, or of more entries; ask it for less, or raise the limit"
                )
            }
            Self::Flood { most } => write!(
                out,
                "the server sent more than {most} messages that nobody asked for, too fast; it was cut off"
            ),
            Self::Busy { why } => write!(out, "the server is busy: {why}"),
            Self::Refused { code, message, .. } => {
                write!(out, "the server refused ({code}): {}", visible(message))
            }
            Self::InputRequired { methods } => {
                let methods: Vec<_> = methods.iter().take(8).map(|one| quoted(one)).collect();
                write!(
                    out,
                    "the server asks for {} and nobody here can answer that",
                    methods.join(", ")
                )
            }
            Self::TimedOut { after } => {
                write!(out, "the server did not answer within {}", seconds(after))
            }
            Self::Cancelled => out.write_str("it was called off"),
        }
    }
}

impl std::error::Error for McpError {}
