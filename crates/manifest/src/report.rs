//! Where findings are collected while a tree is judged.
//!
//! A finding names a node of the tree by reference. Its JSON pointer and its line are worked out at
//! the end, in one walk and only if there is anything to say, so that a good file pays for neither.

use std::collections::HashMap;

use remit_model::{Diagnostic, Member, Node, Severity, Source, Span, Value, pointer};

use crate::rules::{self, Rule};

/// Is how many findings of one file are shown; the rest are counted. Errors are shown first.
const MOST_SHOWN: usize = 500;

/// Is how many findings are kept until then.
const MOST_KEPT: usize = 5_000;

/// Is how many times a file gets a did-you-mean: each costs a search.
const MOST_SUGGESTIONS: usize = 100;

/// Is how many patterns of a file are compiled to learn whether they are too large.
const MOST_HEAVY_PATTERNS: usize = 8;

/// Is how many bytes of patterns a file may have parsed, and what each costs beside its length.
const MOST_PATTERN_BYTES: usize = 128 * 1024;
const PATTERN_OVERHEAD: usize = 32;

/// Collects what is found in one tree.
#[derive(Debug, Default)]
pub struct Report<'t> {
    findings: Vec<Finding<'t>>,
    left_out: usize,
    worst_left_out: Option<Severity>,
    suggestions: usize,
    heavy_patterns: usize,
    pattern_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum Place<'t> {
    Node(&'t Node),
    Key(&'t Member),
}

/// Is one thing found, open to refinement until the next is added.
#[derive(Debug)]
pub struct Finding<'t> {
    rule: &'static Rule,
    severity: Severity,
    strict: bool,
    message: String,
    help: Option<String>,
    place: Place<'t>,
}

impl Finding<'_> {
    /// Adds what to do about it.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Departs from the severity the rule has by default.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = severity;
        self
    }

    /// Makes it an error under `--strict`, which warnings are anyway.
    pub fn strict(&mut self) -> &mut Self {
        self.strict = true;
        self
    }
}

impl<'t> Report<'t> {
    /// Adds a finding about a value.
    pub fn at(
        &mut self,
        rule: &'static Rule,
        node: &'t Node,
        message: impl Into<String>,
    ) -> &mut Finding<'t> {
        self.add(rule, Place::Node(node), message.into())
    }

    /// Adds a finding about a key.
    pub fn at_key(
        &mut self,
        rule: &'static Rule,
        member: &'t Member,
        message: impl Into<String>,
    ) -> &mut Finding<'t> {
        self.add(rule, Place::Key(member), message.into())
    }

    fn add(&mut self, rule: &'static Rule, place: Place<'t>, message: String) -> &mut Finding<'t> {
        let finding =
            Finding { rule, severity: rule.severity, strict: false, message, help: None, place };
        if self.findings.len() > MOST_KEPT
            && let Some(gone) = self.findings.pop()
        {
            self.leave_out(gone.severity);
        }
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the element was pushed above")]
        &mut self.findings[last]
    }

    fn leave_out(&mut self, severity: Severity) {
        self.left_out += 1;
        let worst = self.worst_left_out.map_or(severity, |worst| worst.min(severity));
        self.worst_left_out = Some(worst);
    }

    /// Looks for the candidate that `word` was probably meant to be.
    pub fn suggest<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        self.suggestions += 1;
        if self.suggestions > MOST_SUGGESTIONS || word.len() > 64 {
            return None;
        }
        closest(word, candidates)
    }

    /// Takes from the bytes of patterns that a file may have parsed. What goes past that is reported
    /// by [`too_many_patterns`](Self::too_many_patterns).
    pub(crate) fn spend_pattern(&mut self, bytes: usize) -> bool {
        self.pattern_bytes = self.pattern_bytes.saturating_add(bytes + PATTERN_OVERHEAD);
        self.pattern_bytes <= MOST_PATTERN_BYTES
    }

    /// Tells whether some patterns were left unparsed.
    pub(crate) fn too_many_patterns(&self) -> bool {
        self.pattern_bytes > MOST_PATTERN_BYTES
    }

    /// Takes one from the few heavy patterns that a file may have compiled.
    pub(crate) fn spend_heavy_pattern(&mut self) -> bool {
        self.heavy_patterns += 1;
        self.heavy_patterns <= MOST_HEAVY_PATTERNS
    }

    /// Tells whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|f| f.severity == Severity::Error)
    }

    /// Turns the findings into diagnostics, in the order of the file.
    #[must_use]
    pub fn finish(mut self, root: &'t Node, source: &Source, strict: bool) -> Vec<Diagnostic> {
        if self.findings.is_empty() {
            return Vec::new();
        }
        if self.findings.len() > MOST_SHOWN {
            self.findings.sort_by_key(|finding| finding.severity);
            for gone in self.findings.split_off(MOST_SHOWN) {
                self.leave_out(gone.severity);
            }
        }
        if let Some(worst) = self.worst_left_out {
            self.findings.push(Finding {
                rule: &rules::TOO_MANY_PROBLEMS,
                severity: worst,
                strict: false,
                message: format!("{} more problems are not shown", self.left_out),
                help: None,
                place: Place::Node(root),
            });
        }
        let pointers = pointers_of(root, &self.findings);
        let mut diagnostics: Vec<_> = self
            .findings
            .into_iter()
            .map(|finding| {
                let span = finding.place.span();
                let strict = strict && (finding.strict || finding.severity == Severity::Warning);
                Diagnostic {
                    rule: finding.rule.id,
                    severity: if strict { Severity::Error } else { finding.severity },
                    message: finding.message,
                    pointer: pointers.get(&finding.place.address()).cloned().unwrap_or_default(),
                    position: source.position(span),
                    help: finding.help,
                    span,
                }
            })
            .collect();
        diagnostics.sort_by_key(|d| d.position);
        diagnostics
    }
}

