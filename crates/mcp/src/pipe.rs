//! The protocol over two pipes: one message a line, many requests under way at once.
//!
//! A request is written by whoever makes it, straight into the pipe, which is nearly always free;
//! only what does not fit waits for a task. One task reads, and hands each answer to who waits for
//! it. So a call costs two system calls and one change of task.

mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::net::unix::pipe::Sender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::error::McpError;
use crate::inbox::{Inbox, Sink};
use crate::limits::{Limits, Unasked};
use crate::lines::{Lines, NoLine};
use crate::link::{Request, Until};
use crate::rpc::{self, Message, Params, Unread};
use crate::tail::Tail;
use writer::Writer;

type Answer = Result<Box<RawValue>, McpError>;

/// Is a server at the other end of two pipes.
pub(crate) struct Pipe {
    writer: Writer,
    waiting: Mutex<Waiting>,
    next: AtomicU64,
    most: usize,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) closed: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    requests: HashMap<u64, Asker>,
    /// Why there can be no more.
    over: Option<McpError>,
}

struct Asker {
    answer: oneshot::Sender<Answer>,
    sink: Option<Sink>,
}

/// Takes a request off the list when nobody waits for it any more.
struct Place<'p> {
    pipe: &'p Pipe,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let is_under_way = self.pipe.lock().requests.remove(&self.id).is_some();
        if is_under_way {
            // Whoever asked has gone: by time, by being called off, or with the whole task.
            let reason = Some("the caller no longer waits");
            let params = Params { request_id: Some(self.id), reason, ..Params::default() };
            let _ = self.pipe.notify("notifications/cancelled", &params);
        }
    }
}

impl Pipe {
    /// Takes the end of the pipe that is written to. What is read is given to [`Pipe::read`].
    pub(crate) fn new(sender: Sender, inbox: Arc<Inbox>, limits: &Limits) -> Arc<Self> {
        let pipe = Arc::new(Self {
            writer: Writer::new(sender, limits.backlog_bytes),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
            most: limits.requests,
            inbox,
            closed: CancellationToken::new(),
        });
        tokio::spawn(writer::flush(Arc::clone(&pipe)));
        pipe
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(crate) async fn request(
        &self,
        mut request: Request<'_>,
        until: &Until,
        sink: Option<Sink>,
    ) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        request.params.meta.progress_token = sink.is_some().then_some(id);
        let mut line = rpc::request(id, request.method, &request.params)?;
        line.push(b'\n');
        let (answer, mut answered) = oneshot::channel();
        {
            let mut waiting = self.lock();
            if let Some(over) = &waiting.over {
                return Err(over.clone());
            }
            if waiting.requests.len() >= self.most {
                let why = format!("{} requests are under way already", self.most);
                return Err(McpError::Busy { why });
            }
            waiting.requests.insert(id, Asker { answer, sink });
        }
        let place = Place { pipe: self, id };
        if let Err(busy @ McpError::Busy { .. }) = self.writer.send(&line) {
            self.lock().requests.remove(&id);
            return Err(busy);
        }
        drop(line);
        tokio::select! {
            biased;
            answer = &mut answered => answer.unwrap_or_else(|_| Err(self.why_closed())),
            over = until.over() => {
                drop(place);
                Err(over)
            }
        }
    }

    pub(crate) fn notify(&self, method: &str, params: &Params<'_>) -> Result<(), McpError> {
        let mut line = rpc::notification(method, params)?;
        line.push(b'\n');
        self.writer.send(&line)
    }

    /// Gives why nothing comes any more.
    pub(crate) fn why_closed(&self) -> McpError {
        self.lock().over.clone().unwrap_or(McpError::Stopped)
    }

    /// Tells everybody who waits that nothing will come.
    pub(crate) fn close(&self, why: &McpError) {
        self.writer.close();
        let requests = {
            let mut waiting = self.lock();
            waiting.over.get_or_insert_with(|| why.clone());
            std::mem::take(&mut waiting.requests)
        };
        for asker in requests.into_values() {
            let _ = asker.answer.send(Err(why.clone()));
        }
        self.closed.cancel();
    }

    /// Reads until the server ends or breaks a rule, and says why it was over. What is no message goes to
    /// the tail, where messages about the server show it.
    pub(crate) async fn read(
        self: &Arc<Self>,
        from: impl AsyncRead + Unpin,
        limits: &Limits,
        tail: &Tail,
    ) -> McpError {
        let mut lines = Lines::new(from, limits.message_bytes);
        let mut unasked = Unasked::new(limits);
        loop {
            let line = match lines.next().await {
                Ok(line) => line,
                Err(NoLine::TooLong) => {
                    return McpError::TooLarge { what: "a message", most: limits.message_bytes };
                }
                Err(NoLine::End) => {
                    let how = "it closed its output".to_owned();
                    return McpError::Ended { how, said: "".into() };
                }
                Err(NoLine::Broken(error)) => {
                    return McpError::Ended { how: error.to_string(), said: "".into() };
                }
            };
            let was_asked = match self.take(line) {
                Ok(was_asked) => was_asked,
                Err(Unread::Noise) => {
                    tail.keep(line);
                    tail.keep(b"\n");
                    line.trim_ascii().is_empty()
                }
                Err(broken) => return broken.error(line),
            };
            if !was_asked && !unasked.one_more() {
                return McpError::Flood { most: limits.unasked_burst };
            }
        }
    }

    /// Takes a line, and tells whether somebody asked for it.
    fn take(self: &Arc<Self>, line: &[u8]) -> Result<bool, Unread> {
        match rpc::batch(line) {
            None => Ok(self.message(rpc::read(line)?)),
            Some(all) => {
                let mut was_asked = true;
                for one in all? {
                    was_asked &= self.message(rpc::read(one.get().as_bytes())?);
                }
                Ok(was_asked)
            }
        }
    }

    fn message(self: &Arc<Self>, message: Message<'_>) -> bool {
        match message {
            Message::Answer { id: Some(id), result } => {
                // None waits for what was called off, was answered before, or was never asked.
                let Some(asker) = self.lock().requests.remove(&id) else { return false };
                let _ = asker.answer.send(result.map(ToOwned::to_owned).map_err(McpError::from));
                true
            }
            Message::Answer { id: None, .. } => false,
            Message::Notification { method, params } => {
                if method == "notifications/progress" {
                    if let Some((token, step)) = Inbox::step(params) {
                        let sink = self.lock().requests.get(&token).and_then(|a| a.sink.clone());
                        if let Some(sink) = sink {
                            sink(step);
                        }
                    }
                } else {
                    self.inbox.notified(&method, params);
                }
                false
            }
            Message::Request { id, method, params } => {
                let pipe = Arc::clone(self);
                self.inbox.asked(id, &method, params, move |mut line| {
                    line.push(b'\n');
                    let _ = pipe.writer.send(&line);
                });
                false
            }
        }
    }
}
