//! What a server lists, lowered into capabilities and named by a hash, so that a later list can be held
//! against it.
//!
//! Each tool is judged by itself: one with a schema that cannot be used does not take the others with
//! it. The hash is of the whole list and of what tells the server from another, in canonical form.

use std::collections::{BTreeMap, HashMap};

use remit_manifest::compile::{self, Options};
use remit_manifest::read::{self, Format};
use remit_model::text::quoted;
use remit_model::{Capability, Dialect, Node, Severity, canonical};
use serde_json::{Value, json};

use crate::client::Listing;
use crate::launch::LocalIdentity;

/// Tells a server from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// By its program.
    Local(LocalIdentity),
    /// By its address.
    Remote {
        /// The address, as it is declared.
        url: String,
    },
}

impl Identity {
    /// Gives it as it is hashed.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Local(LocalIdentity { command, args, digest }) => {
                json!({"command": command, "args": args, "sha256": digest})
            }
            Self::Remote { url } => json!({"url": url}),
        }
    }
}

/// Is what a server offered at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The hash of it all: who the server is, and every tool it lists.
    pub hash: String,
    /// The hash of who the server is.
    pub identity: String,
    /// The hash of each tool as it is listed, by its own name.
    pub tools: BTreeMap<String, String>,
    /// What can be called, as `@server/tool`.
    pub capabilities: Vec<Capability>,
    /// What cannot, by its own name, and why.
    pub refused: Vec<(String, String)>,
    /// The list in one document, for comparing two of them.
    pub document: Value,
}

/// Lowers a list.
#[must_use]
pub fn snapshot(server: &str, listing: &Listing, identity: &Identity) -> Snapshot {
    let mut refused = listing.refused.clone();
    let mut count: HashMap<&str, usize> = HashMap::new();
    for tool in &listing.tools {
        *count.entry(name_of(tool)).or_default() += 1;
    }
    let (mut tools, mut capabilities) = (BTreeMap::new(), Vec::new());
    for tool in &listing.tools {
        let name = name_of(tool);
        let hash = canonical::hash(&Node::from_json(tool));
        // Of two with one name the hash is of both, so that neither can be swapped unseen.
        let both = tools.get(name).map(|other: &String| format!("{other}{hash}"));
        let hash = both.map_or(hash, |both| canonical::hash_bytes(both.as_bytes()));
        tools.insert(name.to_owned(), hash);
        if count.get(name).is_some_and(|count| *count > 1) {
            if !refused.iter().any(|(other, _)| other == name) {
                refused.push((name.to_owned(), "the server lists this name twice".to_owned()));
            }
            continue;
        }
        match lowered(tool) {
            Ok(mut capability) => {
                capability.name = format!("@{server}/{}", capability.name);
                capabilities.push(capability);
            }
            Err(why) => refused.push((name.to_owned(), why)),
        }
    }
    capabilities.sort_by(|a, b| a.name.cmp(&b.name));
    let mut listed = listing.tools.clone();
    listed.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    let document = json!({"tools": listed});
    let identity = identity.to_json();
    let whole = json!({"server": identity, "tools": tools});
    Snapshot {
        hash: canonical::hash(&Node::from_json(&whole)),
        identity: canonical::hash(&Node::from_json(&identity)),
        tools,
        capabilities,
        refused,
        document,
    }
}

