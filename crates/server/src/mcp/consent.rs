//! Questions about calls, put to the user through their own client.

use remit_engine::desk::Asked;
use remit_engine::ports::Reply;
use remit_model::{Sensitivity, text};
use serde_json::{Value, json};

/// The name of the question where several can be asked.
pub(crate) const NAME: &str = "approval";
/// How much of an input is shown.
const SHOWN: usize = 2_000;

/// Gives the form that asks.
pub(crate) fn form(asked: &Asked) -> Value {
    let question = &asked.question;
    let is_high = question.sensitivity == Sensitivity::High;
    let answers: &[&str] =
        if is_high { &["approve", "deny"] } else { &["approve", "approve_once", "deny"] };
    let mut input = text::visible(&question.call.input.to_string()).into_owned();
    if input.len() > SHOWN {
        let end = (0..=SHOWN).rev().find(|end| input.is_char_boundary(*end)).unwrap_or(0);
        input.truncate(end);
        input.push('…');
    }
    let message = format!(
        "May {} of {} run with {input}? {}: {}",
        text::quoted(&question.call.capability),
        text::quoted(&question.source),
        text::visible(&question.why),
        text::visible(&question.description),
    );
    json!({
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string",
                    "title": "Decision",
                    "description": "`approve` also holds for a while where the tool takes some care",
                    "enum": answers,
                },
            },
            "required": ["decision"],
        },
    })
}

/// Reads the answer; none if it is none.
pub(crate) fn reply(answer: &Value, asked: &Asked) -> Option<Reply> {
    match answer.get("action").and_then(Value::as_str)? {
        "decline" | "cancel" => return Some(Reply::No),
        "accept" => {}
        _ => return None,
    }
    let is_high = asked.question.sensitivity == Sensitivity::High;
    match answer.get("content")?.get("decision")?.as_str()? {
        "approve" => Some(Reply::Yes),
        "approve_once" if !is_high => Some(Reply::Once),
        "deny" => Some(Reply::No),
        _ => None,
    }
}
