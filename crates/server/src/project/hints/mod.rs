//! What there is to show of a call, without a language and without a form.

mod build;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::Status;
use super::words::Locale;

/// Is how many items are shown; that there are more is said.
pub const MOST_ITEMS: usize = 10;

/// Is what there is to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UiHints {
    /// The version of this form.
    pub version: u32,
    /// What was done, or tried.
    pub action: Shows,
    /// How it ended.
    pub status: Status,
    /// What it is about, in the user's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// What it consists of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// How many more items there are at least.
    #[serde(default)]
    pub more: usize,
    /// Whether it is a list, which can be empty.
    #[serde(default)]
    pub list: bool,
    /// What is asked of whoever looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asks>,
    /// The language, where it is that of a dialog and not that of whoever looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Locale>,
}

/// Is what a card asks of whoever looks. What they answer comes back with the card's own words for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Asks {
    /// For a manifest.
    Manifest {
        /// The agent it is for.
        agent_id: String,
    },
    /// Whether what is shown is to be done.
    Confirm {
        /// What is shown.
        preview: String,
    },
}

/// Names the actions that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shows {
    /// `calendar.read`
    #[serde(rename = "calendar.read")]
    CalendarRead,
    /// `calendar.create`
    #[serde(rename = "calendar.create")]
    CalendarCreate,
    /// `calendar.update`
    #[serde(rename = "calendar.update")]
    CalendarUpdate,
    /// `calendar.delete`
    #[serde(rename = "calendar.delete")]
    CalendarDelete,
    /// `calendar.share`
    #[serde(rename = "calendar.share")]
    CalendarShare,
    /// `calendar.accept_invite`
    #[serde(rename = "calendar.accept_invite")]
    CalendarAcceptInvite,
    /// `calendar.reject_invite`
    #[serde(rename = "calendar.reject_invite")]
    CalendarRejectInvite,
    /// `contacts.read`
    #[serde(rename = "contacts.read")]
    ContactsRead,
    /// `memory.update`
    #[serde(rename = "memory.update")]
    MemoryUpdate,
    // The system agent's own. Their names have no dot, so no module and method can be taken for them.
    /// A form for a manifest.
    #[serde(rename = "system:form")]
    SystemForm,
    /// What publishing a manifest would come to.
    #[serde(rename = "system:preview")]
    SystemPreview,
    /// A manifest that was published.
    #[serde(rename = "system:publish")]
    SystemPublish,
    /// The agents of a user.
    #[serde(rename = "system:agents")]
    SystemAgents,
    /// The versions of an agent.
    #[serde(rename = "system:versions")]
    SystemVersions,
}

/// Is one of several things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What it is called.
    pub title: String,
    /// What is known of it.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// Is something that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about.
    pub label: Label,
    /// What is known.
    pub value: Shown,
}

/// Names what facts are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it; the words for people are in one table")]
pub enum Label {
    When,
    Where,
    Repeats,
    Notes,
    Owner,
    Invitation,
    Permission,
    Outcome,
    Scope,
    Withdrawn,
    Warning,
    Email,
    Phone,
    Organisation,
    User,
    Facts,
    Message,
    Code,
    Id,
    Version,
    Hash,
    Size,
    Published,
    Kind,
    Change,
    Place,
    Advice,
}

/// Is a value before it has a language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shown {
    /// Words of a user or a program.
    Text {
        /// The words.
        text: String,
    },
    /// A word that there is a translation of.
    Word {
        /// The word, as results have it.
        word: String,
    },
    /// From one moment to another, as the clocks of a zone show them.
    Moments {
        /// RFC 3339 with the zone's offset.
        start: String,
        /// The same.
        end: String,
        /// The name of the zone.
        zone: String,
    },
    /// From one day to another, both included.
    Days {
        /// A date.
        start: String,
        /// A date.
        end: String,
    },
    /// A rule by RFC 5545.
    Rule {
        /// The rule.
        rule: String,
    },
    /// A place in a text.
    Place {
        /// From 1; none where the text is not at hand.
        line: Option<u32>,
        /// From 1.
        column: Option<u32>,
        /// A JSON pointer.
        pointer: String,
    },
    /// From one version to another.
    Step {
        /// The one before; 0 if there was none.
        from: u64,
        /// The one after.
        to: u64,
    },
    /// How many.
    Number {
        /// So many.
        number: u64,
    },
}

impl UiHints {
    /// Gives hints that show nothing but what was done.
    #[must_use]
    pub fn new(action: Shows, status: Status) -> Self {
        Self {
            version: 1,
            action,
            status,
            title: None,
            facts: Vec::new(),
            items: Vec::new(),
            more: 0,
            list: false,
            asks: None,
            lang: None,
        }
    }
}

/// Gives what there is to show of a call; nothing for calls that have no stable form.
#[must_use]
pub fn of(args: &Value, status: Status, result: &Value) -> Option<UiHints> {
    let part = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    let name = Value::String(format!("{}.{}", part("module"), part("method")));
    let action: Shows = serde_json::from_value(name).ok()?;
    Some(match status {
        Status::Failure => build::failure(action, result),
        Status::Success | Status::Partial => build::success(action, status, result.get("data")?),
    })
}
