//! What the engine asks of the world.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use remit_model::{Call, CallKey, Event, Grant, Instant, Outcome, Permit, Sensitivity};
use tokio_util::sync::CancellationToken;

use crate::client::Contact;
use crate::record::{
    Answered, Begun, CallQuery, CallRecord, Ending, EventQuery, Intent, Message, NewVersion,
    Progress, Published, RunNote, ThreadHead, Version,
};
use crate::stage::Authorised;
use crate::stream::Feed;

/// Is an answer that comes later.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs a call that was authorised. Only the pipeline can make an [`Authorised`], so nothing else
/// can be run.
pub trait Executor: Send + Sync {
    /// Runs it to its end. When `running.cancel` fires, the work is really stopped before this
    /// returns; what it returns then is not used.
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome>;

    /// Ends whatever it keeps ready for later calls.
    fn shut_down(&self) -> Pending<'_, ()> {
        Box::pin(async {})
    }
}

/// Is what a running call is given.
pub struct Running {
    /// How long it may take.
    pub timeout: Duration,
    /// Fires when it must stop.
    pub cancel: CancellationToken,
    /// Takes what it says of its progress.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
    /// Reaches the client that made the call.
    pub contact: Contact,
}

/// Keeps the record. Every function that changes something returns only when the change would
/// survive a crash of the machine.
pub trait Store: Send + Sync {
    /// Records what is about to happen, or a refusal. A key that is known changes nothing and gives
    /// back what is known.
    fn begin(&self, intent: Intent) -> Pending<'_, Result<Begun, StoreError>>;
    /// Records what a person answered; a yes makes the call running, a no leaves only its end to be
    /// recorded. A call is answered once, and only if somebody was asked. A grant that was given with
    /// the yes is kept unless it was taken back.
    fn answer(&self, answered: Answered) -> Pending<'_, Result<(), StoreError>>;
    /// Records how a call ended. A call that ended already stays as it is, which is an error; so is a
    /// success of a call that nobody has approved. The use of a grant is kept unless it was taken
    /// back.
    fn finish(&self, ending: Ending) -> Pending<'_, Result<(), StoreError>>;
    /// Keeps how far a call has come; of a call that has ended, nothing.
    fn progress(&self, key: CallKey, progress: Progress) -> Pending<'_, Result<(), StoreError>>;
    /// Asks whoever has a call to stop it, and records who wants that. Tells whether the call is under
    /// way.
    fn ask_to_stop(
        &self,
        key: CallKey,
        by: &str,
        at: Instant,
    ) -> Pending<'_, Result<bool, StoreError>>;
    /// Lists the calls of this store that somebody wants stopped.
    fn asked_to_stop(&self) -> Pending<'_, Result<Vec<CallKey>, StoreError>>;
    /// Ends the calls of processes that are gone: those that ran are unknown, those that were still
    /// being asked about are cancelled, those that a person denied are denied. Gives their keys.
    fn recover(&self, at: Instant) -> Pending<'_, Result<Vec<CallKey>, StoreError>>;

    /// Finds a call.
    fn call(&self, key: CallKey) -> Pending<'_, Result<Option<CallRecord>, StoreError>>;
    /// Lists calls, the latest first.
    fn calls(&self, query: CallQuery) -> Pending<'_, Result<Vec<CallRecord>, StoreError>>;
    /// Lists the events of a thread in order.
    fn events(&self, query: EventQuery) -> Pending<'_, Result<Vec<Event>, StoreError>>;
    /// Hears what is recorded in a thread from now on, through this store. What other processes
    /// record may be heard late or not at all; the record has it.
    fn follow(&self, thread: &remit_model::ThreadId) -> Feed;
    /// Lists the threads with the last event of each.
    fn threads(&self) -> Pending<'_, Result<Vec<ThreadHead>, StoreError>>;

    /// Lists what a user has granted to an agent (empty: to nobody but themselves), revoked ones
    /// included.
    fn grants(&self, user: &str, agent: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>>;
    /// Lists everything a user has granted to anybody, revoked ones included.
    fn granted_by(&self, user: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>>;
    /// Gives or renews a grant. It lifts what was taken back of its permit.
    fn give(&self, grant: Grant) -> Pending<'_, Result<(), StoreError>>;
    /// Takes a permission back, also one that was never given. Gives how many grants stood until now.
    fn revoke(&self, permit: Permit, at: Instant) -> Pending<'_, Result<usize, StoreError>>;
    /// Lets a permission that was taken back be asked for again. Tells whether it was taken back.
    fn lift(&self, permit: Permit, at: Instant) -> Pending<'_, Result<bool, StoreError>>;

    /// Keeps a version of a manifest: the next number, or the present one if nothing changed.
    fn publish(&self, version: NewVersion) -> Pending<'_, Result<Published, StoreError>>;
    /// Lists the versions of a source, the oldest first.
    fn versions(&self, source: &str) -> Pending<'_, Result<Vec<Version>, StoreError>>;

    /// Adds a message to a thread.
    fn say(&self, message: Message) -> Pending<'_, Result<(), StoreError>>;
    /// Records a step of a run; gives the number of its event in the thread.
    fn run(&self, note: RunNote) -> Pending<'_, Result<u64, StoreError>>;
    /// Lists the messages of a thread in order.
    fn messages(
        &self,
        thread: remit_model::ThreadId,
    ) -> Pending<'_, Result<Vec<Message>, StoreError>>;
}

/// Says why the record could not be kept or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// What happened and what to do, for the operator.
    pub message: String,
}

impl StoreError {
    /// Makes one.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}

/// Asks a person.
pub trait Approver: Send + Sync {
    /// Asks about one call. The engine stops waiting at the deadline by itself.
    fn ask<'a>(&'a self, question: &'a Question) -> Pending<'a, Said>;
}

/// Is what a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call, its input included.
    pub call: Call,
    /// What declares the capability: the name of the tool, skill or agent.
    pub source: String,
    /// What the capability does.
    pub description: String,
    /// The permission it needs.
    pub scope: String,
    /// How much care that takes.
    pub sensitivity: Sensitivity,
    /// Why they are asked.
    pub why: String,
    /// How long they have.
    pub deadline: Duration,
}

/// Is what a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Run it; for what takes some care, also without asking again for a while.
    Yes,
    /// Run it this once, and ask again.
    Once,
    /// Do not.
    No,
    /// Nobody answered, or nobody is there.
    Silence,
    /// They were not asked: this agent has asked too often.
    TooMany,
}

/// Is what a person answered, and who that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The answer.
    pub reply: Reply,
    /// Who gave it, if somebody did.
    pub by: Option<String>,
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self { reply, by: None }
    }
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Gives the present moment.
    fn now(&self) -> Instant;
}

/// Is told when a call passes a point at which a crash would matter. Tests stop the process there.
pub trait Probe: Send + Sync {
    /// Is called at the point.
    fn reached(&self, point: Point);
}

/// Names the points of a call between which a crash must lose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Nothing has been written.
    BeforeIntent,
    /// The intent is durable; nothing has run.
    AfterIntent,
    /// The person's answer is durable.
    AfterAnswer,
    /// The work is done; nobody has been told.
    AfterExecution,
    /// The outcome is durable; the caller has not been told.
    AfterOutcome,
}

impl Point {
    /// Lists them in the order a call passes them.
    pub const ALL: [Self; 5] = [
        Self::BeforeIntent,
        Self::AfterIntent,
        Self::AfterAnswer,
        Self::AfterExecution,
        Self::AfterOutcome,
    ];
}
