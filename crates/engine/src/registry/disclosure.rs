//! What a user sees before they add an agent. It is what makes silent calls fair.

use remit_model::{Manifest, Sensitivity};
use serde::Serialize;

use super::held::scope;
use super::record::Agent;

/// Is all that an agent asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disclosure {
    /// The agent.
    pub agent_id: String,
    /// Its name for people.
    pub agent_name: String,
    /// The version that is shown; adding the agent names it.
    pub version: u64,
    /// The hash of that version.
    pub hash: String,
    /// The permissions, those that take the most care first.
    pub scopes: Vec<DisclosedScope>,
}

/// Is one permission and what needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisclosedScope {
    /// Its id.
    pub id: String,
    /// The key of the text for it.
    pub label_i18n_key: String,
    /// How much care it takes.
    pub sensitivity: Sensitivity,
    /// Whether calls under it run without a question.
    pub is_silent: bool,
    /// What it is for.
    pub tools: Vec<DisclosedTool>,
}

/// Is one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisclosedTool {
    /// Its name.
    pub name: String,
    /// The key of the text for it.
    pub description_i18n_key: String,
}

impl Disclosure {
    /// Makes it from what an agent declares.
    #[must_use]
    pub fn of(agent: &Agent, version: u64, hash: &str, manifest: &Manifest) -> Self {
        let mut scopes: Vec<DisclosedScope> = manifest
            .scopes
            .iter()
            .map(|declared| DisclosedScope {
                id: declared.id.clone(),
                label_i18n_key: declared.label_i18n_key.clone(),
                sensitivity: declared.sensitivity,
                is_silent: declared.sensitivity == Sensitivity::Low,
                tools: Vec::new(),
            })
            .collect();
        let places: std::collections::HashMap<String, usize> =
            scopes.iter().enumerate().map(|(at, declared)| (declared.id.clone(), at)).collect();
        for tool in &manifest.capabilities {
            let place = scope(tool).and_then(|id| places.get(id)).copied();
            if let Some(declared) = place.and_then(|at| scopes.get_mut(at)) {
                declared.tools.push(DisclosedTool {
                    name: tool.name.clone(),
                    description_i18n_key: tool.description.clone(),
                });
            }
        }
        scopes.sort_by_key(|declared| std::cmp::Reverse(declared.sensitivity));
        Self {
            agent_id: agent.id.clone(),
            agent_name: agent.name.clone(),
            version,
            hash: hash.to_owned(),
            scopes,
        }
    }
}
