//! Secrets go where they must and nowhere else.

use serde_json::{Value, json};

use crate::search::{BRAVE_KEY, TAVILY_KEY};
use crate::server::{Reply, Request, Server};
use crate::worker::Worker;

/// Sends back everything it was sent, in every place a result has.
fn echo(request: &Request) -> Value {
    let all = format!("{:?} {}", request.headers, request.body);
    json!({
        "results": [{"title": all, "url": format!("https://a.example/{}", all.replace(' ', "")), "content": all}],
        "web": {"results": [{"title": all, "url": "https://b.example/", "description": all}]},
    })
}

fn ask(command: &str, reply: fn(&Request) -> Reply, settings: Value) -> (String, Server, Server) {
    let (brave, tavily) = (Server::start(reply), Server::start(reply));
    let mut whole = json!({
        "brave_url": brave.url(""), "brave_api_key": BRAVE_KEY, "tavily_url": tavily.url(""),
        "tavily_api_key": TAVILY_KEY, "source_timeout_ms": 500,
    });
    for (name, value) in settings.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let mut worker = Worker::start("web_search");
    let answer = worker.ask(command, json!({"query": "x", "keywords": ["x"]}), whole);
    let said = format!("{} {:?}", answer.value, answer.progress);
    (said, brave, tavily)
}

#[test]
fn a_key_is_sent_in_a_header_to_its_own_source() {
    let (_, brave, tavily) = ask("search", |r| Reply::json(&echo(r)), json!({}));
    let sent = |server: &Server| format!("{:?}", server.requests());
    assert!(sent(&brave).contains(BRAVE_KEY) && !sent(&brave).contains(TAVILY_KEY));
    assert!(sent(&tavily).contains(TAVILY_KEY) && !sent(&tavily).contains(BRAVE_KEY));
    for request in brave.requests().iter().chain(&tavily.requests()) {
        assert!(!request.target.contains("CANARY") && !request.body.contains("CANARY"));
    }
}

#[test]
fn no_answer_holds_a_key_whatever_a_source_sends_back() {
    let replies: &[fn(&Request) -> Reply] = &[
        |r| Reply::json(&echo(r)),
        |r| Reply::Answer(401, Vec::new(), echo(r).to_string().into_bytes()),
        |r| Reply::Answer(500, Vec::new(), echo(r).to_string().into_bytes()),
        |r| {
            Reply::redirect(&format!(
                "https://elsewhere.example/{}",
                r.headers.values().last().unwrap()
            ))
        },
        |r| Reply::Raw(format!("HTTP/1.1 999 {:?}\r\n\r\n", r.headers).into_bytes()),
        |r| Reply::typed("application/json", format!("{:?}", r.headers).as_bytes()),
        |_| Reply::Silence,
    ];
    for command in ["search", "deep_search"] {
        for reply in replies {
            let (said, _, _) = ask(command, *reply, json!({}));
            assert!(!said.contains("CANARY"), "{command}: {said}");
        }
    }
}

#[test]
fn a_key_that_cannot_be_sent_is_not_shown() {
    for key in ["CANARY with\nnewline", "CANARY-ключ"] {
        let settings = json!({"brave_api_key": key, "tavily_api_key": key});
        let (said, brave, _) = ask("search", |r| Reply::json(&echo(r)), settings);
        assert!(said.contains("BAD_SETTING") || said.contains("SOURCES_FAILED"), "{said}");
        assert!(!said.contains("CANARY"), "{said}");
        assert!(brave.requests().is_empty());
    }
}

#[test]
fn a_password_in_an_address_is_neither_used_nor_shown() {
    for url in ["http://user:CANARY@127.0.0.1:9/", "https://CANARY@example.org/"] {
        let settings = json!({"mediawiki_url": url, "searxng_url": url});
        let mut worker = Worker::start("web_search");
        let answer = worker.ask("search", json!({"query": "x"}), settings);
        assert_eq!(answer.code(), "SOURCES_FAILED");
        assert!(!answer.value.to_string().contains("CANARY"), "{}", answer.value);
        let mut fetch = Worker::start("web_fetch");
        let answer = fetch.ask("fetch", json!({"url": url}), json!({}));
        assert_eq!(answer.code(), "NOT_ALLOWED");
        assert!(!answer.value.to_string().contains("CANARY"), "{}", answer.value);
    }
}
