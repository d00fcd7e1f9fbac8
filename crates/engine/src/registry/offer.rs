//! What the pipeline asks the registry: whether an agent's tool is there for a user, and whether
//! anything stands in its way.
//!
//! The catalog is one snapshot for everybody. What a user may call of an agent depends on the version
//! they accepted, so it is laid over the catalog call by call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_model::{Caller, Denial, Failure, Outcome, text};
use serde_json::json;

use super::draft::aside;
use super::error::RegistryError;
use super::port::Standing;
use super::record::Relation;
use super::service::Agents;
use super::view::View;
use crate::catalog::Entry;
use crate::policy::Policy;
use crate::ports::{Pending, StoreError};
use crate::stage::authorise::{Decision, Verdict};

/// How large the manifests of all remembered views together may be, in bytes. A view takes many times
/// as much.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// What a view counts for at least.
const LEAST_BYTES: u64 = 16 * 1024;

/// Is what an agent offers to a user.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What there is.
    pub view: Arc<View>,
    /// Whether the user has removed the agent.
    pub is_over: bool,
}

impl Offer {
    /// Finds a capability, also one that waits or is over: whether it may run is another question.
    #[must_use]
    pub fn entry(&self, capability: &str) -> Option<&Arc<Entry>> {
        self.view.entry(capability)
    }

    /// Says why a call cannot run whatever was granted; none if nothing stands in its way. It is to be
    /// asked after the group and the operator, and before the grants.
    #[must_use]
    pub fn refusal(&self, capability: &str) -> Option<Decision> {
        if self.is_over {
            return Some(Decision {
                rule: "agent-removed",
                because: "the user has removed the agent".to_owned(),
                verdict: Verdict::Refuse(Outcome::Denied { reason: Denial::PermissionRevoked }),
            });
        }
        let holds = self.view.why_held(capability)?;
        let because = format!(
            "{} changed since version {}, which the user accepted: it waits until they have \
             reviewed version {}",
            text::quoted(capability),
            self.view.accepted(),
            self.view.current()
        );
        let failure = Failure::new("REVIEW_NEEDED", because.clone()).with_details(json!({
            "accepted_version": self.view.accepted(),
            "version": self.view.current(),
            "changes": holds,
        }));
        let verdict = Verdict::Refuse(Outcome::Failed(failure));
        Some(Decision { rule: "review-needed", because, verdict })
    }
}

/// Tells what agents offer to a user.
pub trait Offers: Send + Sync {
    /// Finds the offer that a capability belongs to; none if it is no agent's, or of an agent that
    /// this user never added or that is not the caller.
    fn offer<'a>(
        &'a self,
        caller: &'a Caller,
        capability: &'a str,
    ) -> Pending<'a, Result<Option<Offer>, StoreError>>;

    /// Lists the offers of all agents that a caller can call tools of.
    fn offers<'a>(&'a self, caller: &'a Caller) -> Pending<'a, Result<Vec<Offer>, StoreError>>;
}

impl Offers for Agents {
    fn offer<'a>(
        &'a self,
        caller: &'a Caller,
        capability: &'a str,
    ) -> Pending<'a, Result<Option<Offer>, StoreError>> {
        Box::pin(async move {
            let Some(agent) = agent_of(capability).filter(|agent| is_for(caller, agent)) else {
                return Ok(None);
            };
            match self.registry.standing(&caller.user, agent).await? {
                Some(Standing { agent, relation: Some(relation) }) => {
                    self.offered(agent, &relation).await.map(Some)
                }
                _ => Ok(None),
            }
        })
    }

    fn offers<'a>(&'a self, caller: &'a Caller) -> Pending<'a, Result<Vec<Offer>, StoreError>> {
        Box::pin(async move {
            let mut offers = Vec::new();
            for relation in self.registry.relations(&caller.user).await? {
                if relation.stands()
                    && is_for(caller, &relation.agent)
                    && let Some(agent) = self.registry.agent(&relation.agent).await?
                {
                    offers.push(self.offered(agent, &relation).await?);
                }
            }
            Ok(offers)
        })
    }
}

