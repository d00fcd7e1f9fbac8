//! The executor behind the engine: from a list of tools to a recorded outcome.

use std::sync::Arc;
use std::time::Duration;

use remit_engine::catalog::{Catalog, Source};
use remit_engine::policy::Policy;
use remit_engine::ports::Executor as _;
use remit_engine::{Engine, Parts};
use remit_mcp::{Identity, McpExecutor, Server, Servers, Snapshot, Transport, snapshot};
use remit_model::{Dialect, Manifest, Outcome, Permission, Sensitivity};
use remit_testkit::{FakeApprover, FakeClock, MemoryStore, samples};
use serde_json::{Value, json};

use crate::support::{config, long};

struct House {
    engine: Engine,
    executor: Arc<McpExecutor>,
    servers: Arc<Servers>,
    store: Arc<MemoryStore>,
}

fn source(server: &str, taken: Snapshot) -> Source {
    let mut manifest = Manifest::new(Dialect::McpTools);
    manifest.capabilities = taken.capabilities;
    for capability in &mut manifest.capabilities {
        capability.permission = Permission::Scope("demo:use".to_owned());
        capability.sensitivity = Some(Sensitivity::Low);
        capability.timeout_ms = Some(60_000);
    }
    Source {
        name: server.to_owned(),
        origin: server.to_owned(),
        root: None,
        manifest,
        hash: taken.hash,
        settings: Ok(samples::settings(&json!({}), &[])),
        problem: None,
    }
}

async fn house() -> House {
    let config = config(&[]);
    let identity = match &config.transport {
        Transport::Stdio(launch) => Identity::Local(launch.identity(&config.around).unwrap()),
        other => panic!("{other:?}"),
    };
    let servers = Arc::new(Servers::default());
    servers.add(Server::new(config));
    let listing = servers.get("py").unwrap().list_tools(&long()).await.unwrap();
    let taken = snapshot("py", &listing, &identity);
    let executor = Arc::new(McpExecutor::new(Arc::clone(&servers)));
    let store = Arc::new(MemoryStore::default());
    let engine = Engine::new(Parts {
        executor: executor.clone(),
        store: store.clone(),
        approver: Arc::new(FakeApprover::default()),
        clock: Arc::new(FakeClock::default()),
        probe: None,
        offers: None,
        confined: true,
    });
    engine.swap(Catalog::build(vec![source("py", taken)], Arc::new(Policy::default())));
    House { engine, executor, servers, store }
}

async fn run(house: &House, id: &str, tool: &str, input: Value) -> Outcome {
    let call = samples::call(id, &format!("@py/{tool}"), input);
    let ended = house.engine.run(call).await;
    ended.outcome
}

#[tokio::test]
async fn a_call_goes_from_the_list_to_the_record() {
    let house = house().await;
    let got = run(&house, "1", "echo", json!({"a": [1, "é"]})).await;
    let Outcome::Succeeded(answer) = &got else { panic!("{got:?}") };
    let text = answer.result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({"a": [1, "é"]}));
    use remit_engine::ports::Store as _;
    let key = samples::call("1", "@py/echo", json!({})).key();
    let record = house.store.call(key).await.unwrap().unwrap();
    assert_eq!(record.state, remit_engine::record::CallState::Ended(got));
    let got = run(&house, "2", "structured", json!({})).await;
    let Outcome::Succeeded(answer) = got else { panic!("{got:?}") };
    assert_eq!(answer.result["structuredContent"], json!({"sum": 3}));
    let got = run(&house, "3", "picture", json!({})).await;
    let Outcome::Succeeded(answer) = got else { panic!("{got:?}") };
    assert_eq!(answer.result["content"][0]["mimeType"], "image/png");
    let got = run(&house, "4", "fails", json!({})).await;
    let Outcome::Failed(failure) = got else { panic!("{got:?}") };
    assert_eq!((&*failure.code, &*failure.message), ("TOOL_ERROR", "it did not work"));
    let got = run(&house, "5", "crash", json!({})).await;
    let Outcome::Failed(failure) = got else { panic!("{got:?}") };
    assert_eq!(failure.code, "SERVER_ENDED");
    house.executor.shut_down().await;
    assert!(house.servers.all().is_empty());
    let got = run(&house, "6", "echo", json!({})).await;
    let Outcome::Failed(failure) = got else { panic!("{got:?}") };
    assert_eq!(failure.code, "SERVER_UNKNOWN");
}

#[tokio::test]
async fn time_and_stopping_reach_the_server_through_the_engine() {
    let house = house().await;
    let mut call = samples::call("1", "@py/hang", json!({}));
    call.timeout_ms = Some(50);
    let got = house.engine.run(call).await.outcome;
    assert!(matches!(got, Outcome::TimedOut { .. }), "{got:?}");
    let call = samples::call("2", "@py/hang", json!({}));
    let started = house.engine.start(call);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let key = samples::call("2", "@py/hang", json!({})).key();
    assert!(house.engine.cancel(&key));
    let got = started.ended().await.outcome;
    assert!(matches!(got, Outcome::Cancelled { .. }), "{got:?}");
    let got = run(&house, "3", "cancelled", json!({})).await;
    let Outcome::Succeeded(answer) = got else { panic!("{got:?}") };
    let text = answer.result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Vec<u64>>(text).unwrap().len(), 2, "{text}");
    house.executor.shut_down().await;
}
