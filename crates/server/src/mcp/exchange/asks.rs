//! An exchange's end of the line: what the work says of itself goes out, what it asks is put to the client.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use remit_engine::client::{CannotAsk, Client, Level, Remark};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::{Exchange, Last};
use crate::mcp::line::{Asked, Can, Line, method, screened};
use crate::mcp::session::Session;
use crate::mcp::wire;

/// Is what came with a request for what the work may ask.
#[derive(Default)]
pub(crate) struct Given {
    /// The round that it answers; none where nothing was asked yet.
    pub(crate) round: Option<u64>,
    pub(crate) answers: BTreeMap<String, Value>,
}

impl Given {
    /// Takes the answers to a round, if these are some.
    pub(crate) fn to(&mut self, asked: &Asked) -> Option<BTreeMap<String, Value>> {
        let is_to = self.round.is_none_or(|round| round == asked.round);
        asked.answers(std::mem::take(&mut self.answers)).filter(|_| is_to)
    }
}

/// Is an end of a line.
pub(crate) struct Attached {
    line: Arc<Line>,
    /// What this client can be asked for.
    can: Can,
    /// How it is asked: in the stream of its session, or by an answer that says what is missing.
    session: Option<Arc<Session>>,
    given: Given,
    /// The least that it wants to be told.
    level: Option<Level>,
    remarks: broadcast::Receiver<Remark>,
    asked: watch::Receiver<Option<Arc<Asked>>>,
    seen: u64,
    requests: Option<Requests>,
}

type Gathered = Pin<Box<dyn Future<Output = Option<BTreeMap<String, Value>>> + Send>>;

/// Is the requests to the client that a round became.
struct Requests {
    asked: Arc<Asked>,
    session: Arc<Session>,
    ids: Vec<String>,
    answers: Gathered,
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.ids.iter().for_each(|id| self.session.forget(id));
    }
}

/// Is what is heard on the line.
pub(super) enum Heard {
    Remark(Remark),
    Asked(Arc<Asked>),
    Answered(Option<BTreeMap<String, Value>>),
    /// What was asked is not waited for any more.
    Withdrawn,
}

/// Waits until what is asked is of a kind; for ever if nobody can ask any more.
async fn changed(
    asked: &mut watch::Receiver<Option<Arc<Asked>>>,
    is_so: impl FnMut(&Option<Arc<Asked>>) -> bool,
) {
    if asked.wait_for(is_so).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Attached {
    pub(crate) fn new(
        line: Arc<Line>,
        can: Can,
        session: Option<Arc<Session>>,
        given: Given,
        level: Option<Level>,
    ) -> Self {
        let (remarks, asked) = (line.remarks(), line.asked());
        Self { line, can, session, given, level, remarks, asked, seen: 0, requests: None }
    }

    /// Gives the other end, for the work.
    pub(super) fn client(&self) -> Arc<dyn Client> {
        self.line.clone()
    }

    pub(super) async fn next(&mut self) -> Heard {
        let Self { can, level, remarks, asked, seen, requests, .. } = self;
        let remarked = async {
            let Some(level) = level else { return std::future::pending().await };
            loop {
                match remarks.recv().await {
                    Ok(remark) if remark.level >= *level => return Heard::Remark(remark),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                }
            }
        };
        let asks = async {
            if let Some(Requests { asked: ours, answers, .. }) = requests {
                let is_over = |now: &Option<Arc<Asked>>| {
                    now.as_ref().is_none_or(|now| now.round != ours.round)
                };
                return tokio::select! {
                    biased;
                    answers = answers => Heard::Answered(answers),
                    () = changed(asked, is_over) => Heard::Withdrawn,
                };
            }
            // What this client cannot be asked for, another request may bring.
            let is_new = |now: &Option<Arc<Asked>>| {
                now.as_ref().is_some_and(|now| {
                    now.round > *seen && now.inquiries.iter().all(|one| can.has(one.asks))
                })
            };
            let found = asked.wait_for(is_new).await.ok().and_then(|now| now.clone());
            match found {
                Some(asked) => Heard::Asked(asked),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            heard = remarked => heard,
            heard = asks => heard,
        }
    }

    /// Puts a round to the client by requests; gives the messages.
    fn request(&mut self, asked: Arc<Asked>, session: Arc<Session>) -> Vec<Vec<u8>> {
        let (mut messages, mut ids, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for inquiry in &asked.inquiries {
            let (id, answer) = session.ask();
            if let Ok(raw) = RawValue::from_string(format!("\"{id}\"")) {
                messages.push(wire::request(&raw, method(inquiry.asks), &inquiry.params));
            }
            ids.push(id);
            waiting.push((inquiry.name.clone(), answer));
        }
        let answers: Gathered = Box::pin(async move {
            let mut answers = BTreeMap::new();
            for (name, answer) in waiting {
                answers.insert(name, answer.await.ok()?);
            }
            Some(answers)
        });
        self.requests = Some(Requests { asked, session, ids, answers });
        messages
    }

    /// Takes requests back that the client has not answered.
    pub(super) fn withdrawn(&mut self) -> Vec<Vec<u8>> {
        let requests = self.requests.take();
        let ids = requests.iter().flat_map(|requests| &requests.ids);
        let taken_back = ids.map(|id| {
            let params = json!({"requestId": id, "reason": "nobody waits for the answer any more"});
            wire::notification("notifications/cancelled", &params)
        });
        taken_back.collect()
    }
}

impl Exchange {
    /// Acts on what was heard on the line; gives the last message if the client has to come again.
    pub(super) fn heard(&mut self, heard: Heard) -> Option<Last> {
        let attached = self.attached.as_mut()?;
        match heard {
            Heard::Remark(remark) => {
                let params = json!({
                    "level": remark.level.as_str(), "logger": self.capability, "data": remark.data,
                });
                self.ready.push_back(wire::notification("notifications/message", &params));
            }
            Heard::Withdrawn => self.ready.extend(attached.withdrawn()),
            Heard::Answered(answers) => {
                let requests = attached.requests.take()?;
                let answers = answers.and_then(|answers| requests.asked.answers(answers));
                let answers = answers.map(|answers| screened(&self.app, answers));
                let answers = answers.ok_or(CannotAsk::Unanswered);
                attached.line.answer(requests.asked.round, answers);
            }
            Heard::Asked(asked) => {
                attached.seen = asked.round;
                if let Some(answers) = attached.given.to(&asked) {
                    attached.line.answer(asked.round, Ok(screened(&self.app, answers)));
                } else if let Some(session) = attached.session.clone() {
                    self.ready.extend(attached.request(asked, session));
                } else {
                    // The call waits for the answer, with nobody there.
                    self.leaving.key = None;
                    return Some(Last { bytes: self.wants(&asked), fault: None });
                }
            }
        }
        None
    }

    fn wants(&self, asked: &Asked) -> Vec<u8> {
        let result = json!({
            "resultType": "input_required",
            "inputRequests": asked.requests(),
            "requestState": self.state(asked.round),
            "_meta": {"remit/callId": self.key.id, "remit/threadId": self.thread_name},
        });
        wire::result(&self.id, &result)
    }
}
