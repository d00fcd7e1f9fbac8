//! The lines of the worker contract, `docs/workers.md`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Is the longest code of an error.
pub const MOST_CODE_BYTES: usize = 64;

/// Is what a tool is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// One of the manifest's commands.
    pub command: &'a str,
    /// What passed its schema, with defaults.
    pub parameters: &'a Value,
    /// The tool's configuration, secrets included.
    pub settings: &'a Value,
    /// The call this is for.
    pub call_id: &'a str,
    /// How long it may take, for a tool that wants to know.
    pub timeout: Duration,
}

/// Is what a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The result, or the tool's own error.
    pub outcome: Result<Value, Failure>,
    /// A sentence for the model.
    pub message: Option<String>,
    /// Binary data.
    pub base64: Option<String>,
    /// Whether some of it could not be had.
    pub partial: bool,
}

/// Is an error that a tool reports.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Upper-case words joined by `_`.
    pub code: String,
    /// What to do differently.
    pub message: String,
}

/// Is how far a tool has come.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// From 0 to 1.
    pub fraction: f64,
    /// A few words about it.
    #[serde(default)]
    pub message: Option<String>,
}

#[derive(Serialize)]
struct Asked<'a> {
    id: &'a str,
    command: &'a str,
    parameters: &'a Value,
    settings: &'a Value,
    context: Context<'a>,
}

#[derive(Serialize)]
struct Context<'a> {
    call_id: &'a str,
    timeout_ms: u64,
}

/// Writes a request as a line into a buffer, which is emptied first.
pub(super) fn write_request(
    line: &mut Vec<u8>,
    id: &str,
    request: &Request<'_>,
) -> Result<(), String> {
    let asked = Asked {
        id,
        command: request.command,
        parameters: request.parameters,
        settings: request.settings,
        context: Context {
            call_id: request.call_id,
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
        },
    };
    line.clear();
    serde_json::to_writer(&mut *line, &asked).map_err(|error| error.to_string())?;
    line.push(b'\n');
    Ok(())
}

/// Gives the line that asks a service whether it is well.
pub(super) fn ping(id: &str) -> String {
    format!("{{\"id\": \"{id}\", \"ping\": true}}\n")
}

/// Is one line of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) says: Says,
}

/// Is what a line says.
#[derive(Debug, PartialEq)]
pub(super) enum Says {
    Answer(Box<Answer>),
    Progress(Progress),
    Pong,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: String,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Failure>,
    progress: Option<Progress>,
    pong: Option<bool>,
    message: Option<String>,
    base64: Option<String>,
    #[serde(default)]
    partial: bool,
}

/// Tells a result of `null` from no result.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Reads a line, or says what is wrong with it.
pub(super) fn read_line(line: &[u8]) -> Result<Line, String> {
    let raw: Raw = serde_json::from_slice(line).map_err(|error| {
        // The text of the error names positions and kinds, never what the line holds.
        if error.is_data() {
            format!("is not an answer: {error}")
        } else {
            "is not JSON".to_owned()
        }
    })?;
    let extra = raw.message.is_some() || raw.base64.is_some() || raw.partial;
    let says = match (raw.result, raw.error, raw.progress, raw.pong) {
        (Some(_), None, None, None) if raw.partial && raw.message.is_none() => {
            return Err("is partial without a `message` that says what is missing".to_owned());
        }
        (Some(result), None, None, None) => Says::Answer(Box::new(Answer {
            outcome: Ok(result),
            message: raw.message,
            base64: raw.base64,
            partial: raw.partial,
        })),
        (None, Some(failure), None, None) if !extra => {
            if !is_code(&failure.code) {
                return Err(
                    "has an `error.code` that is not upper-case words joined by `_`".to_owned()
                );
            }
            let answer =
                Answer { outcome: Err(failure), message: None, base64: None, partial: false };
            Says::Answer(Box::new(answer))
        }
        (None, None, Some(progress), None) if !extra => {
            if !(0.0..=1.0).contains(&progress.fraction) {
                return Err("has a `progress.fraction` outside 0 to 1".to_owned());
            }
            Says::Progress(progress)
        }
        (None, None, None, Some(true)) if !extra => Says::Pong,
        _ => return Err("has not exactly one of `result`, `error` and `progress`".to_owned()),
    };
    Ok(Line { id: raw.id, says })
}

