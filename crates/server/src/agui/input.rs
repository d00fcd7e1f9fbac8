//! What a client sends to start a run: AG-UI's `RunAgentInput`.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Asks for a run.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunAgentInput {
    /// The conversation.
    #[schema(pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 60)]
    pub(crate) thread_id: String,
    /// The run, named by the client.
    #[schema(min_length = 1, max_length = 128)]
    pub(crate) run_id: String,
    /// The conversation as the client knows it.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub(crate) messages: Vec<Message>,
    /// What the client passes on. `toolCalls` are carried out as if a model had made them; `agent`
    /// says who answers: `system` is the system agent, and `submit` what a card of its sent.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) forwarded_props: Option<Forwarded>,
    /// Answers to what the last run waits for.
    #[serde(default)]
    pub(crate) resume: Option<Vec<ResumeEntry>>,
}

/// Is what the client passes on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Forwarded {
    /// Calls to carry out.
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
    /// Who answers; if nobody is named, the calls are carried out.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// What a card sent.
    #[serde(default)]
    pub(crate) submit: Option<Value>,
}

/// Is an answer to a question.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResumeEntry {
    /// The question.
    pub(crate) interrupt_id: String,
    /// `resolved` or `cancelled`.
    pub(crate) status: ResumeStatus,
    /// The answer: `{"approved": true}` or `{"decision": "approve" | "approve_once" | "deny"}`.
    #[serde(default)]
    pub(crate) payload: Option<Value>,
}

/// Says whether a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumeStatus {
    /// It was.
    Resolved,
    /// It was given up.
    Cancelled,
}

/// Is a message as a client knows it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    /// Its id.
    pub(crate) id: String,
    /// Who said it.
    pub(crate) role: String,
    /// What was said: a text, or parts of which texts count.
    #[serde(default)]
    pub(crate) content: Value,
    /// The calls it makes.
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
    /// The call it answers.
    #[serde(default)]
    pub(crate) tool_call_id: Option<String>,
}

/// Is a call of a tool.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolCall {
    /// Its id.
    pub(crate) id: String,
    /// What is called.
    pub(crate) function: Function,
}

/// Is what is called, and with what.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Function {
    /// The tool.
    pub(crate) name: String,
    /// The arguments, as JSON text.
    pub(crate) arguments: String,
}

impl Message {
    /// Gives the words of it.
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts =
                    parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }
}

impl RunAgentInput {
    /// Gives the calls that the client wants carried out, and whether it knows them already: calls of
    /// its last assistant message that nobody answered, then those it passes on.
    pub(crate) fn calls(&self) -> Vec<(ToolCall, bool)> {
        let answered =
            |id: &str| self.messages.iter().any(|m| m.tool_call_id.as_deref() == Some(id));
        let last = self.messages.iter().rev().find(|message| message.role == "assistant");
        let open = last.into_iter().flat_map(|message| &message.tool_calls);
        let open = open.filter(|call| !answered(&call.id)).map(|call| (call.clone(), true));
        let forwarded = self.forwarded_props.iter().flat_map(|props| &props.tool_calls);
        open.chain(forwarded.map(|call| (call.clone(), false))).collect()
    }
}
