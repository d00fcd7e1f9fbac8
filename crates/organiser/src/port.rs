//! What the organiser asks of a store, and the loop that carries a call through.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::failure::{Code, Failure, shown};
use crate::row::{Answer, Change, Done, Kind, Loaded, Query, Step};

/// Is how often a call begins again because somebody else was faster. Each time somebody got through,
/// so it takes this many others on the same row at once to be refused.
pub const TRIES: usize = 64;

/// Is how often a call may ask for more before it is given up; no method asks more than five times.
const ROUNDS: usize = 8;

/// Is an answer that comes later.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Says why a store could not do what was asked; for the operator, not for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happened and what to do.
    pub message: String,
}

impl Trouble {
    /// Makes one.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Trouble {}

/// Says what became of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// They are written and would survive a crash.
    Written,
    /// Nothing was written: a row is not of the revision that they were made for.
    Moved,
    /// Nothing was written: somebody would have more than they may ([`Kind::most`]).
    Full {
        /// Who.
        owner: String,
        /// Of what.
        kind: Kind,
    },
}

/// Keeps the rows of calendars, contacts and memories.
pub trait Rows: Send + Sync {
    /// Answers questions, in their order, all as of one moment.
    fn ask(&self, queries: Vec<Query>) -> Pending<'_, Result<Vec<Answer>, Trouble>>;

    /// Writes changes: all of them, or none. No two may be about the same row.
    fn apply(&self, changes: Vec<Change>) -> Pending<'_, Result<Applied, Trouble>>;
}

/// Carries a call through: loads what it asks for, writes what it changes, and begins again where
/// somebody else was faster.
pub async fn drive(
    rows: &dyn Rows,
    run: impl Fn(&Loaded) -> Step,
) -> Result<Result<Value, Failure>, Trouble> {
    for _ in 0..TRIES {
        let done = load(rows, &run).await?;
        if done.changes.is_empty() {
            return Ok(done.outcome);
        }
        match rows.apply(done.changes).await? {
            Applied::Written => return Ok(done.outcome),
            Applied::Moved => {}
            Applied::Full { owner, kind } => return Ok(Err(full(&owner, kind))),
        }
    }
    Ok(Err(Failure::new(
        Code::Conflict,
        "too many others change the same thing right now; try again in a moment",
    )))
}

async fn load(rows: &dyn Rows, run: &impl Fn(&Loaded) -> Step) -> Result<Done, Trouble> {
    let mut loaded = Loaded::default();
    for _ in 0..ROUNDS {
        match run(&loaded) {
            Step::Done(done) => return Ok(done),
            Step::Load(queries) => {
                let answers = rows.ask(queries.clone()).await?;
                for (query, answer) in queries.into_iter().zip(answers) {
                    loaded.answer(query, answer);
                }
            }
        }
    }
    Err(Trouble::new("a method of the organiser never has enough: please report this"))
}

fn full(owner: &str, kind: Kind) -> Failure {
    let most = kind.most();
    let message = match kind {
        Kind::Event => format!("a calendar holds at most {most} events; delete some first"),
        Kind::Contact => format!("a user has at most {most} contacts; delete some first"),
        Kind::Invitation => format!(
            "`{}` has {most} invitations that wait for an answer; invite them later",
            shown(owner)
        ),
        Kind::Memory => "a user has one memory".to_owned(),
    };
    Failure::limit(message).with("most", most)
}
