//! Calls of an agent's tools: the registry laid over the catalog.

use std::sync::Arc;

use remit_engine::ports::Reply;
use remit_engine::{Engine, Parts};
use remit_model::{Call, Caller, Denial, Outcome};
use remit_testkit::samples::call;
use remit_testkit::{FakeApprover, FakeExecutor};
use serde_json::json;

use super::{Desk, changed, desk, manifest};

fn engine(desk: &Desk) -> (Engine, Arc<FakeExecutor>, Arc<FakeApprover>) {
    let (executor, approver) = (Arc::<FakeExecutor>::default(), Arc::<FakeApprover>::default());
    let engine = Engine::new(Parts {
        executor: executor.clone(),
        store: Arc::clone(&desk.store),
        approver: approver.clone(),
        clock: desk.clock.clone(),
        probe: None,
        offers: Some(desk.agents.clone()),
        confined: true,
    });
    (engine, executor, approver)
}

fn by(desk: &Desk, user: &str, id: &str, tool: &str) -> Call {
    let name = format!("{}/{tool}", desk.agent.id);
    let caller = Caller { agent: Some(desk.agent.id.clone()), ..Caller::person(user) };
    Call { caller, ..call(id, &name, json!({})) }
}

fn code(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed(failure) => &failure.code,
        other => other.status(),
    }
}

#[tokio::test]
async fn a_tool_of_an_agent_is_there_for_those_who_added_it_and_held_when_it_changed() {
    let desk = desk(&[manifest()]).await;
    let (engine, executor, approver) = engine(&desk);
    let first = manifest()["tools"][0]["name"].as_str().unwrap().to_owned();
    desk.add("ann").await;
    approver.will(Some(Reply::Yes));
    let ran = engine.run(by(&desk, "ann", "1", &first)).await;
    assert_eq!(code(&ran.outcome), "succeeded", "{ran:?}");
    let stranger = engine.run(by(&desk, "bob", "1", &first)).await;
    assert_eq!(code(&stranger.outcome), "UNKNOWN_CAPABILITY");
    let mut foreign = by(&desk, "ann", "2", &first);
    foreign.caller.agent = Some("another".to_owned());
    assert_eq!(code(&engine.run(foreign).await.outcome), "UNKNOWN_CAPABILITY");
    // A changed schema holds the tool until the user has looked.
    desk.publish(&changed(|m| m["tools"][0]["input_schema"]["description"] = json!("new")))
        .await
        .unwrap();
    let held = engine.run(by(&desk, "ann", "3", &first)).await;
    assert_eq!(code(&held.outcome), "REVIEW_NEEDED");
    let explained = engine.explain(by(&desk, "ann", "4", &first), true).await.unwrap();
    assert_eq!(explained.rule, "review-needed", "by the same code");
    desk.accept("ann").await;
    approver.will(Some(Reply::Yes));
    assert_eq!(code(&engine.run(by(&desk, "ann", "5", &first)).await.outcome), "succeeded");
    // Whoever removes the agent has taken everything back.
    desk.agents.remove("ann", &desk.agent.id).await.unwrap();
    let gone = engine.run(by(&desk, "ann", "6", &first)).await;
    assert_eq!(gone.outcome, Outcome::Denied { reason: Denial::PermissionRevoked });
    assert_eq!(executor.runs(), 2);
}
