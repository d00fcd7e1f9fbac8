//! When a person is asked, and when not.

use remit_engine::ports::{Reply, Store};
use remit_engine::stage::authorise::DAY_MS;
use remit_model::{Denial, Outcome, Sensitivity};
use remit_testkit::samples::{call, catalog, source};
use serde_json::json;

use crate::pipeline::{House, house};

fn asking(sensitivity: Sensitivity) -> House {
    house(catalog(vec![source("demo", &[("echo", sensitivity), ("noop", sensitivity)])]))
}

/// Makes one call with a reply prepared; tells whether it ran and how often a person was asked.
async fn once(
    house: &House,
    id: &str,
    change: impl FnOnce(&mut remit_model::Call),
) -> (bool, usize) {
    let before = house.approver.asked().len();
    let mut call = call(id, "demo.echo", json!({}));
    change(&mut call);
    let ended = house.engine.run(call).await;
    (ended.outcome.is_success(), house.approver.asked().len() - before)
}

#[tokio::test]
async fn medium_is_asked_once_then_silent_for_a_sliding_day() {
    let house = asking(Sensitivity::Medium);
    house.approver.will(Some(Reply::Yes));
    assert_eq!(once(&house, "1", |_| ()).await, (true, 1));
    house.clock.pass(DAY_MS);
    assert_eq!(once(&house, "2", |_| ()).await, (true, 0), "a day is still within a day");
    house.clock.pass(DAY_MS);
    assert_eq!(once(&house, "3", |_| ()).await, (true, 0), "the use before renewed it");
    house.clock.pass(DAY_MS + 1);
    assert_eq!(once(&house, "4", |_| ()).await, (false, 1), "one millisecond more, and it lapsed");
}

#[tokio::test]
async fn a_medium_yes_holds_for_its_device_conversation_and_declaration_only() {
    let house = asking(Sensitivity::Medium);
    house.approver.will(Some(Reply::Yes));
    assert_eq!(once(&house, "1", |_| ()).await, (true, 1));
    let device = once(&house, "2", |call| call.caller.device = Some("phone".into())).await;
    assert_eq!(device, (false, 1));
    let thread =
        once(&house, "3", |call| call.thread = remit_model::ThreadId::parse("u").unwrap()).await;
    assert_eq!(thread, (false, 1));
    let agent = once(&house, "4", |call| call.caller.agent = Some("bot".into())).await;
    assert_eq!(agent, (false, 1));
    assert_eq!(once(&house, "5", |_| ()).await, (true, 0), "it still holds where it was given");
    let mut changed = source("demo", &[("echo", Sensitivity::Medium)]);
    changed.hash = "another".to_owned();
    house.engine.swap(catalog(vec![changed]));
    assert_eq!(once(&house, "6", |_| ()).await, (false, 1), "another declaration was shown");
}

#[tokio::test]
async fn moving_the_clock_neither_stretches_nor_ends_a_grant() {
    let house = asking(Sensitivity::Medium);
    house.approver.will(Some(Reply::Yes));
    assert_eq!(once(&house, "1", |_| ()).await, (true, 1));
    house.clock.jump(-10 * DAY_MS);
    house.clock.pass(DAY_MS + 1);
    assert_eq!(once(&house, "2", |_| ()).await, (false, 1), "set back, and still lapsed");
    house.approver.will(Some(Reply::Yes));
    assert_eq!(once(&house, "3", |_| ()).await, (true, 1));
    house.clock.jump(10 * DAY_MS);
    assert_eq!(once(&house, "4", |_| ()).await, (true, 0), "set forward, and no time has passed");
    house.clock.restart();
    house.clock.jump(-20 * DAY_MS);
    assert_eq!(once(&house, "5", |_| ()).await, (false, 1), "after a restart time cannot run back");
}

