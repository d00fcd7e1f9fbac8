//! What the registry keeps.

use remit_manifest::dialect::capability::{LARGE_BYTES, MOST_BYTES};
use remit_manifest::diff::Changes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Is an agent that declares what it can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id, which says nothing about it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The user it belongs to.
    pub owner: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// The version of its manifest; 0 before the first.
    pub version: u64,
    /// The hash of that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The size of that version: as received or canonical, whichever is more.
    pub bytes: u64,
}

impl Agent {
    /// Gives what its author should know before the limit is reached.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let large = u64::try_from(LARGE_BYTES).unwrap_or(u64::MAX);
        (self.bytes >= large).then(|| {
            format!(
                "the manifest has {} of at most {MOST_BYTES} bytes: use fewer tools, each with a \
                 `oneOf` for its variants",
                self.bytes
            )
        })
    }
}

/// Is a version of an agent's manifest. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentVersion {
    /// The agent.
    pub agent: String,
    /// Its number, from 1.
    pub version: u64,
    /// The hash of the canonical form.
    pub hash: String,
    /// The canonical form.
    pub canonical: String,
    /// Its size: as received or canonical, whichever is more.
    pub bytes: u64,
    /// When it was published, in milliseconds since 1970.
    pub at_ms: i64,
    /// What changed since the version before it.
    pub changes: ChangeTexts,
}

/// Is a difference as it was told: each field is the JSON text of an array of changes. It is kept as
/// text so that whoever asks again reads the very answer that was given first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeTexts {
    /// What breaks callers or the user's trust.
    pub breaking: String,
    /// What does not.
    pub non_breaking: String,
    /// What a user must see before it takes effect.
    pub consent: String,
}

/// Is the text of an empty array.
const NONE: &str = "[]";

impl Default for ChangeTexts {
    fn default() -> Self {
        let none = || NONE.to_owned();
        Self { breaking: none(), non_breaking: none(), consent: none() }
    }
}

impl ChangeTexts {
    /// Writes a difference down.
    pub fn of(changes: &Changes) -> Result<Self, serde_json::Error> {
        Ok(Self {
            breaking: serde_json::to_string(&changes.breaking)?,
            non_breaking: serde_json::to_string(&changes.non_breaking)?,
            consent: serde_json::to_string(&changes.consent)?,
        })
    }

    /// Tells whether anything in it breaks.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.breaking != NONE
    }

    /// Tells whether a user must see anything in it.
    #[must_use]
    pub fn asks_consent(&self) -> bool {
        self.consent != NONE
    }
}

/// Is what a list of versions says of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionHead {
    /// Its number, from 1.
    pub version: u64,
    /// The hash of the canonical form.
    pub hash: String,
    /// Its size.
    pub bytes: u64,
    /// When it was published, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether anything in it broke the version before.
    pub is_breaking: bool,
    /// Whether users had to see anything in it.
    pub asks_consent: bool,
}

/// Says that a user has added an agent, and which version of it they have seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// The user.
    pub user: String,
    /// The agent.
    pub agent: String,
    /// The version they saw and accepted last.
    pub accepted_version: u64,
    /// When they added it, in milliseconds since 1970.
    pub added_at_ms: i64,
    /// When they removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
}

impl Relation {
    /// Tells whether the agent may still call anything.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.ended_at_ms.is_none()
    }
}

/// Says what a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// An agent changed; the user must look at it again.
    Review,
}

impl NoticeKind {
    /// Gives the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Review => "review",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        (word == Self::Review.as_str()).then_some(Self::Review)
    }
}

/// Is a card that a user gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Its number; later ones have larger numbers.
    pub id: u64,
    /// Whom it is for.
    pub user: String,
    /// The agent it is about.
    pub agent: String,
    /// What about.
    pub kind: NoticeKind,
    /// The card.
    pub body: Value,
    /// When it came, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether the user has seen it.
    pub read: bool,
}
