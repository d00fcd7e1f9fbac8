//! `web_search.deep_search`.

use serde_json::{Value, json};

use crate::search::searxng;
use crate::server::{Reply, Server};
use crate::worker::{Answer, Worker};

fn deep(query: &str, keywords: &[&str], settings: Value) -> Answer {
    let parameters = json!({"query": query, "keywords": keywords});
    Worker::start("web_search").ask("deep_search", parameters, settings)
}

fn page(text: &str) -> Reply {
    Reply::html(&format!("<nav>Menu about landlock rules.</nav><main><p>{text}</p></main>"))
}

#[test]
fn the_best_pages_are_read_and_cited() {
    let pages = Server::start(|request| match request.path() {
        "/a" => page(
            "Landlock is a security module that lets a process restrict itself. Cats sleep a lot during the day.",
        ),
        "/b" => page(
            "A Landlock ruleset lists the files that a process may open. The weather was fine that afternoon.",
        ),
        _ => Reply::typed(
            "application/pdf",
            &crate::pdf::simple(&["Landlock came with version 5.13 of the kernel."]),
        ),
    });
    let found = [pages.url("/a"), pages.url("/b"), pages.url("/c.pdf")];
    let engine =
        Server::start(move |r| searxng(r, &[("A", &found[0]), ("B", &found[1]), ("C", &found[2])]));
    let settings = json!({"searxng_url": engine.url(""), "allow_private": true});
    let answer = deep("how does landlock confine a process", &["landlock", "ruleset"], settings);
    let result = answer.result();
    assert_eq!(
        result["summary"],
        "Landlock is a security module that lets a process restrict itself. [1]\n\n\
         A Landlock ruleset lists the files that a process may open. [2]\n\n\
         Landlock came with version 5.13 of the kernel. [3]"
    );
    assert_eq!(result["citations"], json!([1, 2, 3]));
    assert_eq!(result["sources"][1]["n"], 2);
    assert_eq!(result["sources"][1]["url"], pages.url("/b"));
    assert_eq!(result["sources"][1]["read"], true);
    assert!(!answer.partial(), "{}", answer.message());
    assert_eq!(
        engine.requests()[0].query("q").unwrap(),
        "how does landlock confine a process ruleset"
    );
    let fractions: Vec<f64> =
        answer.progress.iter().map(|p| p["progress"]["fraction"].as_f64().unwrap()).collect();
    assert!(fractions.len() >= 4 && fractions.is_sorted(), "{fractions:?}");
}

#[test]
fn chinese_pages_are_summarised() {
    let pages = Server::start(|_| {
        page("沙箱机制限制进程可以访问的文件。今天的天气非常好,我们去公园散步。")
    });
    let found = pages.url("/");
    let engine = Server::start(move |r| searxng(r, &[("中文", &found)]));
    let settings = json!({"searxng_url": engine.url(""), "allow_private": true});
    let answer = deep("沙箱机制", &["进程"], settings);
    assert_eq!(answer.result()["summary"], "沙箱机制限制进程可以访问的文件。 [1]");
}

#[test]
fn a_page_at_a_private_address_is_not_read() {
    let inside = Server::start(|_| page("CANARY: landlock secrets of the inside are told here."));
    let to = inside.url("/");
    let outside = Server::start(move |_| Reply::redirect(&to));
    let found = [inside.url("/direct"), outside.url("/redirect")];
    let engine = Server::start(move |r| searxng(r, &[("A", &found[0]), ("B", &found[1])]));
    let hosts = format!("127.0.0.1:{}", outside.port);
    let settings = json!({"searxng_url": engine.url(""), "allowed_hosts": hosts});
    let answer = deep("landlock secrets", &["landlock"], settings);
    assert!(answer.partial());
    assert!(!answer.value.to_string().contains("CANARY"), "{}", answer.value);
    for source in answer.result()["sources"].as_array().unwrap() {
        assert_eq!(source["error"]["code"], "NOT_ALLOWED");
    }
    assert!(inside.requests().is_empty());
    assert_eq!(outside.requests().len(), 1);
}

#[test]
fn pages_that_fail_are_replaced_by_what_the_source_said_of_them() {
    let pages = Server::start(|request| match request.path() {
        "/gone" => Reply::status(404),
        "/slow" => Reply::Silence,
        _ => page("Landlock rules restrict what a process may do with files."),
    });
    let found = [pages.url("/gone"), pages.url("/slow"), pages.url("/good")];
    let engine = Server::start(move |r| {
        searxng(
            r,
            &[
                ("Landlock restricts many processes at once", &found[0]),
                ("Slow", &found[1]),
                ("Good", &found[2]),
            ],
        )
    });
    let settings = json!({"searxng_url": engine.url(""), "allow_private": true});
    let mut worker = Worker::start("web_search");
    let parameters = json!({"query": "landlock process", "keywords": ["landlock"]});
    let answer = worker.ask_within("deep_search", parameters, settings, 4000);
    let result = answer.result();
    assert!(answer.partial() && answer.message().contains("2 of 3 pages"), "{}", answer.message());
    assert_eq!(result["sources"][0]["error"]["code"], "HTTP_STATUS");
    assert_eq!(result["sources"][1]["error"]["code"], "TIMEOUT");
    assert!(result["summary"].as_str().unwrap().contains("what a process may do with files. [3]"));
}

#[test]
fn no_more_pages_are_read_than_are_allowed() {
    let pages = Server::start(|_| page("Landlock rules restrict what a process may do."));
    let found: Vec<String> = (0..6).map(|n| pages.url(&format!("/{n}"))).collect();
    let engine = Server::start(move |r| {
        let list: Vec<_> = found.iter().map(|url| ("T", url.as_str())).collect();
        searxng(r, &list)
    });
    for most in [1, 3] {
        let before = pages.requests().len();
        let settings =
            json!({"searxng_url": engine.url(""), "allow_private": true, "deep_pages": most});
        let answer = deep("landlock", &[], settings);
        assert_eq!(answer.result()["sources"].as_array().unwrap().len(), most);
        assert_eq!(pages.requests().len() - before, most);
    }
}

#[test]
fn without_a_source_there_is_no_summary() {
    let engine = Server::start(|_| Reply::status(500));
    let answer = deep("x", &["y"], json!({"searxng_url": engine.url("")}));
    assert_eq!(answer.code(), "SOURCES_FAILED");
    let empty = Server::start(|r| searxng(r, &[]));
    let answer = deep("x", &["y"], json!({"searxng_url": empty.url("")}));
    assert_eq!(answer.code(), "SOURCES_FAILED");
}