#[tokio::test]
async fn high_is_asked_at_every_call() {
    let house = asking(Sensitivity::High);
    for id in ["1", "2"] {
        house.approver.will(Some(Reply::Yes));
        assert_eq!(once(&house, id, |_| ()).await, (true, 1));
    }
    assert!(house.store.grants("ann", "").await.unwrap().is_empty(), "high leaves no grant");
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_thirty_seconds_is_a_denial() {
    let house = asking(Sensitivity::High);
    house.approver.will(None);
    let before = tokio::time::Instant::now();
    let ended = house.engine.run(call("1", "demo.echo", json!({}))).await;
    assert_eq!(ended.outcome, Outcome::Denied { reason: Denial::UserTimeout });
    assert_eq!(before.elapsed().as_secs(), 30);
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test]
async fn a_question_can_be_called_off() {
    let house = asking(Sensitivity::High);
    house.approver.will(None);
    let started = house.engine.start(call("1", "demo.echo", json!({})));
    while house.approver.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    house.engine.cancel(started.key());
    assert_eq!(started.ended().await.outcome.status(), "cancelled");
    assert_eq!(house.executor.runs(), 0);
}

#[tokio::test]
async fn in_a_group_nothing_runs_and_what_was_revoked_stays_so() {
    for sensitivity in [Sensitivity::Low, Sensitivity::Medium, Sensitivity::High] {
        let house = asking(sensitivity);
        let mut in_group = call("1", "demo.echo", json!({}));
        in_group.group = true;
        let ended = house.engine.run(in_group).await;
        let reason = Denial::ToolNotSupportedInGroup;
        assert_eq!(ended.outcome, Outcome::Denied { reason });
        assert!(house.approver.asked().is_empty());
    }
    let house = asking(Sensitivity::Medium);
    house.approver.will(Some(Reply::Yes));
    assert_eq!(once(&house, "1", |_| ()).await, (true, 1));
    let now = remit_engine::ports::Clock::now(&*house.clock);
    let permit = house.store.granted_by("ann").await.unwrap()[0].permit();
    assert_eq!(house.store.revoke(permit, now).await.unwrap(), 1);
    let ended = house.engine.run(call("2", "demo.echo", json!({}))).await;
    assert_eq!(ended.outcome, Outcome::Denied { reason: Denial::PermissionRevoked });
}

#[tokio::test]
async fn what_was_taken_back_before_it_was_given_is_denied_whatever_care_it_takes() {
    for sensitivity in [Sensitivity::Low, Sensitivity::Medium, Sensitivity::High] {
        let house = asking(sensitivity);
        house.approver.will(Some(Reply::Yes));
        let now = remit_engine::ports::Clock::now(&*house.clock);
        let [user, agent, source, scope] = ["ann", "", "demo", "demo:use"].map(str::to_owned);
        let permit = remit_model::Permit { user, agent, source, scope };
        assert_eq!(house.store.revoke(permit.clone(), now.clone()).await, Ok(0));
        let ended = house.engine.run(call("1", "demo.echo", json!({}))).await;
        assert_eq!(ended.outcome, Outcome::Denied { reason: Denial::PermissionRevoked });
        assert_eq!(house.store.lift(permit, now).await, Ok(true));
        assert!(house.engine.run(call("2", "demo.echo", json!({}))).await.outcome.is_success());
    }
}

#[tokio::test]
async fn a_permission_can_be_taken_back_while_the_call_it_was_given_with_runs() {
    let names = ["hang", "echo"].map(|name| (name, Sensitivity::Medium));
    let house = house(catalog(vec![source("demo", &names)]));
    house.approver.will(Some(Reply::Yes));
    let hanging = call("1", "demo.hang", json!({}));
    let started = house.engine.start(hanging.clone());
    while house.executor.runs() == 0 {
        tokio::task::yield_now().await;
    }
    let given = house.store.granted_by("ann").await.unwrap();
    let now = remit_engine::ports::Clock::now(&*house.clock);
    assert_eq!(house.store.revoke(given[0].permit(), now).await, Ok(1));
    house.engine.cancel(&hanging.key());
    started.ended().await;
    let ended = house.engine.run(call("2", "demo.echo", json!({}))).await;
    assert_eq!(ended.outcome, Outcome::Denied { reason: Denial::PermissionRevoked });
}

#[tokio::test]
async fn a_yes_for_once_is_asked_again() {
    let house = asking(Sensitivity::Medium);
    house.approver.will(Some(Reply::Once));
    assert_eq!(once(&house, "1", |_| ()).await, (true, 1));
    assert_eq!(once(&house, "2", |_| ()).await, (false, 1));
    assert_eq!(house.store.granted_by("ann").await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_yes_to_confined_work_is_none_to_the_same_work_unconfined() {
    let confined = asking(Sensitivity::Medium);
    confined.approver.will(Some(Reply::Yes));
    assert_eq!(once(&confined, "1", |_| ()).await, (true, 1));
    let approver = std::sync::Arc::new(remit_testkit::FakeApprover::default());
    let open = remit_engine::Engine::new(remit_engine::Parts {
        executor: confined.executor.clone(),
        store: confined.store.clone(),
        approver: approver.clone(),
        clock: confined.clock.clone(),
        probe: None,
        offers: None,
        confined: false,
    });
    open.swap(catalog(vec![source("demo", &[("echo", Sensitivity::Medium)])]));
    assert!(!open.run(call("2", "demo.echo", json!({}))).await.outcome.is_success());
    assert_eq!(approver.asked().len(), 1);
    assert_eq!(once(&confined, "3", |_| ()).await, (true, 0), "the first yes still holds");
}
