use remit_model::{Binding, Capability, Dialect};
use serde_json::{Value, json};

use crate::compile::{self, Checked, Options};
use crate::dialect;

/// S3's complete example.
const EXAMPLE: &str =
    include_str!("../../../../../fixtures/skill/valid/complete-example/input.json");

fn judged(edit: impl FnOnce(&mut Value)) -> Checked {
    let mut descriptor: Value = serde_json::from_str(EXAMPLE).unwrap();
    edit(&mut descriptor);
    let options = Options { dialect: Some(Dialect::Skill), ..Options::default() };
    compile::check(descriptor.to_string().as_bytes(), options)
}

/// Gives `severity rule pointer` of all that is said about the example after an edit.
fn said(edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut said: Vec<_> = judged(edit)
        .diagnostics
        .iter()
        .map(|d| format!("{} {} {}", d.severity.as_str(), d.rule, d.pointer))
        .collect();
    said.sort();
    said
}

fn set(at: &str, value: Value) -> impl FnOnce(&mut Value) {
    move |descriptor| match descriptor.pointer_mut(at) {
        Some(there) => *there = value,
        None => {
            let (parent, key) = at.rsplit_once('/').unwrap();
            descriptor.pointer_mut(parent).unwrap()[key] = value;
        }
    }
}

fn said_with(at: &str, value: Value) -> Vec<String> {
    said(set(at, value))
}

fn lowered(edit: impl FnOnce(&mut Value)) -> Capability {
    judged(edit).manifest().unwrap().capabilities.remove(0)
}

fn inputs(list: Value) -> impl FnOnce(&mut Value) {
    set("/inputs", list)
}

fn oauth2() -> Value {
    json!({"type": "oauth2", "oauth2": {"token_url": "https://a.example/t"}})
}

#[test]
fn the_example_and_the_scaffold_have_nothing_to_complain_about() {
    assert_eq!(said(|_| {}), [""; 0]);
    let scaffold = dialect::scaffold(Dialect::Skill).unwrap();
    let checked = compile::check(scaffold.as_bytes(), Options::default());
    assert_eq!(checked.dialect, Some(Dialect::Skill));
    assert_eq!(checked.diagnostics, []);
}

#[test]
fn every_required_field_is_missed() {
    let required = [
        "protocol",
        "id",
        "name",
        "version",
        "capability_type",
        "description",
        "provider",
        "endpoint",
        "inputs",
        "output",
        "auth",
        "access",
    ];
    for field in required {
        let said = said(|d| drop(d.as_object_mut().unwrap().remove(field)));
        assert_eq!(said, ["error missing-field "], "{field}");
    }
    for field in ["tags", "documentation_url", "created_at", "updated_at"] {
        assert_eq!(said(|d| drop(d.as_object_mut().unwrap().remove(field))), [""; 0], "{field}");
    }
}

#[test]
fn only_the_first_major_version_of_the_protocol_is_read() {
    for version in ["1.0.0", "1.9.3", "1.0.0-beta.1"] {
        assert_eq!(said_with("/protocol/version", json!(version)), [""; 0]);
    }
    for version in ["0.9.0", "2.0.0"] {
        let said = said_with("/protocol/version", json!(version));
        assert_eq!(said, ["error unsupported-version /protocol/version"]);
    }
    assert_eq!(
        said_with("/protocol/version", json!("2.0")),
        ["error bad-version /protocol/version"]
    );
}

#[test]
fn an_id_can_stand_in_a_url() {
    for id in ["a", "9", "com.example.translate-v1", "A_b"] {
        assert_eq!(said_with("/id", json!(id)), [""; 0], "{id}");
    }
    for id in ["", ".", "..", "-a", "_a", "a/b", "a b", "a%2f", "é"] {
        assert_eq!(said_with("/id", json!(id)), ["error bad-name /id"], "{id}");
    }
}

#[test]
fn bounds_and_defaults_of_the_endpoint_hold() {
    let cases = [
        ("/endpoint/timeout_ms", 1, 86_400_000),
        ("/endpoint/retry/max_attempts", 1, 10),
        ("/endpoint/retry/backoff_ms", 0, 3_600_000),
    ];
    for (at, min, max) in cases {
        assert_eq!(said_with(at, json!(min)), [""; 0]);
        assert_eq!(said_with(at, json!(max)), [""; 0]);
        let error = format!("error out-of-bounds {at}");
        assert_eq!(said_with(at, json!(min - 1)), [error.as_str()]);
        assert_eq!(said_with(at, json!(max + 1)), [error.as_str()]);
    }
    let capability = lowered(set("/endpoint", json!({"url": "https://a.example/x"})));
    assert_eq!(capability.timeout_ms, Some(30_000));
    let expected = Binding::Http {
        url: "https://a.example/x".to_owned(),
        method: "POST".to_owned(),
        status_url: None,
        result_url: None,
        max_attempts: 1,
        backoff_ms: 1000,
    };
    assert_eq!(capability.binding, expected);
}

