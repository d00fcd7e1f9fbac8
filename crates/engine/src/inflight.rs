//! The calls that are being walked through the pipeline in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_model::{Call, CallKey, Outcome};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::record::Progress;
use crate::walk::is_repetition;

/// Is how a call ended, with how long the work took.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// How long the work took.
    pub duration_ms: u64,
}

/// Is what can be seen of a call while it goes on, by whoever started it or repeated it.
#[derive(Clone, Debug)]
pub struct Started {
    /// The call.
    pub key: CallKey,
    pub(crate) ended: watch::Receiver<Option<Ended>>,
    pub(crate) progress: watch::Receiver<Progress>,
}

impl Started {
    /// Makes one that has ended already.
    pub(crate) fn ended_with(key: CallKey, ended: Ended) -> Self {
        let (_, ended) = watch::channel(Some(ended));
        let (_, progress) = watch::channel(Progress::default());
        Self { key, ended, progress }
    }

    /// Waits for the end.
    pub async fn ended(mut self) -> Ended {
        match self.ended.wait_for(Option::is_some).await.map(|ended| ended.clone()) {
            Ok(Some(ended)) => ended,
            // The task that walks the call is gone without a word: only a crash inside Remit does
            // that, and whether anything ran is not known.
            Ok(None) | Err(_) => Ended { outcome: Outcome::OutcomeUnknown, duration_ms: 0 },
        }
    }

    /// Gives what the work says of its progress, as it changes.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// Gives how it ended, if it has.
    #[must_use]
    pub fn now(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }
}

struct Flight {
    call: Call,
    cancel: CancellationToken,
    started: Started,
}

/// Holds them by key.
#[derive(Clone, Default)]
pub(crate) struct Inflight {
    calls: Arc<Mutex<HashMap<CallKey, Flight>>>,
}

/// Is the end that the pipeline holds while it walks a call. Dropping it takes the call out.
pub(crate) struct Ticket {
    key: CallKey,
    inflight: Inflight,
    pub(crate) cancel: CancellationToken,
    pub(crate) ended: watch::Sender<Option<Ended>>,
    pub(crate) progress: watch::Sender<Progress>,
}

/// Says what came of entering a call.
pub(crate) enum Entered {
    /// It is to be walked by whoever entered it.
    First(Started, Ticket),
    /// It is here already, and can be watched.
    Again(Started),
    /// Another call with its id is here.
    Other,
}

impl Inflight {
    fn calls(&self) -> MutexGuard<'_, HashMap<CallKey, Flight>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a call; if it is here already, only lets it be watched.
    pub(crate) fn enter(&self, key: &CallKey, call: &Call) -> Entered {
        let mut calls = self.calls();
        if let Some(flight) = calls.get(key) {
            return match is_repetition(call, &flight.call) {
                true => Entered::Again(flight.started.clone()),
                false => Entered::Other,
            };
        }
        let (ended_in, ended) = watch::channel(None);
        let (progress_in, progress) = watch::channel(Progress::default());
        let cancel = CancellationToken::new();
        let started = Started { key: key.clone(), ended, progress };
        let flight =
            Flight { call: call.clone(), cancel: cancel.clone(), started: started.clone() };
        calls.insert(key.clone(), flight);
        let ticket = Ticket {
            key: key.clone(),
            inflight: self.clone(),
            cancel,
            ended: ended_in,
            progress: progress_in,
        };
        Entered::First(started, ticket)
    }

    pub(crate) fn find(&self, key: &CallKey) -> Option<Started> {
        self.calls().get(key).map(|flight| flight.started.clone())
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
        calls.values().map(|flight| flight.started.clone()).collect()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.inflight.calls().remove(&self.key);
    }
}
