//! The registry of agents over HTTP.

use serde_json::{Value, json};

use crate::house::{House, Reply};

/// Gives a good manifest.
pub(crate) fn manifest(version: usize) -> Value {
    json!({
        "schema_version": "1.0",
        "agent_version": format!("1.0.{version}"),
        "tools": [{
            "name": "read_note",
            "description_i18n_key": "tool.read_note",
            "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false},
            "permission_scope": "notes:read",
        }],
        "permission_scopes": [{"id": "notes:read", "label_i18n_key": "scope.notes", "sensitivity": "low"}],
        "capability_flags": {"supports_streaming": true, "supports_artifacts": true, "supports_voice": false, "supports_group_chat": false},
    })
}

#[derive(Clone)]
struct Registered {
    id: String,
    token: String,
}

async fn register(house: &House, owner: &str) -> Registered {
    let added = house.post("/agents", owner, r#"{"name": "NotesBot"}"#).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let added = added.json();
    let text = |name: &str| added[name].as_str().unwrap().to_owned();
    Registered { id: text("agent_id"), token: text("token") }
}

async fn patch(
    house: &House,
    agent: &Registered,
    manifest: &Value,
    more: &[(&str, &str)],
) -> Reply {
    let mut headers = vec![("authorization".to_owned(), format!("Bearer {}", agent.token))];
    headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let path = format!("/agents/{}", agent.id);
    house.send_with("PATCH", &path, headers, Some(&manifest.to_string())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_is_published_versioned_and_compared() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann).await;
    assert!(agent.token.starts_with("hsk_") && agent.token.len() == 44, "{}", agent.token);
    let first = patch(&house, &agent, &manifest(1), &[]).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let answer = first.json();
    let mut fields: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["agent_id", "breaking_changes", "capability_manifest_hash", "capability_manifest_version"]
    );
    assert_eq!(
        (&answer["capability_manifest_version"], &answer["breaking_changes"]),
        (&json!(1), &json!([]))
    );
    let mut changed = manifest(2);
    changed["tools"][0]["input_schema"]["properties"]["id"]["type"] = json!("integer");
    let second = patch(&house, &agent, &changed, &[("if-match", "1")]).await.json();
    assert_eq!(second["capability_manifest_version"], 2);
    assert_eq!(second["breaking_changes"].as_array().unwrap().len(), 1);
    let stale = patch(&house, &agent, &manifest(3), &[("if-match", "1")]).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "VERSION_CONFLICT"));
    assert_eq!(stale.json()["error"]["details"]["current_version"], 2);
    let bad = patch(&house, &agent, &json!({"schema_version": "1.0", "tols": []}), &[]).await;
    assert_eq!((bad.status, bad.code().as_str()), (422, "MANIFEST_INVALID"));
    assert!(!bad.json()["error"]["details"]["diagnostics"].as_array().unwrap().is_empty());
    let key = [("idempotency-key", "k1")];
    let third = patch(&house, &agent, &manifest(3), &key).await;
    let again = patch(&house, &agent, &manifest(3), &key).await;
    assert_eq!(
        (third.json()["capability_manifest_version"].clone(), &third.text),
        (json!(3), &again.text)
    );
    assert_eq!(patch(&house, &agent, &manifest(4), &key).await.code(), "IDEMPOTENCY_KEY_REUSED");
    let path = format!("/agents/{}", agent.id);
    let kept = house.get(&format!("{path}/manifest?version=2"), &ann).await;
    assert_eq!((kept.json(), &kept.headers["etag"]), (changed, &"\"2\"".parse().unwrap()));
    assert_eq!(
        house.get(&format!("{path}/manifest?version=4"), &ann).await.code(),
        "VERSION_NOT_FOUND"
    );
    let versions = house.get(&format!("{path}/versions"), &ann).await.json();
    let numbers: Vec<_> =
        versions["versions"].as_array().unwrap().iter().map(|v| v["version"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let diff = house.get(&format!("{path}/diff?from=1&to=2"), &ann).await.json();
    assert_eq!(diff["breaking"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_own_token_or_its_owner_publishes() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let (agent, other) = (register(&house, &ann).await, register(&house, &bob).await);
    let missing = Registered {
        id: "01920000-0000-7000-8000-000000000000".to_owned(),
        token: other.token.clone(),
    };
    let foreign = Registered { id: agent.id.clone(), token: other.token };
    let bobs = Registered { id: agent.id.clone(), token: bob.clone() };
    let none = patch(&house, &missing, &manifest(1), &[]).await;
    for stranger in [&foreign, &bobs] {
        let refused = patch(&house, stranger, &manifest(1), &[]).await;
        assert_eq!((refused.status, &refused.text), (404, &none.text), "like one that never was");
    }
    let owners = Registered { id: agent.id.clone(), token: ann.clone() };
    assert_eq!(patch(&house, &owners, &manifest(1), &[]).await.status, 200);
    assert_eq!(house.get("/agents", &bob).await.json()["agents"].as_array().unwrap().len(), 1);
    assert_eq!(house.get("/agents", &agent.token).await.status, 403);
    assert_eq!(house.get(&format!("/agents/{}", agent.id), &bob).await.json()["own"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn size_is_limited_at_the_byte_and_warned_of_before() {
    let house = House::new().await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann).await;
    let padded = |bytes: usize| {
        let text = manifest(1).to_string();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    let send = async |bytes: usize| {
        let path = format!("/agents/{}", agent.id);
        house.send("PATCH", &path, &agent.token, Some(&padded(bytes))).await
    };
    assert_eq!(send(131_072).await.status, 200);
    let larger = send(131_073).await;
    assert_eq!((larger.status, larger.code().as_str()), (413, "MANIFEST_TOO_LARGE"));
    let page = format!("/agents/{}", agent.id);
    assert!(house.get(&page, &ann).await.json()["warning"].is_string());
    assert_eq!(send(65_535).await.status, 200);
    assert_eq!(house.get(&page, &ann).await.json()["warning"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_adds_an_agent_reviews_what_changed_and_removes_it() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = register(&house, &ann).await;
    patch(&house, &agent, &manifest(1), &[]).await;
    let call = |id: &str| {
        json!({"capability": format!("{}/read_note", agent.id), "input": {}, "call_id": id, "user": "bob"}).to_string()
    };
    let stranger = house.post("/calls", &agent.token, &call("c0")).await;
    assert_eq!(stranger.status, 403, "nobody has added it");
    let shown = house.get(&format!("/agents/{}/disclosure", agent.id), &bob).await.json();
    assert_eq!(shown["version"], 1, "{shown}");
    let relation = format!("/relations/{}", agent.id);
    let add = |version: u64| json!({"version": version}).to_string();
    assert_eq!(house.send("PUT", &relation, &bob, Some(&add(7))).await.status, 409);
    assert_eq!(
        house.send("PUT", &relation, &bob, Some(&add(1))).await.json()["accepted_version"],
        1
    );
    let of_bob = house.get("/relations?user=bob", &house.admin).await.json();
    assert_eq!(of_bob["relations"][0]["agent_id"], json!(agent.id), "{of_bob}");
    assert_eq!(house.get("/relations?user=bob", &ann).await.status, 403);
    assert_eq!(house.get("/relations?owner=bob", &bob).await.status, 400);
    let made = house.post("/calls", &agent.token, &call("c1")).await.json();
    assert_eq!(made["outcome"], "succeeded", "{made}");
    let other = json!({"capability": "demo.echo", "input": {}, "user": "bob"}).to_string();
    let refused = house.post("/calls", &agent.token, &other).await;
    assert_eq!(refused.status, 403, "what its users did not see is not its own: {}", refused.text);
    house.engine.swap(listed("*"));
    let refused = house.post("/calls", &agent.token, &other).await;
    assert_eq!(refused.status, 403, "a list of everybody names nobody: {}", refused.text);
    house.engine.swap(listed(&agent.id));
    let made = house.post("/calls", &agent.token, &other).await.json();
    assert_eq!(made["outcome"], "succeeded", "the operator gave it that: {made}");
    let mut changed = manifest(2);
    changed["tools"][0]["input_schema"]["properties"]["id"]["maxLength"] = json!(3);
    patch(&house, &agent, &changed, &[]).await;
    let held = house.post("/calls", &agent.token, &call("c2")).await.json();
    assert_eq!(held["code"], "REVIEW_NEEDED", "{held}");
    let notices = house.get("/notices?unread=true", &bob).await.json();
    assert_eq!(notices["notices"][0]["kind"], "review");
    assert_eq!(
        house.get("/notices", &ann).await.json()["notices"],
        json!([]),
        "she has not added it"
    );
    let review = house.get(&format!("{relation}/review"), &bob).await.json();
    assert_eq!((&review["accepted_version"], &review["version"]), (&json!(1), &json!(2)));
    assert_eq!(review["held"], json!(["read_note"]));
    assert_eq!(house.post(&format!("{relation}/accept"), &bob, &add(2)).await.status, 200);
    assert_eq!(house.get("/notices?unread=true", &bob).await.json()["notices"], json!([]));
    let made = house.post("/calls", &agent.token, &call("c3")).await.json();
    assert_eq!(made["outcome"], "succeeded", "{made}");
    assert_eq!(house.get("/calls/c3", &agent.token).await.json()["state"], "succeeded");
    assert_eq!(house.send("DELETE", &relation, &bob, None).await.status, 200);
    assert_eq!(house.post("/calls", &agent.token, &call("c4")).await.status, 403);
    let own = house
        .post(
            "/calls",
            &bob,
            &json!({"capability": format!("{}/read_note", agent.id), "input": {}}).to_string(),
        )
        .await;
    assert_eq!(own.json()["error"], "permission_revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_seen_is_replaced() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = register(&house, &ann).await;
    let path = format!("/agents/{}/token", agent.id);
    for (token, status) in [(&bob, 404), (&agent.token, 403)] {
        assert_eq!(house.post(&path, token, "").await.status, status);
    }
    let renewed = house.post(&path, &ann, "").await;
    assert_eq!(renewed.status, 201, "{}", renewed.text);
    let new =
        Registered { token: renewed.json()["token"].as_str().unwrap().to_owned(), ..agent.clone() };
    assert_eq!(patch(&house, &agent, &manifest(1), &[]).await.status, 401, "the old one");
    assert_eq!(patch(&house, &new, &manifest(1), &[]).await.status, 200, "the new one");
    assert_eq!(house.post(&path, &house.admin, "").await.status, 201, "the operator can too");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_has_added_an_agent_can_call_in_its_name() {
    let house = House::new().await;
    let (ann, bob) = (house.user("ann").await, house.user("bob").await);
    let agent = register(&house, &ann).await;
    patch(&house, &agent, &manifest(1), &[]).await;
    let named = |agent: &str| {
        json!({"capability": "demo.echo", "agent": agent, "call_id": "order-1"}).to_string()
    };
    assert_eq!(house.post("/calls", &bob, &named(&agent.id)).await.status, 403);
    assert_eq!(house.post("/calls", &bob, &named("a-label-of-mine")).await.status, 200);
    let relation = format!("/relations/{}", agent.id);
    house.send("PUT", &relation, &bob, Some(r#"{"version": 1}"#)).await;
    assert_eq!(house.post("/calls", &bob, &named(&agent.id)).await.status, 200);
    assert_eq!(house.get("/calls/order-1", &agent.token).await.status, 200);
    house.send("DELETE", &relation, &bob, None).await;
    assert_eq!(house.get("/calls/order-1", &agent.token).await.status, 404, "no more");
}

/// Offers the demonstration tools, and gives an agent one of them beside its own.
fn listed(agent: &str) -> remit_engine::catalog::Catalog {
    use remit_engine::policy::{Pattern, Policy, WhiteList};
    let allow = vec![Pattern::new("demo.echo"), Pattern::new(&format!("{agent}/*"))];
    let list = WhiteList { user: Pattern::new("*"), agent: Pattern::new(agent), allow };
    let policy = Policy { white_lists: vec![list], ..Policy::default() };
    remit_engine::catalog::Catalog::build(vec![crate::house::demo()], std::sync::Arc::new(policy))
}

/// Many publish at once, good manifests and bad ones, and the versions are exactly 1..N.
#[tokio::test(flavor = "multi_thread")]
async fn versions_have_no_gap_and_no_repeat_however_many_publish() {
    let each: usize = std::env::var("REMIT_SOAK_PATCHES").map_or(100, |n| n.parse().unwrap());
    let house = House::limited(remit_server::Limits {
        requests_per_second: 1_000_000,
        ..Default::default()
    })
    .await;
    let ann = house.user("ann").await;
    let agent = register(&house, &ann).await;
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let (url, token) = (format!("{}/agents/{}", house.url, agent.id), agent.token.clone());
            tokio::task::spawn_blocking(move || writes(&url, &token, writer, each))
        })
        .collect();
    let mut seen = std::collections::BTreeMap::new();
    for writer in writers {
        for (version, hash) in writer.await.unwrap() {
            assert_eq!(seen.insert(version, hash), None, "{version} was given twice");
        }
    }
    let count = seen.len() as u64;
    println!("{count} versions by 64 writers");
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), (1..=count).collect::<Vec<_>>());
    assert_eq!(count, 64 * each.div_ceil(4) as u64 * 3);
    for version in [1, count / 2, count] {
        let path = format!("/agents/{}/manifest?version={version}", agent.id);
        let text = house.get(&path, &ann).await.text;
        assert_eq!(remit_model::canonical::hash_bytes(text.as_bytes()), seen[&version]);
    }
}

/// Publishes some manifests, every fourth of which is bad; gives versions and hashes.
fn writes(url: &str, token: &str, writer: usize, each: usize) -> Vec<(u64, String)> {
    let client: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut given = Vec::new();
    for n in 0..each.div_ceil(4) * 4 {
        let good = n % 4 != 3;
        let mut body = manifest(writer * 100_000 + n);
        if !good {
            body["tools"][0]["permission_scope"] = json!("no:such");
        }
        let request = ureq::http::Request::builder()
            .method("PATCH")
            .uri(url)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(body.to_string())
            .unwrap();
        let mut response = client.run(request).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        assert_eq!(response.status().as_u16(), if good { 200 } else { 422 }, "{text}");
        if good {
            let answer: Value = serde_json::from_str(&text).unwrap();
            let hash = answer["capability_manifest_hash"].as_str().unwrap().to_owned();
            given.push((answer["capability_manifest_version"].as_u64().unwrap(), hash));
        }
    }
    given
}
