//! Stand-ins for what a test wants to steer: the work, the person, the time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use remit_engine::client::{Contact, Inquiry, Level};
use remit_engine::ports::{Approver, Clock, Executor, Pending, Question, Reply, Running, Said};
use remit_engine::record::Progress;
use remit_engine::stage::Authorised;
use remit_model::{Answer, Instant, Outcome};
use serde_json::{Value, json};

/// Does what its capability's name says: `x.echo` gives the input back, `x.hang` says that it is
/// half done and waits to be stopped, `x.fail` fails, `x.leak` gives back the tool's settings, `x.say` says
/// them to the client, `x.ask` asks the client, anything else gives null.
#[derive(Debug, Default)]
pub struct FakeExecutor {
    runs: AtomicUsize,
    stopped: AtomicUsize,
}

impl FakeExecutor {
    /// Gives how many calls it ran.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// Gives how many of them were stopped.
    #[must_use]
    pub fn stopped(&self) -> usize {
        self.stopped.load(Ordering::SeqCst)
    }
}

fn answer(result: Value) -> Outcome {
    Outcome::Succeeded(Answer { result, ..Answer::default() })
}

/// Asks the client for the kinds of things that an input names, in so many rounds, and gives the answers.
async fn asks(input: &Value, contact: &Contact) -> Outcome {
    let kinds = input.get("asks").and_then(Value::as_array).cloned().unwrap_or_default();
    let schema = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
    });
    let inquiry = |kind: &Value| match kind.as_str() {
        Some("sample") => Inquiry::sample("sample", "what?", 10),
        Some("roots") => Inquiry::roots("roots"),
        _ => Inquiry::form("form", "who?", schema.clone()),
    };
    let mut all = Vec::new();
    for _ in 0..input.get("rounds").and_then(Value::as_u64).unwrap_or(1) {
        match contact.ask(kinds.iter().map(inquiry).collect()).await {
            Ok(answers) => all.push(json!(answers)),
            Err(why) => return Outcome::Failed(why.into()),
        }
    }
    answer(json!({ "answers": all }))
}

impl Executor for FakeExecutor {
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let name = call.call().capability.as_str();
        let settings = call.entry().source.settings.clone().unwrap_or_default();
        Box::pin(async move {
            match name.rsplit('.').next() {
                Some("echo") => answer(call.call().input.clone()),
                Some("hang") => {
                    let message = Some("half done".to_owned());
                    (running.progress)(Progress { fraction: Some(0.5), message });
                    running.cancel.cancelled().await;
                    self.stopped.fetch_add(1, Ordering::SeqCst);
                    answer(Value::Null)
                }
                Some("fail") => {
                    Outcome::Failed(remit_model::Failure::new("BROKEN", "it went wrong"))
                }
                Some("ask") => asks(&call.call().input, &running.contact).await,
                Some("say") => {
                    for level in [Level::Debug, Level::Info, Level::Error] {
                        running.contact.tell(level, Value::Object(settings.values.clone()));
                    }
                    answer(Value::Null)
                }
                Some("leak") => answer(Value::Object(settings.values)),
                _ => answer(Value::Null),
            }
        })
    }
}

/// Answers with the replies it was given, in order; then with silence. It remembers what it was
/// asked.
#[derive(Debug, Default)]
pub struct FakeApprover {
    replies: Mutex<VecDeque<Option<Reply>>>,
    asked: Mutex<Vec<Question>>,
}

impl FakeApprover {
    /// Adds a reply; none means that nobody ever answers.
    pub fn will(&self, reply: Option<Reply>) {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).push_back(reply);
    }

    /// Gives what it was asked.
    #[must_use]
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Approver for FakeApprover {
    fn ask<'a>(&'a self, question: &'a Question) -> Pending<'a, Said> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.clone());
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move {
            match next {
                Some(Some(reply)) => reply.into(),
                Some(None) => std::future::pending().await,
                None => Reply::Silence.into(),
            }
        })
    }
}

/// Shows the time it was set to.
#[derive(Debug)]
pub struct FakeClock(Mutex<Instant>);

impl Default for FakeClock {
    fn default() -> Self {
        let start = Instant { wall_ms: 1_700_000_000_000, boot_ms: 1_000, boot: "boot".to_owned() };
        Self(Mutex::new(start))
    }
}

impl FakeClock {
    /// Lets time pass.
    pub fn pass(&self, ms: i64) {
        self.change(|now| {
            now.wall_ms += ms;
            now.boot_ms += ms;
        });
    }

    /// Moves the hands: the wall clock jumps, no time passes.
    pub fn jump(&self, ms: i64) {
        self.change(|now| now.wall_ms += ms);
    }

    /// Starts the machine anew.
    pub fn restart(&self) {
        self.change(|now| {
            now.boot.push('+');
            now.boot_ms = 1;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Instant)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
