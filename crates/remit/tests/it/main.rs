//! The tests of the command line: they run the binary as a user does.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::semicolon_if_nothing_returned,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod attacks;
mod bad_input;
mod calls;
mod canaries;
mod check;
mod crashes;
mod crowds;
mod diff;
mod documents;
mod executions;
mod issuers;
mod listener;
mod mcp;
mod modules;
mod others;
mod paths;
mod readme;
mod serving;
mod support;
mod terminal;
mod traces;
mod usage;
