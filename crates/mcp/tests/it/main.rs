//! The client against servers that behave, servers that do not, and servers that people use.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod calls;
mod fake;
mod faults;
mod life;
mod real;
mod support;
mod talk;
mod web;
mod web_faults;
