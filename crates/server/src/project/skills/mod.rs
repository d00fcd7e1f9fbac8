//! Skill documents: how a model uses the tool. A short index first, a document on request.
//!
//! What is disclosed gives no right to run anything, and what may run need not be disclosed: who may
//! run what is decided elsewhere, and nothing here is asked about it.

mod generate;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use remit_engine::catalog::Catalog;
use remit_model::{Answer, Caller, Failure, Outcome};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::ask::Ask;

/// Is a document about one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The module.
    pub name: &'static str,
    /// The whole document.
    pub document: &'static str,
}

/// Is all that were written by hand; the others are made from the catalog.
pub const SKILLS: [Skill; 3] = [
    Skill { name: "calendar", document: include_str!("../../../../../tools/skills/calendar.md") },
    Skill { name: "contacts", document: include_str!("../../../../../tools/skills/contacts.md") },
    Skill { name: "memory", document: include_str!("../../../../../tools/skills/memory.md") },
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

/// Is the module through which a model reads documents. It is Remit's own: no tool can take it.
pub const MODULE: &str = "skills";
/// How long a summary is at most, in characters.
const LONGEST_SUMMARY: usize = 200;

/// Is a module that can be read about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Listed {
    /// The module.
    pub module: String,
    /// What it is about, in one line.
    pub summary: String,
}

/// Lists the modules that a caller can read about, in order of name: those that documents were written
/// for, and all others in the catalog.
#[must_use]
pub fn list(catalog: &Catalog, caller: &Caller) -> Vec<Listed> {
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for (module, methods) in generate::modules(catalog) {
        modules.insert(module.to_owned(), generate::summary(&methods));
    }
    for skill in &SKILLS {
        modules.insert(skill.name.to_owned(), skill.summary().to_owned());
    }
    let skills = &catalog.policy().skills;
    modules.retain(|module, _| skills.discloses(caller, module));
    let cut = |text: String| text.chars().take(LONGEST_SUMMARY).collect();
    modules.into_iter().map(|(module, summary)| Listed { module, summary: cut(summary) }).collect()
}

/// Gives the short index for a model; empty if there is nothing in it.
#[must_use]
pub fn index(catalog: &Catalog, caller: &Caller) -> String {
    let mut text = String::new();
    for Listed { module, summary } in list(catalog, caller) {
        let _ = writeln!(text, "- {module}: {summary}");
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "Modules of `{}` that you can read about; ask for a module's document before you use it, with \
         the module `{MODULE}`, the method `read` and the input `{{\"module\": …}}`:\n{text}",
        super::TOOL
    )
}

/// Gives a document, if it is enabled. One that is not and one that there is not are the same.
#[must_use]
pub fn document<'c>(catalog: &'c Catalog, caller: &Caller, name: &str) -> Option<Cow<'c, str>> {
    if !catalog.policy().skills.discloses(caller, name) {
        return None;
    }
    if let Some(skill) = SKILLS.iter().find(|skill| skill.name == name) {
        return Some(Cow::Borrowed(skill.document));
    }
    let modules = generate::modules(catalog);
    modules.get(name).map(|methods| Cow::Owned(generate::document(name, methods)))
}

/// Answers a model that wants to read; none if it wants something else. Reading is no call of a
/// capability: no white-list is asked, and nothing runs.
#[must_use]
pub fn answer(catalog: &Catalog, caller: &Caller, ask: &Ask) -> Option<Outcome> {
    if ask.module != MODULE {
        return None;
    }
    let fields = ask.input.as_object();
    let result = match ask.method.as_str() {
        "index" | "list" if fields.is_some_and(serde_json::Map::is_empty) => {
            let items = list(catalog, caller);
            json!({ "count": items.len(), "items": items })
        }
        "index" | "list" => return Some(wrong(&json!({}), &[])),
        "read" => {
            let module = fields.filter(|fields| fields.len() == 1);
            let module = module.and_then(|fields| fields.get("module")).and_then(Value::as_str);
            let Some(module) = module else {
                let properties = json!({ "module": { "type": "string" } });
                return Some(wrong(&properties, &["module"]));
            };
            let Some(document) = document(catalog, caller, module) else {
                let message =
                    "there is no such skill document; `skills.index` lists those there are";
                return Some(Outcome::Failed(Failure::new("NOT_FOUND", message)));
            };
            json!({ "module": module, "document": document })
        }
        _ => return None,
    };
    Some(Outcome::Succeeded(Answer { result, ..Answer::default() }))
}

fn wrong(properties: &Value, required: &[&str]) -> Outcome {
    let schema = json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    });
    let failure = Failure::new("INVALID_INPUT", "the input does not fit the method's schema");
    Outcome::Failed(failure.with_details(json!({ "input_schema": schema })))
}
