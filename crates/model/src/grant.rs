//! Standing permission, and the time it is measured in.

use serde::{Deserialize, Serialize};

use crate::Sensitivity;

/// Is a moment, by the wall clock and by the time since the machine started. The second cannot be
/// set, so whatever must not be stretched or cut short by moving the clock is measured by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instant {
    /// Milliseconds since 1970, as the clock says.
    pub wall_ms: i64,
    /// Milliseconds since the machine started, sleep included.
    pub boot_ms: i64,
    /// Which start that was.
    pub boot: String,
}

impl Instant {
    /// Gives how long ago an earlier moment was; none if the clocks cannot tell.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<i64> {
        let elapsed = if self.boot == earlier.boot {
            self.boot_ms - earlier.boot_ms
        } else {
            self.wall_ms - earlier.wall_ms
        };
        (elapsed >= 0).then_some(elapsed)
    }
}

/// Is a user's yes to a scope that holds for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who gave it.
    pub user: String,
    /// The agent it is for, empty for the person themselves.
    pub agent: String,
    /// The tool, skill or agent whose declaration was shown.
    pub source: String,
    /// The scope.
    pub scope: String,
    /// How much care was said to be needed.
    pub sensitivity: Sensitivity,
    /// The hash of the declaration that was shown.
    pub manifest_hash: String,
    /// The device it was given at.
    pub device: String,
    /// The conversation it was given in.
    pub thread: String,
    /// When it was last used; it lapses a day after.
    pub used: Instant,
    /// Whether it was taken back.
    pub revoked: bool,
}

/// Names what may be granted and taken back: a scope that a source declares, for one user and one
/// agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Permit {
    /// Who decides.
    pub user: String,
    /// The agent it is for, empty for the person themselves.
    pub agent: String,
    /// The tool, skill or agent that declares the scope.
    pub source: String,
    /// The scope.
    pub scope: String,
}

impl Permit {
    /// Makes the mark of a permission that was taken back before it was ever given.
    #[must_use]
    pub fn revoked(&self, at: &Instant) -> Grant {
        Grant {
            user: self.user.clone(),
            agent: self.agent.clone(),
            source: self.source.clone(),
            scope: self.scope.clone(),
            sensitivity: Sensitivity::Low,
            manifest_hash: String::new(),
            device: String::new(),
            thread: String::new(),
            used: at.clone(),
            revoked: true,
        }
    }

    /// Tells whether a grant is for this.
    #[must_use]
    pub fn covers(&self, grant: &Grant) -> bool {
        (&*self.user, &*self.agent, &*self.source, &*self.scope)
            == (&*grant.user, &*grant.agent, &*grant.source, &*grant.scope)
    }
}

impl Grant {
    /// Gives what it is for.
    #[must_use]
    pub fn permit(&self) -> Permit {
        Permit {
            user: self.user.clone(),
            agent: self.agent.clone(),
            source: self.source.clone(),
            scope: self.scope.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall_ms: i64, boot_ms: i64, boot: &str) -> Instant {
        Instant { wall_ms, boot_ms, boot: boot.to_owned() }
    }

    #[test]
    fn moving_the_clock_does_not_move_time_within_one_start() {
        let earlier = at(1_000, 500, "a");
        assert_eq!(at(9_999_999, 600, "a").since(&earlier), Some(100));
        assert_eq!(at(-5, 600, "a").since(&earlier), Some(100));
    }

    #[test]
    fn after_a_restart_a_clock_that_went_back_tells_nothing() {
        let earlier = at(1_000, 500, "a");
        assert_eq!(at(1_500, 3, "b").since(&earlier), Some(500));
        assert_eq!(at(999, 3, "b").since(&earlier), None);
    }
}
