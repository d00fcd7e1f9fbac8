//! Who has added an agent, what they accepted, and what they were told.

use remit_engine::registry::{Looked, NoticeKind, NoticeQuery, Page, Relation};
use serde_json::json;

use super::{
    RegistryPlace, adds, card, notices, publication, relation, seen, tells, with_versions,
};
use crate::conformance::hands::at;

/// What was not seen is not added; what is added stays as it was accepted.
pub async fn a_user_adds_only_the_present_version_and_once(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 0).await;
    assert_eq!(registry.add(seen("ann", 0, 5)).await, Ok(Looked::Moved(0)), "nothing to see");
    for base in 0..2 {
        registry.publish(publication("a", base, "x")).await.expect("a version");
    }
    for version in [0, 1, 3] {
        assert_eq!(registry.add(seen("ann", version, 5)).await, Ok(Looked::Moved(2)));
    }
    adds(&*registry, "ann", 2).await;
    registry.publish(publication("a", 2, "y")).await.expect("a version");
    let again = registry.add(seen("ann", 3, 9)).await;
    assert_eq!(again, Ok(Looked::Counts(relation("ann", 2, 5))), "adding is not accepting");
    drop(registry);
    let registry = place.open().await;
    assert_eq!(registry.relations("ann").await, Ok(vec![relation("ann", 2, 5)]));
    let standing = registry.standing("ann", "a").await.expect("an answer").expect("an agent");
    assert_eq!((standing.agent.version, standing.relation), (3, Some(relation("ann", 2, 5))));
    let stranger = registry.standing("bob", "a").await.expect("an answer").expect("an agent");
    assert_eq!(stranger.relation, None);
}

/// Whoever looked at an older one has to look again.
pub async fn a_user_accepts_only_the_present_version(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    assert_eq!(registry.accept(seen("ann", 1, 6)).await, Ok(Looked::NotAdded));
    adds(&*registry, "ann", 1).await;
    adds(&*registry, "bob", 1).await;
    let version = tells(&*registry, vec![card(1, "look")]).await;
    for stale in [0, 1, version + 1] {
        assert_eq!(registry.accept(seen("ann", stale, 6)).await, Ok(Looked::Moved(version)));
    }
    assert_eq!(notices(&*registry, "ann", true).await.len(), 1);
    for _ in 0..2 {
        let accepted = registry.accept(seen("ann", version, 6)).await;
        assert_eq!(accepted, Ok(Looked::Counts(relation("ann", version, 5))));
    }
    assert_eq!(notices(&*registry, "ann", true).await, [], "accepting is reading");
    assert_eq!(notices(&*registry, "ann", false).await.len(), 1);
    assert_eq!(notices(&*registry, "bob", true).await.len(), 1, "for oneself");
    assert_eq!(registry.relations("bob").await, Ok(vec![relation("bob", 1, 5)]));
}

/// The end is written down once; adding again is a new beginning.
pub async fn an_ended_relation_stays_ended_and_can_begin_anew(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    assert_eq!(registry.end("ann", "a", 8).await, Ok(None));
    adds(&*registry, "ann", 1).await;
    adds(&*registry, "bob", 1).await;
    let version = tells(&*registry, vec![card(1, "look")]).await;
    let ended = Relation { ended_at_ms: Some(8), ..relation("ann", 1, 5) };
    for at_ms in [8, 9] {
        assert_eq!(registry.end("ann", "a", at_ms).await, Ok(Some(ended.clone())));
    }
    assert_eq!(notices(&*registry, "ann", false).await, [], "it is of no use any more");
    assert_eq!(notices(&*registry, "bob", true).await.len(), 1);
    assert_eq!(registry.relations("ann").await, Ok(vec![ended]));
    assert_eq!(registry.accept(seen("ann", version, 9)).await, Ok(Looked::NotAdded));
    tells(&*registry, vec![card(1, "look again")]).await;
    assert_eq!(notices(&*registry, "ann", false).await, [], "nobody tells those who left");
    assert_eq!(registry.add(seen("ann", 1, 10)).await, Ok(Looked::Moved(version + 1)));
    let anew = registry.add(seen("ann", version + 1, 10)).await;
    assert_eq!(anew, Ok(Looked::Counts(relation("ann", version + 1, 10))));
}

