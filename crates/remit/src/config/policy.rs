//! `remit.yaml`: what the operator decided.

use std::collections::BTreeMap;
use std::path::Path;

use remit_engine::catalog::Catalog;
use remit_engine::policy::{CapabilityRule, Pattern, Policy, ScopeAccess, WhiteList};
use remit_manifest::shape::{FILLED, Field, Record, Shape, Unknown};
use remit_model::{Member, Node, Permission, Sensitivity};
use remit_server::Issuers;

use crate::house::state;

use super::authentication::{self, AUTHENTICATION};
use super::telemetry::{self, TELEMETRY, Telemetry};
use super::{Judged, in_one_line, judge};

static TEXT: Shape = Shape::Text(&FILLED);
const GIB: i64 = 1 << 30;

/// Is the whole file.
static FILE: Shape = Shape::Record(&Record {
    what: "a configuration of Remit",
    unknown: Unknown::Error,
    fields: &[
        Field::default(
            "sandbox",
            Shape::Enum(&["required", "off"]),
            "\"required\"",
            "Whether processes run confined. `off` is said in every line about such a call.",
        ),
        Field::optional(
            "approval_seconds",
            Shape::Integer { min: 1, max: 86_400 },
            "How long a person has to answer for medium; for high it is 30.",
        ),
        Field::optional(
            "capabilities",
            Shape::List(&CAPABILITY),
            "Scope and sensitivity of capabilities; what is declared becomes only stricter.",
        ),
        Field::optional("white_lists", Shape::List(&WHITE_LIST), "Who may see what."),
        Field::optional("deny", Shape::List(&TEXT), "What nobody may call."),
        Field::optional(
            "secret_arguments",
            Shape::List(&TEXT),
            "What may be given secrets of other services as arguments; everything else refuses them.",
        ),
        Field::optional("scopes", Shape::Map(&SCOPE), "What scopes give to confined processes."),
        Field::optional("skills", Shape::Record(&SKILLS), "Which skill documents agents can read."),
        Field::optional("limits", Shape::Record(&LIMITS), "What one process may use."),
        Field::optional("egress", Shape::Record(&EGRESS), "Where the built-in tools may connect."),
        Field::optional(
            "authentication",
            Shape::Record(&AUTHENTICATION),
            "Whose tokens the server takes beside its own.",
        ),
        Field::optional("telemetry", Shape::Record(&TELEMETRY), "Where the server's traces go."),
    ],
});

static CAPABILITY: Shape = Shape::Record(&Record {
    what: "a rule about capabilities",
    unknown: Unknown::Error,
    fields: &[
        Field::required("match", Shape::Text(&FILLED), "Their names; `*` is anything."),
        Field::optional("scope", Shape::Text(&FILLED), "The permission they need."),
        Field::optional(
            "sensitivity",
            Shape::Enum(&["low", "medium", "high"]),
            "How much care they take.",
        ),
    ],
});

static WHITE_LIST: Shape = Shape::Record(&Record {
    what: "a white-list",
    unknown: Unknown::Error,
    fields: &[
        Field::default("user", Shape::Text(&FILLED), "\"*\"", "The users it speaks of."),
        Field::default("agent", Shape::Text(&FILLED), "\"*\"", "The agents it speaks of."),
        Field::required("allow", Shape::List(&TEXT), "What they may call."),
    ],
});

static SCOPE: Shape = Shape::Record(&Record {
    what: "a scope",
    unknown: Unknown::Error,
    fields: &[
        Field::default("network", Shape::Bool, "false", "Whether it gives the network."),
        Field::optional("read", Shape::List(&TEXT), "Directories it may read."),
        Field::optional("write", Shape::List(&TEXT), "Directories it may write."),
    ],
});

static NAMES: Shape = Shape::List(&TEXT);

static SKILLS: Record = Record {
    what: "which skill documents can be read",
    unknown: Unknown::Error,
    fields: &[
        Field::optional(
            "default",
            Shape::List(&TEXT),
            "By agents that are not named; all if left out.",
        ),
        Field::optional("agents", Shape::Map(&NAMES), "By each agent, under its id."),
    ],
};

static LIMITS: Record = Record {
    what: "limits",
    unknown: Unknown::Error,
    fields: &[
        Field::optional("cpu_seconds", Shape::Integer { min: 1, max: 86_400 }, "Processor time."),
        Field::optional("memory_bytes", Shape::Integer { min: 1 << 24, max: 1 << 42 }, "Memory."),
        Field::optional("processes", Shape::Integer { min: 1, max: 100_000 }, "Processes."),
        Field::optional("open_files", Shape::Integer { min: 16, max: 1_000_000 }, "Open files."),
        Field::optional("file_bytes", Shape::Integer { min: 0, max: 1 << 42 }, "Largest file."),
        Field::optional("output_bytes", Shape::Integer { min: 1024, max: GIB }, "Longest answer."),
    ],
};

