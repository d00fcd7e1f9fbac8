//! Rules about several manifests at once: names that clash, tools that need each other.

use std::collections::HashMap;

use remit_model::{Diagnostic, Dialect, Node, Position, Severity, Span, name, text};

use crate::compile::Checked;
use crate::report;
use crate::rules::{self, Rule};

/// Is how many dependencies of one tool are judged; nobody's has more.
const MOST_DEPENDENCIES: usize = 500;

/// Is how many times a run looks for what a dependency was meant to be.
const MOST_SUGGESTIONS: usize = 100;

/// Is what other manifests need to know about one.
#[derive(Clone, Debug)]
pub struct Facts {
    dialect: Dialect,
    name: Box<str>,
    place: Place,
    /// Two manifests of one name clash only if both say that they are the current format.
    firm: bool,
    enabled: bool,
    dependencies: Vec<(Box<str>, Place)>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    span: Span,
    position: Position,
    index: usize,
}

impl Facts {
    /// Takes them from a manifest, if it is of a kind that others refer to.
    #[must_use]
    pub fn of(checked: &Checked) -> Option<Self> {
        let root = checked.reading.root.as_ref()?;
        let dialect = checked.dialect?;
        let key = crate::dialect::name_field(dialect)?;
        let node = root.get(key)?;
        let list = root.get("dependencies").filter(|_| dialect == Dialect::Tool);
        let listed = list.and_then(Node::as_array).unwrap_or_default();
        let listed = listed.get(..MOST_DEPENDENCIES).unwrap_or(listed);
        let source = &checked.reading.source;
        let place = |node: &Node, index: usize| Place {
            span: node.span,
            // Counting up to the place is cheaper than counting all lines, but only a few times.
            position: if listed.len() > 2 {
                source.position(node.span)
            } else {
                source.position_by_scan(node.span)
            },
            index,
        };
        Some(Self {
            dialect,
            name: node.as_str()?.into(),
            place: place(node, 0),
            firm: crate::dialect::is_current_format(dialect, root),
            enabled: root.get("enabled").and_then(Node::as_bool) != Some(false),
            dependencies: listed
                .iter()
                .enumerate()
                .filter_map(|(i, node)| Some((node.as_str()?.into(), place(node, i))))
                .collect(),
        })
    }

    /// Gives the name others know it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether it needs other tools.
    #[must_use]
    pub fn has_dependencies(&self) -> bool {
        !self.dependencies.is_empty()
    }
}

/// Is a manifest among others.
#[derive(Debug)]
pub struct Entry<'a> {
    /// What to call its file.
    pub label: &'a str,
    /// The directory it lies in; names must be unique within it.
    pub directory: &'a str,
    /// What is known of it.
    pub facts: &'a Facts,
}

