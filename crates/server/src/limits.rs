//! How much is taken from whom.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Says how much a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large a body may be, in bytes.
    pub body_bytes: usize,
    /// How long a client may take to send the head of a request.
    pub header_time: Duration,
    /// How long a client may take to send the body.
    pub body_time: Duration,
    /// How large the head of a request may be, in bytes.
    pub header_bytes: usize,
    /// How many connections may be open.
    pub connections: usize,
    /// How many requests a second one principal may make on average; twice as many in a burst.
    pub requests_per_second: u32,
    /// How many requests a second may fail to prove who makes them, from everybody together.
    pub failures_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            header_bytes: 32 * 1024,
            connections: 10_000,
            requests_per_second: 2_000,
            failures_per_second: 50,
        }
    }
}

/// Counts requests.
pub(crate) struct Rates {
    principals: DefaultKeyedRateLimiter<String>,
    failures: DefaultKeyedRateLimiter<()>,
    clock: DefaultClock,
}

/// How many principals are counted before those who are quiet are forgotten.
const MANY: usize = 10_000;

fn quota(per_second: u32) -> Quota {
    let rate = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
    Quota::per_second(rate).allow_burst(rate.saturating_mul(NonZeroU32::MIN.saturating_add(1)))
}

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            principals: RateLimiter::keyed(quota(limits.requests_per_second)),
            failures: RateLimiter::keyed(quota(limits.failures_per_second)),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a request of a principal; if it is one too many, says how long to wait.
    pub(crate) fn principal(&self, name: &str) -> Result<(), Duration> {
        if self.principals.len() > MANY {
            self.principals.retain_recent();
        }
        self.principals
            .check_key(&name.to_owned())
            .map_err(|too_many| too_many.wait_time_from(self.clock.now()))
    }

    /// Counts a request that did not prove who makes it.
    pub(crate) fn failure(&self) -> Result<(), Duration> {
        self.failures.check_key(&()).map_err(|too_many| too_many.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_held_to_its_burst_and_others_are_not() {
        let rates = Rates::new(&Limits { requests_per_second: 5, ..Limits::default() });
        let taken = (0..20).filter(|_| rates.principal("ann").is_ok()).count();
        assert!((10..=11).contains(&taken), "{taken}");
        let wait = rates.principal("ann").unwrap_err();
        assert!(wait <= Duration::from_millis(200), "{wait:?}");
        assert!(rates.principal("bob").is_ok());
    }
}