static EGRESS: Record = Record {
    what: "egress rules",
    unknown: Unknown::Error,
    fields: &[
        Field::default(
            "allow_private",
            Shape::Bool,
            "false",
            "Whether private, loopback and link-local addresses may be reached.",
        ),
        Field::optional("allowed_hosts", Shape::List(&TEXT), "Hosts that may be, all the same."),
    ],
};

/// Is what the file says, beside the policy itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Operator {
    pub(crate) policy: Policy,
    /// Where each rule about capabilities stands, for people.
    rule_places: Vec<String>,
    /// The paths of scopes, each with its place.
    scope_paths: Vec<(String, String)>,
    pub(crate) sandbox_off: bool,
    /// Whether the file says in so many words that work is confined.
    pub(crate) sandbox_required: bool,
    pub(crate) limits: BTreeMap<String, u64>,
    pub(crate) allow_private: Option<bool>,
    pub(crate) allowed_hosts: Option<Vec<String>>,
    pub(crate) issuers: Issuers,
    pub(crate) telemetry: Option<Telemetry>,
}

impl Operator {
    /// Gives where the built-in tools may connect, as settings of theirs: what the file says.
    pub(crate) fn egress(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut made = serde_json::Map::new();
        if let Some(allow_private) = self.allow_private {
            made.insert("allow_private".to_owned(), allow_private.into());
        }
        if let Some(hosts) = &self.allowed_hosts {
            made.insert("allowed_hosts".to_owned(), hosts.clone().into());
        }
        made
    }

    /// Gives how much a process may use.
    pub(crate) fn process_limits(&self) -> remit_exec::process::Limits {
        let mut limits = remit_exec::process::Limits::default();
        for (name, field) in [
            ("cpu_seconds", &mut limits.cpu_seconds),
            ("memory_bytes", &mut limits.memory_bytes),
            ("processes", &mut limits.processes),
            ("open_files", &mut limits.open_files),
            ("file_bytes", &mut limits.file_bytes),
            ("output_bytes", &mut limits.output_bytes),
        ] {
            if let Some(value) = self.limits.get(name) {
                *field = *value;
            }
        }
        limits
    }

    /// Gives the policy with the scopes that Remit's own tools need, where the operator does not say
    /// what they give.
    pub(crate) fn policy_with_defaults(&self) -> Policy {
        let mut policy = self.policy.clone();
        let network = ScopeAccess { network: true, ..ScopeAccess::default() };
        policy.scopes.entry("network:http".to_owned()).or_insert(network);
        policy
    }

    /// Says which paths of scopes cannot be lent here, with their places.
    pub(crate) fn bad_paths(&self) -> Vec<String> {
        let said = |(place, path): &(String, String)| {
            state::path_trouble(path).map(|why| format!("{place}: {why}"))
        };
        self.scope_paths.iter().filter_map(said).collect()
    }

    /// Says which rules name a scope for capabilities that all declare another, with their places:
    /// what is declared stays.
    pub(crate) fn idle_scopes(&self, catalog: &Catalog) -> Vec<String> {
        let mut said = Vec::new();
        for (rule, place) in self.policy.capabilities.iter().zip(&self.rule_places) {
            let Some(scope) = &rule.scope else { continue };
            let mut matched = catalog
                .entries()
                .filter(|entry| rule.pattern.matches(&entry.capability.name))
                .peekable();
            let Some(first) = matched.peek().map(|entry| (&entry.capability.name, &entry.scope))
            else {
                continue;
            };
            let (name, own) = (first.0.clone(), first.1.clone());
            if matched.all(|entry| {
                matches!(&entry.capability.permission, Permission::Scope(own) if own != scope)
            }) {
                said.push(format!(
                    "{place}: the scope `{scope}` is not used: `{name}` declares `{own}`, and what is declared stays; leave `scope` out"
                ));
            }
        }
        said
    }
}

/// Reads and judges the file.
pub(crate) fn file(path: &Path) -> Result<Judged, String> {
    judge(path, &FILE)
}

