//! Manifests and their versions.

use std::sync::Arc;

use remit_engine::record::{NewVersion, Published, Version};

use super::Place;
use super::hands::{at, crowd};

fn new(source: &str, content: &str) -> NewVersion {
    NewVersion {
        source: source.to_owned(),
        canonical: format!("{{\"content\":\"{content}\"}}"),
        hash: format!("hash of {content}"),
        at: at(1),
    }
}

fn published(version: u64, changed: bool) -> Published {
    Published { version, changed }
}

/// Numbers go up by one with each change and stay otherwise; going back is a change.
pub async fn the_next_number_or_the_same_if_nothing_changed(place: &dyn Place) {
    let store = place.open().await;
    assert_eq!(store.versions("demo").await, Ok(Vec::new()));
    let steps = [("a", 1, true), ("a", 1, false), ("b", 2, true), ("a", 3, true), ("a", 3, false)];
    for (content, version, changed) in steps {
        let answer = store.publish(new("demo", content)).await;
        assert_eq!(answer, Ok(published(version, changed)), "{content}");
    }
    drop(store);
    let store = place.open().await;
    let kept: Vec<Version> = [("a", 1), ("b", 2), ("a", 3)]
        .map(|(content, version)| {
            let NewVersion { canonical, hash, at, .. } = new("demo", content);
            Version { version, hash, canonical, at_ms: at.wall_ms }
        })
        .into();
    assert_eq!(store.versions("demo").await, Ok(kept));
    assert_eq!(store.publish(new("demo", "c")).await, Ok(published(4, true)));
}

/// Each source has numbers of its own, also where names are alike.
pub async fn sources_count_by_themselves(place: &dyn Place) {
    let store = place.open().await;
    let sources = ["demo", "Demo", "demo ", "démo", "demo2", ""];
    for round in 1..=3 {
        for source in sources {
            let answer = store.publish(new(source, &format!("{round}"))).await;
            assert_eq!(answer, Ok(published(round, true)), "{source}");
        }
    }
    for source in sources {
        assert_eq!(store.versions(source).await.expect("versions").len(), 3, "{source}");
    }
}

/// However many publish at once, no number is skipped, used twice or given for nothing.
pub async fn many_publish_without_a_gap(place: &dyn Place) {
    const CROWD: usize = 24;
    let (one, other) = (place.open().await, place.open().await);
    let both = [Arc::clone(&one), other];
    let mut numbers = crowd(&one, CROWD, |_, n| {
        let store = Arc::clone(&both[n % 2]);
        async move { store.publish(new("demo", &format!("content {n}"))).await.expect("a version") }
    })
    .await;
    assert!(numbers.iter().all(|published| published.changed));
    numbers.sort_unstable_by_key(|published| published.version);
    let numbers: Vec<u64> = numbers.iter().map(|published| published.version).collect();
    let all: Vec<u64> = (1..).take(CROWD).collect();
    assert_eq!(numbers, all);
    let versions = one.versions("demo").await.expect("versions");
    let listed: Vec<u64> = versions.iter().map(|version| version.version).collect();
    assert_eq!(listed, all);

    let same = crowd(&one, CROWD, |_, n| {
        let store = Arc::clone(&both[n % 2]);
        async move { store.publish(new("same", "content")).await.expect("a version") }
    })
    .await;
    assert!(same.iter().all(|published| published.version == 1));
    assert_eq!(same.iter().filter(|published| published.changed).count(), 1);
}
