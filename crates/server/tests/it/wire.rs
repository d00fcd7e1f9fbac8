//! The contract: the OpenAPI document is a golden file. `REMIT_BLESS=1` writes it anew; read it then.

use std::path::Path;

#[test]
fn the_openapi_document_is_the_golden_file() {
    let document = remit_server::openapi().to_pretty_json().unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/openapi.json");
    if std::env::var_os("REMIT_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &document).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(document, golden, "if the change is meant, run with REMIT_BLESS=1");
    assert!(document.contains(r#""openapi": "3.1"#), "the version of OpenAPI");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served_and_every_path_in_it_answers() {
    let house = crate::house::House::new().await;
    let served = house.get("/openapi.json", "").await.json();
    let paths = served["paths"].as_object().unwrap();
    assert!(paths.len() > 10);
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let path = ["id", "name", "module", "method"]
                .iter()
                .fold(path.clone(), |path, part| path.replace(&format!("{{{part}}}"), "x"));
            let body = matches!(method.as_str(), "post" | "delete").then_some("{}");
            let answer = house.send(&method.to_uppercase(), &path, "", body).await;
            let open = matches!(path.as_str(), "/healthz" | "/readyz");
            assert_eq!(answer.status, if open { 200 } else { 401 }, "{method} {path}");
        }
    }
}
