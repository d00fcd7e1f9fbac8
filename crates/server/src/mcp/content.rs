//! Outcomes as the protocol's results: text for the model, structure for programs, pictures and
//! sounds as what they are.

use std::borrow::Cow;

use remit_engine::catalog::Entry;
use remit_engine::stage::project;
use remit_model::{Answer, Binding, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

use super::revision::Revision;

/// Is a piece of what a call gave back.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Block<'o> {
    Text {
        text: Cow<'o, str>,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        data: &'o str,
        mime_type: &'static str,
    },
    #[serde(rename_all = "camelCase")]
    Audio {
        data: &'o str,
        mime_type: &'static str,
    },
    Resource {
        resource: Blob<'o>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'o> {
    uri: String,
    mime_type: &'static str,
    blob: &'o str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'o> {
    Made(Vec<Block<'o>>),
    /// As another server gave it.
    Given(&'o Value),
}

/// Is the result of a call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult<'o> {
    content: Content<'o>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Cow<'o, Value>>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta")]
    meta: Meta<'o>,
}

/// Says which call it was.
#[derive(Serialize)]
pub(crate) struct Meta<'o> {
    #[serde(rename = "remit/callId")]
    pub(crate) call: &'o str,
    #[serde(rename = "remit/threadId")]
    pub(crate) thread: &'o str,
    #[serde(rename = "remit/outcome")]
    pub(crate) outcome: &'static str,
}

/// Is what a result is made for.
pub(crate) struct Reading<'o> {
    pub(crate) revision: Revision,
    /// What was called, if it is there.
    pub(crate) entry: Option<&'o Entry>,
    pub(crate) meta: Meta<'o>,
}

/// Gives the form of an outcome.
pub(crate) fn result<'o>(outcome: &'o Outcome, reading: Reading<'o>) -> CallResult<'o> {
    let revision = reading.revision;
    let (content, structured, is_error) = match outcome {
        Outcome::Succeeded(answer) | Outcome::Partial(answer) => succeeded(answer, &reading),
        other => failed(other, reading.entry),
    };
    CallResult {
        content,
        structured_content: structured.filter(|_| revision.has_structure()),
        is_error,
        result_type: revision.is_modern().then_some("complete"),
        meta: reading.meta,
    }
}

type Parts<'o> = (Content<'o>, Option<Cow<'o, Value>>, bool);

fn succeeded<'o>(answer: &'o Answer, reading: &Reading<'o>) -> Parts<'o> {
    let is_mcp = reading.entry.is_some_and(|entry| entry.capability.binding == Binding::Mcp);
    if let Some(given) =
        answer.result.get("content").filter(|content| is_mcp && are_blocks(content))
    {
        let structured = answer.result.get("structuredContent").filter(|value| value.is_object());
        let is_error = answer.result.get("isError") == Some(&Value::Bool(true));
        return (Content::Given(given), structured.map(Cow::Borrowed), is_error);
    }
    let mut blocks = Vec::with_capacity(1);
    match &answer.result {
        // The message or the picture says it all.
        Value::Null if answer.message.is_some() || answer.base64.is_some() => {}
        Value::String(text) => blocks.push(Block::Text { text: Cow::Borrowed(text) }),
        other => blocks.push(Block::Text { text: Cow::Owned(other.to_string()) }),
    }
    if let Some(message) = &answer.message {
        blocks.push(Block::Text { text: Cow::Borrowed(message) });
    }
    if let Some(data) = &answer.base64 {
        blocks.push(binary(data, reading.meta.call));
    }
    let structured = answer.result.is_object().then_some(Cow::Borrowed(&answer.result));
    (Content::Made(blocks), structured, false)
}

/// Tells whether something is content as servers give it; what is not is handed on as plain data.
fn are_blocks(content: &Value) -> bool {
    let is_text = |value: Option<&Value>| value.is_some_and(Value::is_string);
    let is_block = |block: &Value| match block.get("type").and_then(Value::as_str) {
        Some("text") => is_text(block.get("text")),
        Some("image" | "audio") => is_text(block.get("data")) && is_text(block.get("mimeType")),
        Some("resource") => block.get("resource").is_some_and(|of| is_text(of.get("uri"))),
        Some("resource_link") => is_text(block.get("uri")) && is_text(block.get("name")),
        _ => false,
    };
    content.as_array().is_some_and(|all| all.iter().all(is_block))
}

/// Tells from its first bytes what binary data is.
fn binary<'o>(data: &'o str, call: &str) -> Block<'o> {
    const IMAGES: [(&str, &str); 3] =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif")];
    const SOUNDS: [(&str, &str); 3] =
        [("SUQz", "audio/mpeg"), ("T2dnUw", "audio/ogg"), ("ZkxhQw", "audio/flac")];
    let found = |of: [(&str, &'static str); 3]| {
        of.into_iter().find(|(start, _)| data.starts_with(start)).map(|(_, kind)| kind)
    };
    if let Some(mime_type) = found(IMAGES) {
        return Block::Image { data, mime_type };
    }
    if let Some(mime_type) = found(SOUNDS) {
        return Block::Audio { data, mime_type };
    }
    // A RIFF file says at its eighth byte what is in it; the ninth begins a group of its own.
    match (data.get(..5), data.get(12..16)) {
        (Some("UklGR"), Some("RUJQ")) => Block::Image { data, mime_type: "image/webp" },
        (Some("UklGR"), Some("QVZF")) => Block::Audio { data, mime_type: "audio/wav" },
        _ => {
            let uri = format!("remit:call/{call}/data");
            Block::Resource {
                resource: Blob { uri, mime_type: "application/octet-stream", blob: data },
            }
        }
    }
}

/// Gives what went wrong, for the model and for programs.
pub(crate) fn error(outcome: &Outcome) -> Value {
    let (code, message) = project::error(outcome);
    match outcome {
        Outcome::Failed(failure) if failure.details.is_some() => {
            json!({"code": code, "message": message, "details": failure.details})
        }
        _ => json!({"code": code, "message": message}),
    }
}

fn failed<'o>(outcome: &Outcome, entry: Option<&Entry>) -> Parts<'o> {
    let error = json!({"error": error(outcome)});
    let text = Block::Text { text: Cow::Owned(error.to_string()) };
    // Where results have a schema, an error that is not of it must not stand in their place.
    let has_schema = entry.is_some_and(|entry| entry.capability.output_schema.is_some());
    (Content::Made(vec![text]), (!has_schema).then_some(Cow::Owned(error)), true)
}

/// Gives the form of `project_cli`: what happened, of which method, and nothing summarised away.
pub(crate) fn project_cli<'o>(
    outcome: &'o Outcome,
    reading: Reading<'o>,
    module: &str,
    method: &str,
) -> CallResult<'o> {
    let (body, is_error) = match outcome {
        Outcome::Succeeded(answer) | Outcome::Partial(answer) => {
            let status = if matches!(outcome, Outcome::Partial(_)) { "partial" } else { "success" };
            let mut body = json!({"status": status, "module": module, "method": method, "data": answer.result});
            if let (Some(message), Some(map)) = (&answer.message, body.as_object_mut()) {
                map.insert("message".to_owned(), json!(message));
            }
            (body, false)
        }
        other => {
            let mut error = error(other);
            if let Some(map) = error.as_object_mut() {
                map.insert("module".to_owned(), json!(module));
                map.insert("method".to_owned(), json!(method));
            }
            (json!({"status": "failure", "error": error}), true)
        }
    };
    let revision = reading.revision;
    let text = Block::Text { text: Cow::Owned(body.to_string()) };
    CallResult {
        content: Content::Made(vec![text]),
        structured_content: revision.has_structure().then_some(Cow::Owned(body)),
        is_error,
        result_type: revision.is_modern().then_some("complete"),
        meta: reading.meta,
    }
}
