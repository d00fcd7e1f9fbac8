//! The tests of the manifest compiler that go through its public surface.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::semicolon_if_nothing_returned,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod corpora;
mod differences;
mod documentation;
mod fixtures;
mod json_schema_suite;
mod limits;
mod pointers;
mod schemas;
mod simple_yaml;
mod syntax;
mod witnesses;
