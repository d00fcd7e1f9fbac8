//! A run: the frame that everything that answers in one shares.

use std::sync::Arc;

use remit_engine::log::Turn;
use remit_engine::ports::{Pending, StoreError};
use remit_engine::record::{EventQuery, Interrupt, RunNote, RunStep};
use remit_model::{CallId, Caller, EventKind, ThreadId};

use super::input::{RunAgentInput, ToolCall};
use super::said::{self, Beside, Called, message};
use crate::app::App;

/// Answers in a run. What it says and does is recorded through the run; it keeps nothing of its own, so
/// that a run can end at any point and the next one go on.
pub(crate) trait Runner: Send + Sync {
    /// Takes its turn, after what the client said was kept. Says how the run ends.
    fn turn<'r>(&'r self, run: &'r Run) -> Pending<'r, Result<RunStep, Stopped>>;
}

/// Is a run under way.
pub(crate) struct Run {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) thread: ThreadId,
    pub(crate) input: RunAgentInput,
    /// What answers.
    pub(crate) runner: Arc<dyn Runner>,
}

/// Says why a run could not go on.
pub(crate) struct Stopped {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a run could not be recorded");
        Self { code: "NOT_RECORDED", message: "the run could not be recorded".to_owned() }
    }
}

/// Says why a run cannot go on.
pub(crate) fn stopped(code: &'static str, message: impl Into<String>) -> Stopped {
    Stopped { code, message: message.into() }
}

impl Run {
    /// Records that the run began; gives the number of that event.
    pub(crate) async fn begin(&self) -> Result<u64, StoreError> {
        self.note(RunStep::Started).await
    }

    async fn note(&self, step: RunStep) -> Result<u64, StoreError> {
        let note = RunNote {
            thread: self.thread.clone(),
            run: self.input.run_id.clone(),
            step,
            at_ms: self.app.now_ms(),
        };
        self.app.store().run(note).await
    }

    /// Goes on to the end, whoever listens.
    pub(crate) async fn finish(self) {
        let step = match self.turn().await {
            Ok(step) => step,
            Err(Stopped { code, message }) => RunStep::Failed { code: code.to_owned(), message },
        };
        if let Err(error) = self.note(step).await {
            tracing::error!(%error, "the end of a run could not be recorded");
        }
    }

    async fn turn(&self) -> Result<RunStep, Stopped> {
        self.keep_what_was_said().await?;
        self.runner.turn(self).await
    }

    /// Keeps something that is said in the run.
    pub(crate) async fn say(
        &self,
        role: &str,
        content: String,
        call: Option<CallId>,
        beside: Beside,
    ) -> Result<(), StoreError> {
        let beside = Beside {
            message_id: match beside.message_id.is_empty() {
                true => uuid::Uuid::now_v7().to_string(),
                false => beside.message_id,
            },
            run_id: self.input.run_id.clone(),
            ..beside
        };
        let message = message(&self.thread, role, content, call, &beside, self.app.now_ms());
        self.app.store().say(said::without_secrets(message, &self.app.engine.catalog())).await
    }

    /// Keeps the messages of the client that are not kept yet.
    async fn keep_what_was_said(&self) -> Result<(), Stopped> {
        let kept = self.app.store().messages(self.thread.clone()).await?;
        let known: Vec<Beside> = kept.iter().map(Beside::of).collect();
        for said in &self.input.messages {
            let is_ours = matches!(said.role.as_str(), "user" | "assistant" | "system");
            if !is_ours || known.iter().any(|beside| beside.message_id == said.id) {
                continue;
            }
            let calls = said.tool_calls.iter().map(called).collect();
            let beside = Beside {
                message_id: said.id.clone(),
                tool_calls: calls,
                from_client: true,
                ..Beside::default()
            };
            self.say(&said.role, said.text(), None, beside).await?;
        }
        Ok(())
    }

    /// Finds what the last run of the thread waits for.
    pub(crate) async fn open_interrupts(&self) -> Result<Vec<Interrupt>, Stopped> {
        let query = EventQuery { thread: self.thread.clone(), after: 0, limit: None };
        let events = self.app.store().events(query).await?;
        let ends = events.iter().rev().filter(|event| event.kind == EventKind::RunFinished);
        let mut steps = ends
            .filter_map(|event| serde_json::from_str::<Turn<'_>>(&event.body).ok())
            .map(|turn| turn.step.into_owned());
        // A run that failed answered nothing.
        Ok(match steps.find(|step| !matches!(step, RunStep::Failed { .. })) {
            Some(RunStep::Interrupted { interrupts }) => interrupts,
            _ => Vec::new(),
        })
    }
}

/// Gives a call as it is kept.
pub(crate) fn called(call: &ToolCall) -> Called {
    Called {
        id: call.id.clone(),
        name: call.function.name.clone(),
        arguments: call.function.arguments.clone(),
    }
}
