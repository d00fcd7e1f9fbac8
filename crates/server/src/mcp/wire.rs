//! Messages of JSON-RPC, read without copying and written once.

use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// How long an id may be, as it is written.
const LONGEST_ID: usize = 256;

/// Is an error of the protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Fault {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// The body is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The message is none.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters do not fit.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// Headers say something other than the body.
pub(crate) const HEADER_MISMATCH: i32 = -32020;
/// The client lacks what a tool needs of it.
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
/// The revision is not spoken.
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Something is not as it should be on this side.
pub(crate) const INTERNAL: i32 = -32603;
/// There is no such resource, as older revisions say it.
pub(crate) const NO_RESOURCE: i32 = -32002;
/// There is no such session.
pub(crate) const NO_SESSION: i32 = -32001;

impl Fault {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    pub(crate) fn method(name: &str) -> Self {
        let name = remit_model::text::quoted(name);
        Self::new(METHOD_NOT_FOUND, format!("there is no method {name}"))
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Gives the status of HTTP that the newest revision wants with it.
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            METHOD_NOT_FOUND | NO_SESSION => StatusCode::NOT_FOUND,
            PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS | HEADER_MISMATCH
            | MISSING_CAPABILITY | UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}

/// Is a message as it came.
#[derive(Deserialize)]
struct Form<'m> {
    #[serde(default)]
    jsonrpc: Option<String>,
    // A null is not the same as nothing here.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'m RawValue>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Is a message.
#[derive(Debug)]
pub(crate) enum Message<'m> {
    /// Wants an answer.
    Request {
        /// What the answer is to carry.
        id: &'m RawValue,
        /// What is wanted.
        method: String,
        /// With what.
        params: Option<&'m RawValue>,
    },
    /// Wants none.
    Notification {
        /// What happened.
        method: String,
        /// With what.
        params: Option<&'m RawValue>,
    },
    /// Answers a request of the server's.
    Answer {
        /// Which.
        id: &'m RawValue,
        /// The answer; none if it is an error.
        result: Option<&'m RawValue>,
    },
}

/// Is a message that is none, and the id to say so under.
#[derive(Debug)]
pub(crate) struct Unread<'m> {
    pub(crate) id: Option<&'m RawValue>,
    pub(crate) fault: Fault,
}

fn is_id(raw: &RawValue) -> bool {
    let text = raw.get();
    let first = text.as_bytes().first().copied().unwrap_or_default();
    text.len() <= LONGEST_ID && (first == b'"' || first == b'-' || first.is_ascii_digit())
}

/// Reads one message.
pub(crate) fn read(text: &[u8]) -> Result<Message<'_>, Unread<'_>> {
    let unread = |id, fault| Err(Unread { id, fault });
    // A list of the values in order would be taken for the object.
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        return unread(None, Fault::request("this is no message"));
    }
    let form: Form<'_> = match serde_json::from_slice(text) {
        Ok(form) => form,
        Err(error) if error.is_data() => {
            return unread(None, Fault::request(format!("this is no message: {error}")));
        }
        Err(error) => {
            return unread(None, Fault::new(PARSE_ERROR, format!("this is not JSON: {error}")));
        }
    };
    let id = form.id.filter(|id| is_id(id));
    if form.id.is_some() && id.is_none() {
        return unread(None, Fault::request("an id is a short string or a number"));
    }
    if form.jsonrpc.as_deref() != Some("2.0") {
        return unread(id, Fault::request("`jsonrpc` is not `2.0`"));
    }
    match (id, form.method, form.result, form.error) {
        (Some(id), Some(method), None, None) => {
            Ok(Message::Request { id, method, params: form.params })
        }
        (None, Some(method), None, None) => {
            Ok(Message::Notification { method, params: form.params })
        }
        (Some(id), None, Some(result), None) => Ok(Message::Answer { id, result: Some(result) }),
        (Some(id), None, None, Some(_)) => Ok(Message::Answer { id, result: None }),
        (id, ..) => unread(id, Fault::request("this is no request, notification or response")),
    }
}

#[derive(Serialize)]
struct Out<'m, R> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'m R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'m R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'m Fault>,
}

impl<R> Out<'_, R> {
    const EMPTY: Self =
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };
}

fn written<R: Serialize>(out: &Out<'_, R>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    if serde_json::to_writer(&mut bytes, out).is_err() {
        bytes.clear();
        bytes.extend_from_slice(
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}"#,
        );
    }
    bytes
}

/// Writes a result.
pub(crate) fn result(id: &RawValue, result: &impl Serialize) -> Vec<u8> {
    written(&Out { id: Some(id), result: Some(result), ..Out::EMPTY })
}

/// Writes an error.
pub(crate) fn error(id: Option<&RawValue>, fault: &Fault) -> Vec<u8> {
    written::<()>(&Out { id: Some(id.unwrap_or(RawValue::NULL)), error: Some(fault), ..Out::EMPTY })
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    written(&Out { method: Some(method), params: Some(params), ..Out::EMPTY })
}

/// Writes a request of the server's.
pub(crate) fn request(id: &RawValue, method: &str, params: &impl Serialize) -> Vec<u8> {
    written(&Out { id: Some(id), method: Some(method), params: Some(params), ..Out::EMPTY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_kind_come_back_as_they_were_or_are_refused() {
        for id in ["1", "-7", "\"a\"", "\"\"", "1.5", "9007199254740993"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let Ok(Message::Request { id: read, .. }) = read(text.as_bytes()) else {
                panic!("{id}")
            };
            assert_eq!(read.get(), id);
        }
        let long = format!("\"{}\"", "a".repeat(LONGEST_ID - 2));
        let longer = format!("\"{}\"", "a".repeat(LONGEST_ID - 1));
        let with = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        assert!(read(with(&long).as_bytes()).is_ok());
        for id in ["null", "true", "[1]", "{}", longer.as_str()] {
            let text = with(id);
            let unread = read(text.as_bytes()).unwrap_err();
            assert!(unread.id.is_none() && unread.fault.code == INVALID_REQUEST, "{id}");
        }
    }

    #[test]
    fn what_is_no_message_is_said_to_be_none() {
        for (text, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            (r#"["2.0",1,"ping"]"#, INVALID_REQUEST),
            ("1", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","result":1}"#, INVALID_REQUEST),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().fault.code, code, "{text}");
        }
    }
}
