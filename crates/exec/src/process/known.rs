//! Remembers for a moment what was worked out for a call: its program and what that may reach.
//!
//! Working that out follows every name on the disk and costs more than asking a warm worker does. What
//! is remembered finds a process that runs already, and nothing else: whatever is *started* was worked
//! out for that start. So a name that leads elsewhere by now is noticed by the first call after
//! [`FRESH`], as if the calls before had come that much sooner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use remit_engine::catalog::{Entry, Source};

use super::executor::Lent;
use super::pool::Key;

/// Is for how long it is remembered.
const FRESH: Duration = Duration::from_secs(1);
/// Is how many are remembered at a time.
const MOST: usize = 1_024;

/// Are the plans of the last moment.
#[derive(Default)]
pub(super) struct Known(Mutex<HashMap<Asked, Found>>);

/// Says what was asked for, and on whose behalf.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    /// Where the source is in memory, which is kept from being another's.
    source: usize,
    capability: String,
    scope: String,
    user: String,
}

struct Found {
    key: Arc<Key>,
    lent: Arc<Lent>,
    since: Instant,
    _source: Weak<Source>,
}

impl Known {
    /// Gives what was worked out a moment ago under the same policy and settings.
    pub(super) fn find(&self, entry: &Entry, user: &str, lent: &Arc<Lent>) -> Option<Arc<Key>> {
        let found = self.lock();
        let found = found.get(&Asked::new(entry, user))?;
        let same = Arc::ptr_eq(&found.lent, lent) && found.since.elapsed() < FRESH;
        same.then(|| Arc::clone(&found.key))
    }

    /// Remembers what was worked out; `since` is when that began.
    pub(super) fn keep(
        &self,
        entry: &Entry,
        user: &str,
        lent: Arc<Lent>,
        key: Arc<Key>,
        since: Instant,
    ) {
        let mut all = self.lock();
        if all.len() >= MOST {
            all.retain(|_, found| found.since.elapsed() < FRESH);
        }
        if all.len() < MOST {
            let _source = Arc::downgrade(&entry.source);
            all.insert(Asked::new(entry, user), Found { key, lent, since, _source });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    fn new(entry: &Entry, user: &str) -> Self {
        Self {
            source: Arc::as_ptr(&entry.source).addr(),
            capability: entry.capability.name.clone(),
            scope: entry.scope.clone(),
            user: user.to_owned(),
        }
    }
}