/// Only what counts now, each once, the latest first.
pub async fn accepted_versions_are_those_of_relations_that_stand(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    assert_eq!(registry.accepted("a").await, Ok(Vec::new()));
    for (user, version) in [("ann", 1), ("bob", 1), ("cyd", 2), ("dan", 3), ("eve", 3)] {
        let current = registry.agent("a").await.expect("an answer").expect("an agent").version;
        if current < version {
            registry.publish(publication("a", current, "x")).await.expect("a version");
        }
        adds(&*registry, user, version).await;
    }
    assert_eq!(registry.accepted("a").await, Ok(vec![3, 2, 1]));
    registry.end("cyd", "a", 8).await.expect("an end");
    registry.end("ann", "a", 8).await.expect("an end");
    assert_eq!(registry.accepted("a").await, Ok(vec![3, 1]));
    assert_eq!(registry.accepted("b").await, Ok(Vec::new()));
}

/// Each gets the card for the version they accepted, or none.
pub async fn notices_go_to_those_who_accepted_the_version(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    adds(&*registry, "ann", 1).await;
    adds(&*registry, "bob", 1).await;
    registry.publish(publication("a", 1, "x")).await.expect("a version");
    adds(&*registry, "cyd", 2).await;
    registry.publish(publication("a", 2, "y")).await.expect("a version");
    adds(&*registry, "dan", 3).await;
    tells(&*registry, vec![card(1, "for the first ☃"), card(3, "for the third")]).await;
    drop(registry);
    let registry = place.open().await;
    for (user, text) in [
        ("ann", Some("for the first ☃")),
        ("bob", Some("for the first ☃")),
        ("cyd", None),
        ("dan", Some("for the third")),
    ] {
        let told = notices(&*registry, user, true).await;
        let bodies: Vec<_> = told.iter().map(|notice| notice.body.clone()).collect();
        let want: Vec<_> = text.map(|text| json!({"text": text})).into_iter().collect();
        assert_eq!(bodies, want, "{user}");
        for notice in told {
            let facts = (&*notice.user, &*notice.agent, notice.kind, notice.at_ms, notice.read);
            assert_eq!(facts, (user, "a", NoticeKind::Review, at(1).wall_ms, false));
        }
    }
    let page = NoticeQuery {
        user: "ann".to_owned(),
        unread: false,
        page: Page { after: 0, limit: Some(0) },
    };
    assert_eq!(registry.notices(page).await, Ok(Vec::new()));
}

/// At most one card waits for a user and an agent, with a number that is larger than all before.
pub async fn notices_that_nobody_read_are_replaced(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    adds(&*registry, "ann", 1).await;
    tells(&*registry, vec![card(1, "one")]).await;
    let first = notices(&*registry, "ann", true).await;
    tells(&*registry, vec![card(1, "two")]).await;
    let second = notices(&*registry, "ann", false).await;
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].body, json!({"text": "two"}));
    assert!(second[0].id > first[0].id);
    assert_eq!(registry.read_notice("ann", second[0].id).await, Ok(true));
    tells(&*registry, vec![card(1, "three")]).await;
    let third = notices(&*registry, "ann", false).await;
    let told: Vec<_> = third.iter().map(|n| (n.body["text"].clone(), n.read)).collect();
    assert_eq!(told, [(json!("two"), true), (json!("three"), false)], "what was read stays");
    let base = registry.agent("a").await.expect("an answer").expect("an agent").version;
    registry.publish(publication("a", base, "quiet")).await.expect("a version");
    assert_eq!(notices(&*registry, "ann", true).await.len(), 1, "left alone");
    tells(&*registry, Vec::new()).await;
    assert_eq!(notices(&*registry, "ann", true).await, [], "nothing is left to look at");
    tells(&*registry, vec![card(1, "four")]).await;
    let last = notices(&*registry, "ann", true).await;
    assert!(last[0].id > third[1].id, "a number is never used again");
    let query = NoticeQuery {
        user: "ann".to_owned(),
        unread: false,
        page: Page { after: third[0].id, limit: None },
    };
    assert_eq!(registry.notices(query).await, Ok(last));
}

/// Nobody reads for another.
pub async fn reading_a_notice_is_for_its_user(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 1).await;
    adds(&*registry, "ann", 1).await;
    tells(&*registry, vec![card(1, "one")]).await;
    let id = notices(&*registry, "ann", true).await[0].id;
    assert_eq!(registry.read_notice("bob", id).await, Ok(false));
    assert_eq!(registry.read_notice("ann", id + 1).await, Ok(false));
    assert_eq!(notices(&*registry, "ann", true).await.len(), 1);
    for _ in 0..2 {
        assert_eq!(registry.read_notice("ann", id).await, Ok(true));
    }
    assert_eq!(notices(&*registry, "ann", true).await, []);
}
