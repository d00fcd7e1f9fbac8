//! Names that come in with requests, and what they are inside.

use remit_engine::screen::Screen;
use remit_model::{CallId, ThreadId};
use serde::{Deserialize as _, Deserializer};

use crate::error::{Answer, ApiError};

/// How long a user's or an agent's name may be.
const LONGEST: usize = 64;

/// Tells whether a name can be a user's: small letters, digits, `-`, `_` and `.`; not the operator's.
pub(crate) fn is_user(name: &str) -> bool {
    let fits =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(fits)
}

/// Gives the thread that a user means by a name. Threads are a user's own: two users who use the same
/// name have two threads. A user's name has no colon, so no name of one reaches another's.
pub(crate) fn thread(user: &str, name: &str) -> Answer<ThreadId> {
    let bad = || {
        ApiError::bad_request(
            "INVALID_THREAD",
            "the thread is not an id: use up to 60 letters, digits, `-`, `_`, `.` and `:`",
        )
    };
    if name.len() > 60 || ThreadId::parse(name).is_none() || holds_secret(name) {
        return Err(bad());
    }
    ThreadId::parse(&format!("{user}:{name}")).ok_or_else(bad)
}

/// Gives the name by which a user knows a thread.
pub(crate) fn thread_name<'t>(user: &str, thread: &'t ThreadId) -> &'t str {
    let whole = thread.as_str();
    whole.strip_prefix(user).and_then(|rest| rest.strip_prefix(':')).unwrap_or(whole)
}

/// Tells whether a name is, or holds, a secret. Names are recorded, shown and logged as they are.
pub(crate) fn holds_secret(name: &str) -> bool {
    Screen::default().hide(name) != name
}

/// Reads a call's id.
pub(crate) fn call(id: &str) -> Answer<CallId> {
    CallId::parse(id).filter(|_| !holds_secret(id)).ok_or_else(|| {
        ApiError::bad_request(
            "INVALID_CALL_ID",
            "the call id is not one: use up to 128 letters, digits, `-`, `_`, `.` and `:`",
        )
    })
}

/// The largest number that a program in any language reads as it was written.
pub(crate) const LARGEST: u64 = (1 << 53) - 1;

/// Reads a number that may be left out.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Option::<u64>::deserialize(from)?.map(bounded).transpose()
}

/// Reads a number.
pub(crate) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    bounded(u64::deserialize(from)?)
}

fn bounded<E: serde::de::Error>(number: u64) -> Result<u64, E> {
    let too_large = || E::custom(format!("a number is at most {LARGEST}"));
    (number <= LARGEST).then_some(number).ok_or_else(too_large)
}

/// Writes a time by RFC 3339.
pub(crate) fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |t| format!("{t:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_thread_reaches_another_user() {
        let anns = thread("ann", "bob:x").unwrap();
        assert_ne!(anns, thread("bob", "x").unwrap());
        assert_eq!(thread_name("ann", &anns), "bob:x");
        assert!(!is_user("ann:bob") && !is_user("") && !is_user("Ann") && is_user("ann.b-c_1"));
        assert!(is_user(&"a".repeat(64)) && !is_user(&"a".repeat(65)));
        assert!(thread("ann", &"t".repeat(60)).is_ok() && thread("ann", &"t".repeat(61)).is_err());
        assert!(thread(&"u".repeat(64), &"t".repeat(60)).is_ok());
    }
}
