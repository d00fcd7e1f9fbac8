//! The record: one entry after another, each sealed with the hash of the one before.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{CallId, ThreadId};

/// Is the hash before the first event of a thread.
pub const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Says what an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// A call is about to run; nothing has happened yet.
    #[serde(rename = "call.intent")]
    Intent,
    /// A person is asked about a call.
    #[serde(rename = "approval.asked")]
    Asked,
    /// They answered, or did not.
    #[serde(rename = "approval.answered")]
    Answered,
    /// Somebody wants a call stopped; whether that came in time, its outcome tells.
    #[serde(rename = "call.stop")]
    StopAsked,
    /// A call ended, or was refused before it ran.
    #[serde(rename = "call.outcome")]
    Outcome,
    /// A permission was given.
    #[serde(rename = "grant.given")]
    GrantGiven,
    /// A permission was taken back.
    #[serde(rename = "grant.revoked")]
    GrantRevoked,
    /// What was taken back may be asked for again.
    #[serde(rename = "grant.lifted")]
    GrantLifted,
    /// Something was said.
    #[serde(rename = "message")]
    Message,
    /// A run began: a turn of a conversation.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A run ended, or waits for a person.
    #[serde(rename = "run.finished")]
    RunFinished,
}

impl EventKind {
    /// Lists them.
    pub const ALL: [Self; 11] = [
        Self::Intent,
        Self::Asked,
        Self::Answered,
        Self::StopAsked,
        Self::Outcome,
        Self::GrantGiven,
        Self::GrantRevoked,
        Self::GrantLifted,
        Self::Message,
        Self::RunStarted,
        Self::RunFinished,
    ];

    /// Gives the word in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intent => "call.intent",
            Self::Asked => "approval.asked",
            Self::Answered => "approval.answered",
            Self::StopAsked => "call.stop",
            Self::Outcome => "call.outcome",
            Self::GrantGiven => "grant.given",
            Self::GrantRevoked => "grant.revoked",
            Self::GrantLifted => "grant.lifted",
            Self::Message => "message",
            Self::RunStarted => "run.started",
            Self::RunFinished => "run.finished",
        }
    }

    /// Reads the word in the log.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Is one entry of a thread's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The thread.
    pub thread: ThreadId,
    /// Its place in the thread, from 1.
    pub sequence: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it tells.
    pub kind: EventKind,
    /// The call it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The facts, as JSON text: the hash is over exactly these bytes.
    pub body: String,
    /// The hash of the entry before.
    pub previous: String,
    /// The hash of this one.
    pub hash: String,
}

/// Is an entry before it has a place in its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it tells.
    pub kind: EventKind,
    /// The call it is about.
    pub call: Option<CallId>,
    /// The facts, as JSON text.
    pub body: String,
}

impl Draft {
    /// Puts it behind the entry with this sequence number and hash.
    #[must_use]
    pub fn seal(self, thread: &ThreadId, after: u64, previous: &str) -> Event {
        let mut event = Event {
            thread: thread.clone(),
            sequence: after + 1,
            at_ms: self.at_ms,
            kind: self.kind,
            call: self.call,
            body: self.body,
            previous: previous.to_owned(),
            hash: String::new(),
        };
        event.hash = event.computed_hash();
        event
    }
}

impl Event {
    /// Computes the hash of what is written in it: SHA-256 over its parts, each led by its length, so
    /// that no two events are written alike.
    #[must_use]
    pub fn computed_hash(&self) -> String {
        let mut hasher = Sha256::new();
        let (sequence, at) = (self.sequence.to_string(), self.at_ms.to_string());
        let call = self.call.as_ref().map_or("", CallId::as_str);
        for part in [
            "remit-event-1",
            &self.previous,
            self.thread.as_str(),
            &sequence,
            &at,
            self.kind.as_str(),
            call,
            &self.body,
        ] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        crate::canonical::hex(&hasher.finalize())
    }
}

/// Says where a record stops being what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Break {
    /// An entry is missing, doubled or out of order.
    Sequence {
        /// The number that should be there.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// An entry does not follow from the one before.
    Link {
        /// Its number.
        sequence: u64,
    },
    /// An entry was altered.
    Hash {
        /// Its number.
        sequence: u64,
    },
}

/// Checks the entries of one thread as they come.
#[derive(Clone, Debug)]
pub struct Verifier {
    sequence: u64,
    hash: String,
}

impl Default for Verifier {
    fn default() -> Self {
        Self { sequence: 0, hash: FIRST.to_owned() }
    }
}

impl Verifier {
    /// Takes the next entry; an error says where the record breaks.
    pub fn next(&mut self, event: &Event) -> Result<(), Break> {
        let expected = self.sequence + 1;
        if event.sequence != expected {
            return Err(Break::Sequence { expected, found: event.sequence });
        }
        if event.previous != self.hash {
            return Err(Break::Link { sequence: expected });
        }
        if event.hash != event.computed_hash() {
            return Err(Break::Hash { sequence: expected });
        }
        self.sequence = expected;
        self.hash.clone_from(&event.hash);
        Ok(())
    }

    /// Gives the number and the hash of the last entry taken.
    #[must_use]
    pub fn head(&self) -> (u64, &str) {
        (self.sequence, &self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Vec<Event> {
        let thread = ThreadId::parse("t").unwrap();
        let mut events: Vec<Event> = Vec::new();
        for n in 0..4 {
            let previous = events.last().map_or(FIRST.to_owned(), |e| e.hash.clone());
            let call = CallId::parse(&format!("c{n}"));
            let draft =
                Draft { at_ms: n, kind: EventKind::Intent, call, body: format!("{{\"n\":{n}}}") };
            events.push(draft.seal(&thread, u64::try_from(n).unwrap(), &previous));
        }
        events
    }

    fn verify(events: &[Event]) -> Result<(), Break> {
        let mut verifier = Verifier::default();
        events.iter().try_for_each(|event| verifier.next(event))
    }

    #[test]
    fn whatever_is_altered_or_removed_breaks_the_chain() {
        assert_eq!(verify(&chain()), Ok(()));
        type Alter = fn(&mut Event);
        let alterations: [(&str, Alter); 7] = [
            ("body", |e| e.body.push(' ')),
            ("kind", |e| e.kind = EventKind::Outcome),
            ("call", |e| e.call = None),
            ("at", |e| e.at_ms += 1),
            ("thread", |e| e.thread = ThreadId::parse("u").unwrap()),
            ("previous", |e| e.previous = FIRST.to_owned()),
            ("hash", |e| e.hash = e.hash.replace('1', "2")),
        ];
        for (what, alter) in alterations {
            let mut events = chain();
            alter(&mut events[2]);
            assert!(verify(&events).is_err(), "{what}");
        }
        for gone in 0..3 {
            let mut events = chain();
            events.remove(gone);
            assert!(verify(&events).is_err(), "{gone}");
        }
        let mut swapped = chain();
        swapped.swap(1, 2);
        assert!(verify(&swapped).is_err());
        // An altered entry with a hash of its own no longer links to the next.
        let mut forged = chain();
        forged[1].body = "{}".to_owned();
        forged[1].hash = forged[1].computed_hash();
        assert_eq!(verify(&forged), Err(Break::Link { sequence: 3 }));
    }
}
