//! Standing permissions.

use remit_engine::ports::Store;
use remit_engine::record::{Answered, Ending, Next};
use remit_model::{EventKind, Grant, Instant, Sensitivity};
use serde_json::{Value, json};

use super::Place;
use super::hands::{
    answered, ask, at, begin, call, ending, events, grant, kinds, permit, success, thread,
};

async fn list(store: &dyn Store, user: &str, agent: &str) -> Vec<Grant> {
    let mut grants = store.grants(user, agent).await.expect("grants");
    grants.sort_by(|a, b| {
        let order = |g: &Grant| [&g.source, &g.scope, &g.device, &g.thread].map(String::clone);
        order(a).cmp(&order(b))
    });
    grants
}

async fn finish_with(store: &dyn Store, name: &str, grant: &Grant) {
    begin(store, call(name, "t"), Next::Run).await;
    let ending = Ending { grant: Some(grant.clone()), ..ending(name, success(json!(1))) };
    store.finish(ending).await.expect("an end");
}

/// A grant is read as it was written, to the last millisecond.
pub async fn grants_keep_what_they_say(place: &dyn Place) {
    let store = place.open().await;
    let instants = [
        at(0),
        Instant { wall_ms: i64::MIN, boot_ms: i64::MAX, boot: String::new() },
        Instant { wall_ms: i64::MAX, boot_ms: i64::MIN, boot: "☃ '\"".to_owned() },
    ];
    let levels = [Sensitivity::Low, Sensitivity::Medium, Sensitivity::High];
    let mut expected = Vec::new();
    for (n, (used, sensitivity)) in instants.into_iter().zip(levels).enumerate() {
        let scope = format!("{n}:use");
        let given = Grant { used, sensitivity, ..grant("robot", &scope) };
        store.give(given.clone()).await.expect("a grant");
        expected.push(given);
    }
    assert_eq!(list(&*store, "ann", "robot").await, expected);
    drop(store);
    let store = place.open().await;
    assert_eq!(list(&*store, "ann", "robot").await, expected);
    let told = events(&*store, &thread("t")).await;
    assert!(told.iter().all(|event| event.kind == EventKind::GrantGiven && event.call.is_none()));
    let body: Value = serde_json::from_str(&told[0].body).expect("a grant");
    let says = |field: &str| body.get(field).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(says("scope").as_deref(), Some("0:use"));
    assert_eq!(says("agent").as_deref(), Some("robot"));
}

/// Each of these makes another grant, and whoever asks gets their own.
pub async fn a_grant_is_for_one_agent_scope_device_and_thread(place: &dyn Place) {
    let store = place.open().await;
    let first = grant("robot", "a:use");
    let others = [
        Grant { scope: "b:use".to_owned(), ..first.clone() },
        Grant { source: "other".to_owned(), ..first.clone() },
        Grant { device: "phone".to_owned(), ..first.clone() },
        Grant { thread: "u".to_owned(), ..first.clone() },
    ];
    let elsewhere = [
        Grant { agent: String::new(), ..first.clone() },
        Grant { user: "bob".to_owned(), ..first.clone() },
    ];
    for grant in others.iter().chain([&first]).chain(&elsewhere) {
        store.give(grant.clone()).await.expect("a grant");
    }
    let listed = list(&*store, "ann", "robot").await;
    assert_eq!(listed.len(), 5);
    assert!(others.iter().chain([&first]).all(|grant| listed.contains(grant)));
    assert_eq!(list(&*store, "ann", "").await, elsewhere[..1]);
    assert_eq!(list(&*store, "bob", "robot").await, elsewhere[1..]);
    assert_eq!(list(&*store, "nobody", "robot").await, []);
}

/// Using a permission is not giving it; giving it for another declaration is.
pub async fn a_renewal_is_no_new_grant(place: &dyn Place) {
    let store = place.open().await;
    let first = grant("", "a:use");
    store.give(first.clone()).await.expect("a grant");
    let renewed = Grant { used: at(60_000), ..first.clone() };
    store.give(renewed.clone()).await.expect("a renewal");
    assert_eq!(list(&*store, "ann", "").await, [renewed]);
    assert_eq!(kinds(&*store, "t").await, [EventKind::GrantGiven]);
    let again = Grant { manifest_hash: "cd".repeat(32), used: at(60_001), ..first };
    store.give(again.clone()).await.expect("a grant");
    assert_eq!(list(&*store, "ann", "").await, [again]);
    assert_eq!(kinds(&*store, "t").await, [EventKind::GrantGiven; 2]);
}

