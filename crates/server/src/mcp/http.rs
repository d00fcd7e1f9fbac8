//! The protocol over HTTP: a message in a body, its answer in JSON, or in a stream of events where
//! more than one message answers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::value::RawValue;

use super::dispatch::{self, Answer};
use super::exchange::{Exchange, Step};
use super::listen::{Listener, Place};
use super::params::{Capabilities, Params};
use super::revision::Revision;
use super::session::Session;
use super::side::Side;
use super::wire::{self, Fault, Message, NO_SESSION, Unread};
use super::{Tools, batch, headers, notify};
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer as Answered, ApiError};
use crate::{body, sse};

/// Writes a message as an event; an empty one as a line that says nothing.
pub(crate) fn frame(message: &[u8]) -> Bytes {
    if message.is_empty() {
        return Bytes::from_static(b": \n\n");
    }
    let mut frame = Vec::with_capacity(message.len() + 24);
    frame.extend_from_slice(b"event: message\ndata: ");
    frame.extend_from_slice(message);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

/// Answers with one message.
pub(crate) fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn refused(status: StatusCode, id: Option<&RawValue>, fault: &Fault) -> Response {
    json(status, wire::error(id, fault))
}

/// Tells which tools a request is for.
pub(crate) fn wanted(request: &Request) -> Answered<Tools> {
    if request.uri().path() == "/mcp/project_cli" {
        return Ok(Tools::ProjectCli);
    }
    match request.uri().query() {
        None | Some("") => Ok(Tools::Catalog),
        Some("tools=project_cli") => Ok(Tools::ProjectCli),
        Some(_) => Err(ApiError::bad_request(
            "INVALID_QUERY",
            "only `tools=project_cli` may stand behind the question mark",
        )),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let essence = kind.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json")
    })
}

/// Takes a message.
pub(crate) async fn post(
    State(app): State<App>,
    principal: Principal,
    mut request: Request,
) -> Answered<Response> {
    principal.must(Area::Calls)?;
    let tools = wanted(&request)?;
    let heads = std::mem::take(request.headers_mut());
    if !is_json(&heads) {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "NOT_JSON",
            "send JSON: `Content-Type: application/json`",
        ));
    }
    let takes = headers::takes(&heads);
    if !takes.json {
        return Err(ApiError::new(
            StatusCode::NOT_ACCEPTABLE,
            "NOT_ACCEPTABLE",
            "answers are JSON: `Accept: application/json, text/event-stream`",
        ));
    }
    let bytes = body::whole(request, &app).await?;
    let arrival = Arrival {
        side: Side {
            app,
            principal: Arc::new(principal),
            tools,
            revision: Revision::V20250326,
            session: None,
            streams: takes.streams,
            alone: false,
            leaving_cancels: false,
            heads: None,
        },
        heads,
    };
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        return Ok(arrival.batch(&bytes).await);
    }
    Ok(match wire::read(&bytes) {
        Ok(message) => arrival.message(message).await,
        Err(Unread { id, fault }) => refused(StatusCode::BAD_REQUEST, id, &fault),
    })
}

/// Is a request that came.
struct Arrival {
    side: Side,
    heads: HeaderMap,
}

impl Arrival {
    /// Finds the revision and the session of a client that shakes hands.
    fn settle(&mut self) -> Result<(), Fault> {
        let version = headers::text(&self.heads, headers::VERSION);
        let named = match version {
            Some(version) => {
                Some(Revision::parse(version).ok_or_else(|| headers::unsupported(version))?)
            }
            None => None,
        };
        let app = &self.side.app;
        if let Some(id) = headers::text(&self.heads, headers::SESSION) {
            let found = app.mcp.sessions.find(id, &self.side.principal, app.now_ms());
            let missing = || Fault::new(NO_SESSION, "there is no such session; begin a new one");
            let session = found.ok_or_else(missing)?;
            self.side.revision = session.revision;
            self.side.session = Some(session);
        } else {
            // A client that says nothing speaks the first revision that could be spoken to it.
            self.side.revision = named.unwrap_or(Revision::V20250326);
        }
        Ok(())
    }

    async fn message(mut self, message: Message<'_>) -> Response {
        match message {
            Message::Request { id, method, params } => {
                let params = match Params::read(params) {
                    Ok(params) => params,
                    Err(fault) => return refused(StatusCode::BAD_REQUEST, Some(id), &fault),
                };
                let named = headers::text(&self.heads, headers::VERSION);
                let is_modern = params.meta.as_ref().is_some_and(|meta| meta.version.is_some())
                    || named.and_then(Revision::parse).is_some_and(Revision::is_modern);
                let judged = if is_modern {
                    self.side.revision = Revision::V20260728;
                    self.side.leaving_cancels = true;
                    headers::judge(&self.heads, &method, &params)
                } else if method == "initialize" {
                    return self.welcome(id, &params);
                } else {
                    self.settle()
                };
                match judged {
                    Ok(()) => {
                        if is_modern && method == "tools/call" {
                            self.side.heads = Some(Arc::new(std::mem::take(&mut self.heads)));
                        }
                        self.answer(id, &method, params).await
                    }
                    Err(fault) => refused(fault.status(), Some(id), &fault),
                }
            }
            Message::Notification { method, params } => match self.settle() {
                Ok(()) => {
                    notify::notified(&self.side, &method, params);
                    StatusCode::ACCEPTED.into_response()
                }
                Err(fault) => refused(fault.status(), None, &fault),
            },
            Message::Answer { id, result } => match self.settle() {
                Ok(()) => match &self.side.session {
                    Some(session) => {
                        session.answered(id, result);
                        StatusCode::ACCEPTED.into_response()
                    }
                    None => {
                        let fault = Fault::request("nothing was asked outside a session");
                        refused(StatusCode::BAD_REQUEST, None, &fault)
                    }
                },
                Err(fault) => refused(fault.status(), None, &fault),
            },
        }
    }

