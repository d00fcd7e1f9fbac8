//! A call under way, as the messages that answer its request: what it says of its progress, what its
//! user is asked, and in the end what came of it.

pub(crate) mod asks;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use remit_engine::catalog::Entry;
use remit_engine::desk::{Asked, Change};
use remit_engine::ports::Reply;
use remit_engine::record::Progress;
use remit_engine::{Attended, Ended, Engine, Saying};
use remit_model::{Call, CallKey, Outcome};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot};

use self::asks::{Attached, Heard};
use super::call::{Routed, unknown_tool};
use super::content::{self, Meta, Reading};
use super::revision::Revision;
use super::session::{Run, Session};
use super::side::{Asking, Side};
use super::wire::{self, Fault, MISSING_CAPABILITY};
use super::{consent, names};
use crate::app::App;
use crate::auth::Principal;

/// How often something goes out when nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Is what happens next.
pub(crate) enum Step {
    /// The last message.
    Last(Last),
    /// A message before the last.
    Message(Vec<u8>),
    /// Nothing for a while.
    Idle,
}

/// Is the last message, and whether it is an error of the protocol.
pub(crate) struct Last {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fault: Option<Fault>,
}

/// Is what an exchange begins with.
pub(crate) struct Opening<'m> {
    pub(crate) id: &'m RawValue,
    pub(crate) name: String,
    pub(crate) call: Call,
    pub(crate) thread_name: String,
    pub(crate) routed: Option<Routed>,
    pub(crate) token: Option<Box<RawValue>>,
    pub(crate) asking: Asking,
    pub(crate) answer: Option<Value>,
    pub(crate) attached: Option<Attached>,
    pub(crate) offered: Option<Arc<Entry>>,
}

/// Is a call under way.
pub(crate) struct Exchange {
    app: App,
    id: Box<RawValue>,
    name: String,
    key: CallKey,
    user: String,
    by: Arc<Principal>,
    thread_name: String,
    capability: String,
    /// What an agent declares of it, where it is an agent's.
    offered: Option<Arc<Entry>>,
    routed: Option<Routed>,
    revision: Revision,
    end: End,
    said: Option<Said>,
    desk: Option<AtDesk>,
    attached: Option<Attached>,
    ready: VecDeque<Vec<u8>>,
    leaving: Leaving,
    _run: Option<Run>,
}

/// Is how a call comes to its end.
enum End {
    /// While it is awaited here.
    Here(Attended),
    /// By itself.
    Elsewhere(Pin<Box<dyn Future<Output = Ended> + Send>>),
    /// It is there already.
    There(Box<Ended>),
}

impl End {
    async fn come(&mut self) -> Ended {
        match self {
            Self::Here(attended) => attended.await,
            Self::Elsewhere(ended) => ended.await,
            Self::There(ended) => (**ended).clone(),
        }
    }
}

/// Calls the call off when its client leaves, where leaving means that.
struct Leaving {
    engine: Engine,
    key: Option<CallKey>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.engine.cancel(key);
        }
    }
}

/// Is what the work says of its progress.
struct Said {
    token: Box<RawValue>,
    progress: Saying,
    last: f64,
}

impl Said {
    /// Writes how far the work has come; progress that does not go on is not told.
    fn told(&mut self, said: Progress) -> Option<Vec<u8>> {
        let Progress { fraction, message } = said;
        let mut params = json!({"progressToken": self.token});
        let (progress, total) = match fraction {
            Some(fraction) => (fraction, Some(1)),
            None => (self.last.floor().max(0.0) + 1.0, None),
        };
        if progress <= self.last {
            return None;
        }
        self.last = progress;
        let map = params.as_object_mut()?;
        map.insert("progress".to_owned(), json!(progress));
        map.extend(total.map(|total| ("total".to_owned(), json!(total))));
        map.extend(message.map(|message| ("message".to_owned(), json!(message))));
        Some(wire::notification("notifications/progress", &params))
    }
}

/// Waits for questions about the call, and for their answers.
struct AtDesk {
    asking: Asking,
    changes: broadcast::Receiver<Change>,
    /// Whether the desk has been looked at.
    is_seen: bool,
    /// An answer that came with the request.
    answer: Option<Value>,
    /// A request to the client that waits.
    pending: Option<Pending>,
}

struct Pending {
    session: Arc<Session>,
    request: String,
    asked: Asked,
    answer: oneshot::Receiver<Value>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.session.forget(&self.request);
    }
}

enum Event {
    Ended(Ended),
    Progress(Progress),
    Asked(Box<Asked>),
    Answered(Option<Value>),
    Heard(Heard),
    Idle,
}

