//! The Model Context Protocol: the catalog as tools, or `project_cli` alone.
//!
//! A message is read in one pass, becomes a [`Call`](remit_model::Call) or a question about the
//! catalog, and its answer is written once. Nothing is decided here: the engine does that.

mod batch;
mod beside;
mod call;
mod consent;
mod content;
mod dispatch;
mod echoes;
mod exchange;
mod headers;
mod http;
mod line;
mod list;
mod listen;
mod names;
mod notify;
mod params;
mod prompting;
mod revision;
mod session;
pub mod shelf;
mod side;
mod state;
pub mod stdio;
mod strict;
mod wire;

use axum::{Router, routing};

use crate::app::App;

pub(crate) use http::post;

/// Says which tools a client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Every capability.
    Catalog,
    /// The one through which all are reached.
    ProjectCli,
}

/// Is what the server keeps between requests.
#[derive(Default)]
pub(crate) struct Kept {
    sessions: session::Sessions,
    changes: listen::Changes,
    lines: line::Lines,
    seal: state::Seal,
    prompting: prompting::Prompting,
}

impl Kept {
    /// Has clients that listen look again: what agents offer to somebody has changed.
    pub(crate) fn touched(&self) {
        self.changes.touched();
    }
}

/// Gives the routes.
pub(crate) fn routes() -> Router<App> {
    let methods = || routing::post(post).get(http::get).delete(http::delete);
    Router::new().route("/mcp", methods()).route("/mcp/project_cli", methods())
}
