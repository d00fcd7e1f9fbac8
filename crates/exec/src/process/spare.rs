//! Starts made ahead: processes that wait for a plan.
//!
//! The first half of a start is the same for every plan: two stages are executed, namespaces and a
//! control group made, filters written. A spare has that behind it. It runs nothing, holds nothing of
//! the machine's, serves one start and is gone with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::launch::{Launcher, Process};
use super::plan::Ahead;

/// Is how many wait at a time: one for plans with network, one for plans without.
const MOST: usize = 2;
/// Is how long after a start the next one is made ahead: what was started comes first.
const LATER: Duration = Duration::from_millis(100);

/// Says when starts are made ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spares {
    /// Never.
    #[default]
    None,
    /// When somebody asks for it, for the one start that follows.
    Once,
    /// After each start, for the next one.
    Always,
}

/// Keeps the starts that were made ahead. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    when: Spares,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Vec<(Ahead, Process)>>,
    is_making: AtomicBool,
    is_closed: AtomicBool,
}

impl Shelf {
    pub(super) fn new(when: Spares) -> Self {
        Self { when, ..Self::default() }
    }

    pub(super) fn count(&self) -> usize {
        self.shared.waiting().len()
    }

    /// Gives a process that waits for a plan like this one.
    pub(super) fn take(&self, ahead: &Ahead) -> Option<Process> {
        let mut waiting = self.shared.waiting();
        let at = waiting.iter().position(|(kind, _)| kind == ahead)?;
        let (_, process) = waiting.remove(at);
        // One that has said something was refused; whoever starts anew is told why.
        process.is_silent().then_some(process)
    }

    /// Makes a start ahead, unless one waits.
    pub(super) fn make(&self, launcher: &Launcher, ahead: Ahead) {
        let mut waiting = self.shared.waiting();
        let has_one = waiting.iter().any(|(kind, _)| *kind == ahead);
        if self.when == Spares::None || has_one || self.shared.is_closed.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(process) = launcher.begin(&ahead) {
            if waiting.len() >= MOST {
                waiting.remove(0);
            }
            waiting.push((ahead, process));
        }
    }

    /// Makes the next start ahead in a while.
    pub(super) fn make_later(&self, launcher: &Launcher, ahead: Ahead) {
        if self.when != Spares::Always || self.shared.is_making.swap(true, Ordering::SeqCst) {
            return;
        }
        let (shelf, launcher) = (self.clone(), launcher.clone());
        tokio::spawn(async move {
            tokio::time::sleep(LATER).await;
            shelf.shared.is_making.store(false, Ordering::SeqCst);
            shelf.make(&launcher, ahead);
        });
    }

    /// Ends what waits, for good.
    pub(super) async fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *self.shared.waiting());
        for (_, mut process) in waiting {
            process.end().await;
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Vec<(Ahead, Process)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
