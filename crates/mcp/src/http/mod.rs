//! The protocol over HTTP: a message in a body, its answer in JSON or in a stream of events.

mod endpoint;
pub(crate) mod headers;
mod listen;
mod pool;
mod sse;
mod stream;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use rustls::pki_types::CertificateDer;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::{McpError, start_of};
use crate::inbox::{Inbox, Sink};
use crate::limits::{Limits, Times};
use crate::link::{Request, Until};
use crate::revision::Revision;
use crate::rpc::{self, Message, Params};
use endpoint::Endpoint;
use pool::{Exchange, Pool};

/// How much of an answer that says no is read.
const MOST_NO_BYTES: usize = 64 << 10;
/// How long a server may take to hear that a request is called off, or that a session ends.
const GOODBYE: Duration = Duration::from_secs(2);

/// Is a server that is spoken to by HTTP.
pub(crate) struct Web {
    pool: Arc<Pool>,
    fixed: HeaderMap,
    session: Mutex<Option<HeaderValue>>,
    /// Which of the revisions was agreed on; none before that.
    revision: AtomicU8,
    next: AtomicU64,
    turns: Semaphore,
    limits: Limits,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) closed: CancellationToken,
    why: Mutex<Option<McpError>>,
    elsewhere: Mutex<Elsewhere>,
}

/// Is who waits for an answer that may come on another stream than its own.
type Elsewhere = HashMap<u64, oneshot::Sender<stream::Answered>>;

/// Says how a remote server is reached.
#[derive(Clone, Default)]
pub struct Remote {
    /// Where.
    pub url: String,
    /// What is sent with every request, templates already filled in.
    pub headers: BTreeMap<String, String>,
    /// Authorities that are trusted beside the usual ones.
    pub roots: Vec<CertificateDer<'static>>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values prove who asks.
        let names: Vec<_> = self.headers.keys().collect();
        out.debug_struct("Remote").field("url", &self.url).field("headers", &names).finish()
    }
}

fn fixed(given: &BTreeMap<String, String>) -> Result<HeaderMap, McpError> {
    // What the protocol itself says must not be said otherwise.
    const OURS: [HeaderName; 10] = [
        header::HOST,
        header::CONTENT_TYPE,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::CONNECTION,
        header::ACCEPT,
        headers::VERSION,
        headers::SESSION,
        headers::METHOD,
        headers::NAME,
    ];
    let mut fixed = HeaderMap::new();
    for (name, value) in given {
        let shown = remit_model::text::quoted(name);
        let name: HeaderName = name
            .parse()
            .map_err(|_| McpError::unreachable(format!("{shown} is no name of a header")))?;
        let mut value: HeaderValue = value.parse().map_err(|_| {
            McpError::unreachable(format!("the value of the header {shown} cannot be sent"))
        })?;
        if OURS.contains(&name) {
            let why = format!("the header {shown} is set by the protocol; leave it out");
            return Err(McpError::unreachable(why));
        }
        value.set_sensitive(true);
        fixed.insert(name, value);
    }
    Ok(fixed)
}

impl Web {
    pub(crate) fn new(
        remote: &Remote,
        inbox: Arc<Inbox>,
        limits: &Limits,
        times: &Times,
    ) -> Result<Arc<Self>, McpError> {
        let endpoint = Endpoint::new(&remote.url, &remote.roots)?;
        let mut fixed = fixed(&remote.headers)?;
        fixed.insert(header::HOST, endpoint.host_header.clone());
        Ok(Arc::new(Self {
            pool: Pool::new(endpoint, times.idle),
            fixed,
            session: Mutex::default(),
            revision: AtomicU8::new(0),
            next: AtomicU64::new(1),
            turns: Semaphore::new(limits.requests),
            limits: limits.clone(),
            inbox,
            closed: CancellationToken::new(),
            why: Mutex::default(),
            elsewhere: Mutex::default(),
        }))
    }

    /// Gives the revision that was agreed on.
    fn revision(&self) -> Option<Revision> {
        let at = usize::from(self.revision.load(Ordering::Acquire));
        at.checked_sub(1).and_then(|at| Revision::ALL.get(at)).copied()
    }

