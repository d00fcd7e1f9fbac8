//! The time, by the wall clock and by the time since the machine started.

use remit_engine::ports::Clock;
use remit_model::Instant;

/// Reads the machine's clocks.
pub(crate) struct SystemClock {
    boot: String,
}

impl SystemClock {
    /// Finds out which start of the machine this is.
    pub(crate) fn new() -> Self {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        // Without an id every start of Remit counts as one of the machine: grants then go by the wall
        // clock, and lapse if it runs back.
        let boot = id.map_or_else(
            |_| format!("process-{}-{}", std::process::id(), wall_ms()),
            |id| id.trim().to_owned(),
        );
        Self { boot }
    }
}

fn wall_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let since = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let boot_ms = since.tv_sec.saturating_mul(1000).saturating_add(since.tv_nsec / 1_000_000);
        Instant { wall_ms: wall_ms(), boot_ms, boot: self.boot.clone() }
    }
}
