//! Why the registry did not do what it was asked.

use remit_model::{Diagnostic, text};

use crate::ports::StoreError;

/// Says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// There is no such agent.
    UnknownAgent,
    /// The agent has no such version.
    UnknownVersion {
        /// The number that was asked for.
        version: u64,
    },
    /// The agent has published nothing yet.
    NothingPublished,
    /// The user has not added the agent.
    NotAdded,
    /// A name that an agent cannot have.
    BadName {
        /// What is wrong with it.
        message: String,
    },
    /// An idempotency key that is none.
    BadKey,
    /// An idempotency key that was used for another request.
    KeyTaken,
    /// The manifest is too large.
    TooLarge {
        /// How large it is: as received or canonical.
        bytes: usize,
        /// How large it may be.
        most: usize,
    },
    /// The manifest cannot be used.
    Invalid(Vec<Diagnostic>),
    /// The agent has another version than the one the request was made for.
    Conflict {
        /// The present one; 0 before the first.
        current: u64,
    },
    /// The registry could not be read or written.
    Store(StoreError),
}

impl RegistryError {
    /// Gives the code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent => "AGENT_NOT_FOUND",
            Self::UnknownVersion { .. } => "VERSION_NOT_FOUND",
            Self::NothingPublished => "NOTHING_PUBLISHED",
            Self::NotAdded => "AGENT_NOT_ADDED",
            Self::BadName { .. } => "BAD_NAME",
            Self::BadKey => "BAD_IDEMPOTENCY_KEY",
            Self::KeyTaken => "IDEMPOTENCY_KEY_REUSED",
            Self::TooLarge { .. } => "MANIFEST_TOO_LARGE",
            Self::Invalid(_) => "MANIFEST_INVALID",
            Self::Conflict { .. } => "VERSION_CONFLICT",
            Self::Store(_) => "STORE_FAILED",
        }
    }
}

impl std::fmt::Display for RegistryError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownAgent => out.write_str("there is no such agent: see the list of agents"),
            Self::UnknownVersion { version } => {
                write!(out, "the agent has no version {version}: see the list of its versions")
            }
            Self::NothingPublished => {
                out.write_str("the agent has published no manifest yet: try again when it has")
            }
            Self::NotAdded => out.write_str("this user has not added the agent: add it first"),
            Self::BadName { message } => out.write_str(message),
            Self::BadKey => out.write_str(
                "an idempotency key is 1 to 255 visible ASCII characters: send another one",
            ),
            Self::KeyTaken => out.write_str(
                "the idempotency key was used for another manifest: send a new key, or the same \
                 manifest",
            ),
            Self::TooLarge { bytes, most } => write!(
                out,
                "the manifest has {bytes} bytes, at most {most} are allowed: use fewer tools, each \
                 with a `oneOf` for its variants"
            ),
            Self::Invalid(diagnostics) => {
                let errors =
                    diagnostics.iter().filter(|d| d.severity == remit_model::Severity::Error);
                let mut errors = errors.peekable();
                let first =
                    errors.peek().map(|d| (text::visible(&d.message).into_owned(), d.position));
                match (first, errors.count()) {
                    (Some((message, at)), count) => write!(
                        out,
                        "the manifest has {count} errors, the first in line {}: {message}",
                        at.line
                    ),
                    (None, _) => out.write_str("the manifest cannot be used: see its diagnostics"),
                }
            }
            Self::Conflict { current } => write!(
                out,
                "the agent has version {current} by now: look at that one and try again"
            ),
            Self::Store(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for RegistryError {}

impl From<StoreError> for RegistryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
