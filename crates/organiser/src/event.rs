//! An event as it is kept: one row, however often it happens.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::failure::{Code, Failure};
use crate::row::{Kind, Row};
use crate::rule::{Rule, parse};
use crate::series;
use crate::zone::Zone;

/// Is an event, or a series of them.
///
/// All times are what the clock shows in the event's zone. An event without a zone lasts whole days:
/// its times are midnights, and it is on that date wherever one is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The id of the row.
    pub id: String,
    /// The user whose event it is.
    pub owner: String,
    /// The id that other calendars know it by.
    pub uid: String,
    /// What it is.
    pub title: String,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// When it first begins.
    pub start: DateTime,
    /// The zone whose clock that is; none for whole days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Zone>,
    /// How long each occurrence lasts.
    pub seconds: i64,
    /// The rule it repeats by, in the words of RFC 5545.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Occurrences beside those of the rule (RDATE), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<DateTime>,
    /// Occurrences that do not happen (EXDATE), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<DateTime>,
    /// Occurrences that differ from the rest, in order of the times they stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
    /// The people an imported event names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attendees: Vec<Attendee>,
    /// Who an imported event says called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organizer: Option<String>,
    /// How often it was changed in a way that others should know.
    #[serde(default)]
    pub sequence: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Is one occurrence that differs from the rest (RECURRENCE-ID).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// The time it would have had.
    pub at: DateTime,
    /// The time it has.
    pub start: DateTime,
    /// How long it lasts.
    pub seconds: i64,
    /// Its own title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its own notes; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Its own location; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// Is a person an imported event names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attendee {
    /// Their address, as `mailto:…` or another URI.
    pub address: String,
    /// Their name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What they answered: `NEEDS-ACTION`, `ACCEPTED`, `DECLINED`, `TENTATIVE` or `DELEGATED`.
    pub answer: String,
}

impl Event {
    /// Tells whether it lasts whole days.
    pub fn is_all_day(&self) -> bool {
        self.zone.is_none()
    }

    /// Tells whether it happens more than once.
    pub fn repeats(&self) -> bool {
        self.rule.is_some() || !self.added.is_empty()
    }

    /// Gives the rule it repeats by. What was stored was read before, so a bad one is none.
    pub fn parsed_rule(&self) -> Option<Rule> {
        self.rule.as_deref().and_then(|text| parse(text).ok())
    }

    /// Gives the zone its times are read in: its own, or the reader's for whole days.
    pub fn clock<'a>(&'a self, reader: &'a Zone) -> &'a Zone {
        self.zone.as_ref().unwrap_or(reader)
    }

    /// Reads an event from its row.
    pub fn from_row(row: &Row) -> Result<Self, Failure> {
        serde_json::from_value(row.body.clone())
            .map_err(|_| Failure::new(Code::Internal, "a stored event cannot be read"))
    }

    /// Makes the row that keeps this event, with the columns it is found by.
    pub fn to_row(&self, revision: u64) -> Row {
        let (starts, ends) = series::bounds(self);
        Row {
            owner: self.owner.clone(),
            kind: Kind::Event,
            id: self.id.clone(),
            revision,
            link: Some(self.uid.clone()),
            starts,
            ends,
            body: serde_json::to_value(self).unwrap_or_default(),
        }
    }
}
