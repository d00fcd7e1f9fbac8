//! Remit as a client of MCP servers.
//!
//! A [`Server`] is one supervised server: a process on two pipes or an address on the web, started when
//! it is needed, started again when it fails, shared by everybody. What it lists becomes capabilities
//! ([`snapshot()`]), and [`McpExecutor`] runs them behind the engine's port. The protocol itself is
//! written by hand rather than taken from a crate; `docs/design/011-mcp-client.md` says why.
//!
//! Nothing here decides whether a call may run, reads the environment, or keeps anything.

mod client;
mod error;
mod executor;
mod host;
mod http;
mod inbox;
pub mod keeper;
mod launch;
mod limits;
mod lines;
mod link;
mod pipe;
mod process;
mod revision;
mod rpc;
mod server;
mod shake;
mod snapshot;
mod tail;

pub use client::{Client, Listing, ToolResult};
pub use error::McpError;
pub use executor::{McpExecutor, Servers, parts};
pub use host::{Event, Host, NoHost, Question, Step};
pub use http::Remote;
pub use launch::{Launch, LocalIdentity, Surroundings};
pub use limits::{Limits, Times};
pub use link::Until;
pub use revision::Revision;
pub use server::{Config, Server, State, Transport};
pub use shake::Welcome;
pub use snapshot::{Identity, Snapshot, snapshot};
