//! Fakes and the conformance suite that every store passes.

pub mod conformance;
mod fakes;
mod flaky;
mod memory;
mod organiser;
mod registry;
pub mod samples;

pub use fakes::{FakeApprover, FakeClock, FakeExecutor};
pub use flaky::FlakyStore;
pub use memory::MemoryStore;
pub use organiser::MemoryRows;
pub use registry::MemoryRegistry;
