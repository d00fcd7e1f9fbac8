//! The tests of the command line: they run the binary as a user does.

mod bad_input;
mod check;
mod diff;
mod documents;
mod others;
mod support;
