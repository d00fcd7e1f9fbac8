//! Invitations: what a user may see and do of another's event.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::row::{Kind, Row};

/// Is what the invited answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing yet.
    Pending,
    /// Yes.
    Accepted,
    /// No.
    Rejected,
}

impl Status {
    /// Gives the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

/// Is what the invited may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// See the event.
    View,
    /// Change it as well, once accepted.
    Edit,
}

impl Permission {
    /// Gives the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Edit => "edit",
        }
    }
}

/// Is an invitation of one user to another's event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// Its id.
    pub id: String,
    /// The event.
    pub event: String,
    /// Whose event it is.
    pub from: String,
    /// Who is invited.
    pub to: String,
    /// What they may do.
    pub permission: Permission,
    /// What they answered.
    pub status: Status,
    /// When they were invited.
    pub created_at: Timestamp,
    /// When they answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
}

impl Invitation {
    /// Reads an invitation from its row.
    pub fn from_row(row: &Row) -> Result<Self, Failure> {
        serde_json::from_value(row.body.clone())
            .map_err(|_| Failure::new(Code::Internal, "a stored invitation cannot be read"))
    }

    /// Makes the row that keeps this invitation. It carries the times of the event, so that a range
    /// of a calendar is found without looking at every invitation there ever was.
    pub fn to_row(&self, event: &Event, revision: u64) -> Row {
        let (starts, ends) = crate::series::bounds(event);
        Row {
            owner: self.to.clone(),
            kind: Kind::Invitation,
            id: self.id.clone(),
            revision,
            link: Some(self.event.clone()),
            starts,
            ends,
            body: serde_json::to_value(self).unwrap_or_default(),
        }
    }

    /// Gives what results say of it.
    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "eventId": self.event,
            "from": self.from,
            "to": self.to,
            "permission": self.permission.name(),
            "status": self.status.name(),
        })
    }
}
