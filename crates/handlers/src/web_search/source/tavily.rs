//! Tavily: `POST /search`, with the key as a bearer token.

use serde_json::{Value, json};
use url::Url;

use super::{Found, Question, endpoint, listed};
use crate::contract::Failure;

/// Tells whether a key looks like one of Tavily's.
pub(super) fn owns(key: &str) -> bool {
    key.starts_with("tvly-")
}

/// Gives the question.
pub(super) fn ask(base: &Url, key: &str, query: &str, most: usize) -> Question {
    let body = json!({"query": query, "max_results": most, "search_depth": "basic"});
    Question {
        url: endpoint(base, "/search"),
        header: Some(("authorization", format!("Bearer {key}"))),
        body: Some(body.to_string()),
    }
}

/// Reads the answer.
pub(super) fn read(answer: &Value, _: &Url) -> Result<Vec<Found>, Failure> {
    listed(answer.get("results"), "content", "published_date")
}