impl Place<'_> {
    fn span(&self) -> Span {
        match self {
            Self::Node(node) => node.span,
            Self::Key(member) => member.key_span,
        }
    }

    fn address(&self) -> usize {
        match self {
            Self::Node(node) => address(node),
            Self::Key(member) => address(&member.value),
        }
    }
}

/// A node's address names it for as long as its tree is borrowed.
fn address(node: &Node) -> usize {
    std::ptr::from_ref(node) as usize
}

fn pointers_of(root: &Node, findings: &[Finding<'_>]) -> HashMap<usize, String> {
    let mut wanted: HashMap<usize, Option<String>> =
        findings.iter().map(|f| (f.place.address(), None)).collect();
    walk(root, &mut String::new(), &mut |node, pointer| {
        if let Some(found) = wanted.get_mut(&address(node)) {
            *found = Some(pointer.to_owned());
        }
    });
    wanted.into_iter().filter_map(|(address, pointer)| Some((address, pointer?))).collect()
}

fn walk(node: &Node, pointer: &mut String, visit: &mut dyn FnMut(&Node, &str)) {
    visit(node, pointer);
    let length = pointer.len();
    match &node.value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointer::push_index(pointer, i);
                walk(item, pointer, visit);
                pointer.truncate(length);
            }
        }
        Value::Object(object) => {
            for member in object.members() {
                pointer::push_key(pointer, &member.key);
                walk(&member.value, pointer, visit);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Finds the candidate nearest to `word`, if one is near enough to be meant.
pub(crate) fn closest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    const MOST_CANDIDATES: usize = 256;
    let folded = remit_model::name::folded(word);
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .filter(|candidate| *candidate != word && candidate.len() <= 64)
        .filter_map(|candidate| {
            if remit_model::name::folded(candidate) == folded {
                return Some((0, candidate));
            }
            let distance = strsim::osa_distance(word, candidate);
            let longer = word.chars().count().max(candidate.chars().count());
            if distance <= (longer / 3).min(3) {
                return Some((distance, candidate));
            }
            is_stump(word, candidate).then_some((4, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Tells whether one word is the other cut short, as `params` is of `parameters`.
fn is_stump(word: &str, candidate: &str) -> bool {
    let shorter = word.len().min(candidate.len());
    let common = word.bytes().zip(candidate.bytes()).take_while(|(a, b)| a == b).count();
    common >= 4 && common + 1 >= shorter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_candidate_is_suggested_and_a_far_one_is_not() {
        let fields = ["name", "commands", "description", "display_name"];
        assert_eq!(closest("comands", fields), Some("commands"));
        assert_eq!(closest("displayName", fields), Some("display_name"));
        assert_eq!(closest("nmae", fields), Some("name"));
        assert_eq!(closest("desc", fields), Some("description"));
        assert_eq!(closest("descs", fields), Some("description"));
        assert_eq!(closest("runtime", fields), None);
        assert_eq!(closest("x", fields), None);
    }

    #[test]
    fn findings_past_the_cap_are_counted() {
        let root = Node::unplaced(Value::Null);
        let source = Source::new("null".to_owned(), remit_model::Unit::Bytes);
        for (added, shown, last) in [(500, 500, "x"), (503, 501, "3 more problems are not shown")] {
            let mut report = Report::default();
            for _ in 0..added {
                report.at(&rules::EMPTY_DOCUMENT, &root, "x").severity(Severity::Note);
            }
            let diagnostics = report.finish(&root, &source, false);
            assert_eq!(diagnostics.len(), shown);
            assert!(diagnostics.iter().all(|d| d.severity == Severity::Note));
            assert_eq!(diagnostics.last().map(|d| d.message.as_str()), Some(last));
        }
    }
}
