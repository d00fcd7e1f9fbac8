//! From a tools directory to the sources of a catalog: manifests, their configuration, what stands
//! in the way, and the last good version of what was broken since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remit_engine::catalog::{Problem, Source};
use remit_manifest::compile::{self, Checked, Options};
use remit_manifest::detect;
use remit_manifest::read::Limits;
use remit_model::{Binding, Dialect, Manifest, Severity, canonical, name, text};
use serde_json::{Map, Value};

use crate::config::secrets;
use crate::config::settings::{self, Environment};
use crate::files::{self, Patience};
use crate::house::built_in;

/// Where the configuration of tools lies, beside their manifests.
const CONFIGS: &str = "configs";

/// Is a manifest that could not be used, and why: for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub(crate) origin: String,
    pub(crate) message: String,
}

/// Loads tools again and again, and remembers the last good version of each.
#[derive(Default)]
pub(crate) struct Loader {
    tools: Option<PathBuf>,
    configs: Option<PathBuf>,
    /// Settings of the built-in tools that the operator's policy makes.
    egress: Map<String, Value>,
    good: HashMap<String, Source>,
}

/// Is what a directory holds now.
pub(crate) struct Loaded {
    pub(crate) sources: Vec<Source>,
    pub(crate) rejected: Vec<Rejected>,
}

impl Loader {
    /// Takes the directories to look in.
    pub(crate) fn new(tools: Option<PathBuf>, configs: Option<PathBuf>) -> Self {
        let configs = configs.or_else(|| tools.as_deref().map(|tools| tools.join(CONFIGS)));
        Self { tools, configs, egress: Map::new(), good: HashMap::new() }
    }

    /// Takes where the built-in tools may connect.
    pub(crate) fn set_egress(&mut self, egress: Map<String, Value>) {
        self.egress = egress;
    }

    /// Gives the directory of configurations.
    pub(crate) fn configs(&self) -> Option<&Path> {
        self.configs.as_deref()
    }

    /// Loads everything anew.
    pub(crate) fn load(&mut self, environment: Environment<'_>) -> Loaded {
        let mut rejected = Vec::new();
        let mut sources = Vec::new();
        for (name, text) in remit_handlers::MANIFESTS {
            let checked = compile::check(text.as_bytes(), Options::default());
            sources.extend(self.source(&checked, &format!("built-in {name}"), None, environment));
        }
        if let Some(tools) = self.tools.clone() {
            self.directory(&tools, environment, &mut sources, &mut rejected);
        }
        dependencies(&mut sources);
        for source in sources.iter().filter(|s| s.problem.is_none() && s.settings.is_ok()) {
            self.good.insert(source.origin.clone(), source.clone());
        }
        Loaded { sources, rejected }
    }

    fn directory(
        &self,
        tools: &Path,
        environment: Environment<'_>,
        sources: &mut Vec<Source>,
        rejected: &mut Vec<Rejected>,
    ) {
        let (found, unreadable) = files::find_inside(tools);
        rejected.extend(unreadable.into_iter().map(|file| Rejected {
            origin: crate::paths::for_people(&file.path),
            message: format!("cannot be read: {}", file.reason),
        }));
        let root = files::real_path(tools);
        for file in found {
            if self.configs.as_deref().is_some_and(|configs| file.path.starts_with(configs)) {
                continue;
            }
            let origin = crate::paths::for_people(&file.path);
            let bytes = match files::read(&file.path, Limits::MANIFEST.most_bytes(), Patience::GoOn)
            {
                Ok(bytes) => bytes,
                Err(reason) => {
                    let message = format!("cannot be read: {reason}");
                    self.fall_back(&origin, message, sources, rejected);
                    continue;
                }
            };
            let format = files::format_of(&file.path);
            let checked = compile::check(&bytes, Options { format, ..Options::default() });
            let surely = checked.reading.root.as_ref().is_some_and(detect::is_surely_a_manifest);
            if checked.dialect != Some(Dialect::Tool) && checked.ok() {
                continue;
            }
            if !surely && !self.good.contains_key(&origin) {
                continue;
            }
            match self.source(&checked, &origin, Some(root.clone()), environment) {
                // The built-in tools' own manifests may lie in the directory too.
                Some(source)
                    if sources.iter().any(|s| s.root.is_none() && s.hash == source.hash) => {}
                Some(source) if is_built_in(&source.name) => {
                    let name = text::quoted(&source.name);
                    let message = format!(
                        "a built-in tool has the name {name}, and its settings; rename this one"
                    );
                    rejected.push(Rejected { origin, message });
                }
                Some(source) => sources.push(self.with_last_settings(source)),
                None => self.fall_back(&origin, first_error(&checked), sources, rejected),
            }
        }
    }

