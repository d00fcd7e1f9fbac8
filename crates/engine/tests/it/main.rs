//! The tests of the engine that go through its public surface.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod consent;
mod desk;
mod elsewhere;
mod pipeline;
mod registry;
