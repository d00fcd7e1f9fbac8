//! An agent as the one capability it is: something that can be called.

use std::collections::BTreeMap;

use remit_model::{
    Binding, Capability, Dialect, Manifest, McpTransport, Node, Object, Permission, Value,
};
use serde_json::json;

use super::servers::filled;

/// Turns a tree into the model. An agent without a name is called `#`; whoever read its file adds
/// the name of the file.
#[must_use]
pub fn lower(root: &Node) -> Manifest {
    let text = |field: &str| root.get(field).and_then(Node::as_str).map(str::to_owned);
    let texts = |field: &str| {
        root.get(field).map(|list| list.strings().map(str::to_owned).collect()).unwrap_or_default()
    };
    let name = text("name").filter(|name| !name.is_empty());
    let agent = Capability {
        name: format!("#{}", name.as_deref().unwrap_or_default()),
        description: text("description").unwrap_or_default(),
        input_schema: input_schema(root),
        output_schema: None,
        permission: Permission::Undeclared,
        sensitivity: None,
        timeout_ms: None,
        binding: Binding::Agent {
            model: text("model").filter(|model| !model.is_empty()),
            servers: servers(root),
            tools: texts("tools"),
            allowed_tools: texts("allowedTools"),
        },
    };
    let mut manifest = Manifest::new(Dialect::Agent);
    manifest.name = name;
    manifest.version = text("version");
    manifest.capabilities.push(agent);
    manifest
}

/// Gives the schema that calls of the agent are validated by.
pub(crate) fn input_schema(root: &Node) -> serde_json::Value {
    match root.get("inputSchema") {
        Some(schema) if !schema.is_null() => schema.to_json(),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// Gives the servers that are switched on and can be reached.
fn servers(root: &Node) -> BTreeMap<String, McpTransport> {
    let members = root.get("mcpServers").and_then(Node::as_object).map(Object::members);
    members
        .unwrap_or_default()
        .iter()
        .filter(|m| m.value.get("disabled").and_then(Node::as_bool) != Some(true))
        .filter_map(|m| Some((m.key.to_string(), transport(m.value.as_object()?)?)))
        .collect()
}

fn transport(server: &Object) -> Option<McpTransport> {
    let Some(command) = filled(server, "command") else {
        return filled(server, "url")
            .map(|url| McpTransport::StreamableHttp { url: url.to_owned() });
    };
    let command = command.to_owned();
    let args = server.get("args").and_then(Node::as_array).unwrap_or_default();
    let args = args.iter().filter_map(argument).collect();
    Some(match filled(server, "transport") {
        Some("streamable-http") => McpTransport::LocalHttp { command, args },
        _ => McpTransport::Stdio { command, args },
    })
}

/// Gives an argument as the program gets it: files of the older format also write numbers.
fn argument(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(s) | Value::Template(s) => Some(s.to_string()),
        Value::Number(n) => Some(remit_model::canonical::number(*n)),
        Value::Bool(b) => Some(b.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::checked;
    use super::*;

    fn lowered(text: &str) -> Manifest {
        checked(text, false).manifest().expect("the manifest is good")
    }

    #[test]
    fn an_agent_is_one_capability_with_its_servers() {
        let manifest = lowered(
            r#"{"name": "dev", "version": "1.2.0", "description": "Writes code", "model": ${m},
                "mcpServers": {
                  "fetch": {"command": "fetch", "args": ["-v"], "transport": "stdio"},
                  "git": {"command": "git-mcp", "transport": "streamable-http"},
                  "hub": {"url": "https://hub.example/mcp"}},
                "tools": ["fs-read", "@git"], "allowedTools": ["fs-read"],
                "inputSchema": {"type": "object", "properties": {"m": {"type": "string"}}}}"#,
        );
        assert_eq!(manifest.name.as_deref(), Some("dev"));
        assert_eq!(manifest.version.as_deref(), Some("1.2.0"));
        let [agent] = manifest.capabilities.as_slice() else { panic!("one capability") };
        assert_eq!((agent.name.as_str(), agent.description.as_str()), ("#dev", "Writes code"));
        assert_eq!(agent.input_schema["properties"]["m"]["type"], "string");
        let Binding::Agent { model, servers, tools, allowed_tools } = &agent.binding else {
            panic!("an agent")
        };
        assert_eq!(model.as_deref(), Some("${m}"));
        assert_eq!(tools, &["fs-read", "@git"]);
        assert_eq!(allowed_tools, &["fs-read"]);
        let kinds: Vec<_> = servers.iter().map(|(name, t)| (name.as_str(), t.clone())).collect();
        let command =
            |c: &str, a: &[&str]| (c.to_owned(), a.iter().map(ToString::to_string).collect());
        let (fetch, fetch_args) = command("fetch", &["-v"]);
        let (git, no_args) = command("git-mcp", &[]);
        assert_eq!(
            kinds,
            [
                ("fetch", McpTransport::Stdio { command: fetch, args: fetch_args }),
                ("git", McpTransport::LocalHttp { command: git, args: no_args }),
                ("hub", McpTransport::StreamableHttp { url: "https://hub.example/mcp".to_owned() }),
            ]
        );
    }

    #[test]
    fn the_older_format_is_lowered_too() {
        let manifest = lowered(
            r#"{"model": null, "mcpServers": {
                  "on": {"command": "c", "args": ["-p", 8080, true]},
                  "off": {"command": "c", "disabled": true},
                  "none": {}}}"#,
        );
        assert_eq!((manifest.name, manifest.version), (None, None));
        let agent = manifest.capabilities.first().unwrap();
        assert_eq!(agent.name, "#");
        assert_eq!(agent.input_schema, json!({"type": "object", "properties": {}}));
        let Binding::Agent { model: None, servers, .. } = &agent.binding else {
            panic!("{agent:?}")
        };
        let args = vec!["-p".to_owned(), "8080".to_owned(), "true".to_owned()];
        assert_eq!(servers.len(), 1);
        assert_eq!(servers["on"], McpTransport::Stdio { command: "c".to_owned(), args });
    }

    #[test]
    fn no_tree_makes_lowering_panic() {
        for text in ["null", "[]", r#"{"name": 1, "mcpServers": [1], "tools": {"a": 1}}"#] {
            let root = Node::from_json(&serde_json::from_str(text).unwrap());
            assert_eq!(lower(&root).capabilities.len(), 1);
        }
    }
}
