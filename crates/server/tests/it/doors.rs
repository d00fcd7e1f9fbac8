//! What is refused before anything looks at it, and what says how the server is.

use remit_server::Options;

use crate::house::House;

fn with(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_another_name_or_from_another_page_are_refused() {
    let options = Options {
        hosts: vec!["remit.example".to_owned()],
        origins: vec!["https://console.example".to_owned()],
        ..Options::default()
    };
    let house = House::with(&options).await;
    for (headers, status) in [
        (with(&[("host", "evil.example")]), 421),
        (with(&[("host", "remit.example")]), 200),
        (with(&[("origin", "https://evil.example")]), 403),
        (with(&[("origin", "null")]), 403),
        (with(&[("origin", "https://console.example")]), 200),
        (with(&[("origin", &house.url)]), 200),
    ] {
        let answer = house.send_with("GET", "/healthz", headers.clone(), None).await;
        assert_eq!(answer.status, status, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_and_what_is_not_meant_so_is_an_error_in_the_same_form() {
    let house = House::new().await;
    assert_eq!(house.get("/no/such", &house.admin).await.code(), "NOT_FOUND");
    assert_eq!(
        house.send("PUT", "/calls", &house.admin, Some("{}")).await.code(),
        "METHOD_NOT_ALLOWED"
    );
    assert_eq!(house.get("/calls?limit=0", &house.admin).await.code(), "INVALID_QUERY");
    assert_eq!(house.get("/calls?limit=1001", &house.admin).await.code(), "INVALID_QUERY");
    assert_eq!(house.get("/calls?limit=x", &house.admin).await.code(), "INVALID_QUERY");
    assert_eq!(house.get("/calls?nonsense=1", &house.admin).await.code(), "INVALID_QUERY");
    assert_eq!(house.get("/calls?limit=1000", &house.admin).await.status, 200);
    let answer = house.get("/healthz", "").await;
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_how_it_is() {
    let house = House::new().await;
    assert_eq!(house.get("/healthz", "").await.status, 200);
    assert_eq!(house.get("/readyz", "").await.status, 200);
    house.post("/calls", &house.admin, r#"{"capability": "demo.echo"}"#).await;
    let figures = house.get("/metrics", &house.admin).await.text;
    assert!(figures.contains(r#"remit_calls_total{outcome="succeeded"} 1"#), "{figures}");
    assert!(figures.contains(r#"route="/calls""#), "{figures}");
    assert!(figures.contains("remit_connections"), "{figures}");
    let url = house.url.clone();
    house.stop().await;
    assert!(ureq::get(format!("{url}/healthz")).call().is_err(), "nobody listens any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_requests_under_way() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let slow = house.post(
        "/calls",
        &ann,
        r#"{"capability": "demo.hang", "timeout_ms": 400, "call_id": "c"}"#,
    );
    let stop = async {
        house.until(async || house.executor.runs() == 1).await;
        house.app.stop().cancel();
    };
    let (answer, ()) = tokio::join!(slow, stop);
    assert_eq!(answer.json()["outcome"], "timed_out");
}
