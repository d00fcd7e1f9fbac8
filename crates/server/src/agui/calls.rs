//! The runner that needs no model: it carries out the calls that the client puts in.

use remit_engine::desk::Change;
use remit_engine::ports::{Pending, Reply};
use remit_engine::record::{Interrupt, RunStep};
use remit_engine::{Ended, Started};
use remit_model::{Call, CallId, Outcome};
use serde_json::Value;

use super::input::{ResumeEntry, ResumeStatus, ToolCall};
use super::run::{Run, Runner, Stopped, called, stopped};
use super::said::{Beside, Called};
use crate::project::{Ask, TOOL, ToolAgentOutput, skills};

/// How many calls a run carries out at most.
const MOST_CALLS: usize = 64;

/// Is a call that was started, with what the model asked for.
struct Under {
    id: CallId,
    ask: Ask,
    started: Started,
}

/// Carries out the calls that the client puts in. It needs no model.
pub(crate) struct Calls;

impl Runner for Calls {
    fn turn<'r>(&'r self, run: &'r Run) -> Pending<'r, Result<RunStep, Stopped>> {
        Box::pin(run.calls())
    }
}

impl Run {
    async fn calls(&self) -> Result<RunStep, Stopped> {
        let open = self.open_interrupts().await?;
        let mut waiting = Vec::new();
        match &self.input.resume {
            Some(entries) => waiting = self.resume(entries, open).await?,
            None if !open.is_empty() => {
                let message = "the last run waits for answers; send them as `resume`";
                return Err(stopped("INTERRUPTED", message));
            }
            None => {}
        }
        let calls = self.input.calls();
        if calls.len() > MOST_CALLS {
            let message = format!("a run carries out at most {MOST_CALLS} calls");
            return Err(stopped("TOO_MANY_CALLS", message));
        }
        if self.input.resume.is_none() {
            waiting.extend(self.carry_out(&calls).await?);
        }
        if !waiting.is_empty() {
            return Ok(RunStep::Interrupted { interrupts: waiting });
        }
        if calls.is_empty() && self.input.resume.is_none() {
            let text = "No model answers here. Tool calls in the last assistant message or in \
                        forwardedProps.toolCalls are carried out.";
            self.say("assistant", text.to_owned(), None, Beside::default()).await?;
        }
        Ok(RunStep::Succeeded)
    }
}

impl Run {
    /// Takes the answers and waits for what comes of them; gives what waits again.
    async fn resume(
        &self,
        entries: &[ResumeEntry],
        open: Vec<Interrupt>,
    ) -> Result<Vec<Interrupt>, Stopped> {
        let unknown = |entry: &&ResumeEntry| !open.iter().any(|one| one.id == entry.interrupt_id);
        if let Some(entry) = entries.iter().find(unknown) {
            let id = &entry.interrupt_id;
            return Err(stopped("UNKNOWN_INTERRUPT", format!("nothing waits as `{id}`")));
        }
        // All of it is read before any of it counts: what is not understood leaves every question open.
        let mut answers = Vec::new();
        for interrupt in &open {
            let entry = entries.iter().find(|entry| entry.interrupt_id == interrupt.id);
            let Some(entry) = entry else {
                let message = "every open interrupt needs an answer in `resume`";
                return Err(stopped("RESUME_INCOMPLETE", message));
            };
            let reply = reply(entry).ok_or_else(|| {
                let message = format!(
                    "the answer to `{}` is none: send `payload: {{\"approved\": true}}` or `false`, or \
                     `{{\"decision\": \"approve\"}}`, `\"approve_once\"` or `\"deny\"`",
                    interrupt.id
                );
                stopped("INVALID_RESUME", message)
            })?;
            answers.push((interrupt.id.as_str(), reply));
        }
        for (id, reply) in answers {
            // It may have been answered elsewhere, or be too late: then the record says what came.
            let _ = self.app.desk.answer(id, &self.caller.user, reply, &self.caller.user);
        }
        let mut waiting = Vec::new();
        for interrupt in open {
            let under = self.again(&interrupt.call_id).await?;
            waiting.extend(self.await_call(under).await?);
        }
        Ok(waiting)
    }

    /// Finds a call that an earlier run started, and watches it.
    async fn again(&self, id: &CallId) -> Result<Under, Stopped> {
        let key = remit_model::CallKey {
            user: self.caller.user.clone(),
            agent: self.caller.agent.clone().unwrap_or_default(),
            id: id.clone(),
        };
        let record = self.app.store().call(key).await?;
        let record =
            record.ok_or_else(|| stopped("NOT_RECORDED", "a call is not in the record"))?;
        let ask = Ask::of(&record.call.capability, &record.call.input);
        // The same call again only shows how the first one ends.
        Ok(Under { id: id.clone(), ask, started: self.app.engine.start(record.call) })
    }

