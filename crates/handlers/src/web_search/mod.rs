//! `web_search`: several sources asked at once, and what they find ranked together.

mod ask;
mod deep;
mod merge;
mod source;
mod summary;

use remit_model::text::quoted;
use serde_json::{Value, json};

use self::merge::Merged;
use self::source::Source;
use crate::contract::{Call, Done, Failure, Progress};
use crate::text::fit;

/// Lists the settings that are secret.
pub(crate) const SECRETS: &[&str] = &["api_key", "brave_api_key", "tavily_api_key"];

/// Is the most results a call can have.
const MOST_RESULTS: u64 = 50;

/// Runs a command.
pub(crate) fn run(call: &Call, progress: Progress<'_>) -> Result<Done, Failure> {
    match call.command.as_str() {
        "search" => search(call, progress),
        "deep_search" => deep::run(call, progress),
        other => {
            let message =
                format!("there is no command {}; use search or deep_search", quoted(other));
            Err(Failure::new("UNKNOWN_COMMAND", message))
        }
    }
}

fn search(call: &Call, progress: Progress<'_>) -> Result<Done, Failure> {
    let query = query(call)?;
    let most = most_results(call)?;
    let (sources, unusable) = source::chosen(&call.settings, &call.texts("sources")?)?;
    progress(0.1, &asking(&sources));
    let mut answers = ask::all(call, sources, query, most)?;
    answers.failed.extend(unusable);
    let found = merge::ranked(answers.take_found(), most)?;
    let results: Vec<Value> = found.iter().map(Merged::to_json).collect();
    let result = json!({
        "query": query,
        "results": fit::items(results.into_iter()),
        "sources": answers.to_json(),
    });
    let done = Done::new(result);
    Ok(match answers.problems() {
        Some(problems) => done.partial(format!("{} results; {problems}", found.len())),
        None => done.message(format!("{} results", found.len())),
    })
}

fn query(call: &Call) -> Result<&str, Failure> {
    let query = call.text("query")?.trim();
    if query.is_empty() {
        return Err(Failure::new(
            "INVALID_PARAMETER",
            "the query is empty; say what to search for",
        ));
    }
    Ok(query)
}

fn most_results(call: &Call) -> Result<usize, Failure> {
    let most = call.settings.number("max_results", 10, 1, MOST_RESULTS);
    let most = usize::try_from(most).unwrap_or(10);
    Ok(call.count("max_results")?.unwrap_or(most).clamp(1, most))
}

fn asking(sources: &[Source]) -> String {
    let names: Vec<_> = sources.iter().map(Source::name).collect();
    format!("asking {}", names.join(", "))
}