fn is_code(code: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    code.len() <= MOST_CODE_BYTES
        && code.starts_with(|first: char| first.is_ascii_uppercase())
        && code.split('_').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn says(line: &str) -> Result<Says, String> {
        read_line(line.as_bytes()).map(|line| line.says)
    }

    #[test]
    fn a_request_is_what_the_contract_shows() {
        let mut line = b"old".to_vec();
        let (parameters, settings) = (json!({"filePath": "/data/a\n.txt"}), json!({"max": 1}));
        let request = Request {
            command: "read_file",
            parameters: &parameters,
            settings: &settings,
            call_id: "c1",
            timeout: Duration::from_secs(30),
        };
        write_request(&mut line, "1", &request).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(
            serde_json::from_slice::<Value>(&line).unwrap(),
            json!({"id": "1", "command": "read_file", "parameters": {"filePath": "/data/a\n.txt"},
                "settings": {"max": 1}, "context": {"call_id": "c1", "timeout_ms": 30000}})
        );
    }

    #[test]
    fn the_four_kinds_of_lines_are_read() {
        let Ok(Says::Answer(answer)) =
            says(r#"{"id":"1","result":null,"message":"m","base64":"AA==","partial":true}"#)
        else {
            panic!("not an answer")
        };
        assert_eq!(answer.outcome, Ok(Value::Null));
        assert_eq!(
            (answer.message.as_deref(), answer.base64.as_deref()),
            (Some("m"), Some("AA=="))
        );
        assert!(answer.partial);
        let Ok(Says::Answer(answer)) =
            says(r#"{"id":"1","error":{"code":"NOT_FOUND","message":"no"}}"#)
        else {
            panic!("not an answer")
        };
        assert_eq!(answer.outcome.unwrap_err().code, "NOT_FOUND");
        let progress = Progress { fraction: 0.4, message: None };
        assert_eq!(says(r#"{"id":"1","progress":{"fraction":0.4}}"#), Ok(Says::Progress(progress)));
        assert_eq!(says(r#"{"id":"h1","pong":true}"#), Ok(Says::Pong));
    }

    #[test]
    fn anything_else_is_refused() {
        for line in [
            "",
            "null",
            "[]",
            "hello",
            "{}",
            r#"{"result":1}"#,
            r#"{"id":1,"result":1}"#,
            r#"{"id":"1"}"#,
            r#"{"id":"1","result":1,"error":{"code":"A","message":""}}"#,
            r#"{"id":"1","result":1,"mesage":"typo"}"#,
            r#"{"id":"1","result":1,"partial":true}"#,
            r#"{"id":"1","error":{"code":"lower","message":""}}"#,
            r#"{"id":"1","error":{"code":"A__B","message":""}}"#,
            r#"{"id":"1","error":{"code":"A"}}"#,
            r#"{"id":"1","error":{"code":"A","message":""},"partial":true}"#,
            r#"{"id":"1","progress":{"fraction":1.01}}"#,
            r#"{"id":"1","progress":{"fraction":-0.1}}"#,
            r#"{"id":"1","progress":{}}"#,
            r#"{"id":"1","pong":false}"#,
            r#"{"id":"1","result":1}{"id":"1","result":1}"#,
        ] {
            assert!(says(line).is_err(), "{line}");
        }
        let code = |length| {
            format!(r#"{{"id":"1","error":{{"code":"{}","message":""}}}}"#, "A".repeat(length))
        };
        assert!(says(&code(MOST_CODE_BYTES)).is_ok());
        assert!(says(&code(MOST_CODE_BYTES + 1)).is_err());
    }
}
