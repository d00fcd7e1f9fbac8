//! The calls that are being walked through the pipeline in this process.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_model::{Call, CallKey, Outcome};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::record::Progress;

/// Is how a call ended, with how long the work took.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// How long the work took.
    pub duration_ms: u64,
}

impl Ended {
    /// Is what is known of a call whose walk is gone without a word: only a crash inside Remit does
    /// that, and whether anything ran is not known.
    fn unknown() -> Self {
        Self { outcome: Outcome::OutcomeUnknown, duration_ms: 0 }
    }
}

/// Is one call, shared by whoever walks it and those who watch. One thing for all of it: most calls are
/// over in a moment, and what is made for each is most of what they cost.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) key: CallKey,
    pub(crate) cancel: CancellationToken,
    /// Tells a repetition from another call.
    print: u64,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    ended: Option<Ended>,
    /// Whether nobody walks it any more.
    is_left: bool,
    progress: Progress,
    /// How often it said how far it has come.
    said: u64,
}

impl Flight {
    fn new(key: CallKey, print: u64) -> Self {
        let (state, changed) = (Mutex::default(), Notify::new());
        Self { key, cancel: CancellationToken::new(), print, state, changed }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state gives something.
    async fn until<T>(&self, mut seen: impl FnMut(&State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before the look, so that what changes behind it is heard.
            changed.as_mut().enable();
            let found = seen(&self.state());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// Notes how far the work says it has come.
    pub(crate) fn say(&self, progress: Progress) {
        let mut state = self.state();
        state.progress = progress;
        state.said += 1;
        drop(state);
        self.changed.notify_waiters();
    }
}

/// Is what can be seen of a call while it goes on, by whoever started it or repeated it.
#[derive(Clone, Debug)]
pub struct Started {
    flight: Arc<Flight>,
}

impl Started {
    /// Makes one that has ended already.
    pub(crate) fn ended_with(key: CallKey, ended: Ended) -> Self {
        let flight = Flight::new(key, 0);
        *flight.state() = State { ended: Some(ended), is_left: true, ..State::default() };
        Self { flight: Arc::new(flight) }
    }

    /// Gives the key of the call.
    #[must_use]
    pub fn key(&self) -> &CallKey {
        &self.flight.key
    }

    /// Waits for the end.
    pub async fn ended(self) -> Ended {
        self.flight.until(|state| (state.ended.is_some() || state.is_left).then_some(())).await;
        self.take_end()
    }

    /// Gives the end of a call that nobody walks any more; without a copy if nobody else can ask.
    pub(crate) fn take_end(&self) -> Ended {
        let is_last = Arc::strong_count(&self.flight) == 1;
        let mut state = self.flight.state();
        let ended = if is_last { state.ended.take() } else { state.ended.clone() };
        ended.unwrap_or_else(Ended::unknown)
    }

    /// Gives what the work says of its progress, as it changes.
    #[must_use]
    pub fn progress(&self) -> Saying {
        let said = self.flight.state().said;
        Saying { flight: Arc::clone(&self.flight), said }
    }

    /// Gives how it ended, if it has.
    #[must_use]
    pub fn now(&self) -> Option<Ended> {
        self.flight.state().ended.clone()
    }
}

/// Is what the work of a call says of its progress, as one listener hears it.
#[derive(Debug)]
pub struct Saying {
    flight: Arc<Flight>,
    said: u64,
}

impl Saying {
    /// Waits for the next word, or the latest if there were several. None once nobody is there to say
    /// anything.
    pub async fn next(&mut self) -> Option<Progress> {
        let known = self.said;
        let heard = |state: &State| {
            if state.said > known {
                return Some(Some((state.said, state.progress.clone())));
            }
            (state.ended.is_some() || state.is_left).then_some(None)
        };
        let (said, progress) = self.flight.until(heard).await?;
        self.said = said;
        Some(progress)
    }
}

/// Holds them by key.
#[derive(Clone, Default)]
pub(crate) struct Inflight {
    calls: Arc<Mutex<HashMap<CallKey, Arc<Flight>>>>,
    /// Makes what tells calls apart; nobody outside can make two look alike.
    prints: RandomState,
}

/// Is the end that the pipeline holds while it walks a call. Dropping it takes the call out.
pub(crate) struct Ticket {
    inflight: Inflight,
    flight: Arc<Flight>,
}

/// Says what came of entering a call.
pub(crate) enum Entered {
    /// It is to be walked by whoever entered it.
    First(Started, Ticket),
    /// It is here already, and can be watched.
    Again(Started),
    /// Another call with its id is here.
    Other(CallKey),
}

impl Inflight {
    fn calls(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<Flight>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a call; if it is here already, only lets it be watched.
    pub(crate) fn enter(&self, call: &Call) -> Entered {
        let (key, print) = (call.key(), self.prints.hash_one((&call.capability, &call.input)));
        let mut calls = self.calls();
        if let Some(flight) = calls.get(&key) {
            return match flight.print == print {
                true => Entered::Again(Started { flight: Arc::clone(flight) }),
                false => Entered::Other(key),
            };
        }
        let flight = Arc::new(Flight::new(key.clone(), print));
        calls.insert(key, Arc::clone(&flight));
        drop(calls);
        let started = Started { flight: Arc::clone(&flight) };
        Entered::First(started, Ticket { inflight: self.clone(), flight })
    }

    pub(crate) fn find(&self, key: &CallKey) -> Option<Started> {
        self.calls().get(key).map(|flight| Started { flight: Arc::clone(flight) })
    }

    pub(crate) fn cancel(&self, key: &CallKey) -> bool {
        self.calls().get(key).is_some_and(|flight| {
            flight.cancel.cancel();
            true
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    pub(crate) fn cancel_all(&self) -> Vec<Started> {
        let calls = self.calls();
        calls.values().for_each(|flight| flight.cancel.cancel());
        calls.values().map(|flight| Started { flight: Arc::clone(flight) }).collect()
    }
}

impl Ticket {
    /// Gives the call.
    pub(crate) fn flight(&self) -> &Arc<Flight> {
        &self.flight
    }

    /// Notes how the call ended.
    pub(crate) fn end(&self, ended: Ended) {
        self.flight.state().ended = Some(ended);
        self.flight.changed.notify_waiters();
    }

    /// Gives what the work says of its progress.
    pub(crate) fn saying(&self) -> Saying {
        Saying { flight: Arc::clone(&self.flight), said: 0 }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.inflight.calls().remove(&self.flight.key);
        self.flight.state().is_left = true;
        self.flight.changed.notify_waiters();
    }
}
