//! The loop of a worker: a request a line in, progress and one answer a line out.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use remit_model::text;
use serde_json::{Map, Value, json};

use crate::contract::{Call, Done, Failure, Progress, answer};
use crate::redact::Redactor;
use crate::{file_operator, watch, web_fetch, web_search};

/// Is the longest request that is read: a file to write, escaped, and room to spare.
const REQUEST_BYTES: u64 = 128 << 20;

/// Is the longest answer that is written. A line may have 1 MiB; the rest is for its id.
pub(crate) const ANSWER_BYTES: usize = (1 << 20) - 4096;

struct Handler {
    name: &'static str,
    secrets: &'static [&'static str],
    run: fn(&Call, Progress<'_>) -> Result<Done, Failure>,
}

const HANDLERS: &[Handler] = &[
    Handler { name: "file_operator", secrets: &[], run: file_operator::run },
    Handler { name: "web_fetch", secrets: &[], run: web_fetch::run },
    Handler { name: "web_search", secrets: web_search::SECRETS, run: web_search::run },
];

/// Is why a worker stopped before its input ended.
#[derive(Debug)]
pub enum ServeError {
    /// There is no handler of that name.
    UnknownHandler(String),
    /// What was read is not a request.
    NotARequest,
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHandler(name) => {
                let known: Vec<_> = HANDLERS.iter().map(|h| h.name).collect();
                let name = text::quoted(name);
                write!(f, "there is no handler {name}; there are {}", known.join(", "))
            }
            Self::NotARequest => f.write_str("standard input has a line that is not a request"),
            Self::Io(error) => write!(f, "the worker cannot go on: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Serves the handler of that name until its input ends.
///
/// # Errors
/// When there is no such handler, when a line is not a request, and when reading or writing fails.
pub fn serve(
    name: &str,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), ServeError> {
    let Some(handler) = HANDLERS.iter().find(|handler| handler.name == name) else {
        return Err(ServeError::UnknownHandler(name.to_owned()));
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        input.by_ref().take(REQUEST_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Ok(Value::Object(request)) = serde_json::from_slice(&line) else {
            return Err(ServeError::NotARequest);
        };
        respond(handler, request, &mut output)?;
        // A parser that would not stop still runs; only the end of the process ends it.
        if watch::left_behind() {
            return Ok(());
        }
    }
}

fn respond(
    handler: &Handler,
    mut request: Map<String, Value>,
    output: &mut impl Write,
) -> Result<(), ServeError> {
    let id = request.remove("id").unwrap_or_default();
    if request.get("ping").is_some() {
        return Ok(write_line(output, &json!({"id": id, "pong": true}))?);
    }
    let call = Call::new(&mut request);
    let redactor = Redactor::new(&call.settings, handler.secrets);
    let mut broken = None;
    let mut progress = |fraction: f64, message: &str| {
        let mut message = message.to_owned();
        redactor.text(&mut message);
        let progress = json!({"fraction": fraction.clamp(0.0, 1.0), "message": message});
        if let Err(error) = write_line(output, &json!({"id": id, "progress": progress})) {
            broken.get_or_insert(error);
        }
    };
    let outcome = (handler.run)(&call, &mut progress);
    if let Some(error) = broken {
        return Err(error.into());
    }
    let mut fields = answer(outcome);
    redactor.map(&mut fields);
    fields.insert("id".to_owned(), id.clone());
    let mut written = serde_json::to_vec(&fields).map_err(io::Error::from)?;
    if written.len() > ANSWER_BYTES {
        let failure =
            Failure::new("TOO_LARGE", "the result is too large for one answer; ask for less");
        let mut fields = answer(Err(failure));
        fields.insert("id".to_owned(), id);
        written = serde_json::to_vec(&fields).map_err(io::Error::from)?;
    }
    written.push(b'\n');
    output.write_all(&written)?;
    Ok(output.flush()?)
}

fn write_line(output: &mut impl Write, value: &Value) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
