//! Controlled credentials: what proves, for some minutes and once a method, which call a process runs.
//!
//! They live in memory only. A process calls back to the server that started it or not at all, and a
//! credential that does not survive the server cannot be used after it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remit_model::{Call, Instant};

use crate::auth::token;

/// Is how long a credential holds at least and at most; between them, as long as the call may take.
const LEAST: Duration = Duration::from_secs(300);
const MOST: Duration = Duration::from_secs(600);

/// Is what a credential was made for.
#[derive(Clone, Debug)]
struct Held {
    user: String,
    thread: String,
    methods: Vec<String>,
    /// The one connection on which it counts.
    audience: String,
    minted: Instant,
    lasts: Duration,
    used: Vec<String>,
}

/// Says why a credential does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was never made here, or it was taken back.
    Unknown,
    /// Its time is over, or the clock cannot tell.
    Expired,
    /// It belongs to another connection.
    ForeignAudience,
    /// It was not made for this method.
    NotForThis,
    /// It was used for this method already.
    Replayed,
}

/// Is the credentials that count. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Credentials(Arc<Mutex<HashMap<String, Held>>>);

/// Takes a credential back when it is dropped.
pub(crate) struct Stay {
    credentials: Credentials,
    digest: String,
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.credentials.held().remove(&self.digest);
    }
}

impl Credentials {
    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one for the process that runs a call, which counts on one connection.
    pub(crate) fn mint(
        &self,
        call: &Call,
        audience: &str,
        time: Duration,
        now: Instant,
    ) -> Result<(String, Stay), String> {
        let credential = token::fresh_token(token::CREDENTIAL_PREFIX)?;
        let digest = token::digest(&credential);
        let held = Held {
            user: call.caller.user.clone(),
            thread: call.thread.to_string(),
            methods: vec![call.capability.clone()],
            audience: audience.to_owned(),
            minted: now,
            lasts: time.clamp(LEAST, MOST),
            used: Vec::new(),
        };
        self.held().insert(digest.clone(), held);
        Ok((credential, Stay { credentials: self.clone(), digest }))
    }

    /// Takes a credential for a method on a connection; gives the user it was made for. It counts
    /// once.
    pub(crate) fn present(
        &self,
        credential: &str,
        audience: &str,
        method: &str,
        now: &Instant,
    ) -> Result<String, Refusal> {
        let mut all = self.held();
        let held = all.get_mut(&token::digest(credential)).ok_or(Refusal::Unknown)?;
        let age = now.since(&held.minted).and_then(|ms| u64::try_from(ms).ok());
        if age.is_none_or(|ms| Duration::from_millis(ms) >= held.lasts) {
            return Err(Refusal::Expired);
        }
        if held.audience != audience {
            return Err(Refusal::ForeignAudience);
        }
        if !held.methods.iter().any(|own| own == method) {
            return Err(Refusal::NotForThis);
        }
        if held.used.iter().any(|used| used == method) {
            return Err(Refusal::Replayed);
        }
        held.used.push(method.to_owned());
        Ok(held.user.clone())
    }

    /// Takes back all that were made for a user, or for a conversation of theirs.
    pub(crate) fn revoke(&self, user: &str, thread: Option<&str>) {
        let is_meant =
            |held: &Held| held.user == user && thread.is_none_or(|thread| held.thread == thread);
        self.held().retain(|_, held| !is_meant(held));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_engine::fresh_call_id;
    use remit_model::{Caller, ThreadId};
    use serde_json::json;

    fn at(boot_ms: i64) -> Instant {
        Instant { wall_ms: 1_700_000_000_000, boot_ms, boot: "b".to_owned() }
    }

    fn call() -> Call {
        Call {
            id: fresh_call_id(),
            caller: Caller::person("ann"),
            thread: ThreadId::parse("ann:t").unwrap(),
            group: false,
            capability: "calendar.read".to_owned(),
            input: json!({}),
            timeout_ms: None,
        }
    }

    fn minted(time: u64) -> (Credentials, String, Stay) {
        let all = Credentials::default();
        let (one, stay) = all.mint(&call(), "door", Duration::from_secs(time), at(0)).unwrap();
        (all, one, stay)
    }

    #[test]
    fn it_counts_once_for_its_method_on_its_connection() {
        let (all, one, _stay) = minted(10);
        let present = |credential: &str, door: &str, method: &str| {
            all.present(credential, door, method, &at(1))
        };
        assert_eq!(present(&one, "other", "calendar.read"), Err(Refusal::ForeignAudience));
        assert_eq!(present(&one, "door", "calendar.delete"), Err(Refusal::NotForThis));
        let forged = format!("{}x", &one[..one.len() - 1]);
        assert_eq!(present(&forged, "door", "calendar.read"), Err(Refusal::Unknown));
        assert_eq!(present(&one, "door", "calendar.read"), Ok("ann".to_owned()));
        assert_eq!(present(&one, "door", "calendar.read"), Err(Refusal::Replayed));
    }

    #[test]
    fn it_holds_five_to_ten_minutes_by_the_clock_that_does_not_jump() {
        for (time, lasts) in [(1, 300_000), (420, 420_000), (9_000, 600_000)] {
            let (all, one, _stay) = minted(time);
            let present = |now: &Instant| all.present(&one, "door", "calendar.read", now);
            assert_eq!(present(&at(lasts)), Err(Refusal::Expired), "{time}");
            assert_eq!(present(&at(-1)), Err(Refusal::Expired), "a clock that goes back");
            // The wall clock may say what it likes.
            let jumped = Instant { wall_ms: i64::MAX, ..at(lasts - 1) };
            assert_eq!(present(&jumped), Ok("ann".to_owned()), "{time}");
        }
    }

    #[test]
    fn it_ends_with_its_call_and_when_it_is_taken_back() {
        let (all, one, stay) = minted(10);
        drop(stay);
        let ended = all.present(&one, "door", "calendar.read", &at(1));
        assert_eq!(ended, Err(Refusal::Unknown));
        for (user, thread, stands) in [
            ("bob", None, true),
            ("ann", Some("ann:u"), true),
            ("ann", Some("ann:t"), false),
            ("ann", None, false),
        ] {
            let (all, one, _stay) = minted(10);
            all.revoke(user, thread);
            let shown = all.present(&one, "door", "calendar.read", &at(1));
            assert_eq!(shown.is_ok(), stands, "{user} {thread:?}");
        }
    }
}