#[test]
fn urls_of_an_execution_have_one_place_for_its_id() {
    let at = "/endpoint/status_url";
    for url in [
        "https://a.example/s/{execution_id}",
        "https://a.example/s?id={execution_id}&full=1",
        "https://a.example/s/",
        "http://localhost:8000/{execution_id}",
    ] {
        assert_eq!(said_with(at, json!(url)), [""; 0], "{url}");
    }
    for url in [
        "https://a.example/{execution_id}/{execution_id}",
        "https://a.example/{id}",
        "https://a.example/{executionId}",
        "https://a.example/{execution_id}}",
        "https://a.example/{{execution_id}}",
        "https://a.example/{",
        "https://{execution_id}/s",
        "https://{execution_id}@a.example/s",
        "https://a.example:{execution_id}/s",
        "https://a.example/s#{execution_id}",
    ] {
        let said = said_with(at, json!(url));
        assert!(said.contains(&format!("error bad-url-template {at}")), "{url}: {said:?}");
    }
    for url in ["", "/s/{execution_id}", "ftp://a.example/{execution_id}", "{execution_id}"] {
        assert_eq!(said_with(at, json!(url)), [format!("error bad-url {at}")], "{url}");
    }
}

#[test]
fn status_and_result_come_together() {
    for (gone, there) in [("status_url", "result_url"), ("result_url", "status_url")] {
        let said = said(|d| drop(d["endpoint"].as_object_mut().unwrap().remove(gone)));
        assert_eq!(said, [format!("warning half-async /endpoint/{there}")]);
    }
    let said = said(|d| {
        let endpoint = d["endpoint"].as_object_mut().unwrap();
        endpoint.remove("status_url");
        endpoint.remove("result_url");
    });
    assert_eq!(said, [""; 0]);
}

#[test]
fn no_url_goes_over_an_open_wire_or_carries_a_secret() {
    let places = [
        "/protocol/changelog_url",
        "/provider/url",
        "/endpoint/url",
        "/endpoint/status_url",
        "/endpoint/result_url",
        "/documentation_url",
    ];
    for at in places {
        for host in ["localhost", "a.localhost:1", "127.3.2.1", "[::1]", "[::ffff:127.0.0.1]"] {
            assert_eq!(said_with(at, json!(format!("http://{host}/x"))), [""; 0], "{host}");
        }
        for host in ["a.example", "10.0.0.1", "localhost.example", "[::2]"] {
            let said = said_with(at, json!(format!("http://{host}/x")));
            assert_eq!(said, [format!("warning insecure-url {at}")], "{host}");
        }
        for user in ["me:pass@", "token@", ":pass@"] {
            let said = said_with(at, json!(format!("https://{user}a.example/x")));
            assert_eq!(said, [format!("error secret-in-manifest {at}")], "{user}");
        }
    }
    let mut auth = oauth2();
    auth["oauth2"]["token_url"] = json!("http://a.example");
    auth["oauth2"]["authorization_url"] = json!("https://me:pass@a.example");
    assert_eq!(
        said_with("/auth", auth),
        [
            "error secret-in-manifest /auth/oauth2/authorization_url",
            "warning insecure-url /auth/oauth2/token_url"
        ]
    );
}

#[test]
fn a_key_in_the_open_is_seen() {
    let auth = json!({"type": "oauth2", "api_key": "sk-0123456789", "oauth2": {
        "token_url": "https://a.example/t", "client_secret": "s3cret"}});
    assert_eq!(
        said_with("/auth", auth),
        [
            "error secret-in-manifest /auth/api_key",
            "error secret-in-manifest /auth/oauth2/client_secret",
            "warning unknown-field /auth/api_key",
            "warning unknown-field /auth/oauth2/client_secret",
        ]
    );
    let url = |query: &str| said_with("/endpoint/url", json!(format!("https://a.example/{query}")));
    assert_eq!(url("?api_key=sk-0123456789"), ["warning secret-in-manifest /endpoint/url"]);
    assert_eq!(url("?api_key=&page=0123456789"), [""; 0]);
}

#[test]
fn input_names_are_unique_after_folding_and_the_first_is_named() {
    let checked = judged(inputs(json!([
        {"name": "target_lang", "type": "string"},
        {"name": "other", "type": "string"},
        {"name": "Target-Lang", "type": "string"},
        {"name": "other", "type": "string"},
    ])));
    let said: Vec<_> = checked.diagnostics.iter().map(|d| (d.rule, d.message.as_str())).collect();
    assert_eq!(
        said,
        [
            ("duplicate-name", "`Target-Lang` is the same name as `target_lang` of input 1"),
            ("duplicate-name", "input 2 is already called `other`"),
        ]
    );
    assert_eq!(said_with("/inputs/0/name", json!("1st")), ["error bad-name /inputs/0/name"]);
}

