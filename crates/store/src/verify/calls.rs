//! Holds the calls that a store knows against the events that tell of them.

use std::collections::HashMap;

use remit_engine::log::{Beginning, Conclusion};
use remit_engine::ports::Store;
use remit_engine::record::{CallRecord, CallState};
use remit_model::{Call, CallId, Event, EventKind, Outcome};

use super::Trouble;

/// Collects what the events of a thread tell of calls.
#[derive(Default)]
pub(super) struct Told(HashMap<CallId, Same>);

/// Is what is told of the calls with one id. Two callers may use the same.
#[derive(Default)]
struct Same {
    begun: Vec<Call>,
    ends: Vec<Outcome>,
    /// How many ends were claimed by a record so far, for each of `ends`.
    claimed: Vec<bool>,
}

impl Told {
    /// Takes an event. Gives the user whose call begins with it.
    pub(super) fn note(&mut self, event: &Event) -> Option<String> {
        let id = event.call.as_ref()?;
        let begins = matches!(event.kind, EventKind::Intent | EventKind::Asked);
        if !begins && event.kind != EventKind::Outcome {
            return None;
        }
        let same = self.0.entry(id.clone()).or_default();
        // A refusal is the beginning and the end in one.
        let beginning = serde_json::from_str::<Beginning<'_>>(&event.body).ok();
        let end = match &beginning {
            Some(beginning) => beginning.outcome.as_ref().map(|outcome| outcome.as_ref().clone()),
            None => serde_json::from_str::<Conclusion<'_>>(&event.body)
                .ok()
                .map(|end| end.outcome.into_owned()),
        };
        if let Some(end) = end {
            same.ends.push(end);
            same.claimed.push(false);
        }
        let (call, ..) = beginning?.into_parts(id.clone(), event.thread.clone());
        let user = call.caller.user.clone();
        same.begun.push(call);
        Some(user)
    }

    /// Looks for what was cut off or swapped: a chain does not miss what came after its last link.
    pub(super) fn miss(&mut self, record: &CallRecord) -> Result<(), Trouble> {
        let lost = |missing| Trouble::Call { call: record.call.id.clone(), missing };
        let Some(same) = self.0.get_mut(&record.call.id) else {
            let ended = matches!(record.state, CallState::Ended(_));
            return Err(lost(if ended { "end" } else { "beginning" }));
        };
        if let CallState::Ended(outcome) = &record.state {
            let mut ends = same.ends.iter().zip(&mut same.claimed);
            match ends.find(|(end, claimed)| *end == outcome && !**claimed) {
                Some((_, claimed)) => *claimed = true,
                None => return Err(lost("end")),
            }
        }
        match same.begun.contains(&record.call) {
            true => Ok(()),
            false => Err(lost("beginning")),
        }
    }

    /// Looks for calls of which events tell and that the store does not know, or knows otherwise.
    pub(super) async fn unknown(&self, store: &dyn Store) -> Result<(), Trouble> {
        for same in self.0.values() {
            for call in &same.begun {
                let record = store.call(call.key()).await.map_err(Trouble::Unreadable)?;
                // Of two callers with one id, either may be the one who has not ended.
                let ended = same.ends.len() >= same.begun.len();
                let well = record.is_some_and(|record| {
                    let end = match &record.state {
                        CallState::Ended(outcome) => !ended || same.ends.contains(outcome),
                        CallState::Asking | CallState::Running => !ended,
                    };
                    record.call == *call && end
                });
                if !well {
                    return Err(Trouble::Index { call: call.id.clone() });
                }
            }
        }
        Ok(())
    }
}
