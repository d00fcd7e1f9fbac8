//! Merges what several sources found, by reciprocal rank fusion.
//!
//! Each source gives what it found at place `r` the weight `1 / (60 + r)`, and weights of the same
//! page are added up. Scores of sources need not be comparable, and no source can push a page to the top
//! alone when the others know better.

use std::collections::HashMap;

use serde_json::{Value, json};
use url::Url;

use super::source::Found;
use crate::contract::Failure;
use crate::text::shortened;

/// Is the constant of the fusion; the paper that proposed it found 60 to be good.
const K: f64 = 60.0;

const TITLE_CHARS: usize = 300;
const SNIPPET_CHARS: usize = 1000;

/// Is a page that one or more sources found.
pub(super) struct Merged {
    pub(super) found: Found,
    pub(super) sources: Vec<&'static str>,
    score: f64,
}

impl Merged {
    /// Gives it as a result.
    pub(super) fn to_json(&self) -> Value {
        let mut result = json!({
            "title": shortened(&self.found.title, TITLE_CHARS),
            "url": self.found.url.as_str(),
            "snippet": shortened(&self.found.snippet, SNIPPET_CHARS),
            "sources": self.sources,
            "score": (self.score * 1e5).round() / 1e5,
        });
        if let (Some(date), Some(map)) = (&self.found.date, result.as_object_mut()) {
            map.insert("date".to_owned(), shortened(date, 40).into());
        }
        result
    }
}

/// Ranks what was found together.
pub(super) fn ranked(
    answers: Result<Vec<(&'static str, Vec<Found>)>, Failure>,
    most: usize,
) -> Result<Vec<Merged>, Failure> {
    let mut merged: Vec<Merged> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (source, list) in answers? {
        let mut rank = 0.0;
        for found in list {
            let key = key(&found.url);
            let place = *places.entry(key).or_insert(merged.len());
            if place == merged.len() {
                merged.push(Merged { found, sources: Vec::new(), score: 0.0 });
            } else if let Some(page) = merged.get_mut(place) {
                // The same page twice in one list counts once.
                if page.sources.contains(&source) {
                    continue;
                }
                if found.snippet.len() > page.found.snippet.len() {
                    page.found.snippet = found.snippet;
                }
                page.found.date = page.found.date.take().or(found.date);
            }
            rank += 1.0;
            if let Some(page) = merged.get_mut(place) {
                page.sources.push(source);
                page.score += 1.0 / (K + rank);
            }
        }
    }
    // The sort is stable, so what is equal stays in the order of the sources.
    merged.sort_by(|a, b| b.score.total_cmp(&a.score));
    merged.truncate(most);
    Ok(merged)
}

/// Gives what is the same for addresses of the same page.
fn key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host).trim_end_matches('.');
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/index.html").unwrap_or(path);
    let kept: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| !tracks(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{host}{port}{path}?{}", kept.join("&"))
}

/// Tells whether a parameter only says where a reader came from.
fn tracks(name: &str) -> bool {
    name.starts_with("utm_")
        || matches!(name, "gclid" | "fbclid" | "msclkid" | "mc_cid" | "mc_eid" | "igshid" | "yclid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(url: &str) -> Found {
        let url = Url::parse(url).unwrap();
        Found { title: "t".to_owned(), url, snippet: "s".to_owned(), date: None }
    }

    fn urls(lists: &[(&'static str, &[&str])], most: usize) -> Vec<(String, usize)> {
        let lists =
            lists.iter().map(|(name, urls)| (*name, urls.iter().map(|u| found(u)).collect()));
        ranked(Ok(lists.collect()), most)
            .unwrap()
            .into_iter()
            .map(|merged| (merged.found.url.to_string(), merged.sources.len()))
            .collect()
    }

    #[test]
    fn a_page_that_two_sources_know_beats_the_first_of_one() {
        let ranked = urls(
            &[
                ("a", &["https://one.example/", "https://both.example/"]),
                ("b", &["https://two.example/", "https://both.example/"]),
            ],
            10,
        );
        assert_eq!(ranked[0], ("https://both.example/".to_owned(), 2));
        assert_eq!(ranked[1].0, "https://one.example/");
        assert_eq!(ranked[2].0, "https://two.example/");
    }

    #[test]
    fn spellings_of_an_address_are_one_page() {
        let same = [
            "https://www.example.org/a/",
            "http://example.org/a",
            "https://example.org/a#part",
            "https://EXAMPLE.org:443/a?utm_source=x&gclid=1",
            "https://example.org/a/index.html",
        ];
        let keys: Vec<_> = same.iter().map(|url| key(&Url::parse(url).unwrap())).collect();
        assert!(keys.iter().all(|k| *k == keys[0]), "{keys:?}");
        for other in
            ["https://example.org/b", "https://example.org/a?id=1", "https://example.org:8443/a"]
        {
            assert_ne!(key(&Url::parse(other).unwrap()), keys[0], "{other}");
        }
    }

    #[test]
    fn a_source_cannot_count_twice() {
        let twice = ["https://x.example/", "https://x.example/#again", "https://y.example/"];
        let ranked = urls(&[("a", &twice), ("b", &["https://y.example/"])], 10);
        assert_eq!(ranked[0], ("https://y.example/".to_owned(), 2));
        assert_eq!(ranked[1], ("https://x.example/".to_owned(), 1));
    }

    #[test]
    fn there_are_no_more_than_were_asked_for() {
        let three = ["https://1.example/", "https://2.example/", "https://3.example/"];
        assert_eq!(urls(&[("a", &three)], 3).len(), 3);
        assert_eq!(urls(&[("a", &three)], 2).len(), 2);
    }
}
