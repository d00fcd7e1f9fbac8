//! Brave Search: `GET /res/v1/web/search?q=…`, with the key in `X-Subscription-Token`.

use serde_json::{Value, json};
use url::Url;

use super::{Found, Question, endpoint, listed};
use crate::contract::Failure;

/// Gives the question.
pub(super) fn ask(base: &Url, key: &str, query: &str, most: usize) -> Question {
    let mut url = endpoint(base, "/res/v1/web/search");
    url.query_pairs_mut().append_pair("q", query).append_pair("count", &most.to_string());
    Question { url, header: Some(("x-subscription-token", key.to_owned())), body: None }
}

/// Reads the answer. One without pages leaves `web` out.
pub(super) fn read(answer: &Value, _: &Url) -> Result<Vec<Found>, Failure> {
    let none = json!([]);
    let list = match answer.get("web") {
        Some(web) => web.get("results"),
        None if answer.get("type").and_then(Value::as_str) == Some("search") => Some(&none),
        None => None,
    };
    listed(list, "description", "page_age")
}
