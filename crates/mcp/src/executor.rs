//! The engine's `Executor` over MCP servers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_engine::ports::{Executor, Pending, Running};
use remit_engine::record::Progress;
use remit_engine::stage::Authorised;
use remit_model::text::quoted;
use remit_model::{Answer, Binding, Failure, Outcome};
use serde_json::{Map, Value, json};

use crate::client::ToolResult;
use crate::error::McpError;
use crate::host::Step;
use crate::link::Until;
use crate::server::{Server, State};

/// How much of what a tool says about its failure becomes the message; all of it is in the details.
const MOST_MESSAGE_BYTES: usize = 8 << 10;

/// Is a set of servers by name.
#[derive(Debug, Default)]
pub struct Servers {
    all: Mutex<BTreeMap<String, Arc<Server>>>,
}

impl Servers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a server, and gives the one that had its name. Nobody finds that any more; whoever has it
    /// may finish.
    pub fn add(&self, server: Server) -> Option<Arc<Server>> {
        self.lock().insert(server.name().to_owned(), Arc::new(server))
    }

    /// Takes a server out.
    pub fn remove(&self, name: &str) -> Option<Arc<Server>> {
        self.lock().remove(name)
    }

    /// Finds a server.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.lock().get(name).cloned()
    }

    /// Lists all servers in order of name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.lock().values().cloned().collect()
    }

    /// Starts all at once, and waits until each is ready or has failed; gives those that failed.
    pub async fn start_all(&self, until: &Until) -> Vec<(String, McpError)> {
        let servers = self.all();
        servers.iter().for_each(|server| server.start());
        let mut failed = Vec::new();
        // They start side by side, so one after the other is waited for without losing time.
        for server in servers {
            if let Err(error) = server.client(until).await {
                failed.push((server.name().to_owned(), error));
            }
        }
        failed
    }

    /// Ends all, side by side, and returns when nothing of them is left.
    pub async fn stop_all(&self) {
        let servers: Vec<_> = std::mem::take(&mut *self.lock()).into_values().collect();
        let mut stopping = tokio::task::JoinSet::new();
        for server in servers {
            stopping.spawn(async move { server.stop().await });
        }
        while stopping.join_next().await.is_some() {}
    }

    /// Tells how each server is.
    #[must_use]
    pub fn states(&self) -> Vec<(String, State)> {
        self.all().iter().map(|server| (server.name().to_owned(), server.state())).collect()
    }
}

/// Runs the tools of MCP servers.
#[derive(Debug, Default)]
pub struct McpExecutor {
    servers: Arc<Servers>,
}

impl McpExecutor {
    /// Makes one for a set of servers, which may change while it runs.
    #[must_use]
    pub fn new(servers: Arc<Servers>) -> Self {
        Self { servers }
    }

    async fn run(&self, call: &Authorised, running: Running) -> Outcome {
        let capability = &call.entry().capability;
        if capability.binding != Binding::Mcp {
            let why = "this capability is no tool of an MCP server";
            return Outcome::Failed(Failure::new("NOT_AN_MCP_TOOL", why));
        }
        let Some((server, tool)) = parts(&capability.name) else {
            let why = format!("{} does not name a server and a tool", quoted(&capability.name));
            return Outcome::Failed(Failure::new("NOT_AN_MCP_TOOL", why));
        };
        let Some(server) = self.servers.get(server) else {
            let why = format!("there is no MCP server {}", quoted(server));
            return Outcome::Failed(Failure::new("SERVER_UNKNOWN", why));
        };
        let until = Until::cancelled_by(running.timeout, running.cancel.clone());
        let progress = Arc::clone(&running.progress);
        let sink = Arc::new(move |step: Step| {
            progress(Progress { fraction: step.fraction(), message: step.message });
        });
        match server.call_tool(tool, &call.call().input, &until, Some(sink)).await {
            Ok(result) => outcome(result),
            Err(error) => failed(&error),
        }
    }
}

