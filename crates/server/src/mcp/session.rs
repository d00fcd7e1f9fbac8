//! Sessions of clients that shake hands: what they agreed on, what they run, what they were asked.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_engine::client::Level;
use remit_engine::directory::TokenKind;
use remit_model::{CallKey, ThreadId};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::line::Can;
use super::revision::Revision;
use crate::auth::Principal;
use crate::rest::names;

/// How many sessions one principal may have; the one that was quiet longest makes room.
pub(crate) const MOST_EACH: usize = 256;
/// How many there may be.
const MOST: usize = 20_000;

/// Is a session.
pub(crate) struct Session {
    pub(crate) id: String,
    /// The name of its conversation, and that conversation.
    pub(crate) thread: (String, ThreadId),
    owner: (TokenKind, String),
    pub(crate) revision: Revision,
    /// What the client can be asked for.
    pub(crate) can: Can,
    /// How much a remark must matter to be told; none means that the client did not say.
    pub(crate) level: Mutex<Option<Level>>,
    /// The resources whose changes the client wants to hear of, with what they were like.
    pub(crate) watched: Mutex<BTreeMap<String, u64>>,
    /// When it was used last.
    used_ms: AtomicI64,
    numbers: AtomicU64,
    /// Requests of the server's that wait for an answer.
    pending: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    /// Requests of the client's that are calls under way.
    running: Mutex<HashMap<Box<str>, CallKey>>,
    /// Whether somebody listens on the stream.
    pub(crate) is_heard: AtomicBool,
}

/// Looks at what is shared, whatever became of who looked before.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Makes one.
    pub(crate) fn new(principal: &Principal, revision: Revision, can: Can) -> Result<Self, String> {
        let id = crate::auth::token::fresh_token("")?;
        let name = format!("mcp-{id}");
        let thread = names::thread(&principal.subject, &name)
            .map_err(|_| format!("`{}` cannot have conversations", principal.subject))?;
        Ok(Self {
            id,
            thread: (name, thread),
            owner: (principal.kind, principal.subject.clone()),
            revision,
            can,
            level: Mutex::default(),
            watched: Mutex::default(),
            used_ms: AtomicI64::new(0),
            numbers: AtomicU64::new(0),
            pending: Mutex::default(),
            running: Mutex::default(),
            is_heard: AtomicBool::new(false),
        })
    }

    /// Prepares a request to the client: its id, and where the answer comes.
    pub(crate) fn ask(&self) -> (String, oneshot::Receiver<Value>) {
        let id = format!("remit-{}", self.numbers.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        locked(&self.pending).insert(id.clone(), sender);
        (id, receiver)
    }

    /// Forgets a request to the client.
    pub(crate) fn forget(&self, id: &str) {
        locked(&self.pending).remove(id);
    }

    /// Takes the client's answer to a request. One that nobody waits for is dropped; an error is
    /// nothing said.
    pub(crate) fn answered(&self, id: &RawValue, result: Option<&RawValue>) {
        let Ok(id) = serde_json::from_str::<String>(id.get()) else { return };
        let Some(sender) = locked(&self.pending).remove(&id) else { return };
        if let Some(Ok(value)) = result.map(super::strict::value) {
            let _ = sender.send(value);
        }
    }

    /// Remembers which call a request is, so that it can be called off.
    pub(crate) fn runs(self: &Arc<Self>, id: &RawValue, key: &CallKey) -> Run {
        let id: Box<str> = id.get().into();
        locked(&self.running).insert(id.clone(), key.clone());
        Run { session: Arc::clone(self), id }
    }

    /// Finds the call that a request is.
    pub(crate) fn running(&self, id: &RawValue) -> Option<CallKey> {
        locked(&self.running).get(id.get()).cloned()
    }
}

/// Is a call under way in a session. Dropping it takes it out.
pub(crate) struct Run {
    session: Arc<Session>,
    id: Box<str>,
}

impl Drop for Run {
    fn drop(&mut self) {
        locked(&self.session.running).remove(&self.id);
    }
}

/// Holds sessions by id.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Adds one; those that are too many go, the quietest first.
    pub(crate) fn add(&self, session: Arc<Session>, now_ms: i64) {
        session.used_ms.store(now_ms, Ordering::Relaxed);
        let mut all = locked(&self.0);
        let theirs = all.values().filter(|one| one.owner == session.owner).count();
        let quietest = |of: &dyn Fn(&Session) -> bool| {
            let some = all.values().filter(|one| of(one));
            some.min_by_key(|one| one.used_ms.load(Ordering::Relaxed)).map(|one| one.id.clone())
        };
        let goes = match (theirs >= MOST_EACH, all.len() >= MOST) {
            (true, _) => quietest(&|one| one.owner == session.owner),
            (false, true) => quietest(&|_| true),
            (false, false) => None,
        };
        if let Some(goes) = goes {
            all.remove(&goes);
        }
        all.insert(session.id.clone(), session);
    }

    /// Finds a principal's session. Another's is not there.
    pub(crate) fn find(
        &self,
        id: &str,
        principal: &Principal,
        now_ms: i64,
    ) -> Option<Arc<Session>> {
        let all = locked(&self.0);
        let session = all
            .get(id)
            .filter(|one| one.owner.0 == principal.kind && one.owner.1 == principal.subject)?;
        session.used_ms.store(now_ms, Ordering::Relaxed);
        Some(Arc::clone(session))
    }

    /// Ends a session.
    pub(crate) fn end(&self, session: &Session) {
        locked(&self.0).remove(&session.id);
        locked(&session.pending).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_has_so_many_sessions_and_loses_its_quietest() {
        let sessions = Sessions::default();
        let (ann, bob) = (Principal::local("ann"), Principal::local("bob"));
        let add = |who: &Principal, at| {
            let session = Arc::new(Session::new(who, Revision::V20251125, Can::default()).unwrap());
            sessions.add(session.clone(), at);
            session.id.clone()
        };
        let bobs = add(&bob, 0);
        let ids: Vec<String> = (1..=MOST_EACH).map(|n| add(&ann, n as i64)).collect();
        assert!(ids.iter().all(|id| sessions.find(id, &ann, 1_000).is_some()), "all of them");
        sessions.find(&ids[0], &ann, 2_000);
        add(&ann, 3_000);
        let gone = ids.iter().filter(|id| sessions.find(id, &ann, 4_000).is_none()).count();
        assert_eq!(gone, 1, "one made room");
        assert!(sessions.find(&ids[0], &ann, 4_000).is_some(), "it was used last");
        assert!(sessions.find(&bobs, &bob, 1).is_some(), "another's stays");
        assert!(sessions.find(&bobs, &ann, 1).is_none(), "and is not shown");
    }
}
