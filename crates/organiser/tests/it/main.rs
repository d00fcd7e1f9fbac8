//! Uses the organiser as a server does: over a store that answers its questions and keeps its changes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod clocks;
mod contacts;
mod edits;
mod files;
mod files_hostile;
mod inputs;
mod limits;
mod memory;
mod reading;
mod rfc5545;
mod rules;
mod sharing;
mod world;