    /// Starts the calls one after the other; gives what waits for a person.
    async fn carry_out(&self, calls: &[(ToolCall, bool)]) -> Result<Vec<Interrupt>, Stopped> {
        let new: Vec<Called> =
            calls.iter().filter(|(_, known)| !known).map(|(c, _)| called(c)).collect();
        if !new.is_empty() {
            let beside = Beside { tool_calls: new, ..Beside::default() };
            self.say("assistant", String::new(), None, beside).await?;
        }
        let mut waiting = Vec::new();
        for (call, _) in calls {
            let id = CallId::parse(&call.id)
                .ok_or_else(|| stopped("INVALID_CALL_ID", "the id of a tool call is not one"))?;
            let args: Value = serde_json::from_str(&call.function.arguments).unwrap_or(Value::Null);
            let asked = match call.function.name.as_str() {
                TOOL => Ask::parse(&args),
                name => Ok(Ask::of(name, &args)),
            };
            match asked {
                Err(failure) => {
                    let output = ToolAgentOutput::refused(&call.id, &args, &failure);
                    self.answer(id, output).await?;
                }
                Ok(ask) => {
                    let catalog = self.app.engine.catalog();
                    if let Some(read) = skills::answer(&catalog, &self.caller, &ask) {
                        let output = ToolAgentOutput::of(id.as_str(), &ask, &read);
                        self.answer(id, output).await?;
                        continue;
                    }
                    let started = self.app.engine.start(Call {
                        id: id.clone(),
                        caller: self.caller.clone(),
                        thread: self.thread.clone(),
                        group: false,
                        capability: ask.capability(),
                        input: ask.input.clone(),
                        timeout_ms: None,
                    });
                    waiting.extend(self.await_call(Under { id, ask, started }).await?);
                }
            }
        }
        Ok(waiting)
    }

    /// Waits until a call has ended, or a person is asked about it.
    async fn await_call(&self, under: Under) -> Result<Option<Interrupt>, Stopped> {
        let mut changes = self.app.desk.watch();
        let key = under.started.key().clone();
        let asked = async {
            loop {
                // Asked before this was watched, or just now.
                if let Some(asked) = self.app.desk.of_call(&key) {
                    return asked;
                }
                while let Ok(change) = changes.recv().await {
                    if matches!(&change, Change::Asked { call, .. } if *call == key) {
                        break;
                    }
                }
            }
        };
        tokio::select! {
            biased;
            asked = asked => {
                let question = &asked.question;
                let message = format!(
                    "{} needs `{}` ({}): {}",
                    question.call.capability,
                    question.scope,
                    question.sensitivity.as_str(),
                    question.why
                );
                Ok(Some(Interrupt { id: asked.id, call_id: under.id, message }))
            }
            Ended { outcome, .. } = under.started.clone().ended() => {
                self.ended(&under, &outcome).await?;
                Ok(None)
            }
        }
    }

    async fn ended(&self, under: &Under, outcome: &Outcome) -> Result<(), Stopped> {
        self.app.measures.call(outcome.status());
        let output = ToolAgentOutput::of(under.id.as_str(), &under.ask, outcome);
        self.answer(under.id.clone(), output).await
    }

    /// Keeps the answer to a call, once.
    async fn answer(&self, id: CallId, output: ToolAgentOutput) -> Result<(), Stopped> {
        let content = output.response().content;
        let beside = Beside { tool_agent_output: Some(output), ..Beside::default() };
        Ok(self.say("tool", content, Some(id), beside).await?)
    }
}

/// Reads an answer; none if it is none.
fn reply(entry: &ResumeEntry) -> Option<Reply> {
    if entry.status == ResumeStatus::Cancelled {
        return Some(Reply::No);
    }
    let payload = entry.payload.as_ref();
    let decision = payload.and_then(|p| p.get("decision")).and_then(Value::as_str);
    let approved = payload.and_then(|p| p.get("approved")).and_then(Value::as_bool);
    match (decision, approved) {
        (Some("approve"), _) | (None, Some(true)) => Some(Reply::Yes),
        (Some("approve_once"), _) => Some(Reply::Once),
        (Some("deny"), _) | (None, Some(false)) => Some(Reply::No),
        _ => None,
    }
}
