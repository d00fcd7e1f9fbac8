//! Confined processes, as they really run.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod closed;
mod confined;
mod contract;
mod ends;
mod escape;
mod examples;
mod leaks;
mod limits;
mod offers;
mod pool;
mod runtime;
mod scripts;
mod service;
mod spares;
mod support;
