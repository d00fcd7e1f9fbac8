//! Skill documents: how a model uses the tool. A short index first, a document on request.
//!
//! What is disclosed gives no right to run anything, and what may run need not be disclosed: who may
//! run what is decided elsewhere, and nothing here is asked about it.

use std::fmt::Write as _;

/// Is a document about one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The module.
    pub name: &'static str,
    /// The whole document.
    pub document: &'static str,
}

/// Is all there are.
pub const SKILLS: [Skill; 3] = [
    Skill { name: "calendar", document: include_str!("../../../../tools/skills/calendar.md") },
    Skill { name: "contacts", document: include_str!("../../../../tools/skills/contacts.md") },
    Skill { name: "memory", document: include_str!("../../../../tools/skills/memory.md") },
];

impl Skill {
    /// Gives what it is about in one sentence: the first line below the heading.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.document
            .lines()
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .unwrap_or_default()
    }
}

/// Lists the documents among those that are enabled.
pub fn enabled(names: &[String]) -> impl Iterator<Item = &'static Skill> {
    SKILLS.iter().filter(move |skill| names.iter().any(|name| name == skill.name))
}

/// Gives the index for an agent's `enabled_skills`; empty if there is nothing in it.
#[must_use]
pub fn index(enabled_skills: &[String]) -> String {
    let mut text = String::new();
    for skill in enabled(enabled_skills) {
        let _ = writeln!(text, "- {}: {}", skill.name, skill.summary());
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "Modules of `{}` that you can read about; ask for a module's document before you use it:\n{text}",
        super::TOOL
    )
}

/// Gives a document, if it is enabled. One that is not and one that there is not are the same.
#[must_use]
pub fn document(enabled_skills: &[String], name: &str) -> Option<&'static str> {
    enabled(enabled_skills).find(|skill| skill.name == name).map(|skill| skill.document)
}
