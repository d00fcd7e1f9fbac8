//! `remit.yaml`: what the operator decided.

use std::collections::BTreeMap;
use std::path::Path;

use remit_engine::policy::{CapabilityRule, Pattern, Policy, ScopeAccess, WhiteList};
use remit_manifest::shape::{FILLED, Field, Record, Shape, Unknown};
use remit_model::{Node, Sensitivity};

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
            "Scope and sensitivity of capabilities that declare none; the first match counts.",
        ),
        Field::optional("white_lists", Shape::List(&WHITE_LIST), "Who may see what."),
        Field::optional("deny", Shape::List(&TEXT), "What nobody may call."),
        Field::optional("scopes", Shape::Map(&SCOPE), "What scopes give to confined processes."),
        Field::optional("limits", Shape::Record(&LIMITS), "What one process may use."),
        Field::optional("egress", Shape::Record(&EGRESS), "Where the built-in tools may connect."),
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
    pub(crate) sandbox_off: bool,
    pub(crate) limits: BTreeMap<String, u64>,
    pub(crate) allow_private: bool,
    pub(crate) allowed_hosts: Vec<String>,
}

impl Operator {
    /// Gives where the built-in tools may connect, as settings of theirs.
    pub(crate) fn egress(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut made = serde_json::Map::new();
        made.insert("allow_private".to_owned(), self.allow_private.into());
        made.insert("allowed_hosts".to_owned(), self.allowed_hosts.clone().into());
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

    /// Gives the policy with what Remit says about its own tools and scopes, behind what the operator
    /// says.
    pub(crate) fn policy_with_defaults(&self) -> Policy {
        let mut policy = self.policy.clone();
        let rule = |pattern: &str, scope: &str, sensitivity| CapabilityRule {
            pattern: Pattern::new(pattern),
            scope: Some(scope.to_owned()),
            sensitivity: Some(sensitivity),
        };
        policy.capabilities.extend([
            rule("file_operator.write_file", "filesystem:write", Sensitivity::High),
            rule("file_operator.*", "filesystem:read", Sensitivity::Medium),
            rule("web_fetch.*", "network:http", Sensitivity::Medium),
            rule("web_search.*", "network:http", Sensitivity::Medium),
        ]);
        let network = ScopeAccess { network: true, ..ScopeAccess::default() };
        policy.scopes.entry("network:http".to_owned()).or_insert(network);
        policy
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
        (Some(root), true) => Ok(lower(root)),
        _ => Err(wrong.join("\n")),
    }
}

fn texts(node: Option<&Node>) -> impl Iterator<Item = &str> {
    node.into_iter().flat_map(Node::strings)
}

fn patterns(node: Option<&Node>) -> Vec<Pattern> {
    texts(node).map(Pattern::new).collect()
}

fn items<'n>(root: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    root.get(key).and_then(Node::as_array).unwrap_or_default().iter()
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::as_str)
}

fn lower(root: &Node) -> Operator {
    let mut operator =
        Operator { sandbox_off: text(root, "sandbox") == Some("off"), ..Operator::default() };
    let policy = &mut operator.policy;
    policy.approval_seconds = root.get("approval_seconds").and_then(whole);
    policy.deny = patterns(root.get("deny"));
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
    let members =
        |key: &str| root.get(key).and_then(Node::as_object).map(remit_model::Object::members);
    for member in members("scopes").unwrap_or_default() {
        let access = ScopeAccess {
            network: member.value.get("network").and_then(Node::as_bool).unwrap_or(false),
            read: texts(member.value.get("read")).map(str::to_owned).collect(),
            write: texts(member.value.get("write")).map(str::to_owned).collect(),
        };
        policy.scopes.insert(member.key.to_string(), access);
    }
    for member in members("limits").unwrap_or_default() {
        if let Some(value) = whole(&member.value) {
            operator.limits.insert(member.key.to_string(), value);
        }
    }
    if let Some(egress) = root.get("egress") {
        operator.allow_private = egress.get("allow_private").and_then(Node::as_bool) == Some(true);
        operator.allowed_hosts = texts(egress.get("allowed_hosts")).map(str::to_owned).collect();
    }
    operator
}

fn whole(node: &Node) -> Option<u64> {
    node.as_integer().and_then(|n| u64::try_from(n).ok())
}
