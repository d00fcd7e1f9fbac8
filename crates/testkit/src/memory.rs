//! A store that forgets everything when the last handle goes: for tests of what uses a store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_engine::log;
use remit_engine::ports::{Pending, Store, StoreError};
use remit_engine::record::{
    Answered, Begun, CallQuery, CallRecord, CallState, Ending, EventQuery, Intent, Message,
    NewVersion, Next, Progress, Published, RunNote, ThreadHead, Version,
};
use remit_engine::stream::{Feed, Hub};
use remit_model::event::{Draft, FIRST};
use remit_model::{CallKey, Denial, Event, Grant, Instant, Outcome, Permit, ThreadId};

/// Keeps a record in memory. What a machine would lose in a crash, it loses with its last handle.
#[derive(Debug)]
pub struct MemoryStore {
    shared: Arc<Mutex<State>>,
    node: u64,
}

#[derive(Debug, Default)]
struct State {
    nodes: u64,
    living: BTreeSet<u64>,
    calls: Vec<Kept>,
    by_key: HashMap<CallKey, usize>,
    threads: BTreeMap<ThreadId, Vec<Event>>,
    messages: HashMap<ThreadId, Vec<Message>>,
    grants: Vec<Grant>,
    versions: HashMap<String, Vec<Version>>,
    hub: Arc<Hub>,
}

#[derive(Debug)]
struct Kept {
    record: CallRecord,
    node: u64,
    denial: Option<Denial>,
    is_to_stop: bool,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::over(Arc::default())
    }
}

impl MemoryStore {
    /// Opens the same record once more, as another process would.
    #[must_use]
    pub fn reopen(&self) -> Self {
        Self::over(Arc::clone(&self.shared))
    }

