//! What waits to be done by a thread that may block.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hands work from many to a few. Whoever takes finds all that waits; nobody is woken who is awake.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    sleepers: usize,
    /// How much must wait before somebody is woken.
    wanted: usize,
    closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let state = State { waiting: VecDeque::new(), sleepers: 0, wanted: 0, closed: false };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work.
    pub(crate) fn add(&self, work: T) {
        let mut state = self.state();
        state.waiting.push_back(work);
        let awaited = state.sleepers > 0 && state.waiting.len() >= state.wanted;
        drop(state);
        if awaited {
            self.wake.notify_one();
        }
    }

    /// Moves what waits into an empty list, at most so many, and waits if there is nothing. Tells
    /// whether there was any: if not, the queue is closed and done.
    pub(crate) fn take(&self, into: &mut Vec<T>, most: usize) -> bool {
        let mut state = self.state();
        while state.waiting.is_empty() && !state.closed {
            state.sleepers += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleepers -= 1;
        }
        let count = state.waiting.len().min(most);
        into.extend(state.waiting.drain(..count));
        count > 0
    }

    /// Waits until so much is there, as long as more keeps coming: not longer than a while after the
    /// last came, and not for long altogether. For a queue from which one takes.
    pub(crate) fn gather(&self, wanted: usize, quiet: Duration, longest: Duration) {
        let began = Instant::now();
        let mut state = self.state();
        let too_little = |state: &mut State<T>| state.waiting.len() < wanted && !state.closed;
        state.sleepers += 1;
        state.wanted = wanted;
        loop {
            let before = state.waiting.len();
            let waited = self.wake.wait_timeout_while(state, quiet, too_little);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            let came = state.waiting.len() > before;
            if !timeout.timed_out() || !came || began.elapsed() >= longest {
                break;
            }
        }
        state.sleepers -= 1;
        state.wanted = 0;
    }

    /// Lets what waits be done and nothing more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.wake.notify_all();
    }
}
