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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use remit_engine::catalog::{Catalog, Settings};
    use remit_engine::policy::Policy;
    use remit_model::{Binding, Capability, Dialect, Manifest, Permission};
    use serde_json::json;

    use super::super::{Confinement, Plan, Program, Sandbox};
    use super::*;

    fn entry() -> Arc<Entry> {
        let mut manifest = Manifest::new(Dialect::Tool);
        manifest.capabilities = vec![Capability {
            name: "tool.run".to_owned(),
            description: String::new(),
            input_schema: json!({}),
            output_schema: None,
            permission: Permission::Undeclared,
            sensitivity: None,
            timeout_ms: None,
            binding: Binding::Human,
        }];
        let source = Source {
            name: "tool".to_owned(),
            origin: "here".to_owned(),
            root: None,
            manifest,
            hash: String::new(),
            settings: Ok(Settings::default()),
            problem: None,
        };
        let catalog = Catalog::build(vec![source], Arc::new(Policy::default()));
        Arc::clone(catalog.get("tool.run").unwrap())
    }

    fn key() -> Arc<Key> {
        let program = Program {
            path: PathBuf::from("/bin/true"),
            args: Vec::new(),
            roots: Vec::new(),
            directory: PathBuf::from("/"),
        };
        let plan = Plan { program, confinement: Confinement::default(), sandbox: Sandbox::On };
        Arc::new(Key { plan, settings: String::new(), user: "ada".to_owned() })
    }

    #[test]
    fn what_was_worked_out_is_for_the_same_user_policy_and_source() {
        let (known, entry, lent, key) =
            (Known::default(), entry(), Arc::new(Lent::default()), key());
        assert!(known.find(&entry, "ada", &lent).is_none());
        known.keep(&entry, "ada", Arc::clone(&lent), Arc::clone(&key), Instant::now());
        assert!(Arc::ptr_eq(&known.find(&entry, "ada", &lent).unwrap(), &key));
        assert!(known.find(&entry, "bob", &lent).is_none());
        assert!(known.find(&entry, "ada", &Arc::new(Lent::default())).is_none());
        // The same manifest, read again: its settings may be others.
        assert!(known.find(&self::entry(), "ada", &lent).is_none());
    }

    #[test]
    fn it_is_remembered_for_a_moment_and_not_without_bound() {
        let (known, entry, lent, key) =
            (Known::default(), entry(), Arc::new(Lent::default()), key());
        let long_ago = Instant::now().checked_sub(FRESH).unwrap();
        let keep = |user: usize, since| {
            known.keep(&entry, &user.to_string(), Arc::clone(&lent), Arc::clone(&key), since);
        };
        keep(0, long_ago);
        assert!(known.find(&entry, "0", &lent).is_none());
        (0..MOST).for_each(|user| keep(user, long_ago));
        assert_eq!(known.lock().len(), MOST);
        // What is old makes room.
        keep(MOST, Instant::now());
        assert_eq!(known.lock().len(), 1);
        (0..=MOST).for_each(|user| keep(user, Instant::now() + FRESH));
        assert_eq!(known.lock().len(), MOST);
    }
}
