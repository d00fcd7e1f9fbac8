//! One publication of an agent at a time in this process, and the version it published last.
//!
//! Other processes may publish too; whoever writes finds out by the number. This only saves the work
//! of comparing with a version that is about to be the one before the last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::draft::Kept;

/// How many agents' last versions are remembered.
const MOST: usize = 32;

/// Is where an agent's publications wait for each other. It holds the last version, if it is known.
pub(super) type Slot = tokio::sync::Mutex<Option<Arc<Kept>>>;

/// Gives each agent its slot.
#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<HashMap<String, Arc<Slot>>>);

impl Slots {
    /// Finds the slot of an agent.
    pub(super) fn of(&self, agent: &str) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(agent) {
            return Arc::clone(slot);
        }
        if slots.len() >= MOST {
            // Only those that nobody is at: two slots of one agent would not wait for each other.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        let slot = Arc::<Slot>::default();
        slots.insert(agent.to_owned(), Arc::clone(&slot));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_in_use_are_kept_and_the_rest_is_bounded() {
        let slots = Slots::default();
        let used = slots.of("used");
        for n in 0..10 * MOST {
            drop(slots.of(&format!("agent {n}")));
        }
        assert!(Arc::ptr_eq(&used, &slots.of("used")));
        assert!(slots.0.lock().unwrap().len() <= MOST);
    }
}
