//! Asks every source at the same time, and waits for none too long.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::source::{Found, Source};
use crate::contract::{Call, Failure};
use crate::net::{Client, Guard, Limits};

/// Is the longest answer of a source.
const ANSWER_BYTES: u64 = 4 << 20;

/// Is what the sources said.
pub(super) struct Answers {
    found: Vec<(&'static str, Vec<Found>)>,
    counts: Vec<(&'static str, usize)>,
    pub(super) failed: Vec<(&'static str, Failure)>,
}

/// Asks the sources.
pub(super) fn all(
    call: &Call,
    sources: Vec<Source>,
    query: &str,
    most: usize,
) -> Result<Answers, Failure> {
    let time = call.settings.number("source_timeout_ms", 8_000, 100, 60_000);
    let time = call.time_left(Duration::from_millis(time));
    let limits = Limits { bytes: ANSWER_BYTES, time, redirects: 0 };
    let names: Vec<_> = sources.iter().map(Source::name).collect();
    let (sender, receiver) = mpsc::channel();
    for source in sources {
        // The operator put the source where it is, so that one address may be private.
        let client = Client::new(Guard::service(source.base()), &call.settings)?;
        let (sender, query) = (sender.clone(), query.to_owned());
        let name = source.name();
        let started = thread::Builder::new().spawn(move || {
            let _ = sender.send((source.name(), one(&source, &client, &query, most, limits)));
        });
        started.map_err(|_| Failure::new("IO", format!("{name} could not be asked: no thread")))?;
    }
    drop(sender);
    let mut answers = Answers { found: Vec::new(), counts: Vec::new(), failed: Vec::new() };
    // A little longer than each has: what it says of its own end is better than silence.
    let deadline = Instant::now() + time + Duration::from_millis(200);
    while let Ok((name, answer)) =
        receiver.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    {
        match answer {
            Ok(found) => answers.found.push((name, found)),
            Err(failure) => answers.failed.push((name, failure)),
        }
    }
    let heard = |name: &&str| {
        answers.found.iter().any(|(n, _)| n == name)
            || answers.failed.iter().any(|(n, _)| n == name)
    };
    let silent: Vec<_> = names.iter().filter(|name| !heard(name)).copied().collect();
    answers.failed.extend(silent.into_iter().map(|name| (name, Failure::timeout("the source"))));
    // In the order of the sources, whoever was first to answer: the same answers rank the same.
    let place = |name: &str| names.iter().position(|n| *n == name);
    answers.found.sort_by_key(|(name, _)| place(name));
    answers.failed.sort_by_key(|(name, _)| place(name));
    answers.counts = answers.found.iter().map(|(name, found)| (*name, found.len())).collect();
    Ok(answers)
}

fn one(
    source: &Source,
    client: &Client,
    query: &str,
    most: usize,
    limits: Limits,
) -> Result<Vec<Found>, Failure> {
    let question = source.ask(query, most);
    let headers: Vec<(&str, &str)> =
        question.header.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let reply = client.call(&question.url, &headers, question.body.as_deref(), limits)?;
    match reply.status {
        200..=299 => {}
        401 | 403 => {
            let message = "it refuses the question; the operator should check its key, and for SearXNG that `json` is among its formats";
            return Err(Failure::new("SOURCE_REFUSED", message));
        }
        429 => return Err(Failure::new("RATE_LIMITED", "it has been asked too often; try later")),
        status => {
            return Err(Failure::new("HTTP_STATUS", format!("it answers with status {status}")));
        }
    }
    if reply.cut {
        return Err(Failure::new(
            "TOO_LARGE",
            format!("its answer has more than {ANSWER_BYTES} bytes"),
        ));
    }
    let answer: Value = serde_json::from_slice(&reply.body)
        .map_err(|_| Failure::new("BAD_RESPONSE", "its answer is no JSON"))?;
    source.read(&answer)
}

impl Answers {
    /// Takes what was found, unless every source failed.
    pub(super) fn take_found(&mut self) -> Result<Vec<(&'static str, Vec<Found>)>, Failure> {
        if self.found.is_empty() {
            let problems = self.problems().unwrap_or_default();
            return Err(Failure::new("SOURCES_FAILED", format!("no source answered: {problems}")));
        }
        Ok(std::mem::take(&mut self.found))
    }

    /// Says what went wrong, if something did.
    pub(super) fn problems(&self) -> Option<String> {
        let problems: Vec<String> = self
            .failed
            .iter()
            .map(|(name, failure)| format!("{name}: {}", failure.message))
            .collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Gives what each source did.
    pub(super) fn to_json(&self) -> Value {
        let answered =
            self.counts.iter().map(|(name, count)| json!({"name": name, "results": count}));
        let failed = self.failed.iter().map(|(name, failure)| {
            json!({"name": name, "error": {"code": failure.code, "message": failure.message}})
        });
        answered.chain(failed).collect()
    }
}
