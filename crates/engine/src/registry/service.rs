//! Agents: made, found, listed.

use std::sync::Arc;

use remit_model::text;

use super::draft::{Kept, aside};
use super::error::RegistryError;
use super::offer::Views;
use super::port::{Registry, Standing};
use super::record::{Agent, AgentVersion};
use super::slots::Slots;
use crate::policy::Policy;
use crate::ports::{Clock, Store, StoreError};

/// How long an agent's name may be, in characters.
const LONGEST_NAME: usize = 64;

/// Is the registry of agents with its rules. One for a process; several processes may share what is
/// kept.
pub struct Agents {
    pub(super) registry: Arc<dyn Registry>,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) slots: Slots,
    pub(super) views: Views,
}

impl Agents {
    /// Puts it together.
    #[must_use]
    pub fn new(
        registry: Arc<dyn Registry>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        policy: Arc<Policy>,
    ) -> Self {
        Self { registry, store, clock, slots: Slots::default(), views: Views::under(policy) }
    }

    /// Goes on under another policy of the operator's.
    pub fn under(&self, policy: Arc<Policy>) {
        self.views.change(policy);
    }

    /// Gives what is kept, for the questions that need no rules.
    #[must_use]
    pub fn registry(&self) -> &Arc<dyn Registry> {
        &self.registry
    }

    /// Makes an agent that has declared nothing yet.
    pub async fn create(&self, name: &str, owner: &str) -> Result<Agent, RegistryError> {
        check_name(name)?;
        let agent = Agent {
            id: uuid::Uuid::now_v7().to_string(),
            name: name.to_owned(),
            owner: owner.to_owned(),
            created_at_ms: self.clock.now().wall_ms,
            version: 0,
            hash: None,
            bytes: 0,
        };
        if self.registry.create(agent.clone()).await? {
            Ok(agent)
        } else {
            Err(StoreError::new("an id was drawn twice: try again").into())
        }
    }

    /// Finds an agent.
    pub async fn agent(&self, id: &str) -> Result<Agent, RegistryError> {
        self.registry.agent(id).await?.ok_or(RegistryError::UnknownAgent)
    }

    /// Finds a version, the present one if none is named.
    pub async fn version(
        &self,
        agent: &str,
        version: Option<u64>,
    ) -> Result<AgentVersion, RegistryError> {
        let known = self.agent(agent).await?;
        let version = match version {
            Some(version) => version,
            None if known.version == 0 => return Err(RegistryError::NothingPublished),
            None => known.version,
        };
        let found = self.registry.version(agent, version).await?;
        found.ok_or(RegistryError::UnknownVersion { version })
    }

    /// Finds where a user and an agent stand.
    pub async fn standing(&self, user: &str, agent: &str) -> Result<Standing, RegistryError> {
        self.registry.standing(user, agent).await?.ok_or(RegistryError::UnknownAgent)
    }

    /// Reads a version back into a tree.
    pub(super) async fn kept(&self, agent: &str, version: u64) -> Result<Kept, RegistryError> {
        let found = self.registry.version(agent, version).await?;
        let found = found.ok_or(RegistryError::UnknownVersion { version })?;
        Ok(aside(move || Kept::read(found)).await??)
    }
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Agents")
    }
}

/// Refuses names that people could not read or tell apart from nothing.
fn check_name(name: &str) -> Result<(), RegistryError> {
    let bad = |message: String| Err(RegistryError::BadName { message });
    if name.is_empty() || name.trim() != name {
        return bad(format!(
            "{} is no name for an agent: start and end it with something that can be seen",
            text::quoted(name)
        ));
    }
    if name.chars().count() > LONGEST_NAME {
        return bad(format!("an agent's name has at most {LONGEST_NAME} characters: shorten it"));
    }
    if name.contains(text::is_hidden) {
        return bad(format!(
            "{} has a character that cannot be seen: take it out",
            text::quoted(name)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_64_characters_and_can_be_seen() {
        for good in ["DemoBot", "a", "演示机器人", "Ann's helper 2", &"é".repeat(LONGEST_NAME)]
        {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "é".repeat(LONGEST_NAME + 1);
        for bad in ["", " ", " a", "a\n", "a\u{202e}b", "a\u{200b}b", "a\0", &long] {
            assert!(matches!(check_name(bad), Err(RegistryError::BadName { .. })), "{bad:?}");
        }
    }
}