impl Executor for McpExecutor {
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        Box::pin(self.run(call, running))
    }

    fn shut_down(&self) -> Pending<'_, ()> {
        Box::pin(self.servers.stop_all())
    }
}

/// Takes `@server/tool` apart. Names of tools may hold slashes, names of servers do not.
#[must_use]
pub fn parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix('@')?.split_once('/')?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// Gives what a tool's result is to Remit. A failure has the tool's own words, so that a model can
/// correct itself.
fn outcome(result: ToolResult) -> Outcome {
    let ToolResult { content, structured_content, is_error } = result;
    let said = is_error.then(|| texts(&content));
    let mut map = Map::new();
    map.insert("content".to_owned(), if content.is_array() { content } else { json!([]) });
    if let Some(structured) = structured_content.filter(|value| !value.is_null()) {
        map.insert("structuredContent".to_owned(), structured);
    }
    match said {
        None => Outcome::Succeeded(Answer { result: Value::Object(map), ..Answer::default() }),
        Some(said) => {
            let said =
                if said.is_empty() { "the tool failed without a word".to_owned() } else { said };
            Outcome::Failed(Failure::new("TOOL_ERROR", said).with_details(Value::Object(map)))
        }
    }
}

/// Gives the texts in a tool's content, up to a length.
fn texts(content: &Value) -> String {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> =
        blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    cut(texts.join("\n"))
}

/// Cuts a message to a length that can be read.
fn cut(mut message: String) -> String {
    if message.len() > MOST_MESSAGE_BYTES {
        let end = (0..=MOST_MESSAGE_BYTES).rev().find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or_default());
        message.push('…');
    }
    message
}

/// Gives what an error is to Remit.
fn failed(error: &McpError) -> Outcome {
    match error {
        McpError::TimedOut { after } => {
            Outcome::TimedOut { after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }
        }
        McpError::Cancelled => Outcome::Cancelled { message: error.to_string() },
        McpError::Refused { code, data, .. } => {
            let details = json!({"code": code, "data": data});
            let failure = Failure::new(error.code(), cut(error.to_string()));
            Outcome::Failed(failure.with_details(details))
        }
        McpError::Ended { .. } => {
            let message = format!("{error}; what was under way may or may not be done");
            Outcome::Failed(Failure::new(error.code(), message))
        }
        other => Outcome::Failed(Failure::new(other.code(), cut(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> Outcome {
        outcome(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn names_are_taken_apart_at_the_first_slash() {
        assert_eq!(parts("@git/status"), Some(("git", "status")));
        assert_eq!(parts("@a.b/x/y"), Some(("a.b", "x/y")));
        for wrong in ["git/status", "@git", "@/x", "@git/", "#agent", ""] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_result_stays_as_it_came() {
        let got = result(
            r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"structuredContent":{"a":1},"isError":false,"_meta":{"x":1}}"#,
        );
        let Outcome::Succeeded(answer) = got else { panic!("{got:?}") };
        let want = json!({
            "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
            "structuredContent": {"a": 1},
        });
        assert_eq!(answer.result, want);
        let Outcome::Succeeded(empty) = result("{}") else { panic!() };
        assert_eq!(empty.result, json!({"content": []}));
    }

    #[test]
    fn a_failure_has_the_words_of_the_tool() {
        let got = result(r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#);
        let Outcome::Failed(failure) = got else { panic!("{got:?}") };
        assert_eq!(
            (failure.code.as_str(), failure.message.as_str()),
            ("TOOL_ERROR", "no such file")
        );
        assert!(failure.details.is_some());
        let long =
            json!({"content": [{"type": "text", "text": "é".repeat(9_000)}], "isError": true});
        let Outcome::Failed(failure) = result(&long.to_string()) else { panic!() };
        assert!(failure.message.len() <= MOST_MESSAGE_BYTES + '…'.len_utf8());
        let Outcome::Failed(silent) = result(r#"{"isError":true}"#) else { panic!() };
        assert!(silent.message.contains("without a word"));
    }
}
