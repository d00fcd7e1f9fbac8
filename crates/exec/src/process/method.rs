//! Runs a method that calls back (SPEC §7): one process for one call. Module, method and flags are its
//! arguments, the input comes on its standard input, the credential in its environment; it asks the
//! server for what it needs and writes one line: `{ok, module, method, data}`, or `error` in place of
//! `data`.
//!
//! Its standard input is a socket, whose other end is the server: so it needs no network, and nobody
//! else can take its place.

use std::os::fd::AsFd as _;

use remit_engine::redact::Redactor;
use remit_engine::visit::Visit;
use remit_model::{Answer, Failure, Outcome};
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use super::launch::{Launcher, Process};
use super::lines::NoLine;
use super::plan::Plan;
use super::worker::{Until, WorkerError, start_of};

/// Is what a method is called with.
pub(super) struct Method<'m> {
    pub(super) module: &'m str,
    pub(super) name: &'m str,
    pub(super) input: &'m Value,
}

/// Runs a method to its end. Nothing of its process is left when this returns.
pub(super) async fn run(
    launcher: &Launcher,
    plan: &Plan,
    visit: Visit,
    method: &Method<'_>,
    until: Until<'_>,
) -> Result<Outcome, WorkerError> {
    let redactor = Redactor::new([visit.credential.clone()]);
    let launched = tokio::select! {
        biased;
        () = until.cancel.cancelled() => return Err(WorkerError::Cancelled),
        launched = launcher.start_visiting(plan, &visit.credential) => launched?,
    };
    let (mut process, ours) = launched;
    let most = usize::try_from(plan.confinement.limits.output_bytes).unwrap_or(usize::MAX);
    let talk = talk(&mut process, ours, visit, method, most);
    let line = tokio::select! {
        biased;
        () = until.cancel.cancelled() => Err(WorkerError::Cancelled),
        line = tokio::time::timeout_at(until.deadline.into(), talk) => {
            line.unwrap_or(Err(WorkerError::TimedOut))
        }
    };
    let how = match &line {
        Ok(_) | Err(WorkerError::Ended { .. }) => process.finish().await,
        Err(_) => process.end().await,
    };
    match line {
        Ok(line) => match outcome(method, &line) {
            Ok(outcome) => Ok(redactor.outcome(outcome)),
            Err(why) => Err(WorkerError::BadAnswer {
                why,
                line: redactor.text(&start_of(&line)),
                said: redactor.text(&process.said()),
            }),
        },
        Err(WorkerError::Ended { .. }) => {
            Err(WorkerError::Ended { how: how.to_string(), said: redactor.text(&process.said()) })
        }
        Err(other) => Err(other),
    }
}

/// Gives the process its input, lets it ask the server, and takes the line it writes.
async fn talk(
    process: &mut Process,
    mut ours: UnixStream,
    visit: Visit,
    method: &Method<'_>,
    most: usize,
) -> Result<Vec<u8>, WorkerError> {
    let ended = || WorkerError::Ended { how: String::new(), said: String::new() };
    // Held until the line is there: the process is ended when all of our ends are closed.
    let held = ours.as_fd().try_clone_to_owned().map_err(|_| ended())?;
    let mut input = serde_json::to_vec(method.input).unwrap_or_default();
    input.push(b'\n');
    ours.write_all(&input).await.map_err(|_| ended())?;
    let Visit { serve, stay, .. } = visit;
    let served = async {
        serve(Box::new(ours)).await;
        std::future::pending::<()>().await;
    };
    let line = tokio::select! {
        biased;
        line = process.answers.next(most) => match line {
            Ok(line) => Ok(line.to_vec()),
            Err(NoLine::TooLong) => {
                Err(WorkerError::TooMuchOutput { most: u64::try_from(most).unwrap_or(u64::MAX) })
            }
            Err(NoLine::End | NoLine::Broken(_)) => Err(ended()),
        },
        () = served => Err(ended()),
    };
    drop((held, stay));
    line
}

/// Reads what a method wrote.
fn outcome(method: &Method<'_>, line: &[u8]) -> Result<Outcome, String> {
    let mut fields: Map<String, Value> =
        serde_json::from_slice(line).map_err(|_| "is not a JSON object".to_owned())?;
    let is = |name: &str, own: &str| fields.get(name).and_then(Value::as_str) == Some(own);
    if !is("module", method.module) || !is("method", method.name) {
        return Err("is about another method".to_owned());
    }
    match fields.get("ok").and_then(Value::as_bool) {
        Some(true) => {
            let result = fields.remove("data").ok_or("has no `data`")?;
            Ok(Outcome::Succeeded(Answer { result, message: None, base64: None }))
        }
        Some(false) => match fields.remove("error") {
            Some(Value::Object(error)) => Ok(Outcome::Failed(failure(error))),
            _ => Err("has no `error`".to_owned()),
        },
        None => Err("has no `ok`".to_owned()),
    }
}

fn failure(mut error: Map<String, Value>) -> Failure {
    let mut take = |name: &str, otherwise: &str| match error.remove(name) {
        Some(Value::String(text)) => text,
        _ => otherwise.to_owned(),
    };
    let (code, message) = (take("code", "FAILED"), take("message", "it gave no reason"));
    // Who is called is said by whoever called.
    take("module", "");
    take("method", "");
    let failure = Failure::new(&code, message);
    if error.is_empty() { failure } else { failure.with_details(Value::Object(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(line: &str) -> Result<Outcome, String> {
        outcome(&Method { module: "m", name: "x", input: &Value::Null }, line.as_bytes())
    }

    #[test]
    fn a_line_is_an_outcome_or_is_refused() {
        let Ok(Outcome::Succeeded(answer)) =
            read(r#"{"ok": true, "module": "m", "method": "x", "data": [1]}"#)
        else {
            panic!("it succeeded");
        };
        assert_eq!(answer.result, json!([1]));
        let Ok(Outcome::Failed(failure)) = read(
            r#"{"ok": false, "module": "m", "method": "x",
                "error": {"code": "C", "message": "w", "module": "m", "method": "x", "pointer": "/a"}}"#,
        ) else {
            panic!("it failed");
        };
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("C", "w"));
        assert_eq!(failure.details, Some(json!({"pointer": "/a"})));
        for bad in [
            "",
            "[]",
            r#"{"ok": true, "module": "m", "method": "y", "data": 1}"#,
            r#"{"ok": true, "module": "m", "method": "x"}"#,
            r#"{"ok": false, "module": "m", "method": "x", "error": "no"}"#,
            r#"{"module": "m", "method": "x", "data": 1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
