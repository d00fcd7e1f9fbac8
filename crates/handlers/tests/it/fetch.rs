//! `web_fetch`.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::office::docx;
use crate::pdf;
use crate::server::{Reply, Server, private};
use crate::worker::{Answer, Worker};

fn fetch(parameters: Value, settings: Value) -> Answer {
    Worker::start("web_fetch").ask("fetch", parameters, settings)
}

fn get(url: &str) -> Answer {
    fetch(json!({"url": url}), private())
}

const PAGE: &str = "<html><head><title>The title</title></head><body><nav><a href=/>Home</a></nav>\
    <main><h1>Heading</h1><p>Some <a href='/next'>text</a> to read.</p></main></body></html>";

#[test]
fn a_page_becomes_markdown() {
    let server = Server::start(|_| Reply::html(PAGE));
    let url = server.url("/a?q=1");
    let answer = get(&url);
    let result = answer.result();
    let next = server.url("/next");
    assert_eq!(result["content"], format!("# Heading\n\nSome [text]({next}) to read."));
    assert_eq!(result["title"], "The title");
    assert_eq!(result["links"], json!([{"text": "text", "url": next}]));
    assert_eq!((&result["type"], &result["charset"]), (&json!("html"), &json!("utf-8")));
    assert_eq!(result["url"], url);
    assert!(result.get("final_url").is_none() && !answer.partial());
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", "/a?q=1"));
    assert!(request.headers["user-agent"].starts_with("Remit/"));
    assert!(!request.headers.contains_key("cookie"));
}

#[test]
fn a_page_comes_as_it_was_asked_for() {
    let server = Server::start(|_| Reply::html(PAGE));
    let ask = |format: &str| fetch(json!({"url": server.url("/"), "format": format}), private());
    assert_eq!(ask("text").result()["content"], "Heading\n\nSome text to read.");
    assert_eq!(ask("html").result()["content"], PAGE);
}

