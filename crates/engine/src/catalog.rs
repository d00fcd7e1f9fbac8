//! What can be called: an immutable snapshot, swapped whole.
//!
//! A snapshot is built from sources: checked manifests with their settings. Validators are compiled
//! here, once, so that a call costs the same among ten capabilities and among ten thousand.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use remit_manifest::schema::validator::Validator;
use remit_model::name::folded;
use remit_model::{Caller, Capability, Manifest, Sensitivity};
use serde_json::{Map, Value};

use crate::policy::Policy;
use crate::redact::Redactor;
use crate::screen::Screen;

/// Is what declares capabilities: one manifest, where it came from and how it is set up.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name: the tool's, the skill's id, the agent's.
    pub name: String,
    /// Where it was read, for people.
    pub origin: String,
    /// The directory its files stay inside; none for what is built in.
    pub root: Option<PathBuf>,
    /// What it declares.
    pub manifest: Manifest,
    /// The hash of that.
    pub hash: String,
    /// How it is set up, or why it cannot be.
    pub settings: Result<Settings, String>,
    /// What else stands in the way: an unmet dependency, a newer version that is broken.
    pub problem: Option<Problem>,
}

/// Says what is wrong with a source, and whether it can be used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// In words.
    pub message: String,
    /// Whether the last good version goes on working.
    pub usable: bool,
}

/// Is a tool's checked configuration.
#[derive(Clone, Default)]
pub struct Settings {
    /// The values, defaults included.
    pub values: Map<String, Value>,
    /// Finds its secrets in what the tool says.
    pub redactor: Redactor,
    /// Tells one set of values from another without holding them.
    pub fingerprint: String,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Settings({} values)", self.values.len())
    }
}

/// Says whether a capability can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It can.
    Ready,
    /// It can, but something is to be said.
    Stale(String),
    /// Its author or its operator switched it off.
    Disabled,
    /// It cannot, and why.
    Broken(String),
}

/// Is one capability in the catalog.
#[derive(Debug)]
pub struct Entry {
    /// What it declares.
    pub capability: Capability,
    /// What declares it.
    pub source: Arc<Source>,
    /// The permission that counts.
    pub scope: String,
    /// The care that counts.
    pub sensitivity: Sensitivity,
    /// Whether it can be called.
    pub state: State,
    validator: Option<Validator>,
}

impl Entry {
    /// Gives the compiled input schema; none if it did not compile, and then it cannot be called.
    #[must_use]
    pub fn validator(&self) -> Option<&Validator> {
        self.validator.as_ref()
    }
}

/// Is the snapshot.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: HashMap<String, Arc<Entry>>,
    /// In order of name, for lists.
    names: Vec<String>,
    /// The policy it was made under.
    policy: Arc<Policy>,
    clashes: Vec<String>,
    screen: Screen,
}

impl Catalog {
    /// Builds a snapshot. Names that clash cannot be called, none of them, and that is said.
    #[must_use]
    pub fn build(sources: Vec<Source>, policy: Arc<Policy>) -> Self {
        let mut by_fold: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        let taken = taken_twice(&sources);
        let settings = sources.iter().filter_map(|source| source.settings.as_ref().ok());
        let screen = Screen::new(settings.map(|settings| &settings.redactor));
        for mut source in sources {
            if let Some(clash) = taken.get(&folded(&source.name)) {
                // Settings belong to a name. Of two that have it, neither can be told to be theirs.
                source.settings = Err(format!("{clash}; rename one of them"));
            }
            let source = Arc::new(source);
            for capability in &source.manifest.capabilities {
                let entry = entry(capability.clone(), Arc::clone(&source), &policy);
                by_fold.entry(folded(&capability.name)).or_default().push(entry);
            }
        }
        let mut catalog = Self { policy, screen, ..Self::default() };
        for entries in by_fold.into_values() {
            let clash = match entries.as_slice() {
                [one, other, ..] if !taken.contains_key(&folded(&one.source.name)) => {
                    Some(clash(one, other))
                }
                _ => None,
            };
            for mut entry in entries {
                if let Some(clash) = &clash {
                    entry.state = State::Broken(format!("{clash}; rename one of them"));
                }
                let name = entry.capability.name.clone();
                if catalog.entries.insert(name.clone(), Arc::new(entry)).is_none() {
                    catalog.names.push(name);
                }
            }
            catalog.clashes.extend(clash);
        }
        catalog.clashes.extend(taken.into_values());
        catalog.names.sort();
        catalog
    }

