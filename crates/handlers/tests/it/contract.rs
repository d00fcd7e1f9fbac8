//! The worker contract itself.

use serde_json::json;

use crate::worker::Worker;

#[test]
fn a_worker_serves_many_calls_and_ends_with_its_input() {
    let mut worker = Worker::start("file_operator");
    for id in ["a", "b"] {
        worker.send(&json!({"id": id, "command": "nonsense"}).to_string());
        let answer = worker.line().unwrap();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"]["code"], "UNKNOWN_COMMAND");
    }
    worker.send("");
    assert_eq!(worker.finish(), 0);
}

#[test]
fn a_ping_is_answered() {
    for handler in ["file_operator", "web_fetch", "web_search"] {
        let mut worker = Worker::start(handler);
        worker.send(r#"{"id": "h1", "ping": true}"#);
        assert_eq!(worker.line().unwrap(), json!({"id": "h1", "pong": true}));
    }
}

#[test]
fn what_is_no_request_ends_the_worker() {
    for line in ["no json", "[1]", "7"] {
        let mut worker = Worker::start("web_fetch");
        worker.send(line);
        assert_eq!(worker.line(), None);
        assert_eq!(worker.ended(), 2);
    }
    assert_eq!(Worker::start("no_such_handler").ended(), 2);
}

#[test]
fn parameters_of_the_wrong_kind_are_errors() {
    let mut files = Worker::start("file_operator");
    let settings = json!({"allowed_directories": "/tmp"});
    for parameters in
        [json!({}), json!({"filePath": 7}), json!({"filePath": "/tmp/x", "offset": -1})]
    {
        assert_eq!(
            files.ask("read_file", parameters, settings.clone()).code(),
            "INVALID_PARAMETER"
        );
    }
    let wrong = json!({"allowed_directories": 7});
    assert_eq!(files.ask("read_file", json!({"filePath": "/x"}), wrong).code(), "BAD_SETTING");
    let mut search = Worker::start("web_search");
    let asked = json!({"query": "x", "sources": ["altavista"]});
    assert_eq!(search.ask("search", asked, json!({})).code(), "INVALID_PARAMETER");
    assert_eq!(search.ask("search", json!({"query": " "}), json!({})).code(), "INVALID_PARAMETER");
    let mut fetch = Worker::start("web_fetch");
    for url in ["", "no address", "example.org"] {
        assert_eq!(fetch.ask("fetch", json!({"url": url}), json!({})).code(), "INVALID_PARAMETER");
    }
    let odd = json!({"url": "https://example.org", "format": "pdf"});
    assert_eq!(fetch.ask("fetch", odd, json!({})).code(), "INVALID_PARAMETER");
}
