//! Runs the handlers as Remit does: in a process of their own, over the worker contract.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod contract;
mod deep;
mod documents;
mod fetch;
mod files;
mod hostile;
mod manifests;
mod office;
mod pdf;
mod race;
mod search;
mod secrets;
mod server;
mod tls;
mod traversal;
mod worker;
