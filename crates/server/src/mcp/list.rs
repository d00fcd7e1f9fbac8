//! The catalog as tools.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use remit_engine::catalog::{Catalog, Entry, State};
use remit_engine::registry::{Offer, agent_of};
use remit_model::{Binding, Caller, Sensitivity};
use serde::Serialize;
use serde_json::{Value, json};

use super::Tools;
use super::names;
use super::revision::Revision;
use super::wire::Fault;

/// How many tools are listed at once.
pub(crate) const PAGE: usize = 500;
/// How long a list may be kept, in milliseconds: it changes when the operator changes it, and those
/// who listen are told.
const TTL_MS: u64 = 60_000;
/// The name of the one tool through which all others are reached.
pub(crate) const PROJECT_CLI: &str = "project_cli";

/// Is a tool as it is listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'c> {
    name: Cow<'c, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'c, str>>,
    description: Cow<'c, str>,
    input_schema: Cow<'c, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'c Value>,
    annotations: Annotations,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'c>>,
}

/// Says what can be said of a tool for sure. What is left out, the protocol takes for the worse.
#[derive(Serialize, Default, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

#[derive(Serialize)]
struct Meta<'c> {
    #[serde(rename = "remit/scope")]
    scope: &'c str,
    #[serde(rename = "remit/sensitivity")]
    sensitivity: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<'c> {
    tools: Vec<Tool<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'c str>,
    #[serde(flatten)]
    kept: Option<Kept>,
}

/// Says how long an answer may be kept, where the revision has that.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept {
    result_type: &'static str,
    ttl_ms: u64,
    cache_scope: &'static str,
}

impl Kept {
    /// Gives what goes with a list that depends on who asks.
    pub(crate) fn of(revision: Revision) -> Option<Self> {
        let kept = Self { result_type: "complete", ttl_ms: TTL_MS, cache_scope: "private" };
        revision.is_modern().then_some(kept)
    }
}

fn is_callable(catalog: &Catalog, entry: &Entry) -> bool {
    matches!(entry.state, State::Ready | State::Stale(_))
        && catalog.policy().denied_by(&entry.capability.name).is_none()
}

fn callable<'c>(
    catalog: &'c Catalog,
    caller: &'c Caller,
) -> impl Iterator<Item = &'c Entry> + use<'c> {
    catalog.visible(caller).map(|entry| &**entry).filter(|entry| is_callable(catalog, entry))
}

/// Is what a list is made of.
#[derive(Clone, Copy)]
pub(crate) struct Of<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) caller: &'c Caller,
    /// What agents offer that the caller has added.
    pub(crate) offers: &'c [Offer],
}

/// Lists the tools of agents. One that waits until the user has looked at what changed is not there, nor
/// one whose name is too long to come back.
fn offered<'c>(of: Of<'c>) -> impl Iterator<Item = &'c Entry> {
    let is_there = move |offer: &Offer, entry: &Entry| {
        let name = entry.capability.name.as_str();
        is_callable(of.catalog, entry)
            && of.catalog.policy().shows(of.caller, name)
            && offer.refusal(name).is_none()
            && names::capability(&names::tool(name), of.catalog, of.caller) == name
    };
    of.offers.iter().flat_map(move |offer| {
        let entries = offer.view.entries().map(|entry| &**entry);
        entries.filter(move |entry| is_there(offer, entry))
    })
}

/// Lists what a caller may call, behind a cursor.
pub(crate) fn list<'c>(
    of: Of<'c>,
    tools: Tools,
    revision: Revision,
    cursor: Option<&str>,
) -> Result<List<'c>, Fault> {
    let kept = Kept::of(revision);
    if tools == Tools::ProjectCli {
        return match cursor {
            None => Ok(List { tools: vec![project_cli(revision)], next_cursor: None, kept }),
            Some(_) => Err(wrong_cursor()),
        };
    }
    // The cursor is the last name that went out, so a list that changed goes on where it was.
    if cursor.is_some_and(|name| name.is_empty() || name.len() > 1024) {
        return Err(wrong_cursor());
    }
    let behind = |entry: &&Entry| cursor.is_none_or(|last| entry.capability.name.as_str() > last);
    let all = callable(of.catalog, of.caller).filter(behind);
    let page: Vec<&Entry> = match of.offers {
        [] => all.take(PAGE + 1).collect(),
        _ => {
            let mut all: Vec<&Entry> = all.chain(offered(of).filter(behind)).collect();
            all.sort_by(|one, other| one.capability.name.cmp(&other.capability.name));
            all.truncate(PAGE + 1);
            all
        }
    };
    let has_more = page.len() > PAGE;
    let page: Vec<&Entry> = page.into_iter().take(PAGE).collect();
    let last = page.last().map(|entry| entry.capability.name.as_str());
    let next_cursor = last.filter(|_| has_more);
    let tools = page.into_iter().map(|entry| tool(entry, revision)).collect();
    Ok(List { tools, next_cursor, kept })
}

