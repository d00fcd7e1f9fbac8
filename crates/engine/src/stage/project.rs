//! Gives an outcome the form its reader needs.

use remit_model::Outcome;
use serde::Serialize;
use serde_json::{Value, json};

use crate::record::{CallRecord, CallState, Progress};

/// Is S2's answer to a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCallResponse {
    /// `success` or `error`.
    pub status: &'static str,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A sentence for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Binary data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// How long the work took.
    pub duration_ms: u64,
    /// When, by RFC 3339.
    pub timestamp: String,
    /// The call's id.
    pub call_id: String,
    /// The id under which work that goes on can be asked about: the call's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// How it ended, in Remit's own word.
    pub outcome: &'static str,
    /// The code of what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What a program can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// `off` if the work was not confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<&'static str>,
}

impl ToolCallResponse {
    /// Says whether the work was confined.
    #[must_use]
    pub fn with_confinement(mut self, confined: bool) -> Self {
        self.sandbox = (!confined).then_some("off");
        self
    }
}

/// Gives S2's form.
#[must_use]
pub fn tool_call_response(
    outcome: &Outcome,
    call_id: &str,
    duration_ms: u64,
    timestamp: String,
) -> ToolCallResponse {
    let mut response = ToolCallResponse {
        status: "error",
        result: None,
        error: None,
        message: None,
        base64: None,
        duration_ms,
        timestamp,
        call_id: call_id.to_owned(),
        execution_id: None,
        outcome: outcome.status(),
        code: None,
        details: None,
        sandbox: None,
    };
    if let Outcome::Succeeded(answer) | Outcome::Partial(answer) = outcome {
        response.status = "success";
        response.result = Some(answer.result.clone());
        response.message.clone_from(&answer.message);
        response.base64.clone_from(&answer.base64);
        return response;
    }
    let (code, message) = error(outcome);
    response.error = Some(message);
    response.code = Some(code);
    if let Outcome::Failed(failure) = outcome {
        response.details.clone_from(&failure.details);
    }
    response
}

/// Gives S2's form of a call that goes on without its caller.
#[must_use]
pub fn still_running(call_id: &str, timestamp: String) -> ToolCallResponse {
    ToolCallResponse {
        status: "success",
        result: Some(json!({"execution_id": call_id, "status": "running"})),
        error: None,
        message: Some(format!("the work goes on as execution {call_id}")),
        base64: None,
        duration_ms: 0,
        timestamp,
        call_id: call_id.to_owned(),
        execution_id: Some(call_id.to_owned()),
        outcome: "running",
        code: None,
        details: None,
        sandbox: None,
    }
}

/// Is how far a piece of work has come, in S3's words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Execution {
    /// Its id: the call's.
    pub execution_id: String,
    /// What runs.
    pub capability: String,
    /// `accepted`, `running`, `completed` or `failed`.
    pub status: &'static str,
    /// What it said of its progress last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// When it began, by RFC 3339.
    pub started_at: String,
    /// What came of it, once it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<ToolCallResponse>,
}

/// Gives S3's form of a call that goes on or has ended.
#[must_use]
pub fn execution(record: &CallRecord, started_at: String) -> Execution {
    let id = record.call.id.as_str();
    let (status, response) = match &record.state {
        CallState::Asking => ("accepted", None),
        CallState::Running => ("running", None),
        CallState::Ended(outcome) => {
            let duration = record.duration_ms.unwrap_or(0);
            let confined = record.basis.as_ref().is_none_or(|basis| basis.confined);
            let response = tool_call_response(outcome, id, duration, started_at.clone())
                .with_confinement(confined);
            (if outcome.is_success() { "completed" } else { "failed" }, Some(response))
        }
    };
    Execution {
        execution_id: id.to_owned(),
        capability: record.call.capability.clone(),
        status,
        progress: record.progress.clone(),
        started_at,
        response,
    }
}

/// Gives the code and the words for an outcome that is no success.
#[must_use]
pub fn error(outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Succeeded(_) | Outcome::Partial(_) => (String::new(), String::new()),
        Outcome::Denied { reason } => ("DENIED".to_owned(), reason.as_str().to_owned()),
        Outcome::Failed(failure) => (failure.code.clone(), failure.message.clone()),
        Outcome::TimedOut { after_ms } => {
            ("TIMED_OUT".to_owned(), format!("the call was stopped after {after_ms} ms"))
        }
        Outcome::Cancelled { message } => ("CANCELLED".to_owned(), message.clone()),
        Outcome::OutcomeUnknown => (
            "OUTCOME_UNKNOWN".to_owned(),
            "the call was running when Remit stopped; whether it took effect is not known"
                .to_owned(),
        ),
    }
}

/// Gives the text a model reads.
#[must_use]
pub fn model_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded(answer) | Outcome::Partial(answer) => match &answer.result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
        other => {
            let (code, message) = error(other);
            json!({"error": {"code": code, "message": message}}).to_string()
        }
    }
}
