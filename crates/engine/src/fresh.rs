//! Ids for calls and threads that came without one.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use remit_model::{CallId, ThreadId};
use uuid::{Builder, Uuid};

/// How many random bytes an id takes.
const EACH: usize = 10;
/// For how many ids the machine is asked at once: asking costs more than all the rest.
const AHEAD: usize = 64;

/// Gives an id for a call that came without one.
#[must_use]
pub fn fresh_call_id() -> CallId {
    CallId::parse(&fresh_id()).expect("a UUID is letters, digits and dashes")
}

/// Gives a thread for a call that came without one.
#[must_use]
pub fn fresh_thread_id() -> ThreadId {
    ThreadId::parse(&fresh_id()).expect("a UUID is letters, digits and dashes")
}

/// Is what this thread has left of random bytes. No byte is used twice.
struct Left {
    bytes: [u8; EACH * AHEAD],
    used: usize,
}

impl Left {
    fn take(&mut self) -> Option<[u8; EACH]> {
        if self.used + EACH > self.bytes.len() {
            getrandom::fill(&mut self.bytes).ok()?;
            self.used = 0;
        }
        let taken = self.bytes.get(self.used..)?.first_chunk().copied()?;
        self.used += EACH;
        Some(taken)
    }
}

fn fresh_id() -> String {
    thread_local! {
        static LEFT: RefCell<Left> =
            const { RefCell::new(Left { bytes: [0; EACH * AHEAD], used: EACH * AHEAD }) };
    }
    let random = LEFT.with_borrow_mut(Left::take);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
    let id = match random.zip(ms) {
        Some((random, ms)) => Builder::from_unix_timestamp_millis(ms, &random).into_uuid(),
        None => Uuid::now_v7(),
    };
    id.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_ids_are_alike_and_they_are_of_version_7() {
        let make = || (0..AHEAD * 5).map(|_| fresh_id()).collect::<Vec<_>>();
        let (here, there) = (make(), std::thread::spawn(make).join().unwrap());
        let all: HashSet<&String> = here.iter().chain(&there).collect();
        assert_eq!(all.len(), AHEAD * 10);
        for id in all {
            assert_eq!(Uuid::parse_str(id).unwrap().get_version_num(), 7, "{id}");
        }
    }
}