/// Reads the file; what is wrong with it is one message. A policy with an error is not used in part.
pub(crate) fn load(path: &Path) -> Result<Operator, String> {
    let judged = file(path)
        .map_err(|reason| format!("cannot read {}: {reason}", crate::paths::for_people(path)))?;
    let wrong: Vec<String> = judged.errors().map(|d| in_one_line(path, d)).collect();
    match (&judged.reading.root, wrong.is_empty()) {
        (Some(root), true) => {
            let mut operator = lower(root);
            let place = |node: &Node| {
                let at = judged.reading.source.position(node.span);
                format!("{}:{}:{}", crate::paths::for_people(path), at.line, at.column)
            };
            operator.rule_places = items(root, "capabilities").map(place).collect();
            operator.scope_paths = members(root, "scopes")
                .flat_map(|scope| items(&scope.value, "read").chain(items(&scope.value, "write")))
                .filter_map(|node| Some((place(node), node.as_str()?.to_owned())))
                .collect();
            operator.issuers = authentication::issuers(root, place)?;
            operator.telemetry = telemetry::lower(root);
            Ok(operator)
        }
        _ => Err(wrong.join("\n")),
    }
}

pub(super) fn texts(node: Option<&Node>) -> impl Iterator<Item = &str> {
    node.into_iter().flat_map(Node::strings)
}

fn patterns(node: Option<&Node>) -> Vec<Pattern> {
    texts(node).map(Pattern::new).collect()
}

pub(super) fn items<'n>(root: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    root.get(key).and_then(Node::as_array).unwrap_or_default().iter()
}

pub(super) fn members<'n>(root: &'n Node, key: &str) -> impl Iterator<Item = &'n Member> {
    let object = root.get(key).and_then(Node::as_object);
    object.map(remit_model::Object::members).unwrap_or_default().iter()
}

pub(super) fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::as_str)
}

fn lower(root: &Node) -> Operator {
    let sandbox = text(root, "sandbox");
    let mut operator = Operator {
        sandbox_off: sandbox == Some("off"),
        sandbox_required: sandbox == Some("required"),
        ..Operator::default()
    };
    let policy = &mut operator.policy;
    policy.approval_seconds = root.get("approval_seconds").and_then(whole);
    policy.deny = patterns(root.get("deny"));
    policy.secret_arguments = patterns(root.get("secret_arguments"));
    policy.capabilities = items(root, "capabilities")
        .map(|rule| CapabilityRule {
            pattern: Pattern::new(text(rule, "match").unwrap_or_default()),
            scope: text(rule, "scope").map(str::to_owned),
            sensitivity: text(rule, "sensitivity").and_then(Sensitivity::parse),
        })
        .collect();
    policy.white_lists = items(root, "white_lists")
        .map(|list| WhiteList {
            user: Pattern::new(text(list, "user").unwrap_or("*")),
            agent: Pattern::new(text(list, "agent").unwrap_or("*")),
            allow: patterns(list.get("allow")),
        })
        .collect();
    for member in members(root, "scopes") {
        let access = ScopeAccess {
            network: member.value.get("network").and_then(Node::as_bool).unwrap_or(false),
            read: texts(member.value.get("read")).map(str::to_owned).collect(),
            write: texts(member.value.get("write")).map(str::to_owned).collect(),
        };
        policy.scopes.insert(member.key.to_string(), access);
    }
    if let Some(skills) = root.get("skills") {
        policy.skills.default = skills.get("default").map(|list| patterns(Some(list)));
        policy.skills.agents = members(skills, "agents")
            .map(|member| (member.key.to_string(), patterns(Some(&member.value))))
            .collect();
    }
    for member in members(root, "limits") {
        if let Some(value) = whole(&member.value) {
            operator.limits.insert(member.key.to_string(), value);
        }
    }
    if let Some(egress) = root.get("egress") {
        operator.allow_private = egress.get("allow_private").and_then(Node::as_bool);
        let hosts = egress.get("allowed_hosts");
        operator.allowed_hosts = hosts.map(|list| texts(Some(list)).map(str::to_owned).collect());
    }
    operator
}

fn whole(node: &Node) -> Option<u64> {
    node.as_integer().and_then(|n| u64::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_documents_agents_read_is_said_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("remit.yaml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load(&path).map(|operator| operator.policy.skills)
        };
        let patterns = |list: &[&str]| list.iter().map(|one| Pattern::new(one)).collect::<Vec<_>>();
        let skills =
            read("skills:\n  default: []\n  agents:\n    bot: [calendar, \"web_*\"]\n").unwrap();
        assert_eq!(skills.default, Some(Vec::new()), "none is not the same as nothing said");
        assert_eq!(skills.agents["bot"], patterns(&["calendar", "web_*"]));
        assert_eq!(read("skills: {agents: {}}\n").unwrap().default, None);
        assert_eq!(read("deny: []\n").unwrap(), remit_engine::policy::Skills::default());
        for wrong in
            ["skills: {agent: {}}\n", "skills: [calendar]\n", "skills: {agents: {bot: calendar}}\n"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
