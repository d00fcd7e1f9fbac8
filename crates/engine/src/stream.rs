//! What was recorded, told at once to those who follow a thread.
//!
//! The record is the truth; this only saves those who follow from asking it again and again. Who falls
//! behind is told so and reads the record.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use remit_model::{Event, ThreadId};
use tokio::sync::broadcast;

/// How many events a follower may be behind.
const BEHIND: usize = 256;

/// Is an event that was recorded, with room for the form in which it goes out: made once for all who
/// follow.
#[derive(Debug)]
pub struct Told {
    /// The event.
    pub event: Event,
    form: OnceLock<Arc<[u8]>>,
}

impl Told {
    fn new(event: Event) -> Self {
        Self { event, form: OnceLock::new() }
    }

    /// Gives the form in which it goes out, made by whoever asks first. Everybody who asks must want
    /// the same.
    pub fn form(&self, make: impl FnOnce(&Event) -> Vec<u8>) -> Arc<[u8]> {
        Arc::clone(self.form.get_or_init(|| make(&self.event).into()))
    }
}

/// Knows who follows which thread.
#[derive(Debug, Default)]
pub struct Hub {
    threads: Mutex<HashMap<ThreadId, broadcast::Sender<Arc<Told>>>>,
    count: AtomicUsize,
}

impl Hub {
    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, broadcast::Sender<Arc<Told>>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether anybody follows anything. Cheap enough to be asked for each event.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Follows a thread from now on.
    #[must_use]
    pub fn follow(self: &Arc<Self>, thread: &ThreadId) -> Feed {
        let mut threads = self.threads();
        let told = threads
            .entry(thread.clone())
            .or_insert_with(|| broadcast::channel(BEHIND).0)
            .subscribe();
        self.count.store(threads.len(), Ordering::Relaxed);
        drop(threads);
        Feed { told: Some(told), hub: Arc::clone(self), thread: thread.clone() }
    }

    /// Tells what was recorded.
    pub fn tell(&self, events: impl IntoIterator<Item = Event>) {
        let threads = self.threads();
        for event in events {
            if let Some(sender) = threads.get(&event.thread) {
                // An error means that the last follower is about to be gone.
                let _ = sender.send(Arc::new(Told::new(event)));
            }
        }
    }

    fn leave(&self, thread: &ThreadId) {
        let mut threads = self.threads();
        if threads.get(thread).is_some_and(|sender| sender.receiver_count() == 0) {
            threads.remove(thread);
        }
        self.count.store(threads.len(), Ordering::Relaxed);
    }
}

/// Hears what is recorded in a thread.
#[derive(Debug)]
pub struct Feed {
    told: Option<broadcast::Receiver<Arc<Told>>>,
    hub: Arc<Hub>,
    thread: ThreadId,
}

/// Is what a feed hears.
#[derive(Clone, Debug)]
pub enum Heard {
    /// Something was recorded.
    Event(Arc<Told>),
    /// More was recorded than could be heard: the record has it.
    Behind,
}

impl Feed {
    /// Waits for what is recorded next.
    pub async fn next(&mut self) -> Heard {
        match &mut self.told {
            Some(told) => match told.recv().await {
                Ok(event) => Heard::Event(event),
                Err(_) => Heard::Behind,
            },
            None => std::future::pending().await,
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.told = None;
        self.hub.leave(&self.thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_model::EventKind;
    use remit_model::event::{Draft, FIRST};

    fn event(thread: &str, after: u64) -> Event {
        let draft = Draft { at_ms: 1, kind: EventKind::Message, call: None, body: String::new() };
        draft.seal(&ThreadId::parse(thread).unwrap(), after, FIRST)
    }

    #[tokio::test]
    async fn who_follows_hears_their_thread_and_nothing_else() {
        let hub = Arc::new(Hub::default());
        assert!(!hub.is_followed());
        let mut feed = hub.follow(&ThreadId::parse("a").unwrap());
        let second = hub.follow(&ThreadId::parse("a").unwrap());
        hub.tell([event("b", 0), event("a", 0), event("a", 1)]);
        for sequence in [1, 2] {
            let Heard::Event(told) = feed.next().await else { panic!("it is not behind") };
            assert_eq!((told.event.thread.as_str(), told.event.sequence), ("a", sequence));
        }
        drop(second);
        assert!(hub.is_followed());
        drop(feed);
        assert!(!hub.is_followed());
        assert!(hub.threads().is_empty());
    }

    #[tokio::test]
    async fn who_is_too_slow_is_told_and_goes_on() {
        let hub = Arc::new(Hub::default());
        let mut feed = hub.follow(&ThreadId::parse("a").unwrap());
        hub.tell((0..=BEHIND as u64).map(|n| event("a", n)));
        assert!(matches!(feed.next().await, Heard::Behind));
        let Heard::Event(told) = feed.next().await else { panic!("only once") };
        assert_eq!(told.event.sequence, 2);
    }

    #[test]
    fn the_form_is_made_once() {
        let told = Told::new(event("a", 0));
        let first = told.form(|event| event.sequence.to_string().into_bytes());
        let second = told.form(|_| unreachable!("it is made"));
        assert!(Arc::ptr_eq(&first, &second));
    }
}
