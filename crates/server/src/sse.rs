//! Streams of events: what is in the record, then what is recorded, without a gap and without a
//! repetition.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use remit_engine::ports::{Store, StoreError};
use remit_engine::record::EventQuery;
use remit_engine::stream::{Feed, Heard};
use remit_model::{CallId, Event, EventKind, ThreadId};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::agui::stream::Projection;
use crate::auth::Still;

/// How many events are read from the record at once.
const PAGE: usize = 256;
/// How often a line goes out when nothing happens, so that a dead connection is noticed; the record is
/// looked at then too, for what other processes wrote.
const IDLE: Duration = Duration::from_secs(10);

/// Is an event as it goes out.
#[derive(serde::Serialize)]
struct Form<'e> {
    sequence: u64,
    at_ms: i64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'e str>,
    data: &'e RawValue,
    hash: &'e str,
}

/// Writes an event as lines of a stream.
fn lines(event: &Event) -> Vec<u8> {
    let null = RawValue::NULL;
    // The record holds JSON; what is not, was damaged, and its hash will tell.
    let data = serde_json::from_str::<&RawValue>(&event.body).unwrap_or(null);
    let form = Form {
        sequence: event.sequence,
        at_ms: event.at_ms,
        kind: event.kind.as_str(),
        call_id: event.call.as_ref().map(CallId::as_str),
        data,
        hash: &event.hash,
    };
    let json = serde_json::to_string(&form).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {json}\n\n", event.sequence, form.kind).into_bytes()
}

/// Reads where a client was: `Last-Event-ID`, which is an event's number in its thread.
pub(crate) fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// Says which events of a thread go out, in which form, and when the stream ends.
pub(crate) enum Wanted {
    /// All, for ever.
    All,
    /// Those of a call, until it has ended.
    Call(CallId),
    /// Those of a run in AG-UI's words, until it has ended.
    Run(Projection),
}

/// Is what becomes of an event.
pub(crate) struct Taken {
    /// What goes out, if anything does.
    pub(crate) bytes: Option<Bytes>,
    /// Whether it is the last.
    pub(crate) is_last: bool,
}

impl Wanted {
    fn take(&self, event: &Event, form: impl FnOnce() -> Bytes) -> Taken {
        match self {
            Self::All => Taken { bytes: Some(form()), is_last: false },
            Self::Call(id) if event.call.as_ref() == Some(id) => {
                Taken { bytes: Some(form()), is_last: event.kind == EventKind::Outcome }
            }
            Self::Call(_) => Taken { bytes: None, is_last: false },
            Self::Run(projection) => projection.take(event),
        }
    }
}

struct Following {
    store: Arc<dyn Store>,
    feed: Feed,
    thread: ThreadId,
    wanted: Wanted,
    /// The last event that went out or was left out.
    after: u64,
    /// Whether the record may hold more.
    is_behind: bool,
    ready: VecDeque<Bytes>,
    is_over: bool,
    still: Still,
    stop: CancellationToken,
}

impl Following {
    fn take(&mut self, event: &Event, form: impl FnOnce() -> Bytes) {
        self.after = event.sequence;
        let taken = self.wanted.take(event, form);
        self.ready.extend(taken.bytes);
        self.is_over = taken.is_last;
    }

    /// Reads what the record has.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let query =
            EventQuery { thread: self.thread.clone(), after: self.after, limit: Some(PAGE) };
        let events = self.store.events(query).await?;
        self.is_behind = events.len() == PAGE;
        for event in events {
            if !self.is_over {
                self.take(&event, || lines(&event).into());
            }
        }
        Ok(())
    }

    /// Waits for something to send; nothing means the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return self.still.stands().then_some(ready);
            }
            if self.is_over {
                return None;
            }
            if self.is_behind {
                if let Err(error) = self.catch_up().await {
                    tracing::error!(%error, "a stream broke off");
                    return None;
                }
                continue;
            }
            tokio::select! {
                heard = self.feed.next() => match heard {
                    Heard::Behind => self.is_behind = true,
                    Heard::Event(told) if told.event.sequence == self.after + 1 => {
                        self.take(&told.event, || Bytes::from_owner(told.form(lines)));
                    }
                    // One that went out before, or one whose predecessor was not heard.
                    Heard::Event(told) => self.is_behind = told.event.sequence > self.after,
                },
                () = tokio::time::sleep(IDLE) => {
                    self.is_behind = true;
                    return self.still.stands().then(|| Bytes::from_static(b": \n\n"));
                }
                () = self.stop.cancelled() => return None,
            }
        }
    }
}

/// Streams the events of a thread behind a number.
pub(crate) fn events(
    store: &Arc<dyn Store>,
    thread: &ThreadId,
    after: u64,
    wanted: Wanted,
    still: Still,
    stop: CancellationToken,
) -> Response {
    let following = Following {
        store: Arc::clone(store),
        // From here on nothing is missed; what was before, the record has.
        feed: store.follow(thread),
        thread: thread.clone(),
        wanted,
        after,
        is_behind: true,
        ready: VecDeque::new(),
        is_over: false,
        still,
        stop,
    };
    let stream = stream::unfold(following, |mut following| async move {
        let next = following.next().await?;
        Some((Ok::<_, std::convert::Infallible>(next), following))
    });
    response(Body::from_stream(stream))
}

/// Makes the response of a stream.
pub(crate) fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies gather what they pass on unless they are told.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
