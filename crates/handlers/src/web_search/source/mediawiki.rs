//! MediaWiki: `GET api.php?action=query&list=search`, and where the wiki keeps its pages.

use remit_model::text::quoted;
use serde_json::Value;
use url::Url;

use super::{Found, Question};
use crate::contract::Failure;

/// Gives the question.
pub(super) fn ask(base: &Url, _: &str, query: &str, most: usize) -> Question {
    let mut url = base.clone();
    url.set_fragment(None);
    let before = base.path().trim_end_matches('/');
    if before.is_empty() {
        url.set_path("/w/api.php");
    } else if !before.ends_with(".php") {
        url.set_path(&format!("{before}/api.php"));
    }
    url.query_pairs_mut()
        .append_pair("action", "query")
        .append_pair("list", "search")
        .append_pair("srsearch", query)
        .append_pair("srlimit", &most.to_string())
        .append_pair("meta", "siteinfo")
        .append_pair("siprop", "general")
        .append_pair("format", "json")
        .append_pair("formatversion", "2");
    Question { url, header: None, body: None }
}

/// Reads the answer.
pub(super) fn read(answer: &Value, base: &Url) -> Result<Vec<Found>, Failure> {
    if let Some(code) = answer.pointer("/error/code").and_then(Value::as_str) {
        return Err(Failure::new(
            "BAD_RESPONSE",
            format!("it answers with the error {}", quoted(code)),
        ));
    }
    let Some(list) = answer.pointer("/query/search").and_then(Value::as_array) else {
        return Err(Failure::new("BAD_RESPONSE", "its answer has no list of results"));
    };
    let general = answer.pointer("/query/general");
    let found = list.iter().filter_map(|item| {
        let title = item.get("title").and_then(Value::as_str)?;
        let snippet = item.get("snippet").and_then(Value::as_str).unwrap_or_default();
        let date = item.get("timestamp").and_then(Value::as_str).map(str::to_owned);
        let id = item.get("pageid").and_then(Value::as_u64);
        let url = address(general, base, title, id)?;
        let found = Found::new(title, url.as_str(), snippet)?;
        // A title is text, not HTML.
        Some(Found { title: title.to_owned(), date, ..found })
    });
    Ok(found.collect())
}

/// Gives the address of a page: as the wiki says, or by the number of the page.
fn address(general: Option<&Value>, base: &Url, title: &str, id: Option<u64>) -> Option<Url> {
    let said = |name: &str| general.and_then(|g| g.get(name)).and_then(Value::as_str);
    let pages = said("articlepath").filter(|path| path.contains("$1"));
    if let (Some(server), Some(path)) = (said("server"), pages) {
        // A path segment keeps what a title may have and encodes the rest.
        let mut encoded = Url::parse("http://x/").ok()?;
        encoded.path_segments_mut().ok()?.pop().push(&title.replace(' ', "_"));
        let path = path.replace("$1", encoded.path().trim_start_matches('/'));
        if let Ok(url) = base.join(server).and_then(|server| server.join(&path)) {
            return Some(url);
        }
    }
    let mut url = base.join("index.php").ok()?;
    url.query_pairs_mut().append_pair("curid", &id?.to_string());
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_are_found_where_the_wiki_says_they_are() {
        let base = Url::parse("https://en.wikipedia.org/w/api.php").unwrap();
        let general = json!({"server": "//en.wikipedia.org", "articlepath": "/wiki/$1"});
        let at = |title| address(Some(&general), &base, title, Some(7)).unwrap().to_string();
        assert_eq!(at("Rust (language)"), "https://en.wikipedia.org/wiki/Rust_(language)");
        assert_eq!(at("C?/#"), "https://en.wikipedia.org/wiki/C%3F%2F%23");
        let plain = address(None, &base, "X", Some(7)).unwrap();
        assert_eq!(plain.as_str(), "https://en.wikipedia.org/w/index.php?curid=7");
        assert!(address(None, &base, "X", None).is_none());
    }

    #[test]
    fn the_endpoint_is_guessed_from_the_host() {
        let at = |base: &str| ask(&Url::parse(base).unwrap(), "", "q", 5).url.path().to_owned();
        assert_eq!(at("https://w.example"), "/w/api.php");
        assert_eq!(at("https://w.example/wiki"), "/wiki/api.php");
        assert_eq!(at("https://w.example/api.php"), "/api.php");
    }
}