/// A grant that comes with the end of a call is told before that end, and only when it is new.
pub async fn a_call_brings_its_grant_with_it(place: &dyn Place) {
    let store = place.open().await;
    let given = grant("", "a:use");
    finish_with(&*store, "c", &given).await;
    assert_eq!(list(&*store, "ann", "").await, std::slice::from_ref(&given));
    let told = events(&*store, &thread("t")).await;
    let told: Vec<_> = told.into_iter().map(|event| (event.kind, event.call)).collect();
    let call = || Some(super::hands::id("c"));
    let expected = [EventKind::Intent, EventKind::GrantGiven, EventKind::Outcome];
    assert_eq!(told, expected.map(|kind| (kind, call())));
    let renewed = Grant { used: at(70_000), ..given };
    finish_with(&*store, "d", &renewed).await;
    assert_eq!(list(&*store, "ann", "").await, [renewed]);
    assert_eq!(kinds(&*store, "t").await.len(), 5, "a use is not told as a gift");
}

/// A grant that comes with a yes stands while the call runs, so that it can be taken back.
pub async fn an_answer_brings_its_grant_with_it(place: &dyn Place) {
    let store = place.open().await;
    let given = grant("", "a:use");
    begin(&*store, call("c", "t"), ask()).await;
    let yes = Answered { grant: Some(given.clone()), ..answered("c", None) };
    store.answer(yes).await.expect("an answer");
    assert_eq!(list(&*store, "ann", "").await, std::slice::from_ref(&given));
    assert_eq!(store.revoke(given.permit(), at(3)).await, Ok(1));
    store.finish(ending("c", success(Value::Null))).await.expect("an end");
    assert_eq!(list(&*store, "ann", "").await, [Grant { revoked: true, ..given }]);
    let expected = [
        EventKind::Asked,
        EventKind::Answered,
        EventKind::GrantGiven,
        EventKind::GrantRevoked,
        EventKind::Outcome,
    ];
    assert_eq!(kinds(&*store, "t").await, expected);
}

/// What nobody asked about can be taken back too, and be allowed again.
pub async fn what_was_never_given_can_be_taken_back(place: &dyn Place) {
    let store = place.open().await;
    let (meant, robots) = (permit("", "a:use"), permit("robot", "a:use"));
    assert_eq!(store.revoke(meant.clone(), at(9)).await, Ok(0));
    assert_eq!(store.revoke(meant.clone(), at(10)).await, Ok(0), "once is enough");
    assert_eq!(list(&*store, "ann", "").await, [meant.revoked(&at(9))]);
    assert_eq!(list(&*store, "ann", "robot").await, []);
    assert_eq!(store.lift(robots, at(11)).await, Ok(false));
    finish_with(&*store, "c", &grant("", "a:use")).await;
    assert_eq!(list(&*store, "ann", "").await.len(), 1, "no call brings it");
    drop(store);
    let store = place.open().await;
    assert_eq!(store.lift(meant.clone(), at(11)).await, Ok(true));
    assert_eq!(store.lift(meant, at(12)).await, Ok(false));
    assert_eq!(list(&*store, "ann", "").await, []);
    let told = kinds(&*store, "permissions").await;
    assert_eq!(told, [EventKind::GrantRevoked, EventKind::GrantLifted]);
}

/// A person sees all they have granted, whomever it is for.
pub async fn a_person_sees_all_they_granted(place: &dyn Place) {
    let store = place.open().await;
    let mine = [grant("", "a:use"), grant("", "b:use"), grant("robot", "a:use")];
    let bobs = Grant { user: "bob".to_owned(), ..grant("", "a:use") };
    for grant in mine.iter().chain([&bobs]) {
        store.give(grant.clone()).await.expect("a grant");
    }
    assert_eq!(store.granted_by("ann").await, Ok(mine.to_vec()));
    assert_eq!(store.granted_by("bob").await, Ok(vec![bobs]));
    assert_eq!(store.granted_by("nobody").await, Ok(Vec::new()));
}