impl Agents {
    async fn offered(&self, agent: super::Agent, relation: &Relation) -> Result<Offer, StoreError> {
        let is_over = !relation.stands();
        let key = (agent.id.clone(), relation.accepted_version, agent.version);
        let policy = match self.views.find(&key) {
            Ok(view) => return Ok(Offer { view, is_over }),
            Err(policy) => policy,
        };
        let read = async {
            let accepted = self.kept(&agent.id, relation.accepted_version).await?;
            let current = self.kept(&agent.id, agent.version).await?;
            Ok::<_, RegistryError>((accepted, current))
        };
        let (accepted, current) = read.await.map_err(|error| match error {
            RegistryError::Store(error) => error,
            other => StoreError::new(other.to_string()),
        })?;
        let under = Arc::clone(&policy);
        let bytes = agent.bytes;
        let view = aside(move || View::build(&agent, &accepted, &current, under)).await?;
        let view = Arc::new(view);
        self.views.keep(key, bytes, &view, &policy);
        Ok(Offer { view, is_over })
    }
}

/// Gives the agent that a qualified name belongs to, if it has the form `agent-id/tool_name`.
#[must_use]
pub fn agent_of(capability: &str) -> Option<&str> {
    let (agent, tool) = capability.split_once('/')?;
    (!tool.is_empty() && uuid::Uuid::try_parse(agent).is_ok()).then_some(agent)
}

/// Tells whether a caller may see an agent's tools: the agent itself, or the person.
fn is_for(caller: &Caller, agent: &str) -> bool {
    caller.agent.as_deref().is_none_or(|own| own == agent)
}

/// The agent, the version that was accepted, and the present one.
type Key = (String, u64, u64);

/// Remembers views. What a view shows never changes, so it is forgotten only to make room, or when
/// the operator decides otherwise.
#[derive(Debug)]
pub(super) struct Views(Mutex<Known>);

#[derive(Debug)]
struct Known {
    policy: Arc<Policy>,
    views: HashMap<Key, Arc<View>>,
    bytes: u64,
}

impl Views {
    pub(super) fn under(policy: Arc<Policy>) -> Self {
        Self(Mutex::new(Known { policy, views: HashMap::new(), bytes: 0 }))
    }

    /// Forgets all and goes on under another policy.
    pub(super) fn change(&self, policy: Arc<Policy>) {
        *self.known() = Known { policy, views: HashMap::new(), bytes: 0 };
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a view, or gives the policy to build it under.
    fn find(&self, key: &Key) -> Result<Arc<View>, Arc<Policy>> {
        let known = self.known();
        known.views.get(key).map(Arc::clone).ok_or_else(|| Arc::clone(&known.policy))
    }

    fn keep(&self, key: Key, bytes: u64, view: &Arc<View>, policy: &Arc<Policy>) {
        let mut known = self.known();
        if !Arc::ptr_eq(&known.policy, policy) {
            return;
        }
        let bytes = bytes.max(LEAST_BYTES);
        if known.bytes + bytes > MOST_BYTES {
            known.views.clear();
            known.bytes = 0;
        }
        known.bytes += bytes;
        known.views.insert(key, Arc::clone(view));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_form_agent_and_tool_belong_to_an_agent() {
        let id = uuid::Uuid::now_v7().to_string();
        assert_eq!(agent_of(&format!("{id}/read")), Some(&*id));
        for other in ["", "file.read", "@server/tool", "#agent", "skill:x/y", "a/b", &id] {
            assert_eq!(agent_of(other), None, "{other}");
        }
        assert_eq!(agent_of(&format!("{id}/")), None);
    }

    #[test]
    fn views_are_remembered_until_they_take_too_much_room_or_the_policy_changes() {
        let policy = Arc::new(Policy::default());
        let views = Views::under(Arc::clone(&policy));
        let view = Arc::new(View::default());
        let key = |n: u64| ("a".to_owned(), n, n);
        for n in 0..MOST_BYTES / LEAST_BYTES {
            views.keep(key(n), 1, &view, &policy);
        }
        assert!(views.find(&key(0)).is_ok(), "as much as there is room");
        views.keep(key(u64::MAX), 1, &view, &policy);
        assert!(views.find(&key(0)).is_err(), "one more");
        assert!(views.find(&key(u64::MAX)).is_ok());
        views.change(Arc::new(Policy::default()));
        assert!(views.find(&key(u64::MAX)).is_err());
        views.keep(key(1), 1, &view, &policy);
        assert!(views.find(&key(1)).is_err(), "built under what no longer counts");
    }
}
