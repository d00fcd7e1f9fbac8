//! The result of a call, for machines: all facts, nothing summarised away.

use remit_engine::stage::project::tool_call_response;
use remit_model::{Failure, Outcome};
use serde_json::{Map, Value, json};

use super::ask::Ask;

/// Gives the result: `{status, module, method, data}`, or `{status: "failure", error}`.
#[must_use]
pub fn result(ask: &Ask, outcome: &Outcome) -> Value {
    let (status, answer) = match outcome {
        Outcome::Succeeded(answer) => ("success", answer),
        Outcome::Partial(answer) => ("partial", answer),
        _ => return failure(ask, outcome),
    };
    let data = match unwrapped(ask, &answer.result) {
        Some(Ok(data)) => data,
        Some(Err(error)) => return with_error(ask, error.clone()),
        None => &answer.result,
    };
    let mut result = json!({
        "status": status, "module": ask.module, "method": ask.method, "data": data,
    });
    if let Some(fields) = result.as_object_mut() {
        for (name, text) in [("message", &answer.message), ("base64", &answer.base64)] {
            if let Some(text) = text {
                fields.insert(name.to_owned(), json!(text));
            }
        }
    }
    result
}

/// Gives the result of arguments that could not be read.
#[must_use]
pub fn refused(args: &Value, failure: &Failure) -> Value {
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ask = Ask { module: text("module"), method: text("method"), input: Value::Null };
    result(&ask, &Outcome::Failed(failure.clone()))
}

/// Gives the text for the model, and of the tool message: exactly the result.
#[must_use]
pub fn content(result: &Value) -> String {
    result.to_string()
}

/// Takes a handler's `{ok, module, method, data}` or `{ok, module, method, error}` apart.
fn unwrapped<'v>(ask: &Ask, value: &'v Value) -> Option<Result<&'v Value, &'v Map<String, Value>>> {
    let is = |name: &str, wanted: &str| value.get(name).and_then(Value::as_str) == Some(wanted);
    if !is("module", &ask.module) || !is("method", &ask.method) {
        return None;
    }
    match value.get("ok")?.as_bool()? {
        true => value.get("data").map(Ok),
        false => value.get("error").and_then(Value::as_object).map(Err),
    }
}

fn failure(ask: &Ask, outcome: &Outcome) -> Value {
    let told = tool_call_response(outcome, "", 0, String::new());
    let mut error = match told.details {
        Some(Value::Object(details)) => details,
        Some(other) => Map::from_iter([("details".to_owned(), other)]),
        None => Map::new(),
    };
    let code = match told.code.as_deref() {
        // The word of this protocol for what the engine found.
        Some("INVALID_INPUT") => "INVALID_ACTION_INPUT".to_owned(),
        Some(code) => code.to_owned(),
        None => "FAILED".to_owned(),
    };
    error.insert("code".to_owned(), json!(code));
    error.insert("message".to_owned(), json!(told.error.unwrap_or_default()));
    if let Outcome::Denied { reason } = outcome {
        error.insert("reason".to_owned(), json!(reason.as_str()));
    }
    with_error(ask, error)
}

/// Writes an error. Which call it is about is for the caller to say, not for the handler.
fn with_error(ask: &Ask, mut error: Map<String, Value>) -> Value {
    for (name, value) in [("module", &ask.module), ("method", &ask.method)] {
        error.insert(name.to_owned(), json!(value));
    }
    for (name, otherwise) in [("code", "FAILED"), ("message", "the handler gave no reason")] {
        if !error.get(name).is_some_and(Value::is_string) {
            error.insert(name.to_owned(), json!(otherwise));
        }
    }
    json!({ "status": "failure", "error": error })
}
