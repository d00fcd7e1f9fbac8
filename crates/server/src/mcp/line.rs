//! The line from work that runs to the client that wanted it. The work speaks at one end; at the other is
//! whichever request of that client's is open: it may break off, and the next takes up where it was.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};

use remit_engine::client::{Answers, Asks, CannotAsk, Client, Inquiry, Remark};
use remit_engine::ports::Pending;
use remit_manifest::schema::validator::Validator;
use remit_model::CallKey;
use serde_json::{Value, json};
use tokio::sync::{broadcast, oneshot, watch};

use super::consent;
use super::session::locked;
use crate::app::App;

/// How many remarks wait for somebody to send them on; of more, the oldest are lost.
const WAITING: usize = 64;

/// Says what a client can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Can {
    pub(crate) forms: bool,
    pub(crate) sampling: bool,
    pub(crate) roots: bool,
}

impl Can {
    pub(crate) fn has(self, asks: Asks) -> bool {
        match asks {
            Asks::Form => self.forms,
            Asks::Sample => self.sampling,
            Asks::Roots => self.roots,
        }
    }

    pub(crate) fn anything(self) -> bool {
        self != Self::default()
    }
}

/// Is what work asks, as a round of one or more questions.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Its number; the first is one.
    pub(crate) round: u64,
    pub(crate) inquiries: Vec<Inquiry>,
}

impl Asked {
    /// Gives the questions in the protocol's form.
    pub(crate) fn requests(&self) -> Value {
        let form = |one: &Inquiry| {
            (one.name.clone(), json!({"method": method(one.asks), "params": one.params}))
        };
        Value::Object(self.inquiries.iter().map(form).collect())
    }

    /// Takes the answers out of what was given, leaving aside what nobody asked for; none if one is missing
    /// or does not fit.
    pub(crate) fn answers(&self, mut given: BTreeMap<String, Value>) -> Option<Answers> {
        let answer = |one: &Inquiry| {
            let answer = given.remove(&one.name).filter(|answer| fits(one, answer))?;
            Some((one.name.clone(), answer))
        };
        self.inquiries.iter().map(answer).collect()
    }
}

/// Takes secrets out of answers: like arguments, they must not get into what is recorded.
pub(crate) fn screened(app: &App, mut answers: Answers) -> Answers {
    let catalog = app.engine.catalog();
    answers.values_mut().for_each(|answer| catalog.screen().hide_in(answer));
    answers
}

/// Gives the protocol's name of a question.
pub(crate) fn method(asks: Asks) -> &'static str {
    match asks {
        Asks::Form => "elicitation/create",
        Asks::Sample => "sampling/createMessage",
        Asks::Roots => "roots/list",
    }
}

/// Tells whether an answer is one to the question.
fn fits(inquiry: &Inquiry, answer: &Value) -> bool {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    match inquiry.asks {
        Asks::Form => match (text("action"), answer.get("content")) {
            (Some("decline" | "cancel"), _) => true,
            (Some("accept"), Some(content)) => {
                let schema = inquiry.params.get("requestedSchema").unwrap_or(&Value::Null);
                content.is_object()
                    && Validator::compile(schema).is_ok_and(|schema| schema.is_valid(content))
            }
            _ => false,
        },
        Asks::Sample => {
            let content = answer.get("content");
            text("role").is_some()
                && text("model").is_some()
                && content.is_some_and(|content| content.is_object() || content.is_array())
        }
        Asks::Roots => {
            let is_root = |root: &Value| root.get("uri").is_some_and(Value::is_string);
            answer.get("roots").and_then(Value::as_array).is_some_and(|all| all.iter().all(is_root))
        }
    }
}

type Reply = oneshot::Sender<Result<Answers, CannotAsk>>;

/// Is a line.
pub(crate) struct Line {
    can: Can,
    remarks: broadcast::Sender<Remark>,
    asked: watch::Sender<Option<Arc<Asked>>>,
    reply: Mutex<(u64, Option<Reply>)>,
    /// Lets one ask at a time.
    turn: tokio::sync::Mutex<()>,
    home: Option<(Lines, CallKey)>,
}

impl Line {
    /// Makes one to a client that can be asked for some things.
    pub(crate) fn new(can: Can) -> Self {
        Self::at(can, None)
    }

    fn at(can: Can, home: Option<(Lines, CallKey)>) -> Self {
        Self {
            can,
            remarks: broadcast::channel(WAITING).0,
            asked: watch::Sender::new(None),
            reply: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            home,
        }
    }

    /// Hears what is remarked from now on.
    pub(crate) fn remarks(&self) -> broadcast::Receiver<Remark> {
        self.remarks.subscribe()
    }

    /// Sees what is asked.
    pub(crate) fn asked(&self) -> watch::Receiver<Option<Arc<Asked>>> {
        self.asked.subscribe()
    }

    /// Answers a round. One that is over already stays as it is.
    pub(crate) fn answer(&self, round: u64, answers: Result<Answers, CannotAsk>) {
        let mut reply = locked(&self.reply);
        if reply.0 == round
            && let Some(reply) = reply.1.take()
        {
            // The work may have stopped asking.
            let _ = reply.send(answers);
        }
    }
}

/// Takes a round back when the work waits for it no longer.
struct Open<'l>(&'l Line);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        locked(&self.0.reply).1 = None;
        self.0.asked.send_replace(None);
    }
}

impl Client for Line {
    fn has(&self, asks: Asks) -> bool {
        self.can.has(asks)
    }

    fn tell(&self, remark: Remark) {
        // Nobody may be there.
        let _ = self.remarks.send(remark);
    }

    fn ask(&self, inquiries: Vec<Inquiry>) -> Pending<'_, Result<Answers, CannotAsk>> {
        Box::pin(async move {
            // Under that name stands another's answer.
            if inquiries.iter().any(|one| one.name == consent::NAME) {
                return Err(CannotAsk::Wrong);
            }
            let _turn = self.turn.lock().await;
            let (sender, receiver) = oneshot::channel();
            let round = {
                let mut reply = locked(&self.reply);
                *reply = (reply.0 + 1, Some(sender));
                reply.0
            };
            let _open = Open(self);
            self.asked.send_replace(Some(Arc::new(Asked { round, inquiries })));
            receiver.await.unwrap_or(Err(CannotAsk::Unanswered))
        })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Some((lines, key)) = &self.home else { return };
        let mut all = locked(&lines.0);
        // Another may have its place already.
        if all.get(key).is_some_and(|line| line.strong_count() == 0) {
            all.remove(key);
        }
    }
}

/// Finds the lines of calls under way.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<HashMap<CallKey, Weak<Line>>>>);

impl Lines {
    /// Gives the line of a call; if there is none yet, one to this client.
    pub(crate) fn of(&self, key: &CallKey, can: Can) -> Arc<Line> {
        let mut all = locked(&self.0);
        if let Some(line) = all.get(key).and_then(Weak::upgrade) {
            return line;
        }
        let home = Some((self.clone(), key.clone()));
        let line = Arc::new(Line::at(can, home));
        all.insert(key.clone(), Arc::downgrade(&line));
        line
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
