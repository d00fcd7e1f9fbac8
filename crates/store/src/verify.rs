//! Proves that a record is what was written.

mod calls;
mod grants;

use remit_engine::ports::{Store, StoreError};
use remit_engine::record::{CallQuery, EventQuery};
use remit_model::event::{Break, Verifier};
use remit_model::{CallId, Event, Permit, ThreadId};

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
    /// Events tell of a call that is not known, or is known otherwise than they tell.
    Index {
        /// Its id.
        call: CallId,
    },
    /// A permission is not what the events tell.
    Grant {
        /// Which.
        permit: Permit,
        /// Whether it stands and should not; else it was taken back, and the mark of that is gone.
        stands: bool,
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
            Self::Index { call } => {
                write!(out, "the call `{call}` is not known as the events tell of it")
            }
            Self::Grant { permit, stands } => {
                let Permit { user, agent, source, scope } = permit;
                let of = format!("`{scope}` of `{source}` that `{user}` gave to `{agent}`");
                match stands {
                    true => write!(out, "no event tells that the permission {of} stands"),
                    false => {
                        write!(out, "the permission {of} was taken back, and the mark is gone")
                    }
                }
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
    let mut reports: Vec<ThreadReport> = Vec::new();
    let mut granted = grants::Told::default();
    let before = store.threads().await?;
    for head in &before {
        let mut walk = Walk {
            see: &mut see,
            verifier: Verifier::default(),
            calls: calls::Told::default(),
            granted: &mut granted,
        };
        let trouble = walk.thread(store, &head.thread).await.err();
        let (events, hash) = walk.verifier.head();
        let hash = hash.to_owned();
        reports.push(ThreadReport { thread: head.thread.clone(), events, hash, trouble });
    }
    let missed = granted.miss(store).await?;
    // Permissions of a record that grew meanwhile may have changed with it.
    if store.threads().await? == before {
        for (thread, trouble) in missed {
            let of = |report: &&mut ThreadReport| report.thread == thread;
            if let Some(report) = reports.iter_mut().find(of) {
                report.trouble.get_or_insert(trouble);
            } else {
                let hash = remit_model::event::FIRST.to_owned();
                reports.push(ThreadReport { thread, events: 0, hash, trouble: Some(trouble) });
            }
        }
    }
    Ok(reports)
}

struct Walk<'s> {
    see: &'s mut (dyn FnMut(&Event) + Send),
    verifier: Verifier,
    calls: calls::Told,
    granted: &'s mut grants::Told,
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
                self.granted.note(event);
                if let Some(user) = self.calls.note(event) {
                    self.granted.user(&user);
                }
            }
            if events.len() < PAGE {
                break;
            }
        }
        for record in calls.map_err(Trouble::Unreadable)? {
            self.calls.miss(&record)?;
        }
        self.calls.unknown(store).await
    }
}
