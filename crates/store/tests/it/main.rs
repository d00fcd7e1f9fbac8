//! The tests of the store, on real directories with real processes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod child;
mod durable;
mod grants;
mod kill;
mod older;
mod organiser;
mod people;
mod processes;
mod proof;
mod registry;
mod suite;
mod trace;
mod trouble;
