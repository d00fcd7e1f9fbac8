//! What the public conformance suite drives: connects to the server at the address it is given last and
//! uses everything it finds there once.
//!
//!     conformance client --command target/debug/examples/conformance_client --requirements 2026-07-28
//!
//! Questions are answered with the defaults of their form.

#![expect(clippy::print_stderr, reason = "it says what it could not do")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use remit_engine::ports::Pending;
use remit_mcp::{
    Client, Config, Host, Listing, McpError, Question, Remote, Server, Transport, Until,
};
use serde_json::{Map, Value, json};

/// Answers forms with their defaults.
struct Defaults;

impl Host for Defaults {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {"form": {}}})
    }

    fn answer(&self, question: Question) -> Pending<'_, Result<Value, String>> {
        let answer = match question.method.as_str() {
            "elicitation/create" => {
                let schema = question.params.get("requestedSchema").unwrap_or(&Value::Null);
                Ok(json!({"action": "accept", "content": example(schema)}))
            }
            other => Err(format!("nobody answers {other}")),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Gives an object that fits a simple schema.
fn example(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut made = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        let of_kind = || match property.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => json!(5),
            Some("boolean") => json!(true),
            Some("object") => example(property),
            Some("array") => json!([]),
            _ => json!("text"),
        };
        let given = property.get("default").cloned();
        made.insert(name.clone(), given.unwrap_or_else(of_kind));
    }
    Value::Object(made)
}

/// Gives the calls that the scenario wants, if it says which.
fn wanted() -> Option<Vec<(String, Value)>> {
    let context: Value =
        serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?).ok()?;
    let calls = context.get("toolCalls")?.as_array()?;
    let call = |call: &Value| {
        let name = call.get("name")?.as_str()?.to_owned();
        Some((name, call.get("arguments").cloned().unwrap_or_else(|| json!({}))))
    };
    Some(calls.iter().filter_map(call).collect())
}

/// Gives the schema that one scenario wants to be sent back as it came.
fn focal(listing: &Listing) -> Option<&Value> {
    let named =
        |name: &str| listing.tools.iter().find(|tool| tool.get("name") == Some(&name.into()));
    named("json_schema_echo").and_then(|_| named("json_schema_2020_12_tool")?.get("inputSchema"))
}

async fn tools(client: &Client, until: &Until) -> Result<(), McpError> {
    let listing = client.list_tools(until).await?;
    let all = || {
        let call = |tool: &Value| {
            let name = tool.get("name")?.as_str()?.to_owned();
            Some((name, example(tool.get("inputSchema").unwrap_or(&Value::Null))))
        };
        listing.tools.iter().filter_map(call).collect()
    };
    if let Some(schema) = focal(&listing) {
        client.call_tool("json_schema_echo", &json!({"schema": schema}), until, None).await?;
        return Ok(());
    }
    for (name, arguments) in wanted().unwrap_or_else(all) {
        if let Err(error) = client.call_tool(&name, &arguments, until, None).await {
            eprintln!("{name}: {error}");
        }
    }
    Ok(())
}

async fn use_all(server: &Server, until: &Until) -> Result<(), McpError> {
    let client = server.client(until).await?;
    tools(&client, until).await?;
    if client.welcome().has("resources") {
        let found = client.list_resources(until).await?;
        let uri = found.first().and_then(|one| one.get("uri")).and_then(Value::as_str);
        if let Some(uri) = uri {
            client.read_resource(uri, until).await?;
        }
    }
    if client.welcome().has("prompts") {
        let found = client.list_prompts(until).await?;
        let name = found.first().and_then(|one| one.get("name")).and_then(Value::as_str);
        if let Some(name) = name {
            client.get_prompt(name, &json!({}), until).await?;
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::FAILURE };
    let remote = Remote { url, ..Remote::default() };
    let mut config = Config::new("conformance", Transport::Http(remote));
    config.host = Arc::new(Defaults);
    let server = Server::new(config);
    let used = use_all(&server, &Until::within(Duration::from_secs(20))).await;
    server.stop().await;
    match used {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