#[test]
fn a_schema_agrees_with_the_type_of_its_input() {
    let with = |declared: &str, own: Value| {
        said(inputs(json!([{"name": "a", "type": declared, "schema": {"type": own}}])))
    };
    for (declared, own) in [
        ("string", json!("string")),
        ("number", json!("integer")),
        ("integer", json!("number")),
        ("number", json!(["integer", "number"])),
    ] {
        assert_eq!(with(declared, own), [""; 0]);
    }
    assert_eq!(with("string", json!("integer")), ["error type-mismatch /inputs/0/schema/type"]);
    assert_eq!(
        with("string", json!(["string", "null"])),
        ["error type-mismatch /inputs/0/schema/type/1"]
    );
    let said = said(inputs(json!([{"name": "a", "type": "string", "schema": true}])));
    assert_eq!(said, ["error wrong-type /inputs/0/schema"]);
}

#[test]
fn a_default_has_the_type_and_is_among_the_values() {
    let of = |declared: &str, default: Value| {
        said(inputs(json!([{"name": "a", "type": declared, "default": default,
            "schema": {"description": "x"}}])))
    };
    let samples = [
        ("string", json!("x")),
        ("number", json!(1.5)),
        ("integer", json!(2)),
        ("boolean", json!(true)),
        ("object", json!({})),
        ("array", json!([])),
    ];
    for (declared, _) in &samples {
        for (kind, value) in &samples {
            let fits = declared == kind || (*declared, *kind) == ("number", "integer");
            let expected: &[&str] =
                if fits { &[] } else { &["warning bad-default /inputs/0/default"] };
            assert_eq!(of(declared, value.clone()), expected, "{declared} = {value}");
        }
        assert_eq!(of(declared, Value::Null), [""; 0]);
    }
    let among = |default: &str| {
        said(inputs(json!([{"name": "a", "type": "string", "default": default,
            "schema": {"enum": ["x", "y"]}}])))
    };
    assert_eq!(among("y"), [""; 0]);
    assert_eq!(among("z"), ["warning bad-default /inputs/0/default"]);
}

#[test]
fn what_is_required_has_no_default() {
    let of = |default: Value| {
        said(inputs(json!([
            {"name": "a", "type": "string", "required": true, "default": default}
        ])))
    };
    assert_eq!(of(json!("x")), ["warning required-default /inputs/0/default"]);
    assert_eq!(of(Value::Null), [""; 0]);
}

#[test]
fn auth_has_the_fields_of_its_type_and_no_others() {
    let with = |auth: Value| {
        let access = if auth["type"] == "none" { "public" } else { "restricted" };
        said(|d| {
            d["auth"] = auth;
            d["access"] = json!(access);
        })
    };
    let block = oauth2()["oauth2"].clone();
    let (kind, header, oauth) = (
        "error auth-mismatch /auth/type",
        "error auth-mismatch /auth/header",
        "error auth-mismatch /auth/oauth2",
    );
    for (declared, bare, with_header, with_block) in [
        ("api_key", vec![kind], vec![], vec![oauth, kind]),
        ("oauth2", vec![kind], vec![header, kind], vec![]),
        ("custom", vec![], vec![], vec![oauth]),
        ("none", vec![], vec![header], vec![oauth]),
    ] {
        assert_eq!(with(json!({"type": declared})), bare, "{declared}");
        assert_eq!(with(json!({"type": declared, "header": "X-Key"})), with_header, "{declared}");
        assert_eq!(with(json!({"type": declared, "oauth2": block})), with_block, "{declared}");
    }
    let checked = with(json!({"type": "oauth2", "oauth2": {}}));
    assert_eq!(checked, ["error missing-field /auth/oauth2"]);
}

#[test]
fn headers_and_scopes_survive_the_wire() {
    for header in ["X-API-Key", "Authorization", "x_key"] {
        assert_eq!(said_with("/auth/header", json!(header)), [""; 0]);
    }
    for header in ["", "X Key", "X-Key:", "ключ", "Host", "content-length"] {
        let said = said_with("/auth/header", json!(header));
        assert_eq!(said, ["error bad-name /auth/header"], "{header}");
    }
    let scope = |name: &str| {
        let mut auth = oauth2();
        auth["oauth2"]["scopes"] = json!({name: "what it allows"});
        said_with("/auth", auth)
    };
    assert_eq!(scope("skill:invoke"), [""; 0]);
    for name in ["skill invoke", "a\"b", "a\\b", "调用"] {
        let error = format!("error bad-name /auth/oauth2/scopes/{name}");
        assert_eq!(scope(name), [error], "{name}");
    }
}

