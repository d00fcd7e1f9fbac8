//! Connections that are used again.
//!
//! Whoever makes a request also drives its connection, in the same task: an answer needs no other task
//! to be woken, and whoever drops a request drops its connection, which is how a server learns that
//! nobody waits any more.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::endpoint::{Endpoint, Stream};
use crate::error::McpError;

/// How many unused connections are kept.
const MOST_IDLE: usize = 64;
/// How long the head of an answer may be.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// Is a connection with nothing under way, or with one request.
struct Wire {
    sender: SendRequest<Full<Bytes>>,
    driver: Pin<Box<Connection<TokioIo<Stream>, Full<Bytes>>>>,
    is_over: bool,
}

impl Wire {
    async fn open(endpoint: &Endpoint) -> Result<Self, McpError> {
        let stream = TokioIo::new(endpoint.connect().await?);
        let made = http1::Builder::new().max_buf_size(MOST_HEAD_BYTES).handshake(stream).await;
        let (sender, driver) = made.map_err(McpError::unreachable)?;
        Ok(Self { sender, driver: Box::pin(driver), is_over: false })
    }

    fn poll_driver(&mut self, cx: &mut Context<'_>) {
        if !self.is_over && self.driver.as_mut().poll(cx).is_ready() {
            self.is_over = true;
        }
    }

    /// Waits until a request can be sent; tells whether one can.
    async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll_driver(cx);
            if self.is_over {
                return Poll::Ready(false);
            }
            self.sender.poll_ready(cx).map(|ready| ready.is_ok())
        })
        .await
    }

    /// Sends a request. One that was not sent at all is given back.
    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, (hyper::Error, Option<Request<Full<Bytes>>>)> {
        let mut answer = pin!(self.sender.try_send_request(request));
        poll_fn(|cx| {
            if !self.is_over && self.driver.as_mut().poll(cx).is_ready() {
                self.is_over = true;
            }
            answer.as_mut().poll(cx)
        })
        .await
        .map_err(|mut error| {
            let unsent = error.take_message();
            (error.into_error(), unsent)
        })
    }
}

struct Idle {
    wire: Wire,
    since: Instant,
}

/// Keeps connections to one server.
pub(crate) struct Pool {
    endpoint: Endpoint,
    idle: Mutex<Vec<Idle>>,
    keep: Duration,
    /// Whether the last try to connect failed.
    is_down: AtomicBool,
}

impl Pool {
    pub(crate) fn new(endpoint: Endpoint, keep: Duration) -> Arc<Self> {
        let is_down = AtomicBool::new(false);
        Arc::new(Self { endpoint, idle: Mutex::default(), keep, is_down })
    }

    /// Tells whether nobody is there to be connected to.
    pub(crate) fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Acquire)
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn take(&self) -> Option<Wire> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let last = idle.pop()?;
        if last.since.elapsed() < self.keep {
            return Some(last.wire);
        }
        // All others are older.
        idle.clear();
        None
    }

    fn put(&self, wire: Wire) {
        if wire.is_over || wire.sender.is_closed() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(Idle { wire, since: Instant::now() });
        }
    }

    /// Sends a request on a connection that is free, or on a new one.
    pub(crate) async fn send(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Exchange, McpError> {
        let failed = |error: hyper::Error| {
            McpError::unreachable(format!("the connection broke before an answer came: {error}"))
        };
        // A server may have closed what was kept. As long as nothing was sent, another will do.
        while let Some(mut wire) = self.take() {
            if !wire.is_ready().await {
                continue;
            }
            match wire.send(request).await {
                Ok(response) => return Ok(Exchange::new(response, wire, Arc::clone(self))),
                Err((_, Some(unsent))) => request = unsent,
                Err((error, None)) => return Err(failed(error)),
            }
        }
        let opened = Wire::open(&self.endpoint).await;
        self.is_down.store(opened.is_err(), Ordering::Release);
        let mut wire = opened?;
        let sent = wire.send(request).await;
        let response = sent.map_err(|(error, _)| failed(error))?;
        Ok(Exchange::new(response, wire, Arc::clone(self)))
    }
}

/// Is an answer that is being read. Dropped before its end, it closes the connection.
pub(crate) struct Exchange {
    pub(crate) head: hyper::http::response::Parts,
    body: Incoming,
    wire: Option<Wire>,
    pool: Arc<Pool>,
}

impl Exchange {
    fn new(response: Response<Incoming>, wire: Wire, pool: Arc<Pool>) -> Self {
        let (head, body) = response.into_parts();
        Self { head, body, wire: Some(wire), pool }
    }

    /// Gives the next piece of the body, nothing at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, McpError> {
        loop {
            let frame = poll_fn(|cx| {
                if let Some(wire) = &mut self.wire {
                    wire.poll_driver(cx);
                }
                Pin::new(&mut self.body).poll_frame(cx)
            })
            .await;
            match frame {
                Some(Ok(frame)) => {
                    // Trailers say nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    self.wire = None;
                    let why = format!("the connection broke within an answer: {error}");
                    return Err(McpError::unreachable(why));
                }
                None => {
                    if let Some(wire) = self.wire.take() {
                        self.pool.put(wire);
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Reads the whole body, up to a size.
    pub(crate) async fn whole(&mut self, most: usize) -> Result<Bytes, McpError> {
        let too_large = || McpError::TooLarge { what: "an answer", most };
        let size = self.body.size_hint();
        if size.lower() > u64::try_from(most).unwrap_or(u64::MAX) {
            return Err(too_large());
        }
        let Some(first) = self.piece().await? else { return Ok(Bytes::new()) };
        let is_all = size.exact() == u64::try_from(first.len()).ok();
        if is_all && first.len() <= most {
            // The usual case costs no copy; the end is there already.
            while self.piece().await?.is_some() {}
            return Ok(first);
        }
        let mut all = first.to_vec();
        while let Some(piece) = self.piece().await? {
            if all.len() + piece.len() > most {
                return Err(too_large());
            }
            all.extend_from_slice(&piece);
        }
        if all.len() > most { Err(too_large()) } else { Ok(all.into()) }
    }
}
