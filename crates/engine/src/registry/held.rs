//! Which tools wait until a user has looked: a pure function of two versions and their difference.
//!
//! Only what breaks or needs consent holds anything. A change of a tool holds that tool, a change of
//! a scope holds all tools under it; what is gone cannot be held, and a flag is no tool. What this
//! table does not know holds everything: a new rule must be thought about, not passed over.

use std::collections::BTreeMap;

use remit_manifest::diff::rules::{self, ChangeRule};
use remit_manifest::diff::{Change, Changes};
use remit_model::{Capability, Manifest, Permission};
use serde::Serialize;

/// Says how far a change reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No tool that is still there.
    Nothing,
    /// The tool it points at, or all tools under the scope it points at.
    Pointed,
    /// Every tool.
    Everything,
}

/// Lists how far each rule of a capability manifest reaches.
static REACHES: &[(&ChangeRule, Reach)] = &[
    // Nobody needs to see these.
    (&rules::DEFAULT_WRITTEN, Reach::Nothing),
    (&rules::VERSION_CHANGED, Reach::Nothing),
    (&rules::TIMEOUT_CHANGED, Reach::Nothing),
    (&rules::ORDER_CHANGED, Reach::Nothing),
    (&rules::TOOL_ADDED, Reach::Nothing),
    (&rules::SCOPE_ADDED, Reach::Nothing),
    (&rules::UNUSED_SCOPE_RAISED, Reach::Nothing),
    (&rules::FLAG_RAISED, Reach::Nothing),
    // What is gone cannot be called. A tool that was under a scope that is gone was moved, which is
    // a change of its own.
    (&rules::TOOL_REMOVED, Reach::Nothing),
    (&rules::SCOPE_REMOVED, Reach::Nothing),
    // A flag is about the conversation, not about a tool.
    (&rules::FLAG_WITHDRAWN, Reach::Nothing),
    (&rules::INPUT_SCHEMA_CHANGED, Reach::Pointed),
    (&rules::TOOL_ADDED_UNDER_KNOWN_SCOPE, Reach::Pointed),
    (&rules::TOOL_RENAMED, Reach::Pointed),
    (&rules::TOOL_REPOINTED, Reach::Pointed),
    (&rules::SENSITIVITY_RAISED, Reach::Pointed),
    (&rules::SENSITIVITY_LOWERED, Reach::Pointed),
    (&rules::SENSITIVITY_UNREADABLE, Reach::Pointed),
    (&rules::LOW_SCOPE_ADDED, Reach::Pointed),
    (&rules::SCOPE_RENAMED, Reach::Pointed),
    (&rules::CONSENT_TEXT_CHANGED, Reach::Pointed),
    (&rules::UNKNOWN_FIELD_CHANGED, Reach::Pointed),
    (&rules::SCHEMA_VERSION_CHANGED, Reach::Everything),
    (&rules::OTHER_CHANGE, Reach::Everything),
];

/// Says how far a rule reaches.
#[must_use]
pub fn reach(rule: &str) -> Reach {
    let known = REACHES.iter().find(|(known, _)| known.id == rule);
    known.map_or(Reach::Everything, |(_, reach)| *reach)
}

/// Says why a tool waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// The rule of the change.
    pub rule: &'static str,
    /// What happened, for a person.
    pub message: String,
}

/// Is the tools that wait, each with all the reasons why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Held(BTreeMap<String, Vec<Hold>>);

impl Held {
    /// Works out which tools of the new version wait for a user who accepted the old one.
    #[must_use]
    pub fn between(old: &Manifest, new: &Manifest, changes: &Changes) -> Self {
        let mut held = Self::default();
        // What needs consent may stand among what breaks as well.
        for change in changes.breaking.iter().chain(&changes.consent) {
            for tool in touched(old, new, change) {
                let holds = held.0.entry(tool.name.clone()).or_default();
                let hold = Hold { rule: change.rule, message: change.message.clone() };
                if !holds.contains(&hold) {
                    holds.push(hold);
                }
            }
        }
        held
    }

    /// Gives why a tool waits; none if it does not.
    #[must_use]
    pub fn why(&self, tool: &str) -> Option<&[Hold]> {
        self.0.get(tool).map(Vec::as_slice)
    }

    /// Lists the tools that wait, in order of name.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Tells whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Lists the tools of the new version that a change touches.
fn touched<'m>(old: &Manifest, new: &'m Manifest, change: &Change) -> Vec<&'m Capability> {
    let all = || new.capabilities.iter().collect();
    match reach(change.rule) {
        Reach::Nothing => Vec::new(),
        Reach::Everything => all(),
        Reach::Pointed => {
            // What is gone stands in the old version.
            let is_gone = change.before.is_some() && change.after.is_none();
            let names = place(&change.pointer)
                .and_then(|place| place.name(if is_gone { old } else { new }));
            match names {
                Some(Named::Tool(name)) => {
                    new.capabilities.iter().filter(|tool| tool.name == name).collect()
                }
                Some(Named::Scope(id)) => {
                    new.capabilities.iter().filter(|tool| scope(tool) == Some(id)).collect()
                }
                None => all(),
            }
        }
    }
}

/// Gives the scope a tool is under.
pub(super) fn scope(tool: &Capability) -> Option<&str> {
    match &tool.permission {
        Permission::Scope(id) => Some(id),
        Permission::Undeclared => None,
    }
}

enum Place {
    Tool(usize),
    Scope(usize),
}

enum Named<'m> {
    Tool(&'m str),
    Scope(&'m str),
}

impl Place {
    fn name<'m>(&self, manifest: &'m Manifest) -> Option<Named<'m>> {
        match *self {
            Self::Tool(at) => manifest.capabilities.get(at).map(|tool| Named::Tool(&tool.name)),
            Self::Scope(at) => manifest.scopes.get(at).map(|scope| Named::Scope(&scope.id)),
        }
    }
}

/// Reads what a pointer points into.
fn place(pointer: &str) -> Option<Place> {
    let mut steps = pointer.strip_prefix('/')?.split('/');
    let (list, at) = (steps.next()?, steps.next()?.parse().ok()?);
    match list {
        "tools" => Some(Place::Tool(at)),
        "permission_scopes" => Some(Place::Scope(at)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "held/tests.rs"]
mod tests;