#[test]
fn text_and_json_come_as_they_are() {
    let server = Server::start(|request| match request.path() {
        "/t" => Reply::typed("text/plain", "<b>plain</b> 文".as_bytes()),
        "/j" => Reply::typed("application/json; charset=utf-8", br#"{"a": "<p>"}"#),
        "/f" => Reply::typed("application/atom+xml", b"<feed/>"),
        _ => Reply::Answer(200, Vec::new(), b"no type at all".to_vec()),
    });
    assert_eq!(get(&server.url("/t")).result()["content"], "<b>plain</b> 文");
    let json = get(&server.url("/j"));
    assert_eq!(json.result()["content"], r#"{"a": "<p>"}"#);
    assert_eq!(json.result()["type"], "json");
    assert_eq!(get(&server.url("/f")).result()["content"], "<feed/>");
    assert_eq!(get(&server.url("/x")).result()["content"], "no type at all");
}

#[test]
fn documents_become_text_and_other_bytes_are_refused() {
    let server = Server::start(|request| match request.path() {
        "/pdf" => Reply::typed("application/pdf", &pdf::simple(&["From the web."])),
        "/odd" => Reply::typed("application/octet-stream", &pdf::simple(&["Without a type."])),
        "/docx" => {
            Reply::typed("application/x", &docx("<w:p><w:r><w:t>Word</w:t></w:r></w:p>", &[]))
        }
        _ => Reply::typed("image/png", b"\x89PNG\r\n\x1a\n\0\0"),
    });
    let pdf = get(&server.url("/pdf"));
    assert_eq!(
        (&pdf.result()["content"], &pdf.result()["type"]),
        (&json!("From the web."), &json!("pdf"))
    );
    assert_eq!(get(&server.url("/odd")).result()["content"], "Without a type.");
    assert_eq!(get(&server.url("/docx")).result()["content"], "Word");
    assert_eq!(get(&server.url("/png")).code(), "UNSUPPORTED_FORMAT");
    let cut = fetch(json!({"url": server.url("/pdf"), "max_bytes": 100}), private());
    assert_eq!(cut.code(), "TOO_LARGE");
}

#[test]
fn charsets_are_believed_only_as_far_as_they_fit() {
    let (gbk, _, _) = encoding_rs::GBK.encode("<p>这是国标编码的网页,它足够长,可以被认出来</p>");
    let gbk = gbk.into_owned();
    let server = Server::start(move |request| match request.path() {
        "/said" => Reply::typed("text/html; charset=GB2312", &gbk),
        "/wrong" => Reply::typed("text/html; charset=utf-8", &gbk),
        "/silent" => Reply::typed("text/html", &gbk),
        _ => Reply::typed("text/html; charset=iso-8859-1", "<p>naïve — 文</p>".as_bytes()),
    });
    for path in ["/said", "/wrong", "/silent"] {
        let answer = get(&server.url(path));
        assert!(answer.result()["content"].as_str().unwrap().starts_with("这是国标编码"), "{path}");
        assert_eq!(answer.result()["charset"], "gbk", "{path}");
    }
    assert_eq!(get(&server.url("/latin")).result()["content"], "naïve — 文");
}

#[test]
fn a_page_is_fetched_up_to_its_limit() {
    let server = Server::start(|_| Reply::typed("text/plain", &[b'x'; 2000]));
    let ask = |asked: u64, most: u64| {
        let settings = json!({"allow_private": true, "max_bytes": most});
        fetch(json!({"url": server.url("/"), "max_bytes": asked}), settings)
    };
    let length = |answer: &Answer| answer.result()["content"].as_str().unwrap().len();
    let at = ask(2000, 5000);
    assert_eq!((length(&at), at.partial()), (2000, false));
    let past = ask(1999, 5000);
    assert_eq!((length(&past), past.partial()), (1999, true));
    let most = ask(5000, 1500);
    assert_eq!((length(&most), most.partial()), (1500, true));
}

#[test]
fn a_page_that_is_packed_is_bounded_when_it_is_unpacked() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b'x'; 64 << 20]).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(packed.len() < 100_000);
    let server = Server::start(move |_| {
        let headers = vec![
            ("content-type", "text/plain".to_owned()),
            ("content-encoding", "gzip".to_owned()),
        ];
        Reply::Answer(200, headers, packed.clone())
    });
    let answer = get(&server.url("/"));
    assert!(answer.partial());
    assert_eq!(answer.result()["size"], 5 << 20);
}

