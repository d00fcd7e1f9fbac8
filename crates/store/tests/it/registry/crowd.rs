//! Many who publish at once, through two stores of one directory, as two servers would.

use std::collections::BTreeMap;
use std::sync::Arc;

use remit_engine::policy::Policy;
use remit_engine::registry::{Agents, Page, Patch, RegistryError};
use remit_model::canonical;
use remit_store::sqlite::SqliteStore;
use remit_testkit::FakeClock;
use serde_json::{Value, json};

const WRITERS: usize = 64;
const EACH: usize = 20;

fn agents(directory: &std::path::Path) -> Arc<Agents> {
    let store = Arc::new(SqliteStore::open(directory).unwrap());
    let policy = Arc::new(Policy::default());
    Arc::new(Agents::new(store.clone(), store, Arc::<FakeClock>::default(), policy))
}

/// Gives a manifest that no other writer sends.
fn manifest(writer: usize, round: usize) -> Value {
    let properties = json!({format!("p{}", (writer + round) % 5): {"type": "string"}});
    json!({
        "schema_version": "1.0",
        "agent_version": format!("1.{writer}.{round}"),
        "tools": [{
            "name": "demo",
            "description_i18n_key": "demo",
            "input_schema": {
                "type": "object", "properties": properties, "additionalProperties": false,
            },
            "permission_scope": "demo:use",
        }],
        "permission_scopes": [
            {"id": "demo:use", "label_i18n_key": "use", "sensitivity": "medium"},
        ],
        "capability_flags": {
            "supports_streaming": true,
            "supports_artifacts": true,
            "supports_voice": false,
            "supports_group_chat": true,
        },
    })
}

/// Publishes in every way; gives what was accepted, each version with what was sent.
async fn write(agents: Arc<Agents>, agent: String, writer: usize) -> Vec<(u64, String)> {
    let mut accepted = Vec::new();
    for round in 0..EACH {
        let body = manifest(writer, round).to_string();
        let patch = Patch { agent: agent.clone(), body: body.clone().into(), ..Patch::default() };
        match round % 4 {
            // Cannot be used.
            0 => {
                let bad = Patch { body: body.replace("1.0", "0.9").into(), ..patch };
                let refused = agents.publish(bad).await;
                assert!(matches!(refused, Err(RegistryError::Invalid(_))), "{refused:?}");
            }
            // Only on the version that was seen, which others move.
            1 => {
                let seen = agents.agent(&agent).await.unwrap().version;
                match agents.publish(Patch { if_match: Some(seen), ..patch }).await {
                    Ok(published) => {
                        assert_eq!(published.version, seen + 1);
                        accepted.push((published.version, body));
                    }
                    Err(RegistryError::Conflict { current }) => assert!(current > seen),
                    Err(other) => panic!("{other}"),
                }
            }
            // Twice at once, with one key.
            2 => {
                let patch = Patch { key: Some(format!("{writer} {round}")), ..patch };
                let both = tokio::join!(agents.publish(patch.clone()), agents.publish(patch));
                let (one, other) = (both.0.unwrap(), both.1.unwrap());
                assert_eq!(one, other);
                accepted.push((one.version, body));
            }
            _ => accepted.push((agents.publish(patch).await.unwrap().version, body)),
        }
    }
    accepted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_are_one_to_n_and_hashes_are_those_of_the_contents() {
    let directory = tempfile::tempdir().unwrap();
    let nodes = [agents(directory.path()), agents(directory.path())];
    let agent = nodes[0].create("DemoBot", "olga").await.unwrap().id;
    let tasks: Vec<_> = (0..WRITERS)
        .map(|n| tokio::spawn(write(Arc::clone(&nodes[n % 2]), agent.clone(), n)))
        .collect();
    let mut accepted = BTreeMap::new();
    for task in tasks {
        for (version, body) in task.await.unwrap() {
            assert!(accepted.insert(version, body).is_none(), "version {version} twice");
        }
    }
    assert!(accepted.len() >= WRITERS * EACH / 2, "{}", accepted.len());
    let registry = nodes[1].registry();
    let heads = registry.versions(&agent, Page::default()).await.unwrap();
    assert_eq!(heads.len(), accepted.len());
    for (head, number) in heads.iter().zip(1..) {
        assert_eq!(head.version, number);
        let kept = registry.version(&agent, number).await.unwrap().unwrap();
        let sent: Value = serde_json::from_str(&accepted[&number]).unwrap();
        let tree = remit_model::Node::from_json(&sent);
        assert_eq!(kept.canonical, canonical::canonical(&tree));
        assert_eq!(kept.hash, canonical::hash(&tree));
        assert_eq!(head.hash, kept.hash);
        // What was told to have changed is what changed since the version before.
        if number > 1 {
            let changes = nodes[0].diff(&agent, number - 1, number).await.unwrap();
            assert_eq!(kept.changes.is_breaking(), !changes.breaking.is_empty(), "{number}");
        }
    }
    let last = nodes[0].agent(&agent).await.unwrap();
    assert_eq!(last.version, u64::try_from(accepted.len()).unwrap());
    assert_eq!(Some(&last.hash.unwrap()), heads.last().map(|head| &head.hash));
}