    pub(crate) fn agree(&self, revision: Revision) {
        let at = Revision::ALL.iter().position(|one| *one == revision).unwrap_or_default();
        self.revision.store(u8::try_from(at + 1).unwrap_or_default(), Ordering::Release);
    }

    fn session(&self) -> Option<HeaderValue> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn elsewhere(&self) -> MutexGuard<'_, Elsewhere> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn why_closed(&self) -> McpError {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner).clone();
        why.unwrap_or(McpError::Stopped)
    }

    /// Gives up on this server until it is connected to anew.
    pub(crate) fn close(&self, why: McpError) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.closed.cancel();
    }

    /// Makes a request of HTTP.
    fn http(
        &self,
        method: Method,
        body: Vec<u8>,
        also: impl FnOnce(&mut HeaderMap),
    ) -> hyper::Request<Full<Bytes>> {
        let accept = match method {
            Method::GET => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let is_post = method == Method::POST;
        let mut request = hyper::Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = self.pool.endpoint().target.clone();
        let head = request.headers_mut();
        head.clone_from(&self.fixed);
        head.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if is_post {
            let json = HeaderValue::from_static("application/json");
            head.insert(header::CONTENT_TYPE, json);
        }
        if let Some(revision) = self.revision().filter(|revision| revision.has_header()) {
            head.insert(headers::VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(session) = self.session() {
            head.insert(headers::SESSION, session);
        }
        also(head);
        request
    }

    /// Repeats in the head what the newest revision wants there.
    fn repeat(&self, request: &Request<'_>, head: &mut HeaderMap) {
        let is_modern = match self.revision() {
            Some(revision) => revision.is_modern(),
            None => request.method != "initialize",
        };
        if !is_modern {
            return;
        }
        head.insert(headers::VERSION, HeaderValue::from_static(Revision::MODERN.as_str()));
        head.insert(headers::METHOD, HeaderValue::from_static(request.method));
        if let Some(name) = request.name().and_then(headers::encoded) {
            head.insert(headers::NAME, name);
        }
        for (name, value) in &request.mirrored {
            if let (Ok(name), Some(value)) = (name.parse::<HeaderName>(), headers::encoded(value)) {
                head.insert(name, value);
            }
        }
    }

    pub(crate) async fn request(
        self: &Arc<Self>,
        mut request: Request<'_>,
        until: &Until,
        sink: Option<Sink>,
    ) -> Result<Box<RawValue>, McpError> {
        let Ok(_turn) = self.turns.try_acquire() else {
            let why = format!("{} requests are under way already", self.limits.requests);
            return Err(McpError::Busy { why });
        };
        if self.closed.is_cancelled() {
            return Err(self.why_closed());
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        request.params.meta.progress_token = sink.is_some().then_some(id);
        let body = rpc::request(id, request.method, &request.params)?;
        let http = self.http(Method::POST, body, |head| self.repeat(&request, head));
        let is_first = request.method == "initialize";
        let mut leaving = Leaving { web: self, id, is_under_way: !is_first };
        let answer = tokio::select! {
            biased;
            answer = self.ask(http, id, is_first, sink) => answer,
            over = until.over() => {
                // The connection is closed by now. Older servers want to be told as well.
                leaving.tell().await;
                Err(over)
            }
        };
        leaving.is_under_way = false;
        answer
    }

    /// Sends, and reads the answer in whichever form it comes.
    async fn ask(
        self: &Arc<Self>,
        http: hyper::Request<Full<Bytes>>,
        id: u64,
        is_first: bool,
        sink: Option<Sink>,
    ) -> Result<Box<RawValue>, McpError> {
        let mut exchange = self.send(http).await?;
        if is_first {
            let session = exchange.head.headers.remove(headers::SESSION);
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
        }
        match kind(&exchange) {
            Kind::Json => {
                let body = exchange.whole(self.limits.message_bytes).await?;
                match rpc::read(&body) {
                    Ok(Message::Answer { id: Some(answered), result }) if answered == id => {
                        Ok(result?.to_owned())
                    }
                    Ok(Message::Answer { id: None, result: Err(fault) }) => Err(fault.into()),
                    Ok(_) => Err(McpError::nonsense("it answered something that was not asked")),
                    Err(unread) => Err(unread.error(&body)),
                }
            }
            Kind::Stream => stream::answer(self, exchange, id, sink).await,
            Kind::Other(kind) => {
                let kind = remit_model::text::quoted(&kind);
                Err(McpError::nonsense(format!("it answers with {kind} instead of JSON")))
            }
        }
    }

    /// Sends, and takes what is no success for an error.
    async fn send(&self, http: hyper::Request<Full<Bytes>>) -> Result<Exchange, McpError> {
        let had_session = http.headers().contains_key(headers::SESSION);
        let sent = self.pool.send(http).await;
        if let (Err(error), true) = (&sent, self.pool.is_down()) {
            // It is connected to anew, with pauses, and everybody can see that it is down.
            self.close(error.clone());
        }
        let mut exchange = sent?;
        let status = exchange.head.status;
        if status.is_success() {
            return Ok(exchange);
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let challenge = exchange.head.headers.get(header::WWW_AUTHENTICATE);
            let challenge = challenge.and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
            return Err(McpError::Unauthorised { status: status.as_u16(), challenge });
        }
        let body = exchange.whole(MOST_NO_BYTES).await.unwrap_or_default();
        if had_session && is_about_the_session(status, &body) {
            self.close(McpError::SessionGone);
            return Err(McpError::SessionGone);
        }
        match rpc::read(&body) {
            Ok(Message::Answer { result: Err(fault), .. }) => Err(fault.into()),
            _ => Err(McpError::Status { status: status.as_u16(), said: start_of(&body) }),
        }
    }

    pub(crate) async fn notify(
        &self,
        method: &'static str,
        params: &Params<'_>,
        until: &Until,
    ) -> Result<(), McpError> {
        let body = rpc::notification(method, params)?;
        self.post(body, until).await
    }

    /// Sends a message to which there is no answer.
    async fn post(&self, body: Vec<u8>, until: &Until) -> Result<(), McpError> {
        let http = self.http(Method::POST, body, |_| {});
        tokio::select! {
            sent = self.send(http) => {
                sent?.whole(MOST_NO_BYTES).await?;
                Ok(())
            }
            over = until.over() => Err(over),
        }
    }

    /// Tells the server that a request is called off.
    async fn call_off(&self, id: u64) {
        let reason = Some("the caller no longer waits");
        let params = Params { request_id: Some(id), reason, ..Params::default() };
        let until = Until::within(GOODBYE);
        let _ = self.notify("notifications/cancelled", &params, &until).await;
    }

    /// Ends the session, where there is one.
    pub(crate) async fn leave(&self) {
        if self.session().is_none() {
            return;
        }
        let http = self.http(Method::DELETE, Vec::new(), |_| {});
        let _ = tokio::time::timeout(GOODBYE, self.send(http)).await;
    }
}

/// Tells whether a server has forgotten a session. Not all of them use the status that is meant for it.
fn is_about_the_session(status: StatusCode, body: &[u8]) -> bool {
    const WORD: &[u8] = b"session";
    let says_so = || body.windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD));
    status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && says_so())
}

/// Sees to it that a server of an older revision hears when a request is left, also if whoever asked
/// simply went away. In the newest the closed connection says it.
struct Leaving<'w> {
    web: &'w Arc<Web>,
    id: u64,
    is_under_way: bool,
}

impl Leaving<'_> {
    fn must_tell(&mut self) -> bool {
        let is_older = self.web.revision().is_some_and(|revision| !revision.is_modern());
        std::mem::take(&mut self.is_under_way) && is_older
    }

    async fn tell(&mut self) {
        if self.must_tell() {
            self.web.call_off(self.id).await;
        }
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if !self.must_tell() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (web, id) = (Arc::clone(self.web), self.id);
            runtime.spawn(async move { web.call_off(id).await });
        }
    }
}

enum Kind {
    Json,
    Stream,
    Other(String),
}

fn kind(exchange: &Exchange) -> Kind {
    let value = exchange.head.headers.get(header::CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("nothing");
    let essence = value.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Kind::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Kind::Stream
    } else {
        Kind::Other(essence.to_owned())
    }
}