    fn over(shared: Arc<Mutex<State>>) -> Self {
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        state.nodes += 1;
        let node = state.nodes;
        state.living.insert(node);
        drop(state);
        Self { shared, node }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn does<'a, T: Send + 'a>(&'a self, work: impl FnOnce(&mut State) -> T) -> Pending<'a, T> {
        Box::pin(ready(work(&mut self.state())))
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        let node = self.node;
        self.state().living.remove(&node);
    }
}

impl State {
    fn append(&mut self, thread: &ThreadId, draft: Draft) {
        let events = self.threads.entry(thread.clone()).or_default();
        let (after, previous) =
            events.last().map_or((0, FIRST), |event| (event.sequence, event.hash.as_str()));
        let event = draft.seal(thread, after, previous);
        self.hub.tell([event.clone()]);
        events.push(event);
    }

    fn open_call(&mut self, key: &CallKey) -> Result<&mut Kept, StoreError> {
        let at = self.by_key.get(key).copied();
        let kept = at.and_then(|at| self.calls.get_mut(at)).ok_or_else(|| {
            StoreError::new(format!("there is no call `{}` of this caller", key.id))
        })?;
        match kept.record.state {
            CallState::Ended(_) => {
                Err(StoreError::new(format!("the call `{}` has ended already", key.id)))
            }
            CallState::Asking | CallState::Running => Ok(kept),
        }
    }

    fn begin(&mut self, intent: Intent, node: u64) -> Begun {
        let key = intent.call.key();
        if let Some(kept) = self.by_key.get(&key).and_then(|at| self.calls.get(*at)) {
            return Begun::Known(Box::new(kept.record.clone()));
        }
        self.append(&intent.call.thread, intent.draft());
        let (state, duration_ms) = match intent.next {
            Next::Run => (CallState::Running, None),
            Next::Ask { .. } => (CallState::Asking, None),
            Next::Refuse(outcome) => (CallState::Ended(outcome), Some(0)),
        };
        let record = CallRecord {
            call: Arc::unwrap_or_clone(intent.call),
            basis: intent.basis,
            rule: intent.rule,
            state,
            begun_ms: intent.at.wall_ms,
            duration_ms,
            progress: None,
        };
        self.by_key.insert(key, self.calls.len());
        self.calls.push(Kept { record, node, denial: None, is_to_stop: false });
        Begun::Fresh
    }

    fn answer(&mut self, answered: &Answered) -> Result<(), StoreError> {
        let kept = self.open_call(&answered.key)?;
        if kept.record.state != CallState::Asking || kept.denial.is_some() {
            let id = &answered.key.id;
            return Err(StoreError::new(format!("nobody is being asked about the call `{id}`")));
        }
        kept.denial = answered.denial;
        if answered.denial.is_none() {
            kept.record.state = CallState::Running;
        }
        let thread = kept.record.call.thread.clone();
        self.append(&thread, answered.draft());
        self.granted_with(&thread, &answered.key, answered.grant.as_ref());
        Ok(())
    }

    fn finish(&mut self, ending: &Ending) -> Result<(), StoreError> {
        let kept = self.open_call(&ending.key)?;
        if kept.record.state == CallState::Asking && ending.outcome.is_success() {
            let id = &ending.key.id;
            return Err(StoreError::new(format!("the call `{id}` was not approved")));
        }
        kept.record.state = CallState::Ended(ending.outcome.clone());
        kept.record.duration_ms = Some(ending.duration_ms);
        let thread = kept.record.call.thread.clone();
        self.granted_with(&thread, &ending.key, ending.grant.as_ref());
        self.append(&thread, ending.draft());
        Ok(())
    }

    fn granted_with(&mut self, thread: &ThreadId, call: &CallKey, grant: Option<&Grant>) {
        if let Some(grant) = grant
            && !self.grants.iter().any(|other| other.revoked && grant.permit().covers(other))
            && self.keep(grant)
        {
            self.append(thread, log::given(grant, Some(&call.id)));
        }
    }

    fn ask_to_stop(&mut self, key: &CallKey, by: &str, at: &Instant) -> Result<bool, StoreError> {
        if !self.by_key.contains_key(key) {
            let id = &key.id;
            return Err(StoreError::new(format!("there is no call `{id}` of this caller")));
        }
        let Ok(kept) = self.open_call(key) else { return Ok(false) };
        if !std::mem::replace(&mut kept.is_to_stop, true) {
            let thread = kept.record.call.thread.clone();
            self.append(&thread, log::stop_asked(key, by, at));
        }
        Ok(true)
    }

    /// Writes a grant down; tells whether it is more than a renewal.
    fn keep(&mut self, grant: &Grant) -> bool {
        let place = |other: &Grant| {
            grant.permit().covers(other)
                && (&other.device, &other.thread) == (&grant.device, &grant.thread)
        };
        match self.grants.iter_mut().find(|other| place(other)) {
            Some(other) => {
                let renewed = Grant { used: grant.used.clone(), ..other.clone() } == *grant;
                *other = grant.clone();
                !renewed
            }
            None => {
                self.grants.push(grant.clone());
                true
            }
        }
    }

    fn give(&mut self, grant: &Grant) {
        if !grant.revoked {
            self.grants.retain(|other| !(other.revoked && grant.permit().covers(other)));
        }
        if self.keep(grant)
            && !grant.revoked
            && let Some(thread) = ThreadId::parse(&grant.thread)
        {
            self.append(&thread, log::given(grant, None));
        }
    }

    fn revoke(&mut self, permit: &Permit, at: &Instant) -> usize {
        let mut gone = Vec::new();
        let meant = |grant: &&mut Grant| permit.covers(grant) && !grant.revoked;
        for grant in self.grants.iter_mut().filter(meant) {
            grant.revoked = true;
            gone.push(grant.clone());
        }
        if !self.grants.iter().any(|grant| permit.covers(grant)) {
            let mark = permit.revoked(at);
            self.append(&log::permissions(), log::revoked(&mark, at));
            self.grants.push(mark);
        }
        for grant in &gone {
            if let Some(thread) = ThreadId::parse(&grant.thread) {
                self.append(&thread, log::revoked(grant, at));
            }
        }
        gone.len()
    }

    fn lift(&mut self, permit: &Permit, at: &Instant) -> bool {
        let before = self.grants.len();
        self.grants.retain(|grant| !(grant.revoked && permit.covers(grant)));
        let is_lifted = self.grants.len() < before;
        if is_lifted {
            self.append(&log::permissions(), log::lifted(permit, at));
        }
        is_lifted
    }

    fn recover(&mut self, at: &Instant) -> Result<Vec<CallKey>, StoreError> {
        let living = &self.living;
        let lost = self.calls.iter().filter(|kept| !living.contains(&kept.node));
        let endings: Vec<Ending> = lost
            .filter_map(|kept| {
                let outcome = match (&kept.record.state, kept.denial) {
                    (CallState::Ended(_), _) => return None,
                    (CallState::Running, _) => Outcome::OutcomeUnknown,
                    (CallState::Asking, Some(reason)) => Outcome::Denied { reason },
                    (CallState::Asking, None) => log::never_answered(),
                };
                let key = kept.record.call.key();
                Some(Ending { key, outcome, at: at.clone(), duration_ms: 0, grant: None })
            })
            .collect();
        endings.iter().try_for_each(|ending| self.finish(ending))?;
        Ok(endings.into_iter().map(|ending| ending.key).collect())
    }

    fn publish(&mut self, new: NewVersion) -> Published {
        let versions = self.versions.entry(new.source).or_default();
        let last = versions.last().map_or(0, |version| version.version);
        if versions.last().is_some_and(|version| version.hash == new.hash) {
            return Published { version: last, changed: false };
        }
        let version = last + 1;
        let NewVersion { canonical, hash, at, .. } = new;
        versions.push(Version { version, hash, canonical, at_ms: at.wall_ms });
        Published { version, changed: true }
    }

    fn calls(&self, query: &CallQuery) -> Vec<CallRecord> {
        let fits = |record: &&CallRecord| {
            query.user.as_ref().is_none_or(|user| *user == record.call.caller.user)
                && query.thread.as_ref().is_none_or(|thread| *thread == record.call.thread)
                && query.capability.as_ref().is_none_or(|name| *name == record.call.capability)
                && query.state.as_ref().is_none_or(|state| state == record.state.as_str())
                && query.id.as_ref().is_none_or(|id| *id == record.call.id)
                && query
                    .id_start
                    .as_ref()
                    .is_none_or(|start| record.call.id.as_str().starts_with(start))
        };
        let latest_first = self.calls.iter().rev().map(|kept| &kept.record);
        latest_first.filter(fits).take(query.limit.unwrap_or(usize::MAX)).cloned().collect()
    }

    fn heads(&self) -> Vec<ThreadHead> {
        let head = |(thread, events): (&ThreadId, &Vec<Event>)| {
            events.last().map(|last| ThreadHead {
                thread: thread.clone(),
                events: last.sequence,
                hash: last.hash.clone(),
                at_ms: last.at_ms,
            })
        };
        self.threads.iter().filter_map(head).collect()
    }
}

impl Store for MemoryStore {
    fn begin(&self, intent: Intent) -> Pending<'_, Result<Begun, StoreError>> {
        let node = self.node;
        self.does(|state| Ok(state.begin(intent, node)))
    }

    fn answer(&self, answered: Answered) -> Pending<'_, Result<(), StoreError>> {
        self.does(|state| state.answer(&answered))
    }

