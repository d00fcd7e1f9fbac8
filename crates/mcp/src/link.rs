//! What all ways to a server have in common: a request goes out, its answer comes back, within a time
//! and until it is called off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::error::McpError;
use crate::http::Web;
use crate::inbox::{Inbox, Sink};
use crate::pipe::Pipe;
use crate::revision::Revision;
use crate::rpc::Params;

/// Is a request.
pub(crate) struct Request<'r> {
    pub(crate) method: &'static str,
    pub(crate) params: Params<'r>,
    /// Arguments that are repeated in headers, where the transport has them.
    pub(crate) mirrored: Vec<(String, String)>,
}

impl<'r> Request<'r> {
    pub(crate) fn new(method: &'static str, params: Params<'r>) -> Self {
        Self { method, params, mirrored: Vec::new() }
    }

    /// Gives what the newest revision repeats in a header.
    pub(crate) fn name(&self) -> Option<&'r str> {
        match self.method {
            "tools/call" | "prompts/get" => self.params.name,
            "resources/read" => self.params.uri,
            _ => None,
        }
    }
}

/// Says until when an answer is wanted.
#[derive(Clone, Debug)]
pub struct Until {
    /// How long in all.
    pub(crate) after: Duration,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Until {
    /// Waits this long.
    #[must_use]
    pub fn within(after: Duration) -> Self {
        Self::cancelled_by(after, CancellationToken::new())
    }

    /// Waits this long, and no longer than until it is called off.
    #[must_use]
    pub fn cancelled_by(after: Duration, cancel: CancellationToken) -> Self {
        // A time beyond all clocks is a very long time.
        let now = Instant::now();
        let deadline = now.checked_add(after).unwrap_or(now + Duration::from_secs(1 << 30));
        Self { after, deadline, cancel }
    }

    /// Waits until time is up or it is called off, and says which.
    pub(crate) async fn over(&self) -> McpError {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => McpError::Cancelled,
            () = tokio::time::sleep_until(self.deadline.into()) => {
                McpError::TimedOut { after: self.after }
            }
        }
    }
}

/// Is a way to a server.
pub(crate) enum Link {
    Pipe(Arc<Pipe>),
    Web(Arc<Web>),
}

impl Link {
    /// Asks, and waits for the answer.
    pub(crate) async fn request(
        &self,
        request: Request<'_>,
        until: &Until,
        sink: Option<Sink>,
    ) -> Result<Box<RawValue>, McpError> {
        match self {
            Self::Pipe(pipe) => pipe.request(request, until, sink).await,
            Self::Web(web) => web.request(request, until, sink).await,
        }
    }

    /// Tells.
    pub(crate) async fn notify(
        &self,
        method: &'static str,
        params: Params<'_>,
        until: &Until,
    ) -> Result<(), McpError> {
        match self {
            Self::Pipe(pipe) => pipe.notify(method, &params),
            Self::Web(web) => web.notify(method, &params, until).await,
        }
    }

    /// Goes on in a revision that both sides speak.
    pub(crate) fn agree(&self, revision: Revision) {
        match self {
            Self::Pipe(_) => {}
            Self::Web(web) => web.agree(revision),
        }
    }

    /// Is told when nothing comes this way any more.
    pub(crate) fn closed(&self) -> &CancellationToken {
        match self {
            Self::Pipe(pipe) => &pipe.closed,
            Self::Web(web) => &web.closed,
        }
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        match self {
            Self::Pipe(pipe) => &pipe.inbox,
            Self::Web(web) => &web.inbox,
        }
    }

    /// Tells whether arguments are repeated in headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Web(_))
    }
}