    /// Shakes hands.
    fn welcome(&self, id: &RawValue, params: &Params<'_>) -> Response {
        let Some(asked) = &params.protocol_version else {
            let fault = Fault::params("`protocolVersion` is missing");
            return refused(StatusCode::OK, Some(id), &fault);
        };
        let revision = Revision::agreed(asked);
        let can = params.capabilities.as_ref().map(Capabilities::can).unwrap_or_default();
        let side = &self.side;
        let session = match Session::new(&side.principal, revision, can) {
            Ok(session) => Arc::new(session),
            Err(why) => {
                tracing::error!(%why, "no session could be made");
                return StatusCode::SERVICE_UNAVAILABLE.into_response();
            }
        };
        side.app.mcp.sessions.add(Arc::clone(&session), side.app.now_ms());
        let mut response = json(StatusCode::OK, wire::result(id, &dispatch::welcome(revision)));
        if let Ok(value) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(headers::SESSION, value);
        }
        response
    }

    async fn answer(self, id: &RawValue, method: &str, params: Params<'_>) -> Response {
        // Where a client shakes hands, HTTP says only whether the message arrived.
        let status = |fault: &Fault| match self.side.revision.is_modern() {
            true => fault.status(),
            false => StatusCode::OK,
        };
        match dispatch::answer(&self.side, id, method, params).await {
            Ok(Answer::Now(bytes)) => json(StatusCode::OK, bytes),
            Ok(Answer::Call(exchange)) => {
                let streams = self.side.streams;
                run(*exchange, streams, &|fault| fault.map_or(StatusCode::OK, status)).await
            }
            Ok(Answer::Listens(listener)) => sse::response(Body::from_stream(listener.frames())),
            Err(fault) => refused(status(&fault), Some(id), &fault),
        }
    }

    async fn batch(mut self, bytes: &[u8]) -> Response {
        if let Err(fault) = self.settle() {
            return refused(fault.status(), None, &fault);
        }
        self.side.streams = false;
        match batch::answer(&self.side, bytes).await {
            Ok(Some(bytes)) => json(StatusCode::OK, bytes),
            Ok(None) => StatusCode::ACCEPTED.into_response(),
            Err(fault) => refused(StatusCode::BAD_REQUEST, None, &fault),
        }
    }
}

/// Answers with what a call becomes: one message if nothing comes before the last, else a stream.
async fn run(
    mut exchange: Exchange,
    streams: bool,
    status: &(dyn Fn(Option<&Fault>) -> StatusCode + Sync),
) -> Response {
    let first = loop {
        match exchange.step().await {
            Step::Last(last) => return json(status(last.fault.as_ref()), last.bytes),
            Step::Message(bytes) if streams => break frame(&bytes),
            Step::Idle if streams => break frame(&[]),
            // There is only room for the last.
            Step::Message(_) | Step::Idle => {}
        }
    };
    exchange.leave();
    let state = (Some(first), Some(exchange));
    let frames = futures_util::stream::unfold(state, |(first, exchange)| async move {
        if let Some(first) = first {
            return Some((Ok::<_, Infallible>(first), (None, exchange)));
        }
        let mut exchange = exchange?;
        let (bytes, rest) = match exchange.step().await {
            Step::Last(last) => (frame(&last.bytes), None),
            Step::Message(bytes) => (frame(&bytes), Some(exchange)),
            Step::Idle => (frame(&[]), Some(exchange)),
        };
        Some((Ok(bytes), (None, rest)))
    });
    sse::response(Body::from_stream(frames))
}

/// Finds the session of a request that has no message.
fn of_session(app: App, principal: Principal, request: &Request) -> Answered<Side> {
    principal.must(Area::Calls)?;
    let tools = wanted(request)?;
    let heads = request.headers();
    let Some(id) = headers::text(heads, headers::SESSION) else {
        return Err(ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "METHOD_NOT_ALLOWED",
            "without a session there is only POST",
        ));
    };
    let found = app.mcp.sessions.find(id, &principal, app.now_ms());
    let session = found.ok_or_else(|| ApiError::not_found("session"))?;
    Ok(Side {
        principal: Arc::new(principal),
        tools,
        revision: session.revision,
        session: Some(session),
        streams: true,
        alone: false,
        leaving_cancels: false,
        heads: None,
        app,
    })
}

/// Opens the stream of a session, on which it hears of changes.
pub(crate) async fn get(
    State(app): State<App>,
    principal: Principal,
    request: Request,
) -> Answered<Response> {
    let side = of_session(app, principal, &request)?;
    if !headers::takes(request.headers()).streams {
        return Err(ApiError::new(
            StatusCode::NOT_ACCEPTABLE,
            "NOT_ACCEPTABLE",
            "this is a stream: `Accept: text/event-stream`",
        ));
    }
    let place = side.session.as_ref().and_then(Place::take).ok_or_else(|| {
        ApiError::conflict("ALREADY_OPEN", "the stream of this session is open already")
    })?;
    let caller = side.principal.caller(None)?;
    let listener = Listener::of_session(&side, caller, place).await;
    Ok(sse::response(Body::from_stream(listener.frames())))
}

/// Ends a session.
pub(crate) async fn delete(
    State(app): State<App>,
    principal: Principal,
    request: Request,
) -> Answered<StatusCode> {
    let side = of_session(app, principal, &request)?;
    if let Some(session) = &side.session {
        side.app.mcp.sessions.end(session);
    }
    Ok(StatusCode::NO_CONTENT)
}
