//! Users and tokens over HTTP.

use remit_engine::directory::Directory as _;
use serde_json::json;

use crate::house::House;

#[tokio::test(flavor = "multi_thread")]
async fn only_a_valid_token_opens_the_door() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let bearer = |value: &str| vec![("authorization".to_owned(), value.to_owned())];
    for headers in [
        Vec::new(),
        bearer(""),
        bearer("Bearer"),
        bearer("Bearer "),
        bearer(&format!("Basic {ann}")),
        bearer(&format!("Bearer {ann}x")),
        bearer(&format!("Bearer {}", &ann[..ann.len() - 1])),
        bearer(&format!("Bearer {}", ann.to_uppercase())),
        [bearer(&format!("Bearer {ann}")), bearer(&format!("Bearer {ann}"))].concat(),
    ] {
        let refused = house.send_with("GET", "/calls", headers.clone(), None).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (401, "UNAUTHENTICATED"),
            "{headers:?}"
        );
        assert_eq!(refused.headers["www-authenticate"], "Bearer");
    }
    assert_eq!(house.get("/calls", &ann).await.status, 200);
    let lower = bearer(&format!("bearer {ann}"));
    assert_eq!(house.send_with("GET", "/calls", lower, None).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_ends_when_it_is_taken_back_and_when_its_time_is_over() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let short =
        house.post("/tokens", &ann, r#"{"label": "short", "valid_seconds": 10}"#).await.json();
    let token = short["token"].as_str().unwrap();
    assert!(token.starts_with("rmu_"));
    assert_eq!(house.get("/calls", token).await.status, 200);
    house.clock.pass(9_999);
    assert_eq!(house.get("/calls", token).await.status, 200);
    house.clock.pass(1);
    assert_eq!(house.get("/calls", token).await.status, 401);
    let long = house.post("/tokens", &ann, r#"{"label": "long"}"#).await.json();
    let (token, id) = (long["token"].as_str().unwrap(), long["id"].as_str().unwrap());
    let bob = house.user("bob").await;
    assert_eq!(house.send("DELETE", &format!("/tokens/{id}"), &bob, None).await.status, 404);
    assert_eq!(house.get("/calls", token).await.status, 200);
    assert_eq!(house.send("DELETE", &format!("/tokens/{id}"), &ann, None).await.status, 204);
    assert_eq!(house.get("/calls", token).await.status, 401, "at once");
    let listed = house.get("/tokens", &ann).await;
    assert_eq!(listed.json()["tokens"].as_array().unwrap().len(), 3);
    assert!(!listed.text.contains(token) && !listed.text.contains("digest"), "{}", listed.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_gives_its_scopes_and_nothing_else() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let body = r#"{"label": "ci", "scopes": ["calls"]}"#;
    let key = house.post("/tokens", &ann, body).await.json()["token"].as_str().unwrap().to_owned();
    assert!(key.starts_with("rmk_"));
    assert_eq!(house.post("/calls", &key, r#"{"capability": "demo.echo"}"#).await.status, 200);
    for (method, path, body) in [
        ("GET", "/approvals", None),
        ("GET", "/grants", None),
        ("GET", "/threads/t/events", None),
        ("GET", "/tokens", None),
        ("POST", "/tokens", Some(r#"{"label": "more"}"#)),
        ("GET", "/users", None),
        ("GET", "/metrics", None),
    ] {
        let refused = house.send(method, path, &key, body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "FORBIDDEN"),
            "{method} {path}"
        );
    }
    let unknown = house.post("/tokens", &ann, r#"{"label": "x", "scopes": ["everything"]}"#).await;
    assert_eq!(unknown.code(), "UNKNOWN_SCOPE");
    let operation = house.post("/tokens", &ann, r#"{"label": "x", "scopes": ["operation"]}"#).await;
    assert_eq!(operation.code(), "UNKNOWN_SCOPE", "nobody becomes the operator by a key");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_adds_users_and_a_name_is_taken_once() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    assert_eq!(house.post("/users", &ann, r#"{"id": "eve"}"#).await.status, 403);
    assert_eq!(house.post("/tokens", &ann, r#"{"label": "x", "user": "bob"}"#).await.status, 403);
    assert_eq!(house.post("/users", &house.admin, r#"{"id": "ann"}"#).await.code(), "NAME_TAKEN");
    assert_eq!(house.post("/users", &house.admin, r#"{"id": "admin"}"#).await.code(), "NAME_TAKEN");
    for bad in ["", "Ann", "a:b", "a b", &"a".repeat(65)] {
        let body = json!({"id": bad}).to_string();
        assert_eq!(house.post("/users", &house.admin, &body).await.code(), "INVALID_NAME", "{bad}");
    }
    assert_eq!(
        house.get("/users", &house.admin).await.json()["users"].as_array().unwrap().len(),
        1
    );
    let no_such = house.post("/tokens", &house.admin, r#"{"label": "x", "user": "eve"}"#).await;
    assert_eq!(no_such.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_holds_no_token() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    house.post("/calls", &ann, r#"{"capability": "demo.echo"}"#).await;
    assert!(house.store.token(&ann).unwrap().is_none());
    let directory = house.directory.path().to_owned();
    let tokens = [ann, house.admin.clone()];
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!tokens.iter().any(|token| text.contains(token.as_str())), "{:?}", entry.path());
    }
}
