//! Remit over HTTP: REST with OpenAPI, event streams, MCP.
//!
//! Everything here is a way in. A request becomes a [`Call`](remit_model::Call) or a question to a port
//! of the engine; what is decided and recorded, the engine decides and records. This crate knows no
//! database and starts no process.

mod agui;
mod app;
mod auth;
mod body;
mod error;
mod front;
mod guard;
mod limits;
mod listen;
pub mod mcp;
mod measure;
mod organiser;
pub mod project;
mod rest;
mod sse;
mod system;
mod trace;
mod visit;

pub use app::{App, Options, Parts};
pub use auth::fetch::client;
pub use auth::issuer::{AreaRules, IssuerSettings, Issuers};
pub use auth::token::{ADMIN_PREFIX, AGENT_PREFIX, fresh_token, token_record};
pub use limits::Limits;
pub use listen::{Server, serve};
pub use rest::{openapi, router};
pub use trace::Adopt;
pub use visit::Doorway;
