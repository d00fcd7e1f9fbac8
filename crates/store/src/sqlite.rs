//! A store in one directory: `remit.db`, and a lock for each process that has it open.
//!
//! One thread writes and commits for all who wait ([`writer`]); what it writes is in [`ledger`].
//! Readers have connections of their own ([`reader`]). Other processes may use the same directory at
//! the same time: what this one remembers is checked against the database before it is used.

mod connect;
mod directory;
mod fault;
mod grants;
mod ledger;
mod memory;
mod nodes;
mod organiser;
mod place;
mod pulse;
mod queue;
mod reader;
mod registry;
mod rows;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use remit_engine::ports::{Pending, Store, StoreError};
use remit_engine::record::{
    Answered, Begun, CallQuery, CallRecord, Ending, EventQuery, Intent, Message, NewVersion,
    Progress, Published, RunNote, ThreadHead, Version,
};
use remit_engine::stream::{Feed, Hub};
use remit_model::{CallKey, Event, Grant, Instant, Permit, ThreadId};

use directory::Tokens;
use grants::Grants;
use ledger::{Ledger, Opening};
use nodes::Node;
use place::Place;
use pulse::Pulse;
use reader::Readers;
use writer::Writer;

/// Says what an answer of the store is worth when the machine loses power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// What was answered is on the disk.
    #[default]
    Full,
    /// What was answered may be lost. Only tests want this: they prove with it that they would
    /// notice.
    Off,
}

/// Says how a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// What an answer is worth.
    pub durability: Durability,
    /// How long to wait for another process that has the database locked.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Full, patience: Duration::from_secs(10) }
    }
}

/// Keeps the record in a SQLite database.
pub struct SqliteStore {
    // In the order in which they are to be dropped: whoever writes must be done before the lock that
    // says that it lives is let go.
    readers: Readers,
    grants: Grants,
    tokens: Tokens,
    writer: Writer,
    node: Arc<Node>,
    hub: Arc<Hub>,
}

impl SqliteStore {
    /// Opens the store in a directory, and makes it if it is not there.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Self::open_with(directory, &Options::default())
    }

    /// Opens it in a way of one's own.
    pub fn open_with(directory: &Path, options: &Options) -> Result<Self, StoreError> {
        let place = Place::enter(directory, options.patience)?;
        let database = &place.database;
        let conn = connect::writer(database, options).map_err(|fault| fault.explain(database))?;
        let node = Arc::new(Node::enter(&place.directory)?);
        let hub = Arc::<Hub>::default();
        let pulse = Arc::new(Pulse::new(database));
        let ledger = Ledger::new(conn, node.name(), Arc::clone(&hub), Arc::clone(&pulse));
        Ok(Self {
            readers: Readers::start(database.clone(), options.patience)?,
            grants: Grants::new(database.clone(), &pulse, options.patience),
            tokens: Tokens::new(database.clone(), &pulse, options.patience),
            writer: Writer::start(ledger, database.clone())?,
            node,
            hub,
        })
    }
}

impl Store for SqliteStore {
    fn begin(&self, intent: Intent) -> Pending<'_, Result<Begun, StoreError>> {
        let opening = Opening::from(intent);
        Box::pin(self.writer.write(move |ledger| ledger.begin(&opening)))
    }

    fn answer(&self, answered: Answered) -> Pending<'_, Result<(), StoreError>> {
        let draft = answered.draft();
        Box::pin(self.writer.write(move |ledger| ledger.answer(&answered, &draft)))
    }

    fn finish(&self, ending: Ending) -> Pending<'_, Result<(), StoreError>> {
        let draft = ending.draft();
        Box::pin(self.writer.write(move |ledger| ledger.finish(&ending, &draft)))
    }

    fn progress(&self, key: CallKey, progress: Progress) -> Pending<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.progress(&key, &progress)))
    }

    fn ask_to_stop(
        &self,
        key: CallKey,
        by: &str,
        at: Instant,
    ) -> Pending<'_, Result<bool, StoreError>> {
        let wish = remit_engine::log::stop_asked(&key, by, &at);
        Box::pin(self.writer.write(move |ledger| ledger.ask_to_stop(&key, &wish)))
    }

    fn asked_to_stop(&self) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        let node = Arc::clone(&self.node);
        Box::pin(self.readers.read(move |conn| reader::asked_to_stop(conn, node.name())))
    }

    fn recover(&self, at: Instant) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        Box::pin(async move {
            let node = Arc::clone(&self.node);
            let recovered = self.writer.write(move |ledger| ledger.recover(&at, &node)).await;
            let (keys, gone) = recovered?;
            gone.iter().for_each(|gone| self.node.bury(gone));
            // They must not seem alive to the next look.
            drop(gone);
            self.node.all_gone().iter().for_each(|gone| self.node.bury(gone));
            Ok(keys)
        })
    }

    fn call(&self, key: CallKey) -> Pending<'_, Result<Option<CallRecord>, StoreError>> {
        Box::pin(self.readers.read(move |conn| reader::call(conn, &key)))
    }

    fn calls(&self, query: CallQuery) -> Pending<'_, Result<Vec<CallRecord>, StoreError>> {
        Box::pin(self.readers.read(move |conn| reader::calls(conn, &query)))
    }

    fn events(&self, query: EventQuery) -> Pending<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(self.readers.read(move |conn| reader::events(conn, &query)))
    }

    fn follow(&self, thread: &ThreadId) -> Feed {
        self.hub.follow(thread)
    }

    fn threads(&self) -> Pending<'_, Result<Vec<ThreadHead>, StoreError>> {
        Box::pin(self.readers.read(reader::threads))
    }

    fn grants(&self, user: &str, agent: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        Box::pin(std::future::ready(self.grants.of(user, agent)))
    }

    fn granted_by(&self, user: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        let user = user.to_owned();
        Box::pin(self.readers.read(move |conn| reader::granted_by(conn, &user)))
    }

    fn give(&self, grant: Grant) -> Pending<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.give(&grant)))
    }

    fn revoke(&self, permit: Permit, at: Instant) -> Pending<'_, Result<usize, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.revoke(&permit, &at)))
    }

    fn lift(&self, permit: Permit, at: Instant) -> Pending<'_, Result<bool, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.lift(&permit, &at)))
    }

    fn publish(&self, version: NewVersion) -> Pending<'_, Result<Published, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.publish(&version)))
    }

    fn versions(&self, source: &str) -> Pending<'_, Result<Vec<Version>, StoreError>> {
        let source = source.to_owned();
        Box::pin(self.readers.read(move |conn| reader::versions(conn, &source)))
    }

    fn say(&self, message: Message) -> Pending<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.say(&message)))
    }

    fn run(&self, note: RunNote) -> Pending<'_, Result<u64, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.note(&note)))
    }

    fn messages(&self, thread: ThreadId) -> Pending<'_, Result<Vec<Message>, StoreError>> {
        Box::pin(self.readers.read(move |conn| reader::messages(conn, &thread)))
    }
}
