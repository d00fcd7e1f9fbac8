//! `web_search.search`, against servers that answer as the real ones do.

use serde_json::{Value, json};

use crate::server::{Reply, Request, Server};
use crate::worker::{Answer, Worker};

pub const BRAVE_KEY: &str = "BSA-CANARY-brave-0123456789";
pub const TAVILY_KEY: &str = "tvly-CANARY-tavily-0123456789";

/// Answers as SearXNG does.
pub fn searxng(request: &Request, pages: &[(&str, &str)]) -> Reply {
    if request.query("format").as_deref() != Some("json") || request.path() != "/search" {
        return Reply::status(404);
    }
    let results: Vec<Value> = pages
        .iter()
        .map(|(title, url)| {
            json!({"url": url, "title": title, "content": format!("{title} by SearXNG"), "engine": "duckduckgo",
                "parsed_url": ["https", "x", "/", "", "", ""], "template": "default.html",
                "engines": ["duckduckgo", "brave"], "positions": [1], "score": 2.0, "category": "general",
                "publishedDate": "2026-01-02T00:00:00"})
        })
        .collect();
    Reply::json(
        &json!({"query": request.query("q"), "number_of_results": 0, "results": results, "answers": [],
        "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["google", "timeout"]]}),
    )
}

/// Answers as Brave Search does.
pub fn brave(request: &Request, pages: &[(&str, &str)]) -> Reply {
    if request.path() != "/res/v1/web/search" {
        return Reply::status(404);
    }
    if request.headers.get("x-subscription-token").map(String::as_str) != Some(BRAVE_KEY) {
        let error = json!({"type": "ErrorResponse", "error": {"id": "x", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID"}});
        return Reply::Answer(401, Vec::new(), error.to_string().into_bytes());
    }
    let results: Vec<Value> = pages
        .iter()
        .map(|(title, url)| {
            json!({"type": "search_result", "title": title, "url": url, "is_source_local": false,
                "description": format!("<strong>{title}</strong> by &quot;Brave&quot;"), "language": "en",
                "page_age": "2026-03-04T00:00:00", "meta_url": {"scheme": "https", "netloc": "x"}})
        })
        .collect();
    let query = json!({"original": request.query("q"), "more_results_available": true});
    Reply::json(&json!({"type": "search", "query": query, "mixed": {"type": "mixed"},
        "web": {"type": "search", "results": results, "family_friendly": true}}))
}

/// Answers as Tavily does.
pub fn tavily(request: &Request, pages: &[(&str, &str)]) -> Reply {
    if request.path() != "/search" || request.method != "POST" {
        return Reply::status(404);
    }
    let bearer = format!("Bearer {TAVILY_KEY}");
    if request.headers.get("authorization") != Some(&bearer) {
        let error = json!({"detail": {"error": "Unauthorized: missing or invalid API key."}});
        return Reply::Answer(401, Vec::new(), error.to_string().into_bytes());
    }
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let results: Vec<Value> = pages
        .iter()
        .map(|(title, url)| {
            json!({"title": title, "url": url, "content": format!("{title} by Tavily"), "score": 0.9, "raw_content": null})
        })
        .collect();
    Reply::json(
        &json!({"query": body["query"], "follow_up_questions": null, "answer": null, "images": [],
        "results": results, "response_time": 1.0, "request_id": "x"}),
    )
}

/// Answers as MediaWiki does.
pub fn mediawiki(request: &Request, titles: &[&str]) -> Reply {
    if request.path() != "/w/api.php" || request.query("list").as_deref() != Some("search") {
        return Reply::status(404);
    }
    let search: Vec<Value> = titles
        .iter()
        .enumerate()
        .map(|(n, title)| {
            json!({"ns": 0, "title": title, "pageid": 100 + n, "size": 1, "wordcount": 1,
                "snippet": format!("<span class=\"searchmatch\">{title}</span> &amp; more"), "timestamp": "2026-05-06T00:00:00Z"})
        })
        .collect();
    Reply::json(&json!({"batchcomplete": true, "continue": {"sroffset": 10, "continue": "-||"},
        "query": {"general": {"sitename": "Wiki", "articlepath": "/wiki/$1", "server": "https://wiki.example"},
            "searchinfo": {"totalhits": 2}, "search": search}}))
}

fn search(parameters: Value, settings: Value) -> Answer {
    Worker::start("web_search").ask("search", parameters, settings)
}

fn urls(answer: &Answer) -> Vec<&str> {
    let results = answer.result()["results"].as_array().unwrap();
    results.iter().map(|result| result["url"].as_str().unwrap()).collect()
}

struct All {
    searxng: Server,
    brave: Server,
    tavily: Server,
    wiki: Server,
}

impl All {
    fn start() -> Self {
        let both = ("Both", "https://both.example/page");
        Self {
            searxng: Server::start(move |r| {
                searxng(r, &[("Searx", "https://searx.example/"), both])
            }),
            brave: Server::start(move |r| {
                brave(
                    r,
                    &[
                        ("Brave", "https://brave.example/"),
                        ("Both", "http://www.both.example/page/?utm_source=x"),
                    ],
                )
            }),
            tavily: Server::start(move |r| tavily(r, &[("Tavily", "https://tavily.example/")])),
            wiki: Server::start(|r| mediawiki(r, &["Rust (language)"])),
        }
    }

    fn settings(&self) -> Value {
        json!({
            "searxng_url": self.searxng.url(""), "brave_url": self.brave.url(""), "brave_api_key": BRAVE_KEY,
            "tavily_url": self.tavily.url(""), "tavily_api_key": TAVILY_KEY,
            "mediawiki_url": self.wiki.url("/w/api.php"), "max_results": 10,
        })
    }
}

#[test]
fn all_sources_are_asked_and_ranked_together() {
    let all = All::start();
    let answer = search(json!({"query": "what & is 文?"}), all.settings());
    assert_eq!(
        urls(&answer),
        [
            "https://both.example/page",
            "https://searx.example/",
            "https://brave.example/",
            "https://tavily.example/",
            "https://wiki.example/wiki/Rust_(language)",
        ]
    );
    let first = &answer.result()["results"][0];
    assert_eq!(first["sources"], json!(["searxng", "brave"]));
    assert_eq!(answer.result()["results"][2]["snippet"], "Brave by \"Brave\"");
    let wiki = &answer.result()["results"][4];
    assert_eq!(
        (&wiki["title"], &wiki["snippet"]),
        (&json!("Rust (language)"), &json!("Rust (language) & more"))
    );
    assert_eq!(wiki["date"], "2026-05-06T00:00:00Z");
    assert!(!answer.partial(), "{}", answer.message());
    assert_eq!(answer.result()["sources"].as_array().unwrap().len(), 4);
    assert!(!answer.progress.is_empty());
    for (server, name) in [(&all.searxng, "q"), (&all.brave, "q"), (&all.wiki, "srsearch")] {
        assert_eq!(server.requests()[0].query(name).unwrap(), "what & is 文?");
    }
    assert!(all.tavily.requests()[0].body.contains("what & is 文?"));
}

#[test]
fn only_the_sources_that_are_named_are_asked() {
    let all = All::start();
    let answer = search(json!({"query": "x", "sources": ["tavily", "mediawiki"]}), all.settings());
    assert_eq!(urls(&answer).len(), 2);
    assert!(all.searxng.requests().is_empty() && all.brave.requests().is_empty());
    let most = search(json!({"query": "x", "max_results": 2}), all.settings());
    assert_eq!(urls(&most).len(), 2);
    let mut settings = all.settings();
    settings["max_results"] = 1.into();
    assert_eq!(urls(&search(json!({"query": "x", "max_results": 9}), settings)).len(), 1);
}

#[test]
fn a_source_that_fails_is_named_and_the_others_count() {
    type Failing = fn(&Request) -> Reply;
    let failing: &[(Failing, &str)] = &[
        (|_| Reply::status(500), "HTTP_STATUS"),
        (|_| Reply::status(429), "RATE_LIMITED"),
        (|_| Reply::status(403), "SOURCE_REFUSED"),
        (|_| Reply::html("<html>no json</html>"), "BAD_RESPONSE"),
        (|_| Reply::json(&json!({"other": 1})), "BAD_RESPONSE"),
        (|_| Reply::json(&json!([])), "BAD_RESPONSE"),
        (|_| Reply::redirect("http://169.254.169.254/"), "REDIRECTED"),
        (|_| Reply::typed("application/json", &vec![b' '; (4 << 20) + 1]), "TOO_LARGE"),
        (|_| Reply::Raw(b"nonsense\r\n\r\n".to_vec()), "BAD_RESPONSE"),
        (|_| Reply::Silence, "TIMEOUT"),
        (|_| Reply::Drip(b"HTTP/1.1 200 OK\r\n\r\n{".to_vec()), "TIMEOUT"),
        (
            |_| {
                Reply::json(
                    &json!({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}),
                )
            },
            "NO_ANSWER",
        ),
    ];
    let wiki = Server::start(|r| mediawiki(r, &["Page"]));
    for (reply, code) in failing {
        let bad = Server::start(reply);
        let patience = if *code == "TIMEOUT" { 2000 } else { 20_000 };
        let settings = json!({
            "searxng_url": bad.url(""), "mediawiki_url": wiki.url("/w/api.php"), "source_timeout_ms": patience,
        });
        let answer = search(json!({"query": "x"}), settings.clone());
        assert_eq!(urls(&answer), ["https://wiki.example/wiki/Page"], "{code}");
        assert!(answer.partial() && answer.message().contains("searxng"), "{}", answer.value);
        assert_eq!(answer.result()["sources"][1]["error"]["code"], *code, "{}", answer.value);
        // Alone it is the failure of the call.
        let alone = search(json!({"query": "x", "sources": ["searxng"]}), settings);
        assert_eq!(alone.code(), "SOURCES_FAILED");
        assert!(alone.value["error"]["message"].as_str().unwrap().contains("searxng"));
    }
}

#[test]
fn an_answer_of_a_source_as_long_as_it_may_be_is_read() {
    let mut body = br#"{"results": [{"url": "https://a.example/", "title": "A"}]}"#.to_vec();
    body.resize(4 << 20, b' ');
    let server = Server::start(move |_| Reply::typed("application/json", &body));
    let settings = json!({"searxng_url": server.url("")});
    assert_eq!(urls(&search(json!({"query": "x"}), settings)), ["https://a.example/"]);
}

#[test]
fn errors_of_a_wiki_come_with_status_200() {
    let wiki = Server::start(|_| {
        Reply::json(
            &json!({"error": {"code": "srsearch-error", "info": "An error has occurred", "docref": "x"}}),
        )
    });
    let settings = json!({"mediawiki_url": wiki.url("/w/api.php")});
    let answer = search(json!({"query": "x"}), settings);
    assert_eq!(answer.code(), "SOURCES_FAILED");
    assert!(answer.value.to_string().contains("srsearch-error"));
}

#[test]
fn a_search_that_finds_nothing_is_no_error() {
    let brave =
        Server::start(|_| Reply::json(&json!({"type": "search", "query": {"original": "x"}})));
    let settings = json!({"brave_url": brave.url(""), "brave_api_key": BRAVE_KEY});
    let answer = search(json!({"query": "x"}), settings);
    assert_eq!(urls(&answer).len(), 0);
    assert!(!answer.partial());
}

#[test]
fn what_is_not_configured_is_told() {
    assert_eq!(search(json!({"query": "x"}), json!({})).code(), "NOT_CONFIGURED");
    let wiki = Server::start(|r| mediawiki(r, &["Page"]));
    let settings = json!({"mediawiki_url": wiki.url("/w/api.php")});
    let both = json!({"query": "x", "sources": ["brave", "mediawiki"]});
    let answer = search(both, settings.clone());
    assert!(answer.partial() && answer.message().contains("brave"), "{}", answer.value);
    let only = search(json!({"query": "x", "sources": ["brave"]}), settings);
    assert_eq!(only.code(), "SOURCES_FAILED");
}
