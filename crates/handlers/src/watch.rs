//! Runs a parser that cannot be told to stop.
//!
//! The parser gets a thread, and this one watches the clock and the memory of the process. When
//! either runs out the call is answered and the thread is left behind; the worker then ends, and
//! the thread with it. The limits of the sandbox stay behind all this as the last line.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// Is how often the watcher looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Is the stack of a watched thread: parsers recurse as deep as a document nests.
const STACK_BYTES: usize = 32 << 20;

/// Is how much memory the process may take while a parser is watched. It is well below what the
/// sandbox lends, because there a process that asks for more ends without a word.
pub(crate) const MEMORY_BYTES: u64 = 400 << 20;

/// Is how much a parser may add in a process that had taken nearly as much before.
const AT_LEAST_BYTES: u64 = 128 << 20;

/// Is a process-wide fact: a thread was left behind, so the process must not serve another call.
static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

/// Tells whether a thread was left behind.
pub(crate) fn left_behind() -> bool {
    LEFT_BEHIND.load(Ordering::Relaxed)
}

/// Is why a watched parser gave nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It was not done in time.
    Time,
    /// It took more memory than it may.
    Memory,
    /// It failed in a way it should not, or there was no thread to be had.
    Crash,
}

/// Runs `parse` until `deadline`, while the process takes at most `memory` bytes.
pub(crate) fn run<T: Send + 'static>(
    deadline: Instant,
    memory: u64,
    parse: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stopped> {
    let memory = memory.max(taken().saturating_add(AT_LEAST_BYTES));
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens any more when the watcher gave up.
        let _ = sender.send(parse());
    });
    if thread.is_err() {
        return Err(Stopped::Crash);
    }
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(parsed) => return Ok(parsed),
            Err(RecvTimeoutError::Disconnected) => return Err(Stopped::Crash),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let stopped = if taken() > memory {
            Stopped::Memory
        } else if Instant::now() >= deadline {
            Stopped::Time
        } else {
            continue;
        };
        LEFT_BEHIND.store(true, Ordering::Relaxed);
        return Err(stopped);
    }
}

/// Gives the memory the process takes: now, or in a sandbox without `/proc` the most it ever took.
fn taken() -> u64 {
    let now = std::fs::read_to_string("/proc/self/statm").ok().and_then(|statm| {
        let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages.saturating_mul(rustix::param::page_size() as u64))
    });
    now.unwrap_or_else(most)
}

fn most() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
    let kibibytes = usage.and_then(|usage| u64::try_from(usage.max_rss()).ok()).unwrap_or(0);
    kibibytes.saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests share one process, so only the one about memory is bounded in it.

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn gives_what_the_parser_gives() {
        assert_eq!(run(soon(), u64::MAX, || 7), Ok(7));
    }

    #[test]
    fn a_parser_that_does_not_end_is_left_behind() {
        let stopped = run(Instant::now(), u64::MAX, || {
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        });
        assert_eq!(stopped, Err::<(), _>(Stopped::Time));
        assert!(left_behind());
    }

    #[test]
    fn a_parser_that_takes_too_much_memory_is_left_behind() {
        let stopped = run(soon(), 0, || {
            let hoard = vec![1_u8; 2 * usize::try_from(AT_LEAST_BYTES).unwrap()];
            loop {
                thread::sleep(Duration::from_secs(1));
                std::hint::black_box(&hoard);
            }
        });
        assert_eq!(stopped, Err::<(), _>(Stopped::Memory));
    }

    #[test]
    fn both_ways_to_measure_see_what_is_taken() {
        let hoard = vec![1_u8; 32 << 20];
        std::hint::black_box(&hoard);
        assert!(taken() > 32 << 20 && most() > 32 << 20);
    }

    #[test]
    fn a_parser_that_panics_is_an_error_here() {
        assert_eq!(run(soon(), u64::MAX, || panic!("as it must")), Err::<(), _>(Stopped::Crash));
    }
}