#[test]
fn access_and_auth_agree() {
    let with = |access: &str, auth: Value| {
        said(|d| {
            d["access"] = json!(access);
            d["auth"] = auth;
        })
    };
    let none = || json!({"type": "none"});
    for access in ["restricted", "private"] {
        assert_eq!(with(access, none()), ["warning access-mismatch /access"]);
        assert_eq!(with(access, oauth2()), [""; 0]);
    }
    assert_eq!(with("public", none()), [""; 0]);
    assert_eq!(with("public", oauth2()), ["warning access-mismatch /access"]);
    assert_eq!(with("public", json!({"type": "custom"})), ["warning access-mismatch /access"]);
}

#[test]
fn an_update_does_not_come_before_the_creation() {
    let with = |created: &str, updated: &str| {
        said(|d| {
            d["created_at"] = json!(created);
            d["updated_at"] = json!(updated);
        })
    };
    assert_eq!(with("2025-01-15T08:00:00Z", "2025-01-15T08:00:00Z"), [""; 0]);
    assert_eq!(with("2025-01-15T08:00:00+08:00", "2025-01-15T00:00:00Z"), [""; 0]);
    assert_eq!(
        with("2025-01-15T08:00:00Z", "2025-01-15T08:00:00+01:00"),
        ["warning time-order /updated_at"]
    );
}

#[test]
fn unknown_fields_are_warned_about_at_every_level() {
    let said = said(|d| {
        for part in ["", "/protocol", "/provider", "/endpoint", "/endpoint/retry", "/inputs/0"] {
            d.pointer_mut(part).unwrap()["extra_field"] = json!(1);
        }
        d["output"]["extra_field"] = json!(1);
        d["auth"]["extra_field"] = json!(1);
    });
    assert_eq!(said.len(), 8);
    assert!(said.iter().all(|line| line.starts_with("warning unknown-field ")), "{said:?}");
}

#[test]
fn optional_fields_are_left_out_rather_than_null() {
    for at in ["/tags", "/provider/url", "/endpoint/retry", "/inputs/0/schema", "/output/schema"] {
        let said = said_with(at, Value::Null);
        assert_eq!(said.len(), 1, "{at}: {said:?}");
        assert!(said[0].ends_with(at) && said[0].starts_with("error"), "{said:?}");
    }
}

#[test]
fn inputs_are_lowered_to_one_closed_schema() {
    let capability = lowered(|_| {});
    assert_eq!(capability.name, "skill:com.example.translate-v1");
    assert_eq!(
        capability.input_schema,
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "要翻译的文本",
                    "minLength": 1, "maxLength": 10000},
                "target_language": {"type": "string",
                    "description": "目标语言代码(ISO 639-1)"},
                "source_language": {"type": "string", "default": "auto",
                    "description": "源语言代码(留空则自动检测)"},
            },
            "required": ["text", "target_language"],
            "additionalProperties": false,
        })
    );
    let none = lowered(inputs(json!([{"name": "a", "type": "number", "default": null,
        "schema": {"type": "integer", "$schema": "https://json-schema.org/draft/2020-12/schema"}}])));
    assert_eq!(
        none.input_schema,
        json!({"type": "object", "properties": {"a": {"type": "integer"}},
            "additionalProperties": false})
    );
}

#[test]
fn references_of_a_fragment_still_start_at_the_fragment() {
    let fragment = |leaf: &str| {
        json!({"$defs": {"leaf": {"type": leaf}},
            "properties": {"value": {"$ref": "#/$defs/leaf"}, "next": {"$ref": "#"}}})
    };
    let capability = lowered(inputs(json!([
        {"name": "a", "type": "object", "schema": fragment("string")},
        {"name": "b", "type": "object", "schema": fragment("integer")},
    ])));
    let validator = jsonschema::draft202012::new(&capability.input_schema).unwrap();
    let tree = |leaf: Value| json!({"value": leaf.clone(), "next": {"value": leaf}});
    assert!(validator.is_valid(&json!({"a": tree(json!("x")), "b": tree(json!(1))})));
    assert!(!validator.is_valid(&json!({"a": tree(json!(1))})));
    assert!(!validator.is_valid(&json!({"b": tree(json!("x"))})));
    assert!(!validator.is_valid(&json!({"b": {"next": 1}})));
}

#[test]
fn no_tree_makes_judging_or_lowering_panic() {
    let values = [
        json!(null),
        json!(1),
        json!("x"),
        json!([1, "a", [], {}]),
        json!({"inputs": [[], 1, {}]}),
    ];
    for value in values {
        for at in ["", "/endpoint", "/endpoint/retry", "/inputs", "/inputs/0", "/auth", "/output"] {
            let checked = judged(set(at, value.clone()));
            let root = checked.reading.root.as_ref().unwrap();
            let _ = dialect::lower(Dialect::Skill, root);
        }
    }
}
