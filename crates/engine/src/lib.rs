//! The runtime: every call, from every surface, walks `resolve → validate → authorise → execute →
//! project → record` here, and nowhere else.
//!
//! The engine owns the order of things. What it cannot know (how a call runs, where the record is
//! kept, who answers for a person, what time it is) it asks through [`ports`]. It reads no file, no
//! environment variable and no clock.

mod attended;
pub mod catalog;
pub mod client;
pub mod desk;
pub mod directory;
mod fresh;
mod inflight;
pub mod log;
mod pipeline;
pub mod policy;
pub mod ports;
pub mod record;
pub mod redact;
pub mod registry;
pub mod screen;
pub mod stage;
mod stop;
pub mod stream;
mod trace;
pub mod visit;
mod walk;

pub use attended::Attended;
pub use fresh::{fresh_call_id, fresh_thread_id};
pub use inflight::{Ended, Saying, Started};
pub use pipeline::{Engine, Explanation, Parts};
pub use trace::TRACES;
