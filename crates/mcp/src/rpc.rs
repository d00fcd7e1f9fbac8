//! Messages of JSON-RPC: read without copying, written once.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{McpError, start_of};
use crate::revision::Revision;

/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// It cannot be done.
pub(crate) const INTERNAL: i64 = -32603;
/// Headers say something other than the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The client cannot do what the server needs it to.
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// The revision is not spoken.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// How many messages may come in one batch.
const MOST_IN_BATCH: usize = 1_000;

/// Is a message as it came.
#[derive(Deserialize)]
struct Form<'m> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'m, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'m RawValue>,
    #[serde(borrow, default)]
    error: Option<&'m RawValue>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Is an error of the protocol.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) data: Option<Value>,
}

impl From<Fault> for McpError {
    fn from(fault: Fault) -> Self {
        Self::Refused { code: fault.code, message: fault.message, data: fault.data }
    }
}

/// Is a message.
#[derive(Debug)]
pub(crate) enum Message<'m> {
    /// Wants an answer.
    Request { id: &'m RawValue, method: Cow<'m, str>, params: Option<&'m RawValue> },
    /// Wants none.
    Notification { method: Cow<'m, str>, params: Option<&'m RawValue> },
    /// Answers a request; the id is none if it can be none of ours.
    Answer { id: Option<u64>, result: Result<&'m RawValue, Fault> },
}

/// Says why something is no message.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It does not pretend to be one: a line of a log, most likely.
    Noise,
    /// It pretends to be one and is not.
    Broken(String),
}

impl Unread {
    pub(crate) fn error(self, text: &[u8]) -> McpError {
        let why = match self {
            Self::Noise => "this is no message".to_owned(),
            Self::Broken(why) => why,
        };
        McpError::nonsense(format!("{why}: {}", start_of(text)))
    }
}

fn number(id: &RawValue) -> Option<u64> {
    let text = id.get();
    // Some servers give numbers back as strings.
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).parse().ok()
}

/// Reads one message.
pub(crate) fn read(text: &[u8]) -> Result<Message<'_>, Unread> {
    let text = text.trim_ascii();
    if text.first() != Some(&b'{') {
        return Err(Unread::Noise);
    }
    let form: Form<'_> = serde_json::from_slice(text).map_err(|error| match error.is_data() {
        // Whole JSON of another kind may be somebody's log.
        true if !has_mark(text) => Unread::Noise,
        _ => Unread::Broken(format!("a message cannot be read ({error})")),
    })?;
    match form.jsonrpc.as_deref() {
        None => return Err(Unread::Noise),
        Some("2.0") => {}
        Some(_) => return Err(Unread::Broken("`jsonrpc` is not `2.0`".to_owned())),
    }
    let id = form.id.filter(|id| id.get() != "null");
    match (id, form.method, form.result, form.error) {
        (Some(id), Some(method), None, None) => {
            Ok(Message::Request { id, method, params: form.params })
        }
        (None, Some(method), None, None) => {
            Ok(Message::Notification { method, params: form.params })
        }
        (id, None, Some(result), None) => {
            Ok(Message::Answer { id: id.and_then(number), result: Ok(result) })
        }
        (id, None, None, Some(error)) => {
            let fault = serde_json::from_str(error.get())
                .map_err(|error| Unread::Broken(format!("an error cannot be read ({error})")))?;
            Ok(Message::Answer { id: id.and_then(number), result: Err(fault) })
        }
        _ => Err(Unread::Broken("a message is no request, notification or answer".to_owned())),
    }
}

fn has_mark(text: &[u8]) -> bool {
    const MARK: &[u8] = b"\"jsonrpc\"";
    text.windows(MARK.len()).any(|part| part == MARK)
}

/// Gives the messages of a batch, or nothing if this is none. Only the first revision has them.
pub(crate) fn batch(text: &[u8]) -> Option<Result<Vec<&RawValue>, Unread>> {
    let text = text.trim_ascii();
    if text.first() != Some(&b'[') || !has_mark(text) {
        return None;
    }
    let read = serde_json::from_slice::<Vec<&RawValue>>(text)
        .map_err(|error| Unread::Broken(format!("a batch cannot be read ({error})")));
    Some(match read {
        Ok(all) if all.len() > MOST_IN_BATCH => {
            Err(Unread::Broken("a batch has too many messages".to_owned()))
        }
        other => other,
    })
}

/// Is what a request or notification carries: one form for all methods.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<&'p Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_responses: Option<&'p Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_state: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notifications: Option<&'p Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<&'p Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_info: Option<Me>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'p str>,
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub(crate) meta: Meta<'p>,
}

/// Says who asks.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Me {
    name: &'static str,
    version: &'static str,
}

