//! A registry that forgets everything when the last handle goes: for tests of what uses one.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use remit_engine::ports::{Pending, StoreError};
use remit_engine::registry::{
    Agent, AgentQuery, AgentVersion, Card, Looked, Notice, NoticeKind, NoticeQuery, Notices, Page,
    Publication, Registry, Relation, Seen, Standing, VersionHead, Written,
};

/// Keeps agents in memory. Clones share what they keep.
#[derive(Clone, Debug, Default)]
pub struct MemoryRegistry(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    agents: BTreeMap<String, Agent>,
    versions: HashMap<String, Vec<AgentVersion>>,
    /// By agent and key: the hash of the request and its version.
    retries: HashMap<(String, String), (String, u64)>,
    /// By user and agent.
    relations: BTreeMap<(String, String), Relation>,
    notices: Vec<Notice>,
    last_notice: u64,
}

impl MemoryRegistry {
    fn does<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut State) -> T,
    ) -> Pending<'a, Result<T, StoreError>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut state);
        drop(state);
        Box::pin(ready(Ok(done)))
    }
}

fn pair(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

impl State {
    fn publish(&mut self, new: Publication) -> Written {
        let known = new.retry.as_ref().and_then(|r| self.retries.get(&pair(&new.agent, &r.key)));
        if let (Some(retry), Some((request, version))) = (&new.retry, known) {
            let is_same = *request == retry.request;
            return if is_same { Written::Before(*version) } else { Written::KeyTaken };
        }
        let Some(agent) = self.agents.get_mut(&new.agent) else { return Written::UnknownAgent };
        if agent.version != new.base {
            return Written::Moved(agent.version);
        }
        agent.version += 1;
        agent.hash = Some(new.hash.clone());
        agent.bytes = new.bytes;
        let version = agent.version;
        if let Some(retry) = new.retry {
            self.retries.insert((new.agent.clone(), retry.key), (retry.request, version));
        }
        if let Notices::Replace(cards) = &new.notices {
            self.replace_notices(&new.agent, cards, new.at.wall_ms);
        }
        self.versions.entry(new.agent.clone()).or_default().push(AgentVersion {
            agent: new.agent,
            version,
            hash: new.hash,
            canonical: new.canonical,
            bytes: new.bytes,
            at_ms: new.at.wall_ms,
            changes: new.changes,
        });
        Written::As(version)
    }

    fn replace_notices(&mut self, agent: &str, cards: &[Card], at_ms: i64) {
        self.notices.retain(|notice| notice.read || notice.agent != agent);
        for card in cards {
            let told = self.relations.values().filter(|relation| {
                relation.stands()
                    && relation.agent == agent
                    && relation.accepted_version == card.accepted
            });
            for relation in told {
                self.last_notice += 1;
                self.notices.push(Notice {
                    id: self.last_notice,
                    user: relation.user.clone(),
                    agent: agent.to_owned(),
                    kind: NoticeKind::Review,
                    body: serde_json::from_str(&card.body).expect("a card is JSON"),
                    at_ms,
                    read: false,
                });
            }
        }
    }

    fn add(&mut self, seen: Seen) -> Looked {
        let Some(agent) = self.agents.get(&seen.agent) else { return Looked::UnknownAgent };
        let key = pair(&seen.user, &seen.agent);
        if let Some(relation) = self.relations.get(&key).filter(|relation| relation.stands()) {
            return Looked::Counts(relation.clone());
        }
        if agent.version != seen.version || agent.version == 0 {
            return Looked::Moved(agent.version);
        }
        let relation = Relation {
            user: seen.user,
            agent: seen.agent,
            accepted_version: seen.version,
            added_at_ms: seen.at_ms,
            ended_at_ms: None,
        };
        self.relations.insert(key, relation.clone());
        Looked::Counts(relation)
    }

    fn accept(&mut self, seen: &Seen) -> Looked {
        let Some(agent) = self.agents.get(&seen.agent) else { return Looked::UnknownAgent };
        let relation = self.relations.get_mut(&pair(&seen.user, &seen.agent));
        let Some(relation) = relation.filter(|relation| relation.stands()) else {
            return Looked::NotAdded;
        };
        if agent.version != seen.version {
            return Looked::Moved(agent.version);
        }
        relation.accepted_version = seen.version;
        for notice in &mut self.notices {
            notice.read |= notice.user == seen.user && notice.agent == seen.agent;
        }
        Looked::Counts(relation.clone())
    }

    fn end(&mut self, user: &str, agent: &str, at_ms: i64) -> Option<Relation> {
        let relation = self.relations.get_mut(&pair(user, agent))?;
        if relation.stands() {
            relation.ended_at_ms = Some(at_ms);
            self.notices.retain(|n| n.read || n.user != user || n.agent != agent);
        }
        Some(relation.clone())
    }

    fn accepted(&self, agent: &str) -> Vec<u64> {
        let ours = self.relations.values().filter(|r| r.stands() && r.agent == agent);
        let mut versions: Vec<u64> = ours.map(|relation| relation.accepted_version).collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        versions.dedup();
        versions
    }
}

fn head(version: &AgentVersion) -> VersionHead {
    VersionHead {
        version: version.version,
        hash: version.hash.clone(),
        bytes: version.bytes,
        at_ms: version.at_ms,
        is_breaking: version.changes.is_breaking(),
        asks_consent: version.changes.asks_consent(),
    }
}

impl Registry for MemoryRegistry {
    fn create(&self, agent: Agent) -> Pending<'_, Result<bool, StoreError>> {
        self.does(|state| {
            let is_free = !state.agents.contains_key(&agent.id);
            if is_free {
                state.agents.insert(agent.id.clone(), agent);
            }
            is_free
        })
    }

    fn agent(&self, id: &str) -> Pending<'_, Result<Option<Agent>, StoreError>> {
        self.does(|state| state.agents.get(id).cloned())
    }

    fn agents(&self, query: AgentQuery) -> Pending<'_, Result<Vec<Agent>, StoreError>> {
        self.does(|state| {
            let fits = |agent: &&Agent| {
                query.owner.as_ref().is_none_or(|owner| agent.owner == *owner)
                    && query.after.as_ref().is_none_or(|after| agent.id > *after)
            };
            let found = state.agents.values().filter(fits);
            found.take(query.limit.unwrap_or(usize::MAX)).cloned().collect()
        })
    }

    fn publish(&self, publication: Publication) -> Pending<'_, Result<Written, StoreError>> {
        self.does(|state| state.publish(publication))
    }

    fn version(
        &self,
        agent: &str,
        version: u64,
    ) -> Pending<'_, Result<Option<AgentVersion>, StoreError>> {
        self.does(|state| {
            state.versions.get(agent)?.iter().find(|kept| kept.version == version).cloned()
        })
    }

    fn versions(
        &self,
        agent: &str,
        page: Page,
    ) -> Pending<'_, Result<Vec<VersionHead>, StoreError>> {
        self.does(|state| {
            let all = state.versions.get(agent).into_iter().flatten();
            let found = all.filter(|version| version.version > page.after);
            found.take(page.limit.unwrap_or(usize::MAX)).map(head).collect()
        })
    }

    fn retried(
        &self,
        agent: &str,
        key: &str,
    ) -> Pending<'_, Result<Option<(String, u64)>, StoreError>> {
        self.does(|state| state.retries.get(&pair(agent, key)).cloned())
    }

    fn accepted(&self, agent: &str) -> Pending<'_, Result<Vec<u64>, StoreError>> {
        self.does(|state| state.accepted(agent))
    }

    fn add(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>> {
        self.does(|state| state.add(seen))
    }

    fn accept(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>> {
        self.does(|state| state.accept(&seen))
    }

    fn end(
        &self,
        user: &str,
        agent: &str,
        at_ms: i64,
    ) -> Pending<'_, Result<Option<Relation>, StoreError>> {
        self.does(|state| state.end(user, agent, at_ms))
    }

    fn standing(
        &self,
        user: &str,
        agent: &str,
    ) -> Pending<'_, Result<Option<Standing>, StoreError>> {
        self.does(|state| {
            let relation = state.relations.get(&pair(user, agent)).cloned();
            state.agents.get(agent).map(|agent| Standing { agent: agent.clone(), relation })
        })
    }

    fn relations(&self, user: &str) -> Pending<'_, Result<Vec<Relation>, StoreError>> {
        self.does(|state| {
            let ours = state.relations.values().filter(|relation| relation.user == user);
            ours.cloned().collect()
        })
    }

    fn notices(&self, query: NoticeQuery) -> Pending<'_, Result<Vec<Notice>, StoreError>> {
        self.does(|state| {
            let fits = |notice: &&Notice| {
                notice.user == query.user
                    && notice.id > query.page.after
                    && !(query.unread && notice.read)
            };
            let found = state.notices.iter().filter(fits);
            found.take(query.page.limit.unwrap_or(usize::MAX)).cloned().collect()
        })
    }

    fn read_notice(&self, user: &str, id: u64) -> Pending<'_, Result<bool, StoreError>> {
        self.does(|state| {
            let found = state.notices.iter_mut().find(|n| n.user == user && n.id == id);
            found.map(|notice| notice.read = true).is_some()
        })
    }
}
