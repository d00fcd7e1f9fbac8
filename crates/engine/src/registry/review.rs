//! Users and agents: what is shown, added, reviewed, accepted and removed.

use std::collections::HashSet;

use remit_manifest::diff::{Changes, diff};
use remit_model::{Dialect, Instant, Permit};
use serde::Serialize;

use super::disclosure::Disclosure;
use super::draft::aside;
use super::error::RegistryError;
use super::held::Held;
use super::port::{Looked, Seen};
use super::record::{Agent, Relation};
use super::service::Agents;
use crate::ports::StoreError;

/// Is what a user has to look at: all that changed since the version they accepted.
#[derive(Debug, Serialize)]
pub struct Review {
    /// The agent, with its present version. Accepting names that.
    pub agent: Agent,
    /// The relation, with the version that was accepted.
    pub relation: Relation,
    /// What changed between the two.
    pub changes: Changes,
    /// The tools that wait until it is accepted, and why.
    pub held: Held,
}

impl Agents {
    /// Shows what an agent asks for, so that a user can decide to add it.
    pub async fn disclosure(&self, agent: &str) -> Result<Disclosure, RegistryError> {
        let agent = self.agent(agent).await?;
        if agent.version == 0 {
            return Err(RegistryError::NothingPublished);
        }
        let kept = self.kept(&agent.id, agent.version).await?;
        Ok(Disclosure::of(&agent, kept.version, &kept.hash, &kept.manifest()))
    }

    /// Adds an agent for a user who has seen the disclosure of a version. It counts only if that is
    /// the present one. An agent that is added stays as it was accepted.
    pub async fn add(
        &self,
        user: &str,
        agent: &str,
        version: u64,
    ) -> Result<Relation, RegistryError> {
        let standing = self.standing(user, agent).await?;
        if standing.agent.version == 0 {
            return Err(RegistryError::NothingPublished);
        }
        let now = self.clock.now();
        if !standing.relation.as_ref().is_some_and(Relation::stands) {
            // It begins anew: what was granted or taken back when it was added before is over.
            for permit in self.take_back(user, agent, &now).await? {
                self.store.lift(permit, now.clone()).await?;
            }
        }
        looked(self.registry.add(seen(user, agent, version, &now)).await?)
    }

    /// Accepts the version that a user has seen in a review. It counts only if that is the present
    /// one.
    pub async fn accept(
        &self,
        user: &str,
        agent: &str,
        version: u64,
    ) -> Result<Relation, RegistryError> {
        let now = self.clock.now();
        looked(self.registry.accept(seen(user, agent, version, &now)).await?)
    }

    /// Removes an agent for a user, with everything they granted to it.
    pub async fn remove(&self, user: &str, agent: &str) -> Result<Relation, RegistryError> {
        self.agent(agent).await?;
        let now = self.clock.now();
        let ended = self.registry.end(user, agent, now.wall_ms).await?;
        let ended = ended.ok_or(RegistryError::NotAdded)?;
        self.take_back(user, agent, &now).await?;
        Ok(ended)
    }

    /// Gives what a user has to look at.
    pub async fn review(&self, user: &str, agent: &str) -> Result<Review, RegistryError> {
        let standing = self.standing(user, agent).await?;
        let agent = standing.agent;
        let relation = standing.relation.filter(Relation::stands).ok_or(RegistryError::NotAdded)?;
        let old = self.kept(&agent.id, relation.accepted_version).await?;
        let new = self.kept(&agent.id, agent.version).await?;
        let review = aside(move || {
            let changes = diff(Dialect::Capability, &old.tree, &new.tree);
            let held = Held::between(&old.manifest(), &new.manifest(), &changes);
            Review { agent, relation, changes, held }
        });
        Ok(review.await?)
    }

    /// Compares any two versions of an agent.
    pub async fn diff(&self, agent: &str, old: u64, new: u64) -> Result<Changes, RegistryError> {
        self.agent(agent).await?;
        let old = self.kept(agent, old).await?;
        let new = self.kept(agent, new).await?;
        Ok(aside(move || diff(Dialect::Capability, &old.tree, &new.tree)).await?)
    }

    /// Takes back everything a user granted of an agent's; gives what that was.
    async fn take_back(
        &self,
        user: &str,
        agent: &str,
        now: &Instant,
    ) -> Result<HashSet<Permit>, StoreError> {
        let granted = self.store.granted_by(user).await?;
        let ours = granted.iter().filter(|grant| grant.source == agent);
        let permits: HashSet<Permit> = ours.map(remit_model::Grant::permit).collect();
        for permit in &permits {
            self.store.revoke(permit.clone(), now.clone()).await?;
        }
        Ok(permits)
    }
}

fn seen(user: &str, agent: &str, version: u64, now: &Instant) -> Seen {
    let (user, agent) = (user.to_owned(), agent.to_owned());
    Seen { user, agent, version, at_ms: now.wall_ms }
}

fn looked(looked: Looked) -> Result<Relation, RegistryError> {
    match looked {
        Looked::Counts(relation) => Ok(relation),
        Looked::Moved(current) => Err(RegistryError::Conflict { current }),
        Looked::NotAdded => Err(RegistryError::NotAdded),
        Looked::UnknownAgent => Err(RegistryError::UnknownAgent),
    }
}
