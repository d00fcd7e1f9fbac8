//! Agents, versions, relations and notices: what the port [`Registry`] promises.

mod relations;

use std::sync::Arc;

use remit_engine::ports::Pending;
use remit_engine::registry::{
    Agent, AgentQuery, AgentVersion, Card, ChangeTexts, Looked, Notice, NoticeQuery, Notices, Page,
    Publication, RETRY_MS, Registry, Relation, Retry, Seen, Standing, Written,
};
use serde_json::json;

use super::hands::at;
use crate::MemoryRegistry;

pub use relations::*;

/// Is somewhere a registry is kept, empty at first.
pub trait RegistryPlace: Send + Sync {
    /// Opens it. What was opened before may still be open.
    fn open(&self) -> Pending<'_, Arc<dyn Registry>>;
}

/// Keeps a registry in memory.
#[derive(Debug, Default)]
pub struct MemoryRegistryPlace(MemoryRegistry);

impl RegistryPlace for MemoryRegistryPlace {
    fn open(&self) -> Pending<'_, Arc<dyn Registry>> {
        let registry: Arc<dyn Registry> = Arc::new(self.0.clone());
        Box::pin(std::future::ready(registry))
    }
}

/// Makes a test of each case. The expression makes a new, empty [`RegistryPlace`].
#[macro_export]
macro_rules! registry_conformance {
    ($place:expr) => {
        $crate::registry_conformance! { @each $place;
            a_key_is_for_one_request,
            a_publication_counts_only_on_the_version_it_was_compared_with,
            a_user_accepts_only_the_present_version,
            a_user_adds_only_the_present_version_and_once,
            accepted_versions_are_those_of_relations_that_stand,
            agents_are_kept_and_listed_by_id,
            an_ended_relation_stays_ended_and_can_begin_anew,
            many_publish_without_a_gap_or_a_repeat,
            notices_go_to_those_who_accepted_the_version,
            notices_that_nobody_read_are_replaced,
            reading_a_notice_is_for_its_user,
            versions_are_kept_as_they_were_and_come_in_pages,
            what_is_unknown_is_said_to_be,
        }
    };
    (@each $place:expr; $($case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::registry::$case(&$place).await;
            }
        )*
    };
}

fn agent(id: &str, owner: &str) -> Agent {
    Agent {
        id: id.to_owned(),
        name: format!("{id} ☃ '\"\0"),
        owner: owner.to_owned(),
        created_at_ms: 7,
        version: 0,
        hash: None,
        bytes: 0,
    }
}

fn publication(agent: &str, base: u64, content: &str) -> Publication {
    Publication {
        agent: agent.to_owned(),
        base,
        hash: format!("hash of {content}"),
        canonical: format!("{{\"content\":\"{content} ☃\"}}"),
        bytes: 70_000,
        changes: ChangeTexts::default(),
        retry: None,
        notices: Notices::Leave,
        at: at(1),
    }
}

fn seen(user: &str, version: u64, at_ms: i64) -> Seen {
    Seen { user: user.to_owned(), agent: "a".to_owned(), version, at_ms }
}

fn relation(user: &str, accepted_version: u64, added_at_ms: i64) -> Relation {
    let (user, agent) = (user.to_owned(), "a".to_owned());
    Relation { user, agent, accepted_version, added_at_ms, ended_at_ms: None }
}

/// Opens a registry with the agent `a` and so many versions.
async fn with_versions(place: &dyn RegistryPlace, count: u64) -> Arc<dyn Registry> {
    let registry = place.open().await;
    assert_eq!(registry.create(agent("a", "olga")).await, Ok(true));
    for base in 0..count {
        let written = registry.publish(publication("a", base, &format!("{base}"))).await;
        assert_eq!(written, Ok(Written::As(base + 1)));
    }
    registry
}

async fn adds(registry: &dyn Registry, user: &str, version: u64) {
    let looked = registry.add(seen(user, version, 5)).await;
    assert_eq!(looked, Ok(Looked::Counts(relation(user, version, 5))));
}

async fn notices(registry: &dyn Registry, user: &str, unread: bool) -> Vec<Notice> {
    let query = NoticeQuery { user: user.to_owned(), unread, page: Page::default() };
    registry.notices(query).await.expect("notices")
}

fn card(accepted: u64, text: &str) -> Card {
    Card { accepted, body: json!({"text": text}).to_string() }
}

/// Publishes the next version with cards.
async fn tells(registry: &dyn Registry, cards: Vec<Card>) -> u64 {
    let base = registry.agent("a").await.expect("an answer").expect("an agent").version;
    let notices = Notices::Replace(cards);
    let new = Publication { notices, ..publication("a", base, &format!("{base} told")) };
    assert_eq!(registry.publish(new).await, Ok(Written::As(base + 1)));
    base + 1
}