    fn finish(&self, ending: Ending) -> Pending<'_, Result<(), StoreError>> {
        self.does(|state| state.finish(&ending))
    }

    fn progress(&self, key: CallKey, progress: Progress) -> Pending<'_, Result<(), StoreError>> {
        self.does(|state| {
            if !state.by_key.contains_key(&key) {
                let id = &key.id;
                return Err(StoreError::new(format!("there is no call `{id}` of this caller")));
            }
            if let Ok(kept) = state.open_call(&key) {
                kept.record.progress = Some(progress);
            }
            Ok(())
        })
    }

    fn ask_to_stop(
        &self,
        key: CallKey,
        by: &str,
        at: Instant,
    ) -> Pending<'_, Result<bool, StoreError>> {
        self.does(|state| state.ask_to_stop(&key, by, &at))
    }

    fn asked_to_stop(&self) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        let node = self.node;
        self.does(|state| {
            let ours = state.calls.iter().filter(|kept| kept.node == node && kept.is_to_stop);
            let open = ours.filter(|kept| !matches!(kept.record.state, CallState::Ended(_)));
            Ok(open.map(|kept| kept.record.call.key()).collect())
        })
    }

    fn recover(&self, at: Instant) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        self.does(|state| state.recover(&at))
    }

    fn call(&self, key: CallKey) -> Pending<'_, Result<Option<CallRecord>, StoreError>> {
        self.does(|state| {
            let kept = state.by_key.get(&key).and_then(|at| state.calls.get(*at));
            Ok(kept.map(|kept| kept.record.clone()))
        })
    }

    fn calls(&self, query: CallQuery) -> Pending<'_, Result<Vec<CallRecord>, StoreError>> {
        self.does(|state| Ok(state.calls(&query)))
    }

    fn events(&self, query: EventQuery) -> Pending<'_, Result<Vec<Event>, StoreError>> {
        self.does(|state| {
            let events = state.threads.get(&query.thread).into_iter().flatten();
            let behind = events.filter(|event| event.sequence > query.after);
            Ok(behind.take(query.limit.unwrap_or(usize::MAX)).cloned().collect())
        })
    }

    fn follow(&self, thread: &ThreadId) -> Feed {
        self.state().hub.follow(thread)
    }

    fn threads(&self) -> Pending<'_, Result<Vec<ThreadHead>, StoreError>> {
        self.does(|state| Ok(state.heads()))
    }

    fn grants(&self, user: &str, agent: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        self.does(|state| {
            let ours = |grant: &&Grant| grant.user == user && grant.agent == agent;
            Ok(state.grants.iter().filter(ours).cloned().collect())
        })
    }

    fn granted_by(&self, user: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        self.does(|state| {
            Ok(state.grants.iter().filter(|grant| grant.user == user).cloned().collect())
        })
    }

    fn give(&self, grant: Grant) -> Pending<'_, Result<(), StoreError>> {
        self.does(|state| {
            state.give(&grant);
            Ok(())
        })
    }

    fn revoke(&self, permit: Permit, at: Instant) -> Pending<'_, Result<usize, StoreError>> {
        self.does(|state| Ok(state.revoke(&permit, &at)))
    }

    fn lift(&self, permit: Permit, at: Instant) -> Pending<'_, Result<bool, StoreError>> {
        self.does(|state| Ok(state.lift(&permit, &at)))
    }

    fn publish(&self, version: NewVersion) -> Pending<'_, Result<Published, StoreError>> {
        self.does(|state| Ok(state.publish(version)))
    }

    fn versions(&self, source: &str) -> Pending<'_, Result<Vec<Version>, StoreError>> {
        self.does(|state| Ok(state.versions.get(source).cloned().unwrap_or_default()))
    }

    fn say(&self, message: Message) -> Pending<'_, Result<(), StoreError>> {
        self.does(|state| {
            state.append(&message.thread, message.draft());
            state.messages.entry(message.thread.clone()).or_default().push(message);
            Ok(())
        })
    }

    fn run(&self, note: RunNote) -> Pending<'_, Result<u64, StoreError>> {
        self.does(|state| {
            state.append(&note.thread, note.draft());
            let events = state.threads.get(&note.thread);
            Ok(events.and_then(|events| events.last()).map_or(0, |event| event.sequence))
        })
    }

    fn messages(&self, thread: ThreadId) -> Pending<'_, Result<Vec<Message>, StoreError>> {
        self.does(|state| Ok(state.messages.get(&thread).cloned().unwrap_or_default()))
    }
}
