//! Hears what a server says by itself: on the stream of a session, or on that of a subscription.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::Method;
use serde_json::Value;

use super::pool::Exchange;
use super::stream::{Events, overhear, resume};
use super::{Kind, Web, kind};
use crate::error::McpError;
use crate::limits::Unasked;
use crate::link::Request;
use crate::revision::Revision;
use crate::rpc::{self, Meta, Params};

/// The pause before a stream that ended is opened again, if the server names none.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Web {
    /// Listens until the server is left. A server that has no such stream is not asked again.
    pub(crate) async fn listen(self: Arc<Self>, wanted: Value) {
        let closed = self.closed.clone();
        tokio::select! {
            () = self.listening(&wanted) => {}
            () = closed.cancelled() => {}
        }
    }

    async fn listening(self: &Arc<Self>, wanted: &Value) {
        let is_modern = self.revision().is_some_and(Revision::is_modern);
        let (mut last_id, mut pause, mut unasked) = (None, PAUSE, Unasked::new(&self.limits));
        loop {
            let opened = match is_modern {
                true => self.subscribe(wanted).await,
                false => resume(self, last_id.as_deref()).await,
            };
            let mut asked_pause = None;
            match opened {
                Ok(exchange) => {
                    let mut events = Events::new(exchange, self.limits.message_bytes);
                    while let Ok(Some(data)) = events.next().await {
                        pause = PAUSE;
                        // What is no message is skipped: nobody waits for it.
                        if !data.is_empty() && overhear(self, &data).is_err() {
                            tracing::debug!("a server sent an event that is no message");
                        }
                        if !unasked.one_more() {
                            let most = self.limits.unasked_burst;
                            self.close(McpError::Flood { most });
                            return;
                        }
                    }
                    last_id = events.last_id().map(ToOwned::to_owned).or(last_id);
                    asked_pause = events.pause();
                }
                Err(McpError::Unreachable { .. } | McpError::Status { status: 500.., .. }) => {}
                // It has no such stream, or does not know us any more.
                Err(_) => return,
            }
            tokio::time::sleep(asked_pause.unwrap_or(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn subscribe(self: &Arc<Self>, wanted: &Value) -> Result<Exchange, McpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let meta = Meta::modern(self.inbox.capabilities());
        let params = Params { notifications: Some(wanted), meta, ..Params::default() };
        let request = Request::new("subscriptions/listen", params);
        let body = rpc::request(id, request.method, &request.params)?;
        let http = self.http(Method::POST, body, |head| self.repeat(&request, head));
        let exchange = self.send(http).await?;
        match kind(&exchange) {
            Kind::Stream => Ok(exchange),
            Kind::Json | Kind::Other(_) => Err(McpError::nonsense("it has no stream of changes")),
        }
    }
}