pub(crate) const ME: Me = Me { name: "remit", version: env!("CARGO_PKG_VERSION") };

/// Is what stands beside what is asked.
#[derive(Default, Serialize)]
pub(crate) struct Meta<'p> {
    #[serde(
        rename = "io.modelcontextprotocol/protocolVersion",
        skip_serializing_if = "Option::is_none"
    )]
    version: Option<&'static str>,
    #[serde(
        rename = "io.modelcontextprotocol/clientInfo",
        skip_serializing_if = "Option::is_none"
    )]
    client: Option<Me>,
    #[serde(
        rename = "io.modelcontextprotocol/clientCapabilities",
        skip_serializing_if = "Option::is_none"
    )]
    capabilities: Option<&'p Value>,
    #[serde(rename = "progressToken", skip_serializing_if = "Option::is_none")]
    pub(crate) progress_token: Option<u64>,
}

impl<'p> Meta<'p> {
    fn is_empty(&self) -> bool {
        self.version.is_none() && self.progress_token.is_none()
    }

    /// Says what every request of the newest revision says.
    pub(crate) fn modern(capabilities: &'p Value) -> Self {
        Self {
            version: Some(Revision::MODERN.as_str()),
            client: Some(ME),
            capabilities: Some(capabilities),
            progress_token: None,
        }
    }
}

#[derive(Serialize)]
struct Out<'m, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'m str,
    params: &'m P,
}

fn written(what: &impl Serialize) -> Result<Vec<u8>, McpError> {
    let mut bytes = Vec::with_capacity(512);
    serde_json::to_writer(&mut bytes, what)
        .map_err(|error| McpError::nonsense(format!("a request cannot be written: {error}")))?;
    Ok(bytes)
}

/// Writes a request.
pub(crate) fn request(id: u64, method: &str, params: &Params<'_>) -> Result<Vec<u8>, McpError> {
    written(&Out { jsonrpc: "2.0", id: Some(id), method, params })
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: &Params<'_>) -> Result<Vec<u8>, McpError> {
    written(&Out { jsonrpc: "2.0", id: None, method, params })
}

#[derive(Serialize)]
struct Reply<'m> {
    jsonrpc: &'static str,
    id: &'m RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'m Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ReplyError<'m>>,
}

#[derive(Serialize)]
struct ReplyError<'m> {
    code: i64,
    message: &'m str,
}

/// Writes the answer to a request of the server's.
pub(crate) fn reply(
    id: &RawValue,
    answer: Result<&Value, (i64, &str)>,
) -> Result<Vec<u8>, McpError> {
    let error = answer.err().map(|(code, message)| ReplyError { code, message });
    written(&Reply { jsonrpc: "2.0", id, result: answer.ok(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match read(text.as_bytes()) {
            Ok(Message::Request { .. }) => "request",
            Ok(Message::Notification { .. }) => "notification",
            Ok(Message::Answer { id: Some(_), .. }) => "answer",
            Ok(Message::Answer { id: None, .. }) => "stray",
            Err(Unread::Noise) => "noise",
            Err(Unread::Broken(_)) => "broken",
        }
    }

    #[test]
    fn messages_are_told_from_noise_and_from_what_is_broken() {
        for (text, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request"),
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#, "notification"),
            (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":"x","result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#, "stray"),
            ("", "noise"),
            ("Server started", "noise"),
            ("[info] listening", "noise"),
            (r#"{"level":"info","msg":"up"}"#, "noise"),
            (r#"{"level":"info","id":3,"method":4}"#, "noise"),
            (r#"{"jsonrpc":"2.0","id":1,"#, "broken"),
            (r#"{"jsonrpc":"1.0","id":1,"result":1}"#, "broken"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "broken"),
            (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#, "broken"),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "broken"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":1}"#, "broken"),
        ] {
            assert_eq!(kind(text), want, "{text}");
        }
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let text = br#"[{"jsonrpc":"2.0","id":1,"result":1}, {"jsonrpc":"2.0","method":"m"}]"#;
        assert_eq!(batch(text).unwrap().unwrap().len(), 2);
        assert!(batch(b"[info] up").is_none());
        assert!(batch(b"[\"jsonrpc\"").unwrap().is_err());
    }

    #[test]
    fn nothing_that_was_not_said_is_written() {
        let bytes = request(1, "ping", &Params::default()).unwrap();
        assert_eq!(bytes, br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#);
        let can = serde_json::json!({});
        let params = Params { meta: Meta::modern(&can), ..Params::default() };
        let text = String::from_utf8(request(1, "x", &params).unwrap()).unwrap();
        assert!(text.contains(r#""io.modelcontextprotocol/clientCapabilities":{}"#), "{text}");
    }
}
