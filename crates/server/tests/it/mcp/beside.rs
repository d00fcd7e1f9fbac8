//! What there is beside tools: resources, prompts, completion of blanks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use remit_engine::policy::{Pattern, Policy, Skills};
use remit_model::{Caller, Sensitivity};
use remit_server::Options;
use remit_server::mcp::shelf::{Body, Contents, Found, Prompt, Resource, Shelf, Shelves};
use remit_testkit::samples::{catalog, source};
use serde_json::{Value, json};

use super::{Messages, ask, heads, modern, session, within};
use crate::house::{House, demo};

/// Has so many resources and prompts, and one resource that changes with the edition.
struct Many {
    count: usize,
    edition: AtomicU64,
}

impl Shelf for Many {
    fn edition(&self) -> u64 {
        self.edition.load(Ordering::SeqCst)
    }

    fn resources<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Resource>> {
        let one = |n: usize| Resource {
            uri: format!("x://{n:04}"),
            name: n.to_string(),
            ..Resource::default()
        };
        Box::pin(async move { Ok((0..self.count).map(one).collect()) })
    }

    fn read<'a>(&'a self, _: &'a Caller, uri: &'a str) -> Found<'a, Option<Vec<Contents>>> {
        let body = Body::Text(format!("edition {}", self.edition()));
        let contents = Contents { uri: uri.to_owned(), mime_type: None, body };
        Box::pin(async move { Ok(uri.starts_with("x://").then(|| vec![contents])) })
    }

    fn prompts<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Prompt>> {
        let one = |n: usize| Prompt { name: format!("p{n:04}"), ..Prompt::default() };
        let count = self.count + usize::try_from(self.edition()).unwrap();
        Box::pin(async move { Ok((0..count).map(one).collect()) })
    }
}

async fn with_many(count: usize) -> (House, Arc<Many>) {
    let many = Arc::new(Many { count, edition: AtomicU64::new(0) });
    let shelves = Shelves::default().with(many.clone());
    (House::with(&Options { shelves, ..Options::default() }).await, many)
}

