//! An answer that comes as a stream of events: what is said on the way, then the answer itself.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use hyper::header::HeaderValue;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::pool::Exchange;
use super::sse::{SseReader, TooLong};
use super::{Kind, Web, headers, kind};
use crate::error::McpError;
use crate::inbox::{Inbox, Sink};
use crate::limits::Unasked;
use crate::link::Until;
use crate::revision::Revision;
use crate::rpc::{self, Message};

/// How often a stream is taken up again without anything new in it.
const MOST_RETRIES: u32 = 5;
/// The pause before that, if the server names none.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a server may take to end a stream after its last message, for the connection to be kept.
const ENDING: Duration = Duration::from_secs(1);
/// How long an answer to a question of the server's may take to be delivered.
const REPLY: Duration = Duration::from_secs(10);

/// Is what comes of a request.
pub(super) type Answered = Result<Box<RawValue>, McpError>;

/// Reads events one by one.
pub(super) struct Events {
    exchange: Exchange,
    reader: SseReader,
    ready: std::vec::IntoIter<super::sse::SseEvent>,
    most: usize,
}

impl Events {
    pub(super) fn new(exchange: Exchange, most: usize) -> Self {
        let reader = SseReader::new(most);
        Self { exchange, reader, ready: Vec::new().into_iter(), most }
    }

    /// Gives the next event, nothing at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, McpError> {
        loop {
            if let Some(event) = self.ready.next() {
                return Ok(Some(event.data));
            }
            let Some(piece) = self.exchange.piece().await? else { return Ok(None) };
            let events = self
                .reader
                .take(&piece)
                .map_err(|TooLong| McpError::TooLarge { what: "an event", most: self.most })?;
            self.ready = events.into_iter();
        }
    }

    /// Goes on reading the same stream from another answer.
    fn go_on(&mut self, exchange: Exchange) {
        let (id, retry) = (self.reader.last_id.take(), self.reader.retry);
        self.exchange = exchange;
        self.reader = SseReader::new(self.most);
        (self.reader.last_id, self.reader.retry) = (id, retry);
    }

    pub(super) fn last_id(&self) -> Option<&str> {
        self.reader.last_id.as_deref()
    }

    pub(super) fn pause(&self) -> Option<Duration> {
        self.reader.retry
    }

    /// Lets the connection be used again, as soon as the server has ended the stream.
    fn leave(self) {
        let mut exchange = self.exchange;
        tokio::spawn(async move {
            let _ = tokio::time::timeout(ENDING, async {
                while let Ok(Some(_)) = exchange.piece().await {}
            })
            .await;
        });
    }
}

/// Is what a message in a stream was.
enum Heard {
    /// The answer to the request.
    Answer(Answered),
    /// Something else, which was taken care of.
    Else,
}

/// Lets an answer be heard on the stream of the session, while its own is being taken up again.
struct Elsewhere<'w> {
    web: &'w Web,
    id: u64,
}

impl<'w> Elsewhere<'w> {
    fn new(web: &'w Web, id: u64, answer: oneshot::Sender<Answered>) -> Self {
        web.elsewhere().insert(id, answer);
        Self { web, id }
    }
}

impl Drop for Elsewhere<'_> {
    fn drop(&mut self) {
        self.web.elsewhere().remove(&self.id);
    }
}

/// Waits for the answer in a stream.
pub(super) async fn answer(
    web: &Arc<Web>,
    exchange: Exchange,
    id: u64,
    sink: Option<Sink>,
) -> Answered {
    let (sender, receiver) = oneshot::channel();
    tokio::select! {
        biased;
        own = own(web, exchange, id, sink, sender) => own,
        Ok(other) = receiver => other,
    }
}

/// Reads a stream to its answer, and takes it up again where the server lets it end early.
async fn own(
    web: &Arc<Web>,
    exchange: Exchange,
    id: u64,
    sink: Option<Sink>,
    elsewhere: oneshot::Sender<Answered>,
) -> Answered {
    let (mut elsewhere, mut _listening) = (Some(elsewhere), None);
    let mut events = Events::new(exchange, web.limits.message_bytes);
    let mut unasked = Unasked::new(&web.limits);
    let mut retries = 0;
    loop {
        match events.next().await {
            Ok(Some(data)) => {
                if data.is_empty() {
                    continue;
                }
                retries = 0;
                if let Heard::Answer(answer) = hear(web, &data, Some(id), sink.as_ref())? {
                    events.leave();
                    return answer;
                }
                if !unasked.one_more() {
                    return Err(McpError::Flood { most: web.limits.unasked_burst });
                }
            }
            ended @ (Ok(None) | Err(McpError::Unreachable { .. })) => {
                let broke = ended.err().unwrap_or_else(|| {
                    McpError::nonsense("its stream of events ended without the answer")
                });
                let is_modern = web.revision().is_none_or(Revision::is_modern);
                if is_modern || events.last_id().is_none() || retries == MOST_RETRIES {
                    return Err(broke);
                }
                retries += 1;
                if let Some(sender) = elsewhere.take() {
                    _listening = Some(Elsewhere::new(web, id, sender));
                }
                tokio::time::sleep(events.pause().unwrap_or(PAUSE)).await;
                let again = resume(web, events.last_id()).await?;
                events.go_on(again);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Takes a stream up after its last event; without one, opens the stream of the session.
pub(super) async fn resume(web: &Arc<Web>, after: Option<&str>) -> Result<Exchange, McpError> {
    let http = web.http(Method::GET, Vec::new(), |head| {
        let after = after.and_then(|after| HeaderValue::from_str(after).ok());
        if let Some(after) = after {
            head.insert(headers::LAST_EVENT, after);
        }
    });
    let exchange = web.send(http).await?;
    match kind(&exchange) {
        Kind::Stream => Ok(exchange),
        Kind::Json | Kind::Other(_) => {
            Err(McpError::nonsense("it answers with something else than a stream of events"))
        }
    }
}

/// Takes a message of a stream that belongs to a request, or to none.
fn hear(
    web: &Arc<Web>,
    data: &[u8],
    id: Option<u64>,
    sink: Option<&Sink>,
) -> Result<Heard, McpError> {
    match rpc::read(data).map_err(|unread| unread.error(data))? {
        Message::Answer { id: Some(answered), result } if Some(answered) == id => {
            let result = result.map(ToOwned::to_owned).map_err(McpError::from);
            return Ok(Heard::Answer(result));
        }
        Message::Answer { id: Some(answered), result } => {
            // Nobody waits for most answers to something else, and they are no harm.
            if let Some(sender) = web.elsewhere().remove(&answered) {
                let _ = sender.send(result.map(ToOwned::to_owned).map_err(McpError::from));
            }
        }
        Message::Answer { .. } => {}
        Message::Notification { method, params } if method == "notifications/progress" => {
            match (Inbox::step(params), sink) {
                (Some((token, step)), Some(sink)) if Some(token) == id => sink(step),
                _ => {}
            }
        }
        Message::Notification { method, params } => web.inbox.notified(&method, params),
        Message::Request { id, method, params } => {
            let to = Arc::clone(web);
            web.inbox.asked(id, &method, params, move |body| {
                tokio::spawn(async move {
                    let _ = to.post(body, &Until::within(REPLY)).await;
                });
            });
        }
    }
    Ok(Heard::Else)
}

/// Takes a message of a stream that belongs to no request.
pub(super) fn overhear(web: &Arc<Web>, data: &[u8]) -> Result<(), McpError> {
    hear(web, data, None, None).map(|_| ())
}