/// An id is used once; lists go by owner and by page.
pub async fn agents_are_kept_and_listed_by_id(place: &dyn RegistryPlace) {
    let registry = place.open().await;
    assert_eq!(registry.agents(AgentQuery::default()).await, Ok(Vec::new()));
    for (id, owner) in [("b", "olga"), ("a", "olga"), ("c", "ivan")] {
        assert_eq!(registry.create(agent(id, owner)).await, Ok(true));
    }
    assert_eq!(registry.create(agent("a", "eve")).await, Ok(false));
    drop(registry);
    let registry = place.open().await;
    assert_eq!(registry.agent("a").await, Ok(Some(agent("a", "olga"))));
    let listed = async |query: AgentQuery| {
        let agents = registry.agents(query).await.expect("agents");
        agents.into_iter().map(|agent| agent.id).collect::<Vec<_>>()
    };
    let query = |owner: Option<&str>, after: Option<&str>, limit| AgentQuery {
        owner: owner.map(str::to_owned),
        after: after.map(str::to_owned),
        limit,
    };
    assert_eq!(listed(query(None, None, None)).await, ["a", "b", "c"]);
    assert_eq!(listed(query(None, Some("a"), Some(1))).await, ["b"]);
    assert_eq!(listed(query(Some("olga"), None, None)).await, ["a", "b"]);
    assert_eq!(listed(query(Some("olga"), Some("a"), None)).await, ["b"]);
    assert_eq!(listed(query(Some("nobody"), None, None)).await, [""; 0]);
}

/// The agent and the version say the same, also after opening again.
pub async fn versions_are_kept_as_they_were_and_come_in_pages(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 3).await;
    let changes = ChangeTexts {
        breaking: r#"[{"rule":"x"}]"#.to_owned(),
        non_breaking: r#"[{"rule":"y"}]"#.to_owned(),
        consent: r#"[{"rule":"z","message":"☃"}]"#.to_owned(),
    };
    let new = Publication { changes: changes.clone(), ..publication("a", 3, "last") };
    assert_eq!(registry.publish(new.clone()).await, Ok(Written::As(4)));
    drop(registry);
    let registry = place.open().await;
    let kept = AgentVersion {
        agent: "a".to_owned(),
        version: 4,
        hash: new.hash.clone(),
        canonical: new.canonical,
        bytes: 70_000,
        at_ms: at(1).wall_ms,
        changes,
    };
    assert_eq!(registry.version("a", 4).await, Ok(Some(kept)));
    let now = Agent { version: 4, hash: Some(new.hash), bytes: 70_000, ..agent("a", "olga") };
    assert!(now.warning().is_some());
    assert_eq!(registry.agent("a").await, Ok(Some(now)));
    let heads = registry.versions("a", Page::default()).await.expect("versions");
    let told: Vec<_> = heads.iter().map(|h| (h.version, h.is_breaking, h.asks_consent)).collect();
    assert_eq!(told, [(1, false, false), (2, false, false), (3, false, false), (4, true, true)]);
    let page = registry.versions("a", Page { after: 1, limit: Some(2) }).await.expect("versions");
    assert_eq!(page, heads[1..3]);
    assert_eq!(registry.version("a", 5).await, Ok(None));
    assert_eq!(registry.version("a", 0).await, Ok(None));
}

/// Whoever compared with another version is told the present one, and nothing is kept.
pub async fn a_publication_counts_only_on_the_version_it_was_compared_with(
    place: &dyn RegistryPlace,
) {
    let registry = with_versions(place, 2).await;
    for base in [0, 1, 3, u64::MAX] {
        let retry = Some(Retry { key: "k".to_owned(), request: "r".to_owned() });
        let stale = Publication { retry, ..publication("a", base, "stale") };
        assert_eq!(registry.publish(stale).await, Ok(Written::Moved(2)), "{base}");
    }
    assert_eq!(registry.retried("a", "k").await, Ok(None), "what was refused uses up no key");
    assert_eq!(registry.versions("a", Page::default()).await.expect("versions").len(), 2);
    assert_eq!(
        registry.publish(publication("a", 2, "0")).await,
        Ok(Written::As(3)),
        "as the first"
    );
}

