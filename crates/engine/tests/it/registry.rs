//! The registry of agents, through its public surface.

mod calls;
mod limits;
mod offers;
mod publishing;
mod reviews;

use std::sync::Arc;

use remit_engine::policy::Policy;
use remit_engine::ports::{Clock, Store};
use remit_engine::registry::{
    Agent, Agents, Notice, NoticeQuery, Page, Patch, Published, RegistryError,
};
use remit_testkit::{FakeClock, MemoryRegistry, MemoryStore};
use serde_json::{Value, json};

/// Is a registry in memory and what is around it.
struct Desk {
    agents: Arc<Agents>,
    store: Arc<dyn Store>,
    clock: Arc<FakeClock>,
    agent: Agent,
}

/// Makes one with an agent that has published these manifests.
async fn desk(versions: &[Value]) -> Desk {
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::<FakeClock>::default());
    let agents = Arc::new(Agents::new(
        Arc::new(MemoryRegistry::default()),
        Arc::clone(&store) as Arc<dyn Store>,
        Arc::clone(&clock) as Arc<dyn Clock>,
        Arc::new(Policy::default()),
    ));
    let agent = agents.create("DemoBot", "olga").await.unwrap();
    let desk = Desk { agents, store, clock, agent };
    for version in versions {
        desk.publish(version).await.unwrap();
    }
    desk
}

impl Desk {
    fn patch(&self, manifest: &Value) -> Patch {
        let body = manifest.to_string().into_bytes();
        Patch { agent: self.agent.id.clone(), body, ..Patch::default() }
    }

    async fn publish(&self, manifest: &Value) -> Result<Published, RegistryError> {
        self.agents.publish(self.patch(manifest)).await
    }

    async fn add(&self, user: &str) -> u64 {
        let shown = self.agents.disclosure(&self.agent.id).await.unwrap().version;
        self.agents.add(user, &self.agent.id, shown).await.unwrap().accepted_version
    }

    async fn accept(&self, user: &str) {
        let current = self.agents.agent(&self.agent.id).await.unwrap().version;
        self.agents.accept(user, &self.agent.id, current).await.unwrap();
    }

    async fn held(&self, user: &str) -> Vec<String> {
        let review = self.agents.review(user, &self.agent.id).await.unwrap();
        review.held.tools().map(str::to_owned).collect()
    }

    async fn unread(&self, user: &str) -> Vec<Notice> {
        let query = NoticeQuery { user: user.to_owned(), unread: true, page: Page::default() };
        self.agents.registry().notices(query).await.unwrap()
    }
}

fn tool(name: &str, scope: &str) -> Value {
    json!({
        "name": name,
        "description_i18n_key": format!("{name}.text"),
        "input_schema": {
            "type": "object",
            "properties": {name: {"type": "string"}},
            "additionalProperties": false,
        },
        "permission_scope": scope,
    })
}

fn scope(id: &str, sensitivity: &str) -> Value {
    json!({"id": id, "label_i18n_key": format!("{id}.label"), "sensitivity": sensitivity})
}

/// Gives a manifest with a quiet, a careful and a dangerous tool.
fn manifest() -> Value {
    json!({
        "schema_version": "1.0",
        "agent_version": "1.0.0",
        "tools": [tool("ping", "demo:ping"), tool("read", "demo:read"), tool("wipe", "demo:wipe")],
        "permission_scopes": [
            scope("demo:ping", "low"), scope("demo:read", "medium"), scope("demo:wipe", "high"),
        ],
        "capability_flags": {
            "supports_streaming": true,
            "supports_artifacts": true,
            "supports_voice": false,
            "supports_group_chat": true,
        },
    })
}

/// Gives it with something changed.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut manifest = manifest();
    change(&mut manifest);
    manifest
}

/// Gives it without its second tool and that tool's scope.
fn without_read() -> Value {
    changed(|manifest| {
        for list in ["tools", "permission_scopes"] {
            manifest[list].as_array_mut().unwrap().remove(1);
        }
    })
}
