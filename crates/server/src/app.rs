//! What every request can reach.

use std::sync::{Arc, PoisonError, RwLock};

use remit_engine::Engine;
use remit_engine::desk::Desk;
use remit_engine::directory::Directory;
use remit_engine::ports::{Clock, Store};
use remit_engine::registry::Agents;
use remit_organiser::Rows;
use tokio_util::sync::CancellationToken;

use crate::auth::issuer::Issuers;
use crate::auth::jwt::Trust;
use crate::guard::Names;
use crate::limits::{Limits, Rates};
use crate::mcp;
use crate::mcp::shelf::Shelves;
use crate::mcp::shelf::skills::Skills;
use crate::measure::Measures;
use crate::trace::Adopt;
use crate::visit::Doorway;

/// Is what a server is made of.
pub struct Parts {
    /// Runs calls.
    pub engine: Engine,
    /// Knows users and tokens.
    pub directory: Arc<dyn Directory>,
    /// Holds questions.
    pub desk: Arc<Desk>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Knows agents and what they declare.
    pub agents: Arc<Agents>,
    /// Keeps calendars, contacts and memories.
    pub rows: Arc<dyn Rows>,
    /// Lets the processes that run calls call back.
    pub doorway: Doorway,
}

/// Is what the operator settled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names under which the server is reached, beside its own address and the loopback names.
    pub hosts: Vec<String>,
    /// Where pages may come from that call it, beside the server itself.
    pub origins: Vec<String>,
    /// How much is taken.
    pub limits: Limits,
    /// Whose tokens are taken, beside the server's own.
    pub issuers: Issuers,
    /// Puts a request into its maker's trace, where traces are made.
    pub adopt: Option<Adopt>,
    /// What clients of MCP find beside tools, in addition to the skill documents.
    pub shelves: Shelves,
}

/// Is what handlers share.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// Is what an [`App`] holds.
pub struct Inner {
    pub(crate) engine: Engine,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) rows: Arc<dyn Rows>,
    pub(crate) doorway: Doorway,
    trust: RwLock<Arc<Trust>>,
    pub(crate) adopt: Option<Adopt>,
    pub(crate) names: Names,
    pub(crate) limits: Limits,
    pub(crate) rates: Rates,
    pub(crate) measures: Measures,
    pub(crate) mcp: mcp::Kept,
    pub(crate) shelves: Shelves,
    /// Fires when the server stops: streams that would go on forever end.
    pub(crate) stop: CancellationToken,
}

impl App {
    /// Puts one together.
    #[must_use]
    pub fn new(parts: Parts, options: &Options) -> Self {
        let own = Arc::new(Skills(parts.engine.clone()));
        Self(Arc::new(Inner {
            shelves: options.shelves.clone().behind(own),
            engine: parts.engine,
            directory: parts.directory,
            desk: parts.desk,
            clock: parts.clock,
            agents: parts.agents,
            rows: parts.rows,
            doorway: parts.doorway,
            trust: RwLock::new(Arc::new(Trust::new(&options.issuers))),
            adopt: options.adopt,
            names: Names::new(&options.hosts, &options.origins),
            limits: options.limits,
            rates: Rates::new(&options.limits),
            measures: Measures::new(),
            mcp: mcp::Kept::default(),
            stop: CancellationToken::new(),
        }))
    }

    /// Gives what stops the server when it fires.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Takes the tokens of these issuers from now on, and of no others.
    pub fn take_issuers(&self, issuers: &Issuers) {
        if !self.trust().is_in(issuers) {
            let trust = Arc::new(Trust::new(issuers));
            *self.trust.write().unwrap_or_else(PoisonError::into_inner) = trust;
        }
    }

    /// Gives the issuers whose tokens are taken.
    pub(crate) fn trust(&self) -> Arc<Trust> {
        Arc::clone(&self.trust.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the record.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.engine.store()
    }

    /// Gives the wall clock, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now().wall_ms
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