/// Judges manifests together. Gives diagnostics with the number of the entry each belongs to.
#[must_use]
pub fn check(entries: &[Entry<'_>]) -> Vec<(usize, Diagnostic)> {
    let mut found = Vec::new();
    clashes(entries, &mut found);
    if entries.iter().any(|entry| entry.facts.has_dependencies()) {
        dependencies(entries, &mut found);
    }
    found
}

fn diagnostic(
    rule: &'static Rule,
    pointer: String,
    place: Place,
    message: String,
    help: Option<String>,
) -> Diagnostic {
    Diagnostic {
        rule: rule.id,
        severity: rule.severity,
        message,
        pointer,
        position: place.position,
        help,
        span: place.span,
    }
}

fn clashes(entries: &[Entry<'_>], found: &mut Vec<(usize, Diagnostic)>) {
    let mut seen: HashMap<(Dialect, &str, String), usize> = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let facts = entry.facts;
        let key = (facts.dialect, entry.directory, name::folded(&facts.name));
        let first = *seen.entry(key).or_insert(i);
        let Some(other) = entries.get(first).filter(|_| first != i) else { continue };
        let message = format!(
            "the name {} clashes with {} in {}",
            text::quoted(&facts.name),
            text::quoted(&other.facts.name),
            text::visible(other.label)
        );
        let pointer = format!("/{}", crate::dialect::name_field(facts.dialect).unwrap_or_default());
        let help = Some("give one of them another name".to_owned());
        let mut clash = diagnostic(&rules::NAME_CLASH, pointer, facts.place, message, help);
        if !(facts.firm && other.facts.firm) {
            clash.severity = Severity::Note;
        }
        found.push((i, clash));
    }
}

fn dependencies(entries: &[Entry<'_>], found: &mut Vec<(usize, Diagnostic)>) {
    let tools: HashMap<&str, usize> = entries
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, entry)| entry.facts.dialect == Dialect::Tool)
        .map(|(i, entry)| (&*entry.facts.name, i))
        .collect();
    let circles = in_circles(entries, &tools);
    let mut suggestions = 0;
    for (i, entry) in entries.iter().enumerate() {
        for (needed, place) in &entry.facts.dependencies {
            let pointer = format!("/dependencies/{}", place.index);
            let quoted = text::quoted(needed);
            let verdict = match tools.get(&**needed) {
                None => {
                    suggestions += 1;
                    let few = suggestions <= MOST_SUGGESTIONS && needed.len() <= 64;
                    let meant = report::closest(needed, tools.keys().copied().filter(|_| few));
                    let help = meant.map_or_else(
                        || "put its manifest beside this one".to_owned(),
                        |meant| format!("did you mean {}?", text::quoted(meant)),
                    );
                    Some((&rules::MISSING_DEPENDENCY, format!("there is no tool {quoted}"), help))
                }
                // A tool that needs itself was seen when its file was judged.
                Some(&at) if at == i => None,
                Some(&at)
                    if circles.get(i).is_some_and(|c| {
                        c.is_some() && *c == circles.get(at).copied().flatten()
                    }) =>
                {
                    let message = format!(
                        "{} and {quoted} depend on each other in a circle",
                        text::quoted(&entry.facts.name)
                    );
                    Some((
                        &rules::CYCLIC_DEPENDENCY,
                        message,
                        "break the circle by removing one dependency".to_owned(),
                    ))
                }
                Some(&at)
                    if entries.get(at).is_some_and(|e| !e.facts.enabled) && entry.facts.enabled =>
                {
                    let label = entries.get(at).map_or("", |e| e.label);
                    let message =
                        format!("the tool {quoted} is disabled in {}", text::visible(label));
                    Some((
                        &rules::DISABLED_DEPENDENCY,
                        message,
                        "enable it, or disable this tool too".to_owned(),
                    ))
                }
                Some(_) => None,
            };
            if let Some((rule, message, help)) = verdict {
                found.push((i, diagnostic(rule, pointer, *place, message, Some(help))));
            }
        }
    }
}

/// Gives each entry the number of the circle it is part of, by Tarjan's algorithm without recursion.
fn in_circles(entries: &[Entry<'_>], tools: &HashMap<&str, usize>) -> Vec<Option<usize>> {
    let edges: Vec<Vec<usize>> = entries
        .iter()
        .map(|e| {
            e.facts.dependencies.iter().filter_map(|(n, _)| tools.get(&**n).copied()).collect()
        })
        .collect();
    let mut search = Search {
        index: vec![None; entries.len()],
        low: vec![0; entries.len()],
        waiting: Vec::new(),
        on_stack: vec![false; entries.len()],
        circle: vec![None; entries.len()],
        next: 0,
    };
    for start in 0..entries.len() {
        search.from(start, &edges);
    }
    search.circle
}

struct Search {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    waiting: Vec<usize>,
    on_stack: Vec<bool>,
    circle: Vec<Option<usize>>,
    next: usize,
}

#[expect(clippy::indexing_slicing, reason = "every number is an index of the vectors made above")]
impl Search {
    fn from(&mut self, start: usize, edges: &[Vec<usize>]) {
        if self.index[start].is_some() {
            return;
        }
        let mut stack = vec![(start, 0)];
        self.enter(start);
        while let Some((node, edge)) = stack.pop() {
            let Some(&child) = edges[node].get(edge) else {
                if let Some(&(parent, _)) = stack.last() {
                    self.low[parent] = self.low[parent].min(self.low[node]);
                }
                self.leave(node);
                continue;
            };
            stack.push((node, edge + 1));
            match self.index[child] {
                None => {
                    self.enter(child);
                    stack.push((child, 0));
                }
                Some(index) if self.on_stack[child] => self.low[node] = self.low[node].min(index),
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = Some(self.next);
        self.low[node] = self.next;
        self.next += 1;
        self.waiting.push(node);
        self.on_stack[node] = true;
    }

    fn leave(&mut self, node: usize) {
        if Some(self.low[node]) != self.index[node] {
            return;
        }
        let at = self.waiting.iter().rposition(|n| *n == node).unwrap_or(0);
        let members = self.waiting.split_off(at);
        for &member in &members {
            self.on_stack[member] = false;
            // A circle of one is a tool that needs itself, which its own file shows.
            self.circle[member] = (members.len() > 1).then_some(node);
        }
    }
}
