//! What is kept of a call of the tool: for programs, histories and cards, not for the model.

use remit_model::{Failure, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::{Ask, TOOL};
use super::card;
use super::hints::{self, UiHints};
use super::result;
use super::words::Locale;

/// Says how a call of the tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did what it should.
    Success,
    /// It did nothing, or something else.
    Failure,
    /// It did a part.
    Partial,
}

/// Is all that is known of a call of the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolAgentOutput {
    /// Always `project_cli`.
    pub tool_name: String,
    /// The id of the call.
    pub tool_call_id: String,
    /// What the model sent.
    pub tool_call_args: Value,
    /// How it ended.
    pub status: Status,
    /// The result, from which all else follows.
    pub result: Value,
    /// The error of the result, if it has one.
    pub error: Option<Value>,
    /// What there is to show; not for the wire.
    pub ui_hints: Option<UiHints>,
}

/// Is what the model gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolResponse {
    /// The JSON text of the result.
    pub content: String,
}

impl ToolAgentOutput {
    /// Makes it from how a call ended.
    #[must_use]
    pub fn of(call_id: &str, ask: &Ask, outcome: &Outcome) -> Self {
        Self::with(call_id, ask.args(), result::result(ask, outcome))
    }

    /// Makes it from arguments that could not be read.
    #[must_use]
    pub fn refused(call_id: &str, args: &Value, failure: &Failure) -> Self {
        Self::with(call_id, args.clone(), result::refused(args, failure))
    }

    /// Makes it from how something ended that the server did itself, which knows best what there is
    /// to show of it.
    #[must_use]
    pub(crate) fn shown(call_id: &str, ask: &Ask, outcome: &Outcome, hints: UiHints) -> Self {
        Self { ui_hints: Some(hints), ..Self::of(call_id, ask, outcome) }
    }

    fn with(call_id: &str, args: Value, result: Value) -> Self {
        let status = match result.get("status").and_then(Value::as_str) {
            Some("success") => Status::Success,
            Some("partial") => Status::Partial,
            _ => Status::Failure,
        };
        Self {
            tool_name: TOOL.to_owned(),
            tool_call_id: call_id.to_owned(),
            status,
            error: result.get("error").cloned(),
            ui_hints: hints::of(&args, status, &result),
            tool_call_args: args,
            result,
        }
    }

    /// Gives what the model gets, which is also the content of the tool message.
    #[must_use]
    pub fn response(&self) -> ToolResponse {
        ToolResponse { content: result::content(&self.result) }
    }

    /// Gives the card for people, if there is something to show.
    #[must_use]
    pub fn ui_schema(&self, locale: Locale) -> Option<Value> {
        self.ui_hints.as_ref().map(|hints| card::compile(hints, locale))
    }
}
