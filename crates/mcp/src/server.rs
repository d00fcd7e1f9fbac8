//! One server, shared by all who use it: started when it is needed, started again when it fails.

mod keep;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use remit_engine::redact::Redactor;
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Listing, ToolResult};
use crate::error::McpError;
use crate::host::{Event, Host, NoHost, Step};
use crate::http::Remote;
use crate::launch::{Launch, Surroundings};
use crate::limits::{Limits, Times};
use crate::link::Until;
use crate::revision::Revision;

/// How many events wait for who listens slowly.
const EVENTS: usize = 64;

/// Says how a server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A child process that speaks on its standard streams.
    Stdio(Launch),
    /// A child process that serves HTTP on the port of this machine that it is given in `PORT`, at
    /// `/mcp`.
    LocalHttp(Launch),
    /// A server somewhere else.
    Http(Remote),
}

/// Is all there is to know about a server before it is started.
#[derive(Clone)]
pub struct Config {
    /// Its name, as in `@name/tool`.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// How much it may take.
    pub limits: Limits,
    /// How long things may take.
    pub times: Times,
    /// What local servers get of Remit's environment.
    pub around: Surroundings,
    /// The binary that calls [`keeper::stage`](crate::keeper::stage()) first thing, which is Remit itself.
    /// Without one, what leaves a server's process group is not ended with it.
    pub keeper: Option<PathBuf>,
    /// Finds this server's secrets in what it writes to standard error.
    pub redactor: Redactor,
    /// Answers what it asks.
    pub host: Arc<dyn Host>,
}

impl Config {
    /// Makes one with the usual limits, that answers nothing.
    #[must_use]
    pub fn new(name: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            limits: Limits::default(),
            times: Times::default(),
            around: Surroundings::default(),
            keeper: None,
            redactor: Redactor::default(),
            host: Arc::new(NoHost),
        }
    }
}

/// Says how a server is.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nobody needed it yet.
    Idle,
    /// It is being started, or connected to.
    Starting,
    /// It can be used.
    Ready {
        /// In which revision.
        revision: Revision,
    },
    /// It failed and is tried again later.
    BackingOff {
        /// What went wrong the last time.
        why: Arc<McpError>,
        /// How often in a row.
        failures: u32,
        /// How long the pause is.
        pause: Duration,
    },
    /// It is not used any more.
    Stopped,
}

/// Is how a server is, with what is needed to use it.
#[derive(Clone)]
enum Now {
    Idle,
    Starting,
    Ready(Arc<Client>),
    BackingOff { why: Arc<McpError>, failures: u32, pause: Duration, until: Instant, soon: bool },
    Stopped,
}

impl Now {
    fn state(&self) -> State {
        match self {
            Self::Idle => State::Idle,
            Self::Starting => State::Starting,
            Self::Ready(client) => State::Ready { revision: client.welcome().revision },
            Self::BackingOff { why, failures, pause, .. } => {
                State::BackingOff { why: Arc::clone(why), failures: *failures, pause: *pause }
            }
            Self::Stopped => State::Stopped,
        }
    }
}

struct Shared {
    config: Config,
    now: watch::Sender<Now>,
    events: broadcast::Sender<Event>,
    stop: CancellationToken,
}

/// Is a server. Dropping it ends it; [`Server::stop`] also waits for that.
pub struct Server {
    shared: Arc<Shared>,
    is_started: AtomicBool,
}

impl fmt::Debug for Server {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Server({}, {:?})", self.shared.config.name, self.state())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl Server {
    /// Makes one that is not started.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let shared = Shared {
            config,
            now: watch::Sender::new(Now::Idle),
            events: broadcast::Sender::new(EVENTS),
            stop: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared), is_started: AtomicBool::new(false) }
    }

    /// Gives its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.config.name
    }

    /// Gives what it was made from.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Starts it, if nobody did. It need not be waited for.
    pub fn start(&self) {
        if !self.is_started.swap(true, Ordering::AcqRel) {
            tokio::spawn(keep::keep(Arc::clone(&self.shared)));
        }
    }

    /// Tells how it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.shared.now.borrow().state()
    }

    /// Waits until it is otherwise than it was, and tells how.
    pub async fn changed(&self, from: &State) -> State {
        let mut watching = self.shared.now.subscribe();
        match watching.wait_for(|now| now.state() != *from).await {
            Ok(now) => now.state(),
            Err(_) => State::Stopped,
        }
    }

    /// Hears what it says by itself from now on, also after it was started again. Who listens too slowly
    /// misses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.shared.events.subscribe()
    }

    /// Gives it ready to be used: starts it if nobody did, and waits for it. One that failed is only waited
    /// for if it worked before and is about to be tried again.
    pub async fn client(&self, until: &Until) -> Result<Arc<Client>, McpError> {
        if let Now::Ready(client) = &*self.shared.now.borrow() {
            return Ok(Arc::clone(client));
        }
        self.start();
        let mut watching = self.shared.now.subscribe();
        loop {
            match &*watching.borrow_and_update() {
                Now::Ready(client) => return Ok(Arc::clone(client)),
                Now::Stopped => return Err(McpError::Stopped),
                Now::BackingOff { why, until, soon: false, .. } => {
                    let again_in = until.saturating_duration_since(Instant::now());
                    return Err(McpError::BackingOff { why: Arc::clone(why), again_in });
                }
                Now::Idle | Now::Starting | Now::BackingOff { .. } => {}
            }
            tokio::select! {
                changed = watching.changed() => changed.map_err(|_| McpError::Stopped)?,
                over = until.over() => return Err(over),
            }
        }
    }

    /// Calls a tool. A server that has forgotten the session has done nothing, and is asked once more.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &Value,
        until: &Until,
        progress: Option<Arc<dyn Fn(Step) + Send + Sync>>,
    ) -> Result<ToolResult, McpError> {
        let client = self.client(until).await?;
        match client.call_tool(name, arguments, until, progress.clone()).await {
            Err(McpError::SessionGone) => {
                // That it is gone is known here before the keeper hears of it.
                self.other_than(&client, until).await?;
                let client = self.client(until).await?;
                client.call_tool(name, arguments, until, progress).await
            }
            other => other,
        }
    }

    async fn other_than(&self, client: &Arc<Client>, until: &Until) -> Result<(), McpError> {
        let mut watching = self.shared.now.subscribe();
        let is_other = |now: &Now| !matches!(now, Now::Ready(other) if Arc::ptr_eq(other, client));
        tokio::select! {
            changed = watching.wait_for(is_other) => changed.map(|_| ()).map_err(|_| McpError::Stopped),
            over = until.over() => Err(over),
        }
    }

    /// Lists its tools.
    pub async fn list_tools(&self, until: &Until) -> Result<Listing, McpError> {
        self.client(until).await?.list_tools(until).await
    }

    /// Ends it, and returns when nothing of it is left. It is not started again.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        if !self.is_started.swap(true, Ordering::AcqRel) {
            self.shared.now.send_replace(Now::Stopped);
            return;
        }
        let mut watching = self.shared.now.subscribe();
        let _ = watching.wait_for(|now| matches!(now, Now::Stopped)).await;
    }
}