    /// Gives the policy the snapshot was made under.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Gives what finds secrets in what comes in.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Says which names clash.
    #[must_use]
    pub fn clashes(&self) -> &[String] {
        &self.clashes
    }

    /// Finds a capability by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(name)
    }

    /// Lists what there is, in order of name.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.names.iter().filter_map(|name| self.entries.get(name))
    }

    /// Lists what a caller may see, in order of name.
    pub fn visible<'c>(&'c self, caller: &'c Caller) -> impl Iterator<Item = &'c Arc<Entry>> {
        self.entries().filter(|entry| self.policy.shows(caller, &entry.capability.name))
    }
}

/// Finds the names that several sources have, after folding, and says which. What comes from one place
/// is one.
fn taken_twice(sources: &[Source]) -> BTreeMap<String, String> {
    let mut first: HashMap<String, &Source> = HashMap::new();
    let mut twice = BTreeMap::new();
    for other in sources {
        let one = *first.entry(folded(&other.name)).or_insert(other);
        if one.origin != other.origin {
            let message = format!(
                "`{}` from {} and `{}` from {} are one name",
                one.name, one.origin, other.name, other.origin
            );
            twice.entry(folded(&other.name)).or_insert(message);
        }
    }
    twice
}

fn clash(one: &Entry, other: &Entry) -> String {
    format!(
        "`{}` from {} and `{}` from {} are one name",
        one.capability.name, one.source.origin, other.capability.name, other.source.origin
    )
}

fn entry(capability: Capability, source: Arc<Source>, policy: &Policy) -> Entry {
    let (scope, sensitivity) = policy.effective(&capability);
    let compiled = Validator::compile(&capability.input_schema);
    let state = match (&compiled, &source.settings, &source.problem) {
        _ if !source.manifest.enabled => State::Disabled,
        (_, _, Some(Problem { message, usable: false })) => State::Broken(message.clone()),
        (_, Err(message), _) => State::Broken(message.clone()),
        (Err(message), ..) => State::Broken(format!("its input schema cannot be used: {message}")),
        (_, _, Some(Problem { message, usable: true })) => State::Stale(message.clone()),
        (Ok(_), Ok(_), None) => State::Ready,
    };
    Entry { capability, source, scope, sensitivity, state, validator: compiled.ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_model::{Binding, Dialect, Permission};
    use serde_json::json;

    fn source(name: &str, origin: &str, command: &str) -> Source {
        let mut manifest = Manifest::new(Dialect::Tool);
        manifest.capabilities = vec![Capability {
            name: format!("{name}.{command}"),
            description: String::new(),
            input_schema: json!({}),
            output_schema: None,
            permission: Permission::Undeclared,
            sensitivity: None,
            timeout_ms: None,
            binding: Binding::Human,
        }];
        Source {
            name: name.to_owned(),
            origin: origin.to_owned(),
            root: None,
            manifest,
            hash: String::new(),
            settings: Ok(Settings::default()),
            problem: None,
        }
    }

    #[test]
    fn two_sources_of_one_name_get_no_settings_even_with_different_commands() {
        let one = source("web_search", "a.yaml", "search");
        let other = source("Web-Search", "b.yaml", "steal");
        let catalog = Catalog::build(vec![one, other], Arc::default());
        assert_eq!(catalog.clashes().len(), 1);
        assert!(catalog.clashes()[0].contains("a.yaml") && catalog.clashes()[0].contains("b.yaml"));
        for entry in catalog.entries() {
            assert!(matches!(&entry.state, State::Broken(why) if why.contains("one name")));
            assert!(entry.source.settings.is_err(), "{}", entry.capability.name);
        }
        let parts = vec![source("bot", "bot", "a"), source("bot", "bot", "b")];
        let catalog = Catalog::build(parts, Arc::default());
        assert!(catalog.entries().all(|entry| entry.state == State::Ready), "one place is one");
    }
}