/// The same request again gets its version; another with the same key gets nothing. It holds for a
/// day, however much comes between, and for one agent.
pub async fn a_key_is_for_one_request(place: &dyn RegistryPlace) {
    let registry = with_versions(place, 0).await;
    assert_eq!(registry.create(agent("b", "olga")).await, Ok(true));
    let new = |agent: &str, base, key: &str, request: &str, ms| Publication {
        retry: Some(Retry { key: key.to_owned(), request: request.to_owned() }),
        at: at(ms),
        ..publication(agent, base, "x")
    };
    assert_eq!(registry.publish(new("a", 0, "k", "r", 0)).await, Ok(Written::As(1)));
    // Whatever version it was compared with.
    for base in [0, 1] {
        assert_eq!(registry.publish(new("a", base, "k", "r", 0)).await, Ok(Written::Before(1)));
        assert_eq!(registry.publish(new("a", base, "k", "s", 0)).await, Ok(Written::KeyTaken));
    }
    assert_eq!(registry.publish(new("b", 0, "k", "s", 0)).await, Ok(Written::As(1)));
    for n in 1..9 {
        let next = new("a", n, &format!("k{n}"), "r", RETRY_MS);
        assert_eq!(registry.publish(next).await, Ok(Written::As(n + 1)));
    }
    drop(registry);
    let registry = place.open().await;
    assert_eq!(registry.retried("a", "k").await, Ok(Some(("r".to_owned(), 1))), "a day later");
    assert_eq!(registry.publish(new("a", 9, "k", "r", RETRY_MS)).await, Ok(Written::Before(1)));
    assert_eq!(registry.retried("b", "k").await, Ok(Some(("s".to_owned(), 1))));
    assert_eq!(registry.retried("a", "K").await, Ok(None));
}

/// However many publish at once through however many stores, versions are 1 to N.
pub async fn many_publish_without_a_gap_or_a_repeat(place: &dyn RegistryPlace) {
    const CROWD: u64 = 16;
    const EACH: u64 = 5;
    let one = with_versions(place, 0).await;
    let both = [Arc::clone(&one), place.open().await];
    let tasks: Vec<_> = (0..CROWD)
        .map(|n| {
            let registry = Arc::clone(&both[usize::from(n % 2 == 0)]);
            tokio::spawn(async move {
                let mut base = 0;
                let mut got = Vec::new();
                while got.len() < usize::try_from(EACH).expect("a size") {
                    match registry.publish(publication("a", base, &format!("{n} {base}"))).await {
                        Ok(Written::As(version)) => {
                            assert_eq!(version, base + 1);
                            got.push((version, n, base));
                            base = version;
                        }
                        Ok(Written::Moved(current)) => base = current,
                        other => panic!("{other:?}"),
                    }
                }
                got
            })
        })
        .collect();
    let mut got = Vec::new();
    for task in tasks {
        got.extend(task.await.expect("a task that does not panic"));
    }
    got.sort_unstable();
    let heads = one.versions("a", Page::default()).await.expect("versions");
    assert_eq!(heads.len(), got.len());
    for ((head, (version, n, base)), number) in heads.iter().zip(&got).zip(1..) {
        assert_eq!((head.version, *version), (number, number));
        assert_eq!(head.hash, format!("hash of {n} {base}"));
    }
}

/// An agent that is not there can be told from one that stands still.
pub async fn what_is_unknown_is_said_to_be(place: &dyn RegistryPlace) {
    let registry = place.open().await;
    assert_eq!(registry.agent("a").await, Ok(None));
    assert_eq!(registry.publish(publication("a", 0, "x")).await, Ok(Written::UnknownAgent));
    assert_eq!(registry.add(seen("ann", 1, 1)).await, Ok(Looked::UnknownAgent));
    assert_eq!(registry.accept(seen("ann", 1, 1)).await, Ok(Looked::UnknownAgent));
    assert_eq!(registry.end("ann", "a", 1).await, Ok(None));
    assert_eq!(registry.standing("ann", "a").await, Ok(None));
    assert_eq!(registry.relations("ann").await, Ok(Vec::new()));
    assert_eq!(registry.versions("a", Page::default()).await, Ok(Vec::new()));
    assert_eq!(registry.retried("a", "k").await, Ok(None));
    assert_eq!(notices(&*registry, "ann", false).await, []);
    assert_eq!(registry.create(agent("a", "olga")).await, Ok(true));
    let standing = Standing { agent: agent("a", "olga"), relation: None };
    assert_eq!(registry.standing("ann", "a").await, Ok(Some(standing)));
}

#[cfg(test)]
mod tests {
    use super::MemoryRegistryPlace;

    crate::registry_conformance!(MemoryRegistryPlace::default());

    #[test]
    fn every_case_is_in_the_list() {
        let source = include_str!("registry.rs");
        let (list, cases) = source.split_once("fn agent(").expect("the list and the cases");
        let lines = cases.lines().chain(include_str!("registry/relations.rs").lines());
        for case in lines.filter_map(|line| line.strip_prefix("pub async fn ")) {
            let name = case.split('(').next().unwrap_or_default();
            assert!(list.contains(&format!(" {name},")), "{name}");
        }
    }
}
