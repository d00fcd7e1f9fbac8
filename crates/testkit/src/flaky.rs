//! A store whose writes can be made to fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use remit_engine::ports::{Pending, Store, StoreError};
use remit_engine::record::{
    Answered, Begun, CallQuery, CallRecord, Ending, EventQuery, Intent, Message, NewVersion,
    Progress, Published, RunNote, ThreadHead, Version,
};
use remit_engine::stream::Feed;
use remit_model::{CallKey, Event, Grant, Instant, Permit, ThreadId};

/// Passes everything on, until its writes are broken.
#[derive(Debug)]
pub struct FlakyStore<S> {
    inner: Arc<S>,
    broken: AtomicBool,
}

impl<S: Store> FlakyStore<S> {
    /// Wraps a store.
    #[must_use]
    pub fn new(inner: Arc<S>) -> Self {
        Self { inner, broken: AtomicBool::new(false) }
    }

    /// Breaks or mends the writes.
    pub fn break_writes(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }

    fn write<'a, T: Send + 'a>(
        &'a self,
        write: impl FnOnce(&'a S) -> Pending<'a, Result<T, StoreError>>,
    ) -> Pending<'a, Result<T, StoreError>> {
        if self.broken.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(StoreError::new("the disk is full"))));
        }
        write(&self.inner)
    }
}

impl<S: Store> Store for FlakyStore<S> {
    fn begin(&self, intent: Intent) -> Pending<'_, Result<Begun, StoreError>> {
        self.write(|store| store.begin(intent))
    }

    fn answer(&self, answered: Answered) -> Pending<'_, Result<(), StoreError>> {
        self.write(|store| store.answer(answered))
    }

    fn finish(&self, ending: Ending) -> Pending<'_, Result<(), StoreError>> {
        self.write(|store| store.finish(ending))
    }

    fn progress(&self, key: CallKey, progress: Progress) -> Pending<'_, Result<(), StoreError>> {
        self.write(|store| store.progress(key, progress))
    }

    fn ask_to_stop(
        &self,
        key: CallKey,
        by: &str,
        at: Instant,
    ) -> Pending<'_, Result<bool, StoreError>> {
        let by = by.to_owned();
        Box::pin(async move { self.write(|store| store.ask_to_stop(key, &by, at)).await })
    }

    fn asked_to_stop(&self) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        self.inner.asked_to_stop()
    }

    fn recover(&self, at: Instant) -> Pending<'_, Result<Vec<CallKey>, StoreError>> {
        self.write(|store| store.recover(at))
    }

    fn call(&self, key: CallKey) -> Pending<'_, Result<Option<CallRecord>, StoreError>> {
        self.inner.call(key)
    }

    fn calls(&self, query: CallQuery) -> Pending<'_, Result<Vec<CallRecord>, StoreError>> {
        self.inner.calls(query)
    }

    fn events(&self, query: EventQuery) -> Pending<'_, Result<Vec<Event>, StoreError>> {
        self.inner.events(query)
    }

    fn follow(&self, thread: &ThreadId) -> Feed {
        self.inner.follow(thread)
    }

    fn threads(&self) -> Pending<'_, Result<Vec<ThreadHead>, StoreError>> {
        self.inner.threads()
    }

    fn grants(&self, user: &str, agent: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        self.inner.grants(user, agent)
    }

    fn granted_by(&self, user: &str) -> Pending<'_, Result<Vec<Grant>, StoreError>> {
        self.inner.granted_by(user)
    }

    fn give(&self, grant: Grant) -> Pending<'_, Result<(), StoreError>> {
        self.write(|store| store.give(grant))
    }

    fn revoke(&self, permit: Permit, at: Instant) -> Pending<'_, Result<usize, StoreError>> {
        self.write(|store| store.revoke(permit, at))
    }

    fn lift(&self, permit: Permit, at: Instant) -> Pending<'_, Result<bool, StoreError>> {
        self.write(|store| store.lift(permit, at))
    }

    fn publish(&self, version: NewVersion) -> Pending<'_, Result<Published, StoreError>> {
        self.write(|store| store.publish(version))
    }

    fn versions(&self, source: &str) -> Pending<'_, Result<Vec<Version>, StoreError>> {
        self.inner.versions(source)
    }

    fn say(&self, message: Message) -> Pending<'_, Result<(), StoreError>> {
        self.write(|store| store.say(message))
    }

    fn run(&self, note: RunNote) -> Pending<'_, Result<u64, StoreError>> {
        self.write(|store| store.run(note))
    }

    fn messages(&self, thread: ThreadId) -> Pending<'_, Result<Vec<Message>, StoreError>> {
        self.inner.messages(thread)
    }
}