impl AtDesk {
    /// Waits until the call's question is at the desk, or its answer comes.
    async fn next(&mut self, app: &App, key: &CallKey) -> Event {
        if let Some(pending) = &mut self.pending {
            return Event::Answered((&mut pending.answer).await.ok());
        }
        loop {
            if !self.is_seen {
                self.is_seen = true;
                if let Some(asked) = app.desk.of_call(key) {
                    return Event::Asked(Box::new(asked));
                }
            }
            match self.changes.recv().await {
                Ok(Change::Asked { call, .. }) if call == *key => self.is_seen = false,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => self.is_seen = false,
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

impl Exchange {
    /// Starts the call.
    pub(crate) fn open(side: &Side, opening: Opening<'_>) -> Self {
        let app = side.app.clone();
        let Opening { id, name, call, thread_name, routed, token, asking, answer, .. } = opening;
        let (attached, offered) = (opening.attached, opening.offered);
        let key = call.key();
        let (user, capability) = (call.caller.user.clone(), call.capability.clone());
        // Before the call starts, so that its question is not missed.
        let desk = match asking {
            Asking::Elsewhere => None,
            asking => Some(AtDesk {
                asking,
                changes: app.desk.watch(),
                is_seen: false,
                answer,
                pending: None,
            }),
        };
        let run = side.session.as_ref().map(|session| session.runs(id, &key));
        let attended = app.engine.attend_for(call, attached.as_ref().map(Attached::client));
        let progress = || attended.started().progress();
        let said = token.map(|token| Said { token, progress: progress(), last: -1.0 });
        let leaving =
            Leaving { engine: app.engine.clone(), key: side.leaving_cancels.then(|| key.clone()) };
        Self {
            app,
            id: id.to_owned(),
            name,
            key,
            user,
            by: Arc::clone(&side.principal),
            thread_name,
            capability,
            offered,
            routed,
            revision: side.revision,
            end: End::Here(attended),
            said,
            desk,
            attached,
            ready: VecDeque::new(),
            leaving,
            _run: run,
        }
    }

    /// Lets the call go on by itself. Whoever writes to a client that may read slowly, or not at all,
    /// must not hold the call up with it.
    pub(crate) fn leave(&mut self) {
        if let End::Here(attended) = &self.end {
            let started = attended.started().clone();
            self.end = End::Elsewhere(Box::pin(started.ended()));
        }
    }

    async fn event(&mut self) -> Event {
        let Self { end, said, desk, attached, app, key, .. } = self;
        let progress = async {
            let Some(said) = said else { return std::future::pending().await };
            match said.progress.next().await {
                Some(progress) => Event::Progress(progress),
                // Progress that nobody reports any more never comes.
                None => std::future::pending().await,
            }
        };
        let asked = async {
            match desk {
                Some(desk) => desk.next(app, key).await,
                None => std::future::pending().await,
            }
        };
        let heard = async {
            match attached {
                Some(attached) => Event::Heard(attached.next().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = progress => event,
            event = heard => event,
            ended = end.come() => Event::Ended(ended),
            event = asked => event,
            () = tokio::time::sleep(IDLE) => Event::Idle,
        }
    }

    /// Waits for what happens next.
    pub(crate) async fn step(&mut self) -> Step {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Step::Message(ready);
            }
            match self.event().await {
                Event::Idle => return Step::Idle,
                Event::Progress(progress) => {
                    self.ready.extend(self.said.as_mut().and_then(|said| said.told(progress)));
                }
                Event::Ended(ended) => {
                    self.leaving.key = None;
                    let withdrawn = self.withdrawn();
                    if !withdrawn.is_empty() {
                        self.end = End::There(Box::new(ended));
                        self.ready.extend(withdrawn);
                        continue;
                    }
                    return Step::Last(self.last(&ended.outcome));
                }
                Event::Asked(asked) => {
                    if let Some(last) = self.asked(*asked) {
                        return Step::Last(last);
                    }
                }
                Event::Answered(answer) => self.answered(answer),
                Event::Heard(heard) => {
                    if let Some(last) = self.heard(heard) {
                        return Step::Last(last);
                    }
                }
            }
        }
    }

    /// Puts a question to the client, or gives the desk the answer that came with the request.
    fn asked(&mut self, asked: Asked) -> Option<Last> {
        let desk = self.desk.as_mut()?;
        match &desk.asking {
            Asking::Elsewhere => None,
            Asking::Nowhere => {
                // At once what would come of waiting.
                let _ =
                    self.app.desk.answer(&asked.id, &self.user, Reply::Silence, &self.by.subject);
                None
            }
            Asking::ByRequest(session) => {
                let (request, answer) = session.ask();
                let id = RawValue::from_string(format!("\"{request}\"")).ok()?;
                self.ready.push_back(wire::request(
                    &id,
                    "elicitation/create",
                    &consent::form(&asked),
                ));
                let session = Arc::clone(session);
                desk.pending = Some(Pending { session, request, asked, answer });
                None
            }
            Asking::ByAnswer => {
                let reply = desk.answer.take().and_then(|answer| consent::reply(&answer, &asked));
                if let Some(reply) = reply {
                    // It may have been answered elsewhere; then that counts.
                    let _ = self.app.desk.answer(&asked.id, &self.user, reply, &self.by.subject);
                    // A yes lets one call run: if that was another that is alike, this one is asked again.
                    desk.is_seen = false;
                    return None;
                }
                // The call waits for the answer, with nobody there.
                self.leaving.key = None;
                Some(Last { bytes: self.input_required(&asked), fault: None })
            }
        }
    }

    /// Gives what the client brings back with its answers to a round.
    fn state(&self, round: u64) -> String {
        self.app.mcp.seal.give(&self.by, self.key.id.as_str(), round)
    }

    fn input_required(&self, asked: &Asked) -> Vec<u8> {
        let question = json!({"method": "elicitation/create", "params": consent::form(asked)});
        let result = json!({
            "resultType": "input_required",
            "inputRequests": {consent::NAME: question},
            "requestState": self.state(0),
            "_meta": {
                "remit/callId": self.key.id,
                "remit/threadId": self.thread_name,
                "remit/secondsLeft": asked.left.as_secs(),
            },
        });
        wire::result(&self.id, &result)
    }

    /// Gives the desk what the client's user said. What is no answer is a no: nobody said yes.
    fn answered(&mut self, answer: Option<Value>) {
        let Some(desk) = self.desk.as_mut() else { return };
        let Some(pending) = desk.pending.take() else { return };
        // An error, or a session that ended: the question stays at the desk.
        let Some(answer) = answer else {
            self.desk = None;
            return;
        };
        let reply = consent::reply(&answer, &pending.asked).unwrap_or(Reply::No);
        let _ = self.app.desk.answer(&pending.asked.id, &self.user, reply, &self.by.subject);
        desk.is_seen = false;
    }

    /// Takes questions back that somebody answered elsewhere, or that nobody asks any more.
    fn withdrawn(&mut self) -> Vec<Vec<u8>> {
        let mut messages = self.attached.as_mut().map(Attached::withdrawn).unwrap_or_default();
        if let Some(pending) = self.desk.as_mut().and_then(|desk| desk.pending.take()) {
            let reason = "it was settled elsewhere";
            let params = json!({"requestId": pending.request, "reason": reason});
            messages.push(wire::notification("notifications/cancelled", &params));
        }
        messages
    }

    fn last(&self, outcome: &Outcome) -> Last {
        self.app.measures.call(outcome.status());
        if let Some(fault) = self.fault(outcome) {
            return Last { bytes: wire::error(Some(&self.id), &fault), fault: Some(fault) };
        }
        let catalog = self.app.engine.catalog();
        let meta = Meta {
            call: self.key.id.as_str(),
            thread: &self.thread_name,
            outcome: outcome.status(),
        };
        let entry = catalog.get(&self.capability).or(self.offered.as_ref()).map(|entry| &**entry);
        let reading = Reading { revision: self.revision, entry, meta };
        let result = match &self.routed {
            Some(routed) => content::project_cli(outcome, reading, &routed.module, &routed.method),
            None => content::result(outcome, reading),
        };
        Last { bytes: wire::result(&self.id, &result), fault: None }
    }

    /// Gives the error of the protocol that an outcome is, if it is one.
    fn fault(&self, outcome: &Outcome) -> Option<Fault> {
        let Outcome::Failed(failure) = outcome else { return None };
        // Through the one tool, what is unknown is an error that a model can correct.
        match failure.code.as_str() {
            "UNKNOWN_CAPABILITY" if self.routed.is_none() => {
                let hint = failure.message.split_once("; ").map(|(_, hint)| hint);
                Some(unknown_tool(&names::tool(&self.name), hint))
            }
            "INVALID_INPUT" if !self.revision.shows_wrong_arguments() && self.routed.is_none() => {
                let data = failure.details.clone().unwrap_or_default();
                Some(Fault::params(failure.message.clone()).with_data(data))
            }
            "CLIENT_CANNOT" if self.revision.is_modern() => {
                // A tool may give any details; only what clients know goes out.
                let required = failure.details.as_ref()?.get("required")?.as_object()?;
                let known = ["elicitation", "sampling", "roots"];
                if !required.keys().all(|one| known.contains(&one.as_str())) {
                    return None;
                }
                let data = json!({"requiredCapabilities": required});
                Some(Fault::new(MISSING_CAPABILITY, failure.message.clone()).with_data(data))
            }
            _ => None,
        }
    }
}
