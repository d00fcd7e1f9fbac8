//! The server over real connections: requests in, answers and streams out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

mod agents;
mod approvals;
mod calls;
mod cards;
mod cuts;
mod doors;
mod front;
mod house;
mod issuers;
mod limits;
mod mcp;
mod organiser;
mod people;
mod project;
mod runs;
mod skills;
mod streams;
mod system;
mod visits;
mod wire;