/// What is taken back from an agent is taken back everywhere, and from that agent alone.
pub async fn revoking_takes_back_every_grant_of_a_scope(place: &dyn Place) {
    let store = place.open().await;
    let meant = grant("robot", "a:use");
    let all = [
        meant.clone(),
        Grant { device: "phone".to_owned(), ..meant.clone() },
        Grant { thread: "u".to_owned(), ..meant.clone() },
    ];
    let spared = [
        Grant { scope: "b:use".to_owned(), ..meant.clone() },
        Grant { source: "other".to_owned(), ..meant.clone() },
        Grant { user: "bob".to_owned(), ..meant.clone() },
        Grant { agent: String::new(), ..meant.clone() },
    ];
    for grant in all.iter().chain(&spared) {
        store.give(grant.clone()).await.expect("a grant");
    }
    assert_eq!(store.revoke(meant.permit(), at(9)).await, Ok(3));
    assert_eq!(store.revoke(meant.permit(), at(10)).await, Ok(0), "none stands");
    let listed = list(&*store, "ann", "robot").await;
    assert_eq!(listed.len(), 5, "what was taken back is still listed");
    for grant in &listed {
        let is_meant = grant.source == "demo" && grant.scope == "a:use";
        assert_eq!(grant.revoked, is_meant, "{grant:?}");
    }
    assert_eq!(list(&*store, "ann", "").await, spared[3..]);
    assert_eq!(list(&*store, "bob", "robot").await, spared[2..3]);
    let revoked = |kinds: Vec<EventKind>| {
        kinds.into_iter().filter(|kind| *kind == EventKind::GrantRevoked).count()
    };
    assert_eq!(revoked(kinds(&*store, "t").await), 2);
    assert_eq!(revoked(kinds(&*store, "u").await), 1);
}

/// A call that was under way when its permission was taken back does not give it again.
pub async fn what_was_taken_back_no_call_brings_again(place: &dyn Place) {
    let store = place.open().await;
    let given = grant("", "a:use");
    store.give(given.clone()).await.expect("a grant");
    assert_eq!(store.revoke(given.permit(), at(9)).await, Ok(1));
    let renewed = Grant { used: at(60_000), ..given.clone() };
    let elsewhere = Grant { thread: "u".to_owned(), ..renewed.clone() };
    finish_with(&*store, "c", &renewed).await;
    finish_with(&*store, "d", &elsewhere).await;
    let revoked = Grant { revoked: true, ..given.clone() };
    assert_eq!(list(&*store, "ann", "").await, std::slice::from_ref(&revoked));
    let told = kinds(&*store, "t").await;
    let gifts = told.into_iter().filter(|kind| *kind == EventKind::GrantGiven).count();
    assert_eq!(gifts, 1);
    // Another scope is another matter.
    let other = grant("", "b:use");
    finish_with(&*store, "e", &other).await;
    assert_eq!(list(&*store, "ann", "").await, [revoked, other]);
}

/// Only the person can undo what they did.
pub async fn giving_lifts_what_was_taken_back(place: &dyn Place) {
    let store = place.open().await;
    let here = grant("", "a:use");
    let there = Grant { thread: "u".to_owned(), ..here.clone() };
    let robots = Grant { agent: "robot".to_owned(), ..here.clone() };
    for grant in [&here, &there, &robots] {
        store.give(grant.clone()).await.expect("a grant");
    }
    assert_eq!(store.revoke(here.permit(), at(9)).await, Ok(2));
    assert_eq!(store.revoke(robots.permit(), at(9)).await, Ok(1));
    let again = Grant { used: at(20), ..here };
    store.give(again.clone()).await.expect("a grant");
    assert_eq!(list(&*store, "ann", "").await, [again], "nothing is left of the taking back");
    assert!(list(&*store, "ann", "robot").await.iter().all(|grant| grant.revoked));
    let told = kinds(&*store, "t").await;
    assert_eq!(told.last(), Some(&EventKind::GrantGiven));
}

/// No store goes on with what another one has changed.
pub async fn a_change_is_seen_by_every_open_store(place: &dyn Place) {
    let (one, other) = (place.open().await, place.open().await);
    let given = grant("", "a:use");
    for round in 0..3 {
        for store in [&one, &other] {
            assert!(list(&**store, "ann", "").await.iter().all(|grant| grant.revoked));
        }
        let given = Grant { used: at(100 * round), ..given.clone() };
        one.give(given.clone()).await.expect("a grant");
        for store in [&one, &other] {
            assert_eq!(list(&**store, "ann", "").await, std::slice::from_ref(&given));
        }
        let renewed = Grant { used: at(100 * round + 50), ..given };
        finish_with(&*other, &format!("c{round}"), &renewed).await;
        for store in [&one, &other] {
            assert_eq!(list(&**store, "ann", "").await, std::slice::from_ref(&renewed));
        }
        assert_eq!(other.revoke(permit("", "a:use"), at(round)).await, Ok(1));
    }
}
