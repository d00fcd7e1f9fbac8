//! What the registry asks of whoever keeps it.

use remit_model::Instant;

use super::record::{Agent, AgentVersion, ChangeTexts, Notice, Relation, VersionHead};
use crate::ports::{Pending, StoreError};

/// Keeps agents, their versions, and who has added them. Every function that changes something is one
/// step that is done whole or not at all, and returns only when it would survive a crash of the
/// machine.
pub trait Registry: Send + Sync {
    /// Adds an agent without a manifest. Tells whether its id was free.
    fn create(&self, agent: Agent) -> Pending<'_, Result<bool, StoreError>>;
    /// Finds an agent.
    fn agent(&self, id: &str) -> Pending<'_, Result<Option<Agent>, StoreError>>;
    /// Lists agents by id.
    fn agents(&self, query: AgentQuery) -> Pending<'_, Result<Vec<Agent>, StoreError>>;

    /// Keeps the next version if the present one is what it was compared with, and tells the users.
    fn publish(&self, publication: Publication) -> Pending<'_, Result<Written, StoreError>>;
    /// Finds a version.
    fn version(
        &self,
        agent: &str,
        version: u64,
    ) -> Pending<'_, Result<Option<AgentVersion>, StoreError>>;
    /// Lists the versions of an agent, the oldest first.
    fn versions(
        &self,
        agent: &str,
        page: Page,
    ) -> Pending<'_, Result<Vec<VersionHead>, StoreError>>;
    /// Finds what was published with an idempotency key: the hash of the request and the version.
    fn retried(
        &self,
        agent: &str,
        key: &str,
    ) -> Pending<'_, Result<Option<(String, u64)>, StoreError>>;

    /// Lists the versions that users who have added the agent accepted, the latest first.
    fn accepted(&self, agent: &str) -> Pending<'_, Result<Vec<u64>, StoreError>>;
    /// Adds an agent for a user who saw a version, if that is the present one. A relation that stands
    /// stays as it is; one that ended begins anew.
    fn add(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>>;
    /// Moves what a user accepted to the version they saw, if that is the present one. Their notices
    /// about it are read by that.
    fn accept(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>>;
    /// Ends a relation, and drops what the user has not read about the agent. Gives the relation; none
    /// if there never was one. One that has ended stays as it is.
    fn end(
        &self,
        user: &str,
        agent: &str,
        at_ms: i64,
    ) -> Pending<'_, Result<Option<Relation>, StoreError>>;
    /// Gives where a user and an agent stand; none if there is no such agent.
    fn standing(
        &self,
        user: &str,
        agent: &str,
    ) -> Pending<'_, Result<Option<Standing>, StoreError>>;
    /// Lists the agents a user has or had added, by id.
    fn relations(&self, user: &str) -> Pending<'_, Result<Vec<Relation>, StoreError>>;

    /// Lists the notices of a user, the oldest first.
    fn notices(&self, query: NoticeQuery) -> Pending<'_, Result<Vec<Notice>, StoreError>>;
    /// Marks a notice of a user as read. Tells whether there is one.
    fn read_notice(&self, user: &str, id: u64) -> Pending<'_, Result<bool, StoreError>>;
}

/// Asks for agents. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct AgentQuery {
    /// Only of this owner.
    pub owner: Option<String>,
    /// Only those behind this id.
    pub after: Option<String>,
    /// At most so many; none means all.
    pub limit: Option<usize>,
}

/// Asks for a part of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page {
    /// Only those behind this number.
    pub after: u64,
    /// At most so many; none means all.
    pub limit: Option<usize>,
}

/// Asks for notices.
#[derive(Clone, Debug)]
pub struct NoticeQuery {
    /// Whose.
    pub user: String,
    /// Whether only those that were not read.
    pub unread: bool,
    /// Which of them.
    pub page: Page,
}

/// Is a version that is to be kept.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The agent.
    pub agent: String,
    /// The version it was compared with; it gets the next number only if that is still the present
    /// one.
    pub base: u64,
    /// The hash of the canonical form.
    pub hash: String,
    /// The canonical form.
    pub canonical: String,
    /// Its size.
    pub bytes: u64,
    /// What changed.
    pub changes: ChangeTexts,
    /// The request, if it may be repeated.
    pub retry: Option<Retry>,
    /// What becomes of the notices.
    pub notices: Notices,
    /// When.
    pub at: Instant,
}

/// Tells a request that may be repeated from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The key its sender gave it.
    pub key: String,
    /// The hash of what was sent.
    pub request: String,
}

/// Says what a publication does to the notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notices {
    /// Nothing.
    Leave,
    /// What was not read about the agent goes, and these come in its place.
    Replace(Vec<Card>),
}

/// Is a notice for all users who accepted the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// That version.
    pub accepted: u64,
    /// The card, as JSON text.
    pub body: String,
}

/// Is what came of keeping a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is kept, with this number.
    As(u64),
    /// The same request was kept before, with this number.
    Before(u64),
    /// The key was used for another request.
    KeyTaken,
    /// Somebody else published; this is the present number.
    Moved(u64),
    /// There is no such agent.
    UnknownAgent,
}

/// Says that a user has looked at a version of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The user.
    pub user: String,
    /// The agent.
    pub agent: String,
    /// The version.
    pub version: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Is what came of a user's look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// It counts: this is the relation now.
    Counts(Relation),
    /// The agent has another version by now.
    Moved(u64),
    /// The user has not added the agent.
    NotAdded,
    /// There is no such agent.
    UnknownAgent,
}

/// Is where a user and an agent stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The agent.
    pub agent: Agent,
    /// Whether the user has or had added it.
    pub relation: Option<Relation>,
}
