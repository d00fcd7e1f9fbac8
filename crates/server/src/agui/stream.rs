//! The record of a run in AG-UI's words.

use remit_engine::log::{Saying, Turn};
use remit_engine::record::RunStep;
use remit_model::{Event, EventKind};
use serde_json::{Value, json};

use super::said::Beside;
use crate::project::Locale;
use crate::sse::Taken;

/// Turns the events of one run into AG-UI's.
pub(crate) struct Projection {
    /// The conversation, as the client knows it.
    pub(crate) thread: String,
    /// The run.
    pub(crate) run: String,
    /// The language of cards.
    pub(crate) locale: Locale,
    /// How many AG-UI events of the first record event were seen before.
    pub(crate) skip: (u64, usize),
}

impl Projection {
    /// Gives the lines for an event, and whether it is the last of the run.
    pub(crate) fn take(&self, event: &Event) -> Taken {
        let (events, is_last) = self.events(event);
        let seen = if event.sequence == self.skip.0 { self.skip.1 } else { 0 };
        let mut lines = String::new();
        for (index, one) in (1..).zip(&events).filter(|(index, _)| *index > seen) {
            lines.push_str(&format!("id: {}-{index}\ndata: {one}\n\n", event.sequence));
        }
        Taken { bytes: (!lines.is_empty()).then(|| lines.into()), is_last }
    }

    fn events(&self, event: &Event) -> (Vec<Value>, bool) {
        let at = event.at_ms;
        match event.kind {
            EventKind::RunStarted if self.is_ours(event) => (
                vec![json!({
                    "type": "RUN_STARTED", "threadId": self.thread, "runId": self.run, "timestamp": at,
                })],
                false,
            ),
            EventKind::RunFinished if self.is_ours(event) => (vec![self.finished(event)], true),
            EventKind::Message => (self.message(event), false),
            _ => (Vec::new(), false),
        }
    }

    fn is_ours(&self, event: &Event) -> bool {
        serde_json::from_str::<Turn<'_>>(&event.body).is_ok_and(|turn| turn.run == self.run)
    }

    fn finished(&self, event: &Event) -> Value {
        let at = event.at_ms;
        let step = serde_json::from_str::<Turn<'_>>(&event.body).map(|turn| turn.step.into_owned());
        let outcome = match step {
            Ok(RunStep::Interrupted { interrupts }) => {
                let list: Vec<Value> = interrupts
                    .iter()
                    .map(|one| {
                        json!({
                            "id": one.id, "reason": "tool_approval", "message": one.message,
                            "toolCallId": one.call_id,
                        })
                    })
                    .collect();
                json!({"type": "interrupt", "interrupts": list})
            }
            Ok(RunStep::Failed { code, message }) => {
                return json!({"type": "RUN_ERROR", "message": message, "code": code, "timestamp": at});
            }
            _ => json!({"type": "success"}),
        };
        json!({
            "type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run,
            "outcome": outcome, "timestamp": at,
        })
    }

    fn message(&self, event: &Event) -> Vec<Value> {
        let Ok(saying) = serde_json::from_str::<Saying<'_>>(&event.body) else { return Vec::new() };
        let beside: Beside =
            serde_json::from_value(saying.metadata.into_owned()).unwrap_or_default();
        if beside.run_id != self.run || beside.from_client {
            return Vec::new();
        }
        let (id, at) = (&beside.message_id, event.at_ms);
        if let (Some(output), Some(call)) = (&beside.tool_agent_output, &event.call) {
            let mut result = json!({
                "type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call,
                "content": saying.content, "role": "tool", "timestamp": at,
            });
            if let (Some(card), Some(map)) = (output.ui_schema(self.locale), result.as_object_mut())
            {
                // Again in the place for what the protocol does not know: its own client takes away
                // what stands elsewhere.
                map.insert("metadata".to_owned(), json!({"ui_schema": &card}));
                map.insert("ui_schema".to_owned(), card);
            }
            return vec![result];
        }
        let mut events = Vec::new();
        if !saying.content.is_empty() {
            events.extend([
                json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": saying.role, "timestamp": at}),
                json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": saying.content, "timestamp": at}),
                json!({"type": "TEXT_MESSAGE_END", "messageId": id, "timestamp": at}),
            ]);
        }
        for call in &beside.tool_calls {
            events.extend([
                json!({"type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name, "parentMessageId": id, "timestamp": at}),
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": call.arguments, "timestamp": at}),
                json!({"type": "TOOL_CALL_END", "toolCallId": call.id, "timestamp": at}),
            ]);
        }
        events
    }
}