fn wrong_cursor() -> Fault {
    Fault::params("the cursor is none that was given out; begin without one")
}

fn tool(entry: &Entry, revision: Revision) -> Tool<'_> {
    let capability = &entry.capability;
    let is_object = |schema: &&Value| schema.get("type").is_some_and(|kind| kind == "object");
    let output = capability.output_schema.as_ref().filter(is_object);
    let input = Some(&capability.input_schema).filter(is_object);
    let input_schema = input.map_or_else(|| objects_only(&capability.input_schema), Cow::Borrowed);
    let meta = Meta { scope: &entry.scope, sensitivity: entry.sensitivity.as_str() };
    Tool {
        name: names::tool(&capability.name),
        title: revision.has_structure().then(|| title(entry)),
        description: Cow::Borrowed(&capability.description),
        input_schema,
        output_schema: output.filter(|_| revision.has_structure()),
        annotations: annotations(entry),
        meta: Some(meta),
    }
}

/// Gives a tool's name for people: of an agent's tool, with the agent's own name, which is easier to tell
/// than its id.
fn title(entry: &Entry) -> Cow<'_, str> {
    let name = entry.capability.name.as_str();
    let tool = agent_of(name).and_then(|_| name.split_once('/'));
    match (tool, &entry.source.manifest.name) {
        (Some((_, tool)), Some(agent)) => {
            Cow::Owned(format!("{}: {tool}", remit_model::text::visible(agent)))
        }
        _ => Cow::Borrowed(name),
    }
}

/// Says of a schema that it takes objects: the protocol demands that it be said.
fn objects_only(schema: &Value) -> Cow<'_, Value> {
    let mut map = schema.as_object().cloned().unwrap_or_default();
    map.insert("type".to_owned(), json!("object"));
    Cow::Owned(Value::Object(map))
}

fn annotations(entry: &Entry) -> Annotations {
    let reads = entry.scope.ends_with(":read");
    let destructive_hint = match entry.sensitivity {
        _ if reads => Some(false),
        Sensitivity::Low => Some(false),
        Sensitivity::Medium => None,
        Sensitivity::High => Some(true),
    };
    let open_world_hint = match entry.capability.binding {
        Binding::Http { .. } => Some(true),
        Binding::Device | Binding::Human => Some(false),
        Binding::Process { .. } | Binding::Mcp | Binding::Agent { .. } => None,
    };
    Annotations { read_only_hint: reads.then_some(true), destructive_hint, open_world_hint }
}

/// Gives what `project_cli` takes.
pub(crate) fn project_cli_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "module": {"type": "string", "description": "the module, such as `calendar`"},
            "method": {"type": "string", "description": "the method of the module, such as `read`"},
            "input": {"type": "object", "description": "what the method takes"},
        },
        "required": ["module", "method"],
        "additionalProperties": false,
    })
}

fn project_cli(revision: Revision) -> Tool<'static> {
    Tool {
        name: Cow::Borrowed(PROJECT_CLI),
        title: revision.has_structure().then_some(Cow::Borrowed(PROJECT_CLI)),
        description: Cow::Borrowed(
            "Calls a method of a module. `skills.index` lists modules to read about, `skills.read` gives \
             a module's document. A wrong input is answered with what the method takes.",
        ),
        input_schema: Cow::Owned(project_cli_schema()),
        output_schema: None,
        annotations: Annotations::default(),
        meta: None,
    }
}

/// Gives a number that changes when a caller's list does.
pub(crate) fn fingerprint(catalog: &Catalog, caller: &Caller, offers: &[Offer]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let of = Of { catalog, caller, offers };
    for entry in callable(catalog, caller).chain(offered(of)) {
        (&entry.capability.name, &entry.source.hash, &entry.scope).hash(&mut hasher);
        entry.sensitivity.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_say_only_what_is_known() {
        let source = remit_testkit::samples::source(
            "demo",
            &[("a", Sensitivity::Low), ("b", Sensitivity::Medium), ("c", Sensitivity::High)],
        );
        let catalog = remit_testkit::samples::catalog(vec![source]);
        let hint = |name| annotations(catalog.get(name).unwrap()).destructive_hint;
        assert_eq!(
            [hint("demo.a"), hint("demo.b"), hint("demo.c")],
            [Some(false), None, Some(true)]
        );
        assert_eq!(annotations(catalog.get("demo.a").unwrap()).read_only_hint, None);
    }
}