#[test]
fn a_long_page_fits_into_an_answer() {
    let html = format!("<main>{}</main>", "<p>A \"paragraph\" with \\ marks.</p>".repeat(60_000));
    let server = Server::start(move |_| Reply::html(&html));
    let answer = get(&server.url("/"));
    assert!(answer.partial());
    assert!(answer.result()["content"].as_str().unwrap().len() > 500_000);
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let server = Server::start(|request| match request.path() {
        "/silent" => Reply::Silence,
        "/headers" => Reply::Drip(b"HTTP/1.1 200 OK\r\nx-slow: ".to_vec()),
        _ => Reply::Drip(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nstart".to_vec()),
    });
    for path in ["/silent", "/headers", "/body"] {
        let settings = json!({"allow_private": true, "timeout_ms": 300});
        assert_eq!(fetch(json!({"url": server.url(path)}), settings).code(), "TIMEOUT", "{path}");
        // The time of the call counts as well.
        let mut worker = Worker::start("web_fetch");
        let answer = worker.ask_within("fetch", json!({"url": server.url(path)}), private(), 300);
        assert_eq!(answer.code(), "TIMEOUT", "{path}");
    }
}

#[test]
fn answers_that_are_none_are_errors() {
    let server = Server::start(|request| match request.path() {
        "/404" => Reply::status(404),
        "/500" => Reply::status(500),
        "/garbage" => Reply::Raw(b"\0\0\0 nonsense\r\n\r\n".to_vec()),
        "/nothing" => Reply::Raw(Vec::new()),
        "/headers" => Reply::Raw([b"HTTP/1.1 200 OK\r\nx: ".as_slice(), &[b'a'; 200_000]].concat()),
        "/gzip" => {
            Reply::Answer(200, vec![("content-encoding", "gzip".to_owned())], b"no gzip".to_vec())
        }
        _ => Reply::Answer(302, vec![("location", "http://[".to_owned())], Vec::new()),
    });
    for (path, code) in [
        ("/404", "HTTP_STATUS"),
        ("/500", "HTTP_STATUS"),
        ("/garbage", "BAD_RESPONSE"),
        ("/nothing", "NETWORK"),
        ("/headers", "BAD_RESPONSE"),
        ("/gzip", "BAD_RESPONSE"),
        ("/location", "BAD_RESPONSE"),
    ] {
        assert_eq!(get(&server.url(path)).code(), code, "{path}");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(get(&format!("http://{closed}/")).code(), "NETWORK");
    assert_eq!(get("http://no-such-host.invalid/").code(), "HOST_NOT_FOUND");
}

#[test]
fn what_was_sent_before_a_server_broke_off_is_given_as_a_part() {
    let server = Server::start(|_| {
        Reply::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nhalf"
                .to_vec(),
        )
    });
    let answer = get(&server.url("/"));
    assert_eq!(answer.result()["content"], "half");
    assert!(answer.partial());
}

#[test]
fn private_addresses_are_refused_unless_they_are_allowed() {
    let server = Server::start(|_| Reply::html(PAGE));
    let port = server.port;
    for url in [
        server.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        format!("http://user:pw@127.0.0.1:{port}/"),
    ] {
        let answer = fetch(json!({"url": url}), json!({}));
        assert_eq!(answer.code(), "NOT_ALLOWED", "{url}: {}", answer.value);
        assert!(!answer.value.to_string().contains("pw@"));
    }
    assert!(server.requests().is_empty());
    let allowed =
        |hosts: Value| fetch(json!({"url": server.url("/")}), json!({"allowed_hosts": hosts}));
    assert_eq!(allowed(json!(format!("127.0.0.1:{port}"))).code(), "");
    assert_eq!(allowed(json!(["127.0.0.1"])).code(), "");
    assert_eq!(allowed(json!("127.0.0.1:1")).code(), "NOT_ALLOWED");
    let name = format!("http://localhost:{port}/");
    let named = fetch(json!({"url": name}), json!({"allowed_hosts": "localhost"}));
    assert_eq!(named.code(), "");
}

#[test]
fn a_redirect_is_judged_like_the_first_address() {
    let inside = Server::start(|_| Reply::html("<p>CANARY of the inside</p>"));
    let targets = [
        inside.url("/"),
        format!("http://localhost:{}/", inside.port),
        "http://169.254.169.254/".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("//127.0.0.1:{}/", inside.port),
        format!("http://user:pw@127.0.0.1:{}/", inside.port),
    ];
    for target in targets {
        let to = target.clone();
        let outside = Server::start(move |_| Reply::redirect(&to));
        let settings = json!({"allowed_hosts": format!("127.0.0.1:{}", outside.port)});
        let answer = fetch(json!({"url": outside.url("/")}), settings);
        assert_eq!(answer.code(), "NOT_ALLOWED", "{target}: {}", answer.value);
        assert_eq!(outside.requests().len(), 1);
    }
    assert!(inside.requests().is_empty());
    let to = inside.url("/end");
    let outside = Server::start(move |_| Reply::redirect(&to));
    let followed = get(&outside.url("/"));
    assert_eq!(followed.result()["final_url"], inside.url("/end"));
    let none = json!({"allow_private": true, "max_redirects": 0});
    assert_eq!(fetch(json!({"url": outside.url("/")}), none).code(), "TOO_MANY_REDIRECTS");
}

#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let proxy = Server::start(|_| Reply::html("<p>the proxy</p>"));
    let server = Server::start(|_| Reply::html("<p>the server</p>"));
    let address = proxy.url("");
    let names =
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let environment: Vec<_> = names.iter().map(|name| (*name, address.as_str())).collect();
    let mut worker = Worker::start_with("web_fetch", &environment);
    let answer = worker.ask("fetch", json!({"url": server.url("/")}), private());
    assert_eq!(answer.result()["content"], "the server");
    assert!(proxy.requests().is_empty());
}