    fn source(
        &self,
        checked: &Checked,
        origin: &str,
        root: Option<PathBuf>,
        environment: Environment<'_>,
    ) -> Option<Source> {
        let mut manifest = checked.manifest()?;
        let name = manifest.name.clone()?;
        let hash = canonical::hash(checked.tree()?);
        let file = self.configs.as_deref().map(|configs| settings::file_of(configs, &name));
        let file = file.unwrap_or_default();
        let made = if root.is_none() { Some(&self.egress) } else { None };
        if root.is_none() {
            manifest.capabilities.iter_mut().for_each(built_in::declare);
        }
        let settings =
            settings::load(&manifest, &file, made, environment).map_err(|wrong| wrong.join("; "));
        if let Ok(settings) = &settings {
            secrets::mark(&mut manifest, &settings.values);
        }
        let problem = root
            .as_deref()
            .and_then(|root| missing_program(root, &manifest))
            .map(|message| Problem { message, usable: false });
        Some(Source { name, origin: origin.to_owned(), root, manifest, hash, settings, problem })
    }

    /// Keeps the last good settings of a tool whose configuration is broken now.
    fn with_last_settings(&self, source: Source) -> Source {
        let Err(message) = &source.settings else { return source };
        match self.good.get(&source.origin).filter(|good| good.hash == source.hash) {
            Some(good) => Source {
                settings: good.settings.clone(),
                problem: Some(Problem {
                    message: format!("its last good configuration is in use: {message}"),
                    usable: true,
                }),
                ..source
            },
            None => source,
        }
    }

    /// Uses the last good version of a manifest that is broken now, and says so.
    fn fall_back(
        &self,
        origin: &str,
        message: String,
        sources: &mut Vec<Source>,
        rejected: &mut Vec<Rejected>,
    ) {
        if let Some(good) = self.good.get(origin) {
            let said = format!("its last good version is in use: {message}");
            let problem = Some(Problem { message: said, usable: true });
            sources.push(Source { problem, ..good.clone() });
        }
        rejected.push(Rejected { origin: origin.to_owned(), message });
    }
}

/// Tells whether a name is that of a built-in tool, however it is written.
fn is_built_in(name: &str) -> bool {
    remit_handlers::MANIFESTS.iter().any(|(own, _)| name::folded(own) == name::folded(name))
}

/// Says what is wrong with the file a tool runs, if that can be seen beforehand.
fn missing_program(root: &Path, manifest: &Manifest) -> Option<String> {
    let entries = manifest.capabilities.iter().filter_map(|capability| match &capability.binding {
        Binding::Process { entry, .. } => Some(entry.as_str()),
        _ => None,
    });
    let entry = entries.into_iter().next()?;
    let file = root.join(remit_exec::process::entry_below(root, entry));
    if file.is_file() {
        return None;
    }
    let here = crate::paths::for_people(&file);
    Some(format!("its program `{here}` is not there; `entry` names it, from the tools directory"))
}

fn first_error(checked: &Checked) -> String {
    let errors = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let count = errors.clone().count();
    match errors.clone().next() {
        Some(first) => {
            let (line, column) = (first.position.line, first.position.column);
            let place = format!("line {line}, column {column} ({})", first.pointer);
            let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
            format!("{place}: {}{more}; `remit check` says all", first.message)
        }
        None => "it is no tool manifest".to_owned(),
    }
}

/// Marks tools that need others which are missing, switched off or broken, and cycles of them.
fn dependencies(sources: &mut [Source]) {
    let usable = |source: &Source| {
        source.manifest.enabled && source.problem.as_ref().is_none_or(|p| p.usable)
    };
    // Each round may break a tool that others need; as many rounds as there are tools is enough.
    for _ in 0..=sources.len() {
        let known: HashMap<String, bool> =
            sources.iter().map(|source| (source.name.clone(), usable(source))).collect();
        let mut changed = false;
        for source in sources.iter_mut().filter(|source| usable(source)) {
            let unmet =
                source.manifest.dependencies.iter().find_map(|name| match known.get(name) {
                    Some(true) => None,
                    Some(false) => Some(format!("it needs `{name}`, which cannot be used")),
                    None => Some(format!("it needs `{name}`, which is not there")),
                });
            if let Some(message) = unmet {
                source.problem = Some(Problem { message, usable: false });
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for name in cycles(sources) {
        if let Some(source) = sources.iter_mut().find(|source| source.name == name) {
            let message = "it needs itself, by way of its dependencies".to_owned();
            source.problem = Some(Problem { message, usable: false });
        }
    }
}

/// Finds the tools that reach themselves: what is left when tools whose needs are all met are taken
/// away again and again.
fn cycles(sources: &[Source]) -> Vec<String> {
    let mut left: HashMap<&str, &[String]> = sources
        .iter()
        .filter(|source| source.problem.is_none())
        .map(|source| (source.name.as_str(), source.manifest.dependencies.as_slice()))
        .collect();
    loop {
        let free: Vec<&str> = left
            .iter()
            .filter(|(_, needs)| needs.iter().all(|need| !left.contains_key(need.as_str())))
            .map(|(name, _)| *name)
            .collect();
        if free.is_empty() {
            return left.into_keys().map(str::to_owned).collect();
        }
        free.iter().for_each(|name| {
            left.remove(name);
        });
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
