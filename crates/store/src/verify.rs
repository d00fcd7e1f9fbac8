//! Proves that a record is what was written.

use std::collections::HashMap;

use remit_engine::ports::{Store, StoreError};
use remit_engine::record::{CallQuery, CallRecord, CallState, EventQuery};
use remit_model::event::{Break, Verifier};
use remit_model::{CallId, Event, EventKind, ThreadId};

/// How many events are read at once.
const PAGE: usize = 1_000;

/// Says what became of the record of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadReport {
    /// The thread.
    pub thread: ThreadId,
    /// How many of its events are as they were written, from the first on.
    pub events: u64,
    /// The hash of the last of them, to be compared with one that was noted elsewhere.
    pub hash: String,
    /// Where it stops being what was written; none if all is well.
    pub trouble: Option<Trouble>,
}

/// Says why a record is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The chain of events breaks.
    Chain(Break),
    /// A call is known of which the events do not tell, or not all.
    Call {
        /// Its id.
        call: CallId,
        /// What is missing: the beginning or the end.
        missing: &'static str,
    },
    /// It cannot be read.
    Unreadable(StoreError),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Chain(Break::Sequence { expected, found }) => {
                write!(out, "event {expected} is missing: event {found} is in its place")
            }
            Self::Chain(Break::Link { sequence }) => {
                write!(out, "event {sequence} does not follow from the event before it")
            }
            Self::Chain(Break::Hash { sequence }) => write!(out, "event {sequence} was altered"),
            Self::Call { call, missing } => {
                write!(out, "the event that tells the {missing} of the call `{call}` is missing")
            }
            Self::Unreadable(error) => write!(out, "the record cannot be read: {error}"),
        }
    }
}

/// Walks all threads. An error means that they could not even be listed.
pub async fn verify(store: &dyn Store) -> Result<Vec<ThreadReport>, StoreError> {
    verify_with(store, |_| ()).await
}

/// Walks all threads and shows each event that is as it was written: a hash that was noted elsewhere
/// must be among them, or the end of a thread was cut off.
pub async fn verify_with(
    store: &dyn Store,
    mut see: impl FnMut(&Event) + Send,
) -> Result<Vec<ThreadReport>, StoreError> {
    let mut reports = Vec::new();
    for head in store.threads().await? {
        let mut walk = Walk { see: &mut see, verifier: Verifier::default(), told: HashMap::new() };
        let trouble = walk.thread(store, &head.thread).await.err();
        let (events, hash) = walk.verifier.head();
        let hash = hash.to_owned();
        reports.push(ThreadReport { thread: head.thread, events, hash, trouble });
    }
    Ok(reports)
}

struct Walk<'s> {
    see: &'s mut (dyn FnMut(&Event) + Send),
    verifier: Verifier,
    told: HashMap<CallId, Told>,
}

/// Counts what the events tell of the calls with one id. Two callers may use the same.
#[derive(Default)]
struct Told {
    beginnings: usize,
    ends: usize,
}

impl Walk<'_> {
    async fn thread(&mut self, store: &dyn Store, thread: &ThreadId) -> Result<(), Trouble> {
        // The calls first: what is recorded while this reads only adds to the events.
        let query = CallQuery { thread: Some(thread.clone()), ..CallQuery::default() };
        let calls = store.calls(query).await;
        loop {
            let (after, _) = self.verifier.head();
            let query = EventQuery { thread: thread.clone(), after, limit: Some(PAGE) };
            let events = store.events(query).await.map_err(Trouble::Unreadable)?;
            for event in &events {
                self.verifier.next(event).map_err(Trouble::Chain)?;
                (self.see)(event);
                self.note(event);
            }
            if events.len() < PAGE {
                break;
            }
        }
        calls.map_err(Trouble::Unreadable)?.iter().try_for_each(|record| self.miss(record))
    }

    fn note(&mut self, event: &Event) {
        let Some(id) = &event.call else { return };
        let told = self.told.entry(id.clone()).or_default();
        match event.kind {
            EventKind::Intent | EventKind::Asked => told.beginnings += 1,
            EventKind::Outcome => told.ends += 1,
            EventKind::Answered
            | EventKind::StopAsked
            | EventKind::GrantGiven
            | EventKind::GrantRevoked
            | EventKind::GrantLifted
            | EventKind::Message
            | EventKind::RunStarted
            | EventKind::RunFinished => {}
        }
    }

    /// Looks for what was cut off: a chain does not miss what came after its last link.
    fn miss(&mut self, record: &CallRecord) -> Result<(), Trouble> {
        let told = self.told.entry(record.call.id.clone()).or_default();
        let (left, missing) = match record.state {
            CallState::Ended(_) => (&mut told.ends, "end"),
            CallState::Asking | CallState::Running => (&mut told.beginnings, "beginning"),
        };
        match left.checked_sub(1) {
            Some(less) => *left = less,
            None => return Err(Trouble::Call { call: record.call.id.clone(), missing }),
        }
        Ok(())
    }
}
