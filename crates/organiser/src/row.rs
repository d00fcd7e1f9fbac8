//! How the organiser is kept: rows to load, rows to write, and the questions a store answers.
//!
//! A store ([`crate::port`]) needs one table (`owner`, `kind`, `id`, `revision`, `link`, `starts`, `ends`,
//! `body`) with the key (`owner`, `kind`, `id`) and indexes on (`kind`, `id`), (`kind`, `link`) and (`owner`,
//! `kind`, `ends`), and a count of what each user has.
//! A call is a pure function of what was loaded. When something is missing it says what, the store
//! answers, and the function runs again; at the end it gives the changes, which are written in one
//! transaction, each under the revision it was made for:
//!
//! ```text
//! loop { match execute(…, &loaded) {
//!     Step::Load(queries) => for each: loaded.answer(query, store.ask(query)),
//!     Step::Done(done)    => store.apply(done.changes), and begin again where a revision had moved on
//! } }
//! ```

use jiff::Timestamp;
use serde_json::Value;

use crate::failure::Failure;
use crate::limits::{CONTACTS, EVENTS, PENDING_INVITATIONS};

/// Is what a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An event, kept under the user whose it is; `link` is its UID.
    Event,
    /// An invitation, kept under the user who is invited; `link` is the id of the event.
    Invitation,
    /// A person, kept under the user who knows them; `link` is their user id, if they have one.
    Contact,
    /// All that is remembered of a user: one row.
    Memory,
}

impl Kind {
    /// Gives the name that a column holds.
    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Invitation => "invitation",
            Self::Contact => "contact",
            Self::Memory => "memory",
        }
    }

    /// Gives how many rows of this kind that count ([`Row::counts`]) a user may have.
    pub fn most(self) -> usize {
        match self {
            Self::Event => EVENTS,
            Self::Invitation => PENDING_INVITATIONS,
            Self::Contact => CONTACTS,
            Self::Memory => 1,
        }
    }
}

/// Is a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The user it belongs to.
    pub owner: String,
    /// What it is.
    pub kind: Kind,
    /// Which one.
    pub id: String,
    /// How often it was written; the first time is 1.
    pub revision: u64,
    /// What it is tied to.
    pub link: Option<String>,
    /// When it begins to matter; none for never.
    pub starts: Option<Timestamp>,
    /// When it has ceased to matter; none for never.
    pub ends: Option<Timestamp>,
    /// What it holds.
    pub body: Value,
}

impl Row {
    /// Tells whether it counts towards what its owner may have: of invitations, which others make,
    /// only those that were not answered do.
    pub fn counts(&self) -> bool {
        self.kind != Kind::Invitation
            || self.body.get("status").and_then(Value::as_str) == Some("pending")
    }
}

/// Is a change to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Write a new row; there must be none of its owner, kind and id.
    Create(Row),
    /// Write over the row whose revision is one less.
    Update(Row),
    /// Take away the row of this revision.
    Delete {
        /// The user it belongs to.
        owner: String,
        /// What it is.
        kind: Kind,
        /// Which one.
        id: String,
        /// The revision it must have.
        revision: u64,
    },
}

impl Change {
    /// Makes the change that takes a row away.
    pub fn delete(row: &Row) -> Self {
        Self::Delete {
            owner: row.owner.clone(),
            kind: row.kind,
            id: row.id.clone(),
            revision: row.revision,
        }
    }
}

/// Is a question to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// The rows with these ids, whoever owns them.
    Ids {
        /// What they are.
        kind: Kind,
        /// Which ones.
        ids: Vec<String>,
    },
    /// The rows tied to any of these, of one owner or of all.
    Links {
        /// Whose.
        owner: Option<String>,
        /// What they are.
        kind: Kind,
        /// What they are tied to.
        links: Vec<String>,
    },
    /// The rows of an owner with `starts < until` and (`ends` none or `ends >= from`), by `starts` and `id`.
    Between {
        /// Whose.
        owner: String,
        /// What they are.
        kind: Kind,
        /// From when.
        from: Timestamp,
        /// Until when.
        until: Timestamp,
        /// At most so many.
        limit: usize,
    },
    /// All rows of an owner, by `id`.
    Owned {
        /// Whose.
        owner: String,
        /// What they are.
        kind: Kind,
        /// At most so many.
        limit: usize,
    },
    /// Those of these ids that are users of this server.
    Users {
        /// Which ones.
        ids: Vec<String>,
    },
}

/// Is an answer of the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Rows.
    Rows(Vec<Row>),
    /// Ids of users.
    Users(Vec<String>),
}

/// Is all that was loaded for a call.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    answers: Vec<(Query, Answer)>,
}

impl Loaded {
    /// Adds the answer to a question.
    pub fn answer(&mut self, query: Query, answer: Answer) {
        self.answers.push((query, answer));
    }

    /// Stops the call unless all these questions were answered, so that they are asked together.
    pub(crate) fn need(&self, queries: &[Query]) -> Result<(), Stop> {
        let missing: Vec<Query> = queries
            .iter()
            .filter(|query| !self.answers.iter().any(|(asked, _)| asked == *query))
            .cloned()
            .collect();
        if missing.is_empty() { Ok(()) } else { Err(Stop::Load(missing)) }
    }

    /// Gives the rows that answer a question, or stops the call to have them loaded.
    pub(crate) fn rows(&self, query: Query) -> Result<&[Row], Stop> {
        match self.answers.iter().find(|(asked, _)| *asked == query) {
            Some((_, Answer::Rows(rows))) => Ok(rows),
            Some((_, Answer::Users(_))) => Ok(&[]),
            None => Err(Stop::Load(vec![query])),
        }
    }

    /// Gives the users that answer a question, or stops the call to have them loaded.
    pub(crate) fn users(&self, query: Query) -> Result<&[String], Stop> {
        match self.answers.iter().find(|(asked, _)| *asked == query) {
            Some((_, Answer::Users(users))) => Ok(users),
            Some((_, Answer::Rows(_))) => Ok(&[]),
            None => Err(Stop::Load(vec![query])),
        }
    }
}

/// Is why a call stopped before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Load(Vec<Query>),
    Fail(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}

/// Is what a call answers, and the changes that make it true.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The data of the result, or why there is none.
    pub outcome: Result<Value, Failure>,
    /// What is to be written; nothing after a failure.
    pub changes: Vec<Change>,
}

/// Is how far a call came.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// These questions must be answered first.
    Load(Vec<Query>),
    /// This is the end.
    Done(Done),
}

/// Is the success of a call.
#[derive(Debug)]
pub(crate) struct Success {
    pub data: Value,
    pub changes: Vec<Change>,
}

impl Success {
    pub(crate) fn read(data: Value) -> Self {
        Self { data, changes: Vec::new() }
    }
}

impl From<Result<Success, Stop>> for Step {
    fn from(result: Result<Success, Stop>) -> Self {
        match result {
            Ok(Success { data, changes }) => Self::Done(Done { outcome: Ok(data), changes }),
            Err(Stop::Load(queries)) => Self::Load(queries),
            Err(Stop::Fail(failure)) => {
                Self::Done(Done { outcome: Err(failure), changes: Vec::new() })
            }
        }
    }
}
