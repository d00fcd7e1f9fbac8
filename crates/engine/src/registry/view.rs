//! What one user may call of one agent, as a small catalog: the present version, seen from the
//! version that the user accepted. All users who accepted the same version share a view.

use std::sync::Arc;

use remit_manifest::diff::diff;
use remit_model::{Dialect, Manifest, Sensitivity};

use super::draft::Kept;
use super::held::{Held, Hold, scope};
use super::record::Agent;
use crate::catalog::{Catalog, Entry, Settings, Source};
use crate::policy::Policy;

/// Is what users who accepted one version may call.
#[derive(Debug, Default)]
pub struct View {
    agent: String,
    accepted: u64,
    current: u64,
    catalog: Catalog,
    held: Held,
}

/// Is a version and what it declares.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'m> {
    /// The hash.
    pub hash: &'m str,
    /// The manifest.
    pub manifest: &'m Manifest,
}

impl View {
    /// Works it out.
    pub(super) fn build(
        agent: &Agent,
        accepted: &Kept,
        current: &Kept,
        policy: Arc<Policy>,
    ) -> Self {
        let (old, new) = (accepted.manifest(), current.manifest());
        let changes = diff(Dialect::Capability, &accepted.tree, &current.tree);
        let held = Held::between(&old, &new, &changes);
        let old = Declared { hash: &accepted.hash, manifest: &old };
        let new = Declared { hash: &current.hash, manifest: &new };
        Self {
            agent: agent.id.clone(),
            accepted: accepted.version,
            current: current.version,
            catalog: Catalog::build(sources(agent, old, new), policy),
            held,
        }
    }

    /// Finds a capability by its qualified name.
    #[must_use]
    pub fn entry(&self, capability: &str) -> Option<&Arc<Entry>> {
        self.catalog.get(capability)
    }

    /// Lists what there is, also what waits, in order of name.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.catalog.entries()
    }

    /// Says why a capability waits for the user; none if it does not.
    #[must_use]
    pub fn why_held(&self, capability: &str) -> Option<&[Hold]> {
        let tool = capability.strip_prefix(&*self.agent)?.strip_prefix('/')?;
        self.held.why(tool)
    }

    /// Gives the version the users accepted.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Gives the agent's version that this is a view of.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.current
    }
}

/// Turns what an agent declares now into what a user who accepted an earlier version can call, under
/// names of the form `agent-id/tool_name`. Where the two differ in care, the stricter counts.
///
/// A grant holds for the declaration that was shown (its hash). What is under a scope of the accepted
/// version is bound to that version, so that it goes on working while other things change; what is
/// under a new scope is bound to the present one.
#[must_use]
pub fn sources(agent: &Agent, accepted: Declared<'_>, current: Declared<'_>) -> Vec<Source> {
    let is_known = |id: &str| accepted.manifest.scopes.iter().any(|known| known.id == id);
    let (known, new): (Vec<_>, Vec<_>) =
        current.manifest.capabilities.iter().partition(|tool| scope(tool).is_some_and(is_known));
    [(known, accepted.hash), (new, current.hash)]
        .into_iter()
        .filter(|(tools, _)| !tools.is_empty())
        .map(|(tools, hash)| {
            let capabilities = tools.into_iter().map(|tool| {
                let mut tool = tool.clone();
                tool.sensitivity = strictest(&tool, accepted.manifest);
                tool.name = format!("{}/{}", agent.id, tool.name);
                tool
            });
            let manifest = Manifest {
                name: Some(agent.name.clone()),
                capabilities: capabilities.collect(),
                ..header(current.manifest)
            };
            Source {
                name: agent.id.clone(),
                origin: format!("the agent {}", agent.name),
                root: None,
                manifest,
                hash: hash.to_owned(),
                settings: Ok(Settings::default()),
                problem: None,
            }
        })
        .collect()
}

/// Copies all but the capabilities.
fn header(manifest: &Manifest) -> Manifest {
    Manifest {
        version: manifest.version.clone(),
        scopes: manifest.scopes.clone(),
        flags: manifest.flags.clone(),
        ..Manifest::new(manifest.dialect)
    }
}

/// Gives the most care that a tool, or the scope it is under, takes or took.
fn strictest(tool: &remit_model::Capability, accepted: &Manifest) -> Option<Sensitivity> {
    let before = accepted.capabilities.iter().find(|old| old.name == tool.name);
    let scoped = scope(tool).and_then(|id| accepted.scopes.iter().find(|old| old.id == id));
    [tool.sensitivity, before.and_then(|old| old.sensitivity), scoped.map(|old| old.sensitivity)]
        .into_iter()
        .max()
        .flatten()
}
