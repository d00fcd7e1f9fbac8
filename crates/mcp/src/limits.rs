//! How much a server may take: of memory, of time, of attention.

use std::time::Duration;

/// Is what one server may take. Each default is far above what servers in use need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one message: a line, a body, an event.
    pub message_bytes: usize,
    /// The most tools, resources, templates or prompts that are listed.
    pub items: usize,
    /// The most bytes of one whole list, all pages together.
    pub list_bytes: usize,
    /// The most requests under way at once; more are refused.
    pub requests: usize,
    /// The most bytes that wait to be read by a server that does not read.
    pub backlog_bytes: usize,
    /// How many messages that nobody asked for may come at once: notifications, requests of the
    /// server's, answers to nothing.
    pub unasked_burst: u32,
    /// How many of them may come each second in the long run.
    pub unasked_per_second: u32,
    /// The most questions of the server's that are being answered at once.
    pub questions: usize,
    /// How often a server may ask for more input for one request.
    pub rounds: usize,
    /// How much of standard error is kept.
    pub tail_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            items: 10_000,
            list_bytes: 32 << 20,
            requests: 1_024,
            backlog_bytes: 16 << 20,
            unasked_burst: 5_000,
            unasked_per_second: 1_000,
            questions: 16,
            rounds: 10,
            tail_bytes: 4 << 10,
        }
    }
}

/// Is how long things may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// From the start of a process, or the first packet, to a server that is ready.
    pub connect: Duration,
    /// How long the probe for the newest revision is waited for before the handshake of the older
    /// ones is tried beside it.
    pub probe: Duration,
    /// A request for which nothing else is said.
    pub request: Duration,
    /// How long a process may go on after its standard input was closed.
    pub leave: Duration,
    /// How long it may go on after it was told to end.
    pub end: Duration,
    /// The first pause before a server that failed is started again.
    pub first_pause: Duration,
    /// The longest such pause.
    pub longest_pause: Duration,
    /// How long a server must stay up for its failures to be forgotten.
    pub steady_after: Duration,
    /// How long an unused connection is kept.
    pub idle: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            probe: Duration::from_secs(8),
            request: Duration::from_secs(60),
            leave: Duration::from_secs(2),
            end: Duration::from_secs(1),
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(30),
            steady_after: Duration::from_secs(30),
            idle: Duration::from_secs(30),
        }
    }
}

/// Counts what nobody asked for, and tells when it is too much.
#[derive(Debug)]
pub(crate) struct Unasked {
    left: f64,
    burst: f64,
    per_second: f64,
    at: std::time::Instant,
}

impl Unasked {
    pub(crate) fn new(limits: &Limits) -> Self {
        let burst = f64::from(limits.unasked_burst);
        let per_second = f64::from(limits.unasked_per_second);
        Self { left: burst, burst, per_second, at: std::time::Instant::now() }
    }

    /// Takes one more, and tells whether that is still fine.
    pub(crate) fn one_more(&mut self) -> bool {
        if self.left < 1.0 {
            // The clock is only looked at when it matters.
            let now = std::time::Instant::now();
            let passed = now.duration_since(self.at).as_secs_f64();
            self.left = (self.left + passed * self.per_second).min(self.burst);
            self.at = now;
        }
        self.left -= 1.0;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_one_more_does_not() {
        let limits = Limits { unasked_burst: 3, unasked_per_second: 0, ..Limits::default() };
        let mut unasked = Unasked::new(&limits);
        assert!((0..3).all(|_| unasked.one_more()));
        assert!(!unasked.one_more());
    }
}
