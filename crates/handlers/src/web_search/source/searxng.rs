//! SearXNG: `GET /search?q=…&format=json`.

use serde_json::Value;
use url::Url;

use super::{Found, Question, endpoint, listed};
use crate::contract::Failure;

/// Gives the question.
pub(super) fn ask(base: &Url, _: &str, query: &str, _: usize) -> Question {
    let mut url = endpoint(base, "/search");
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    Question { url, header: None, body: None }
}

/// Reads the answer.
pub(super) fn read(answer: &Value, _: &Url) -> Result<Vec<Found>, Failure> {
    let found = listed(answer.get("results"), "content", "publishedDate")?;
    let silent = answer.get("unresponsive_engines").and_then(Value::as_array);
    if found.is_empty() && silent.is_some_and(|engines| !engines.is_empty()) {
        return Err(Failure::new("NO_ANSWER", "none of the engines it asks has answered"));
    }
    Ok(found)
}