fn name_of(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Judges one tool by the rules for lists of tools, and lowers it.
fn lowered(tool: &Value) -> Result<Capability, String> {
    let text = json!({"tools": [tool]}).to_string();
    let reading = read::read(text.as_bytes(), Some(Format::Json), &read::Limits::DOCUMENT);
    let options = Options { dialect: Some(Dialect::McpTools), format: None, strict: false };
    let checked = compile::judge(reading, options);
    let error = checked.diagnostics.iter().find(|one| one.severity == Severity::Error);
    if let Some(error) = error {
        return Err(format!("{} ({})", error.message, error.rule));
    }
    let manifest = checked.manifest().ok_or("it cannot be used")?;
    manifest.capabilities.into_iter().next().ok_or_else(|| {
        format!("{} is no tool", quoted(&tool.to_string().chars().take(80).collect::<String>()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_model::Binding;

    fn tool(name: &str) -> Value {
        json!({"name": name, "description": "does", "inputSchema": {"type": "object"}})
    }

    fn listing(tools: Vec<Value>) -> Listing {
        Listing { tools, refused: Vec::new() }
    }

    fn here() -> Identity {
        Identity::Local(LocalIdentity {
            command: "serve".to_owned(),
            args: vec!["--all".to_owned()],
            digest: "0".repeat(64),
        })
    }

    #[test]
    fn tools_become_capabilities_of_the_server() {
        let got = snapshot("git", &listing(vec![tool("status"), tool("log")]), &here());
        let names: Vec<_> = got.capabilities.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["@git/log", "@git/status"]);
        assert!(got.capabilities.iter().all(|one| one.binding == Binding::Mcp));
        assert!(got.refused.is_empty());
    }

    #[test]
    fn the_hash_is_of_what_is_listed_and_of_who_lists_it_and_of_nothing_else() {
        let one = snapshot("git", &listing(vec![tool("a"), tool("b")]), &here());
        let swapped = snapshot("git", &listing(vec![tool("b"), tool("a")]), &here());
        assert_eq!(one.hash, swapped.hash, "the order of the list says nothing");
        let mut other = tool("b");
        other["description"] = json!("does, and also sends it all to me");
        let changed = snapshot("git", &listing(vec![tool("a"), other]), &here());
        assert_ne!(one.hash, changed.hash);
        assert_eq!(one.tools["a"], changed.tools["a"]);
        assert_ne!(one.tools["b"], changed.tools["b"]);
        let mut annotated = tool("b");
        annotated["annotations"] = json!({"readOnlyHint": true});
        assert_ne!(snapshot("git", &listing(vec![tool("a"), annotated]), &here()).hash, one.hash);
        let Identity::Local(local) = here() else { unreachable!() };
        for elsewhere in [
            Identity::Remote { url: "http://127.0.0.1/mcp".to_owned() },
            Identity::Local(LocalIdentity { digest: "1".repeat(64), ..local.clone() }),
            Identity::Local(LocalIdentity { args: Vec::new(), ..local.clone() }),
            Identity::Local(LocalIdentity { command: "other".to_owned(), ..local }),
        ] {
            let moved = snapshot("git", &listing(vec![tool("a"), tool("b")]), &elsewhere);
            assert_ne!(moved.hash, one.hash);
            assert_eq!(moved.tools, one.tools);
        }
    }

    #[test]
    fn a_tool_that_cannot_be_used_takes_no_other_with_it() {
        let mut open = tool("no_schema");
        open.as_object_mut().unwrap().remove("inputSchema");
        let tools = vec![
            tool("good"),
            tool("bad name"),
            open,
            tool("twice"),
            tool("twice"),
            json!({"name": "array", "inputSchema": {"type": "array"}}),
            json!({"name": "big", "inputSchema": {"type": "object", "maxProperties": 9_007_199_254_740_993_u64}}),
            json!(5),
        ];
        let got = snapshot("s", &listing(tools), &here());
        let names: Vec<_> = got.capabilities.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["@s/good"]);
        let refused: Vec<_> = got.refused.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(refused, ["bad name", "no_schema", "twice", "array", "big", ""]);
        assert!(got.refused.iter().all(|(_, why)| !why.is_empty()), "{:?}", got.refused);
    }

    #[test]
    fn of_two_tools_with_one_name_neither_can_be_swapped_unseen() {
        let hash = |other: &str| {
            let mut second = tool("twice");
            second["description"] = json!(other);
            snapshot("s", &listing(vec![tool("twice"), second]), &here()).hash
        };
        assert_ne!(hash("a"), hash("b"));
    }
}