fn uris(result: &Value) -> Vec<&str> {
    result["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn skill_documents_are_resources() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let mut odd = source("odd", &[("x", Sensitivity::Low)]);
    odd.manifest.capabilities[0].name = "@odd/x".to_owned();
    house.engine.swap(catalog(vec![demo(), odd]));
    let list = ask(&house, &ann, "resources/list", json!({})).await.json()["result"].clone();
    let expected = ["%40odd%2Fx", "calendar", "contacts", "demo", "memory"];
    assert_eq!(uris(&list), expected.map(|module| format!("remit://skills/{module}")));
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    for uri in uris(&list) {
        let read = ask(&house, &ann, "resources/read", json!({"uri": uri})).await.json();
        let contents = &read["result"]["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("text/markdown"))
        );
        let path = format!("/skill-documents/{}", uri.rsplit('/').next().unwrap());
        assert_eq!(contents["text"], house.get(&path, &ann).await.text, "the same as over REST");
        assert!(read["result"]["ttlMs"].is_u64());
    }
    let templates = ask(&house, &ann, "resources/templates/list", json!({})).await.json();
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "remit://skills/{module}");
    let gone = ask(&house, &ann, "resources/read", json!({"uri": "remit://skills/none"})).await;
    assert_eq!((gone.status, &gone.json()["error"]["code"]), (400, &json!(-32602)));
    assert_eq!(gone.json()["error"]["data"]["uri"], "remit://skills/none");
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_document_is_shown_to_is_decided_where_documents_are() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let skills = Skills { default: Some(vec![Pattern::new("mem*")]), ..Skills::default() };
    let policy = Arc::new(Policy { skills, ..Policy::default() });
    house.engine.swap(remit_engine::catalog::Catalog::build(vec![demo()], policy));
    let robot = json!({"_meta": {"remit/agent": "robot"}});
    let list = ask(&house, &ann, "resources/list", robot.clone()).await.json()["result"].clone();
    assert_eq!(uris(&list), ["remit://skills/memory"]);
    for (module, is_shown) in [("memory", true), ("calendar", false)] {
        let mut params = robot.clone();
        params["uri"] = json!(format!("remit://skills/{module}"));
        let read = ask(&house, &ann, "resources/read", params).await.json();
        assert_eq!(read["result"].is_object(), is_shown, "{read}");
        let mut params = robot.clone();
        params["name"] = json!("use_module");
        params["arguments"] = json!({"module": module});
        let got = ask(&house, &ann, "prompts/get", params).await.json();
        assert_eq!(got["result"].is_object(), is_shown, "{got}");
    }
    let mut params = robot;
    params["ref"] = json!({"type": "ref/prompt", "name": "use_module"});
    params["argument"] = json!({"name": "module", "value": ""});
    let values = ask(&house, &ann, "completion/complete", params).await.json();
    assert_eq!(values["result"]["completion"]["values"], json!(["memory"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_hands_over_a_document_and_a_task() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let list = ask(&house, &ann, "prompts/list", json!({})).await.json()["result"].clone();
    assert_eq!(list["prompts"][0]["name"], "use_module");
    assert_eq!(list["prompts"][0]["arguments"][0]["required"], true);
    let get = async |arguments: Value| {
        let params = json!({"name": "use_module", "arguments": arguments});
        ask(&house, &ann, "prompts/get", params).await
    };
    let got = get(json!({"module": "calendar", "task": "find a free hour"})).await.json();
    let messages = &got["result"]["messages"];
    assert_eq!(messages[0]["content"]["resource"]["uri"], "remit://skills/calendar");
    assert!(messages[1]["content"]["text"].as_str().unwrap().contains("find a free hour"));
    assert_eq!(
        (&messages[1]["role"], &got["result"]["resultType"]),
        (&json!("user"), &json!("complete"))
    );
    for wrong in [
        json!({}),
        json!({"task": "x"}),
        json!({"module": 1}),
        json!({"module": "none"}),
        json!({"module": "calendar", "other": "x"}),
        json!([]),
    ] {
        let refused = get(wrong.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (400, &json!(-32602)),
            "{wrong}"
        );
    }
    let unknown = ask(&house, &ann, "prompts/get", json!({"name": "none"})).await;
    assert_eq!(unknown.json()["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn blanks_are_completed_up_to_a_hundred_values() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let complete = async |of: Value, name: &str, value: &str| {
        let params = json!({"ref": of, "argument": {"name": name, "value": value}});
        ask(&house, &ann, "completion/complete", params).await.json()
    };
    let prompt = || json!({"type": "ref/prompt", "name": "use_module"});
    let template = json!({"type": "ref/resource", "uri": "remit://skills/{module}"});
    for of in [prompt(), template] {
        let found = complete(of, "module", "C").await["result"]["completion"].clone();
        assert_eq!(
            found,
            json!({"values": ["calendar", "contacts"], "total": 2, "hasMore": false})
        );
    }
    assert_eq!(complete(prompt(), "task", "x").await["result"]["completion"]["total"], 0);
    let other = complete(json!({"type": "ref/prompt", "name": "none"}), "module", "").await;
    assert_eq!(other["error"]["code"], -32602);
    assert_eq!(complete(json!({"type": "ref/other"}), "module", "").await["error"]["code"], -32602);
    for (count, has_more) in [(100, false), (101, true)] {
        let tools: Vec<_> =
            (0..count).map(|n| source(&format!("z{n:03}"), &[("x", Sensitivity::Low)])).collect();
        house.engine.swap(catalog(tools));
        let found = complete(prompt(), "module", "z").await["result"]["completion"].clone();
        assert_eq!((&found["total"], &found["hasMore"]), (&json!(count), &json!(has_more)));
        assert_eq!(found["values"].as_array().unwrap().len(), 100);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lists_come_in_pages() {
    let (house, _) = with_many(1_000).await;
    let ann = house.user("ann").await;
    for (method, name, own) in [("resources/list", "resources", 4), ("prompts/list", "prompts", 1)]
    {
        let (mut seen, mut cursor, mut pages) = (0, None, 0);
        loop {
            let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
            let page = ask(&house, &ann, method, params).await.json()["result"].clone();
            seen += page[name].as_array().unwrap().len();
            pages += 1;
            cursor = page.get("nextCursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((pages, seen), (3, 1_000 + own), "{method}");
        let wrong = ask(&house, &ann, method, json!({"cursor": ""})).await;
        assert_eq!(wrong.json()["error"]["code"], -32602);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn head_and_body_name_the_same_resource_and_prompt() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    for (method, params) in [
        ("resources/read", json!({"uri": "remit://skills/memory"})),
        ("prompts/get", json!({"name": "use_module", "arguments": {"module": "memory"}})),
    ] {
        let (mut headers, body) = modern(&ann, method, params, json!({}));
        let sent = house.send_with("POST", "/mcp", headers.clone(), Some(&body.to_string())).await;
        assert_eq!(sent.status, 200, "{}", sent.text);
        headers.retain(|(name, _)| name != "mcp-name");
        let sent = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
        assert_eq!((sent.status, &sent.json()["error"]["code"]), (400, &json!(-32020)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_hear_of_prompts_and_of_the_resources_they_name() {
    let (house, many) = with_many(1).await;
    let ann = house.user("ann").await;
    let wanted =
        json!({"promptsListChanged": true, "resourceSubscriptions": ["x://0000", "y://none"]});
    let params = json!({"notifications": wanted});
    let (headers, body) = modern(&ann, "subscriptions/listen", params, json!({}));
    let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
    let first = messages.next().await.unwrap();
    let heard = json!({"promptsListChanged": true, "resourceSubscriptions": ["x://0000"]});
    assert_eq!(first["params"]["notifications"], heard, "what is not there is not listened to");
    many.edition.fetch_add(1, Ordering::SeqCst);
    let changed = messages.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/prompts/list_changed");
    let updated = messages.next().await.unwrap();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "x://0000");
    assert!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].is_i64());
    for (count, is_taken) in [(256, true), (257, false)] {
        let uris: Vec<String> = (0..count).map(|n| format!("y://{n}")).collect();
        let params = json!({"notifications": {"resourceSubscriptions": uris}});
        let (headers, body) = modern(&ann, "subscriptions/listen", params, json!({}));
        if is_taken {
            let mut messages = Messages::open(&house, "POST", headers, Some(body)).await;
            assert!(messages.next().await.is_some());
        } else {
            let refused = house.send_with("POST", "/mcp", headers, Some(&body.to_string())).await;
            assert_eq!(refused.json()["error"]["code"], -32602, "{}", refused.text);
        }
    }
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_subscribes_and_unsubscribes() {
    let (house, many) = with_many(1).await;
    let ann = house.user("ann").await;
    let id = session(&house, &ann, "2025-11-25", json!({})).await;
    let send = async |method: &str, params: Value| {
        within(&house, &ann, &id, &request(method, params)).await.json()
    };
    let headers = heads(&ann, &[("mcp-session-id", &id)]);
    let mut messages = Messages::open(&house, "GET", headers, None).await;
    // What changes before the stream is open is not told on it.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let gone = send("resources/subscribe", json!({"uri": "y://none"})).await;
    assert_eq!(
        (&gone["error"]["code"], &gone["error"]["data"]["uri"]),
        (&json!(-32002), &json!("y://none"))
    );
    assert_eq!(send("resources/subscribe", json!({"uri": "x://0000"})).await["result"], json!({}));
    many.edition.fetch_add(1, Ordering::SeqCst);
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/prompts/list_changed");
    let updated = messages.next().await.unwrap();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"], json!({"uri": "x://0000"}));
    assert_eq!(
        send("resources/unsubscribe", json!({"uri": "x://0000"})).await["result"],
        json!({})
    );
    for _ in 0..2 {
        many.edition.fetch_add(1, Ordering::SeqCst);
        assert_eq!(messages.next().await.unwrap()["method"], "notifications/prompts/list_changed");
    }
    for n in 0..256 {
        let taken = send("resources/subscribe", json!({"uri": format!("x://{n}")})).await;
        assert_eq!(taken["result"], json!({}));
    }
    let one_more = send("resources/subscribe", json!({"uri": "x://256"})).await;
    assert_eq!(one_more["error"]["code"], -32602, "{one_more}");
    assert_eq!(send("resources/subscribe", json!({"uri": "x://7"})).await["result"], json!({}));
    // Without a session there is nothing to keep it in.
    let body = request("resources/subscribe", json!({"uri": "x://1"})).to_string();
    let alone = house.send_with("POST", "/mcp", heads(&ann, &[]), Some(&body)).await;
    assert_eq!(alone.json()["error"]["code"], -32600);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_its_own_documents_with_its_token() {
    let house = House::new().await;
    let made = house.post("/agents", &house.admin, r#"{"name": "robot"}"#).await.json();
    let token = made["token"].as_str().unwrap();
    let list = ask(&house, token, "resources/list", json!({})).await.json();
    assert_eq!(uris(&list["result"]).len(), 4, "as over REST");
    let foreign = json!({"_meta": {"remit/agent": "other"}});
    assert!(ask(&house, token, "resources/list", foreign).await.json()["error"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shelf_answers_for_what_is_its_own() {
    let (house, _) = with_many(1).await;
    let ann = house.user("ann").await;
    // It lists a prompt and does not fill it in.
    let got = ask(&house, &ann, "prompts/get", json!({"name": "p0000"})).await.json();
    assert_eq!(got["error"]["code"], -32602, "{got}");
}
