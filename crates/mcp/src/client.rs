//! What can be asked of a server that is ready.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use crate::error::McpError;
use crate::host::{Event, Step};
use crate::http::headers::{self, Mirror};
use crate::inbox::Sink;
use crate::limits::Limits;
use crate::link::{Link, Request, Until};
use crate::rpc::{HEADER_MISMATCH, Meta, Params};
use crate::shake::Welcome;

/// Is a server that is ready.
pub struct Client {
    pub(crate) link: Link,
    welcome: Welcome,
    limits: Limits,
    /// Which arguments of which tools are repeated in headers, since the last list.
    mirrors: RwLock<HashMap<String, Arc<[Mirror]>>>,
}

/// Is all tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The tools as the server describes them.
    pub tools: Vec<Value>,
    /// Those that cannot be used, by name, and why.
    pub refused: Vec<(String, String)>,
}

/// Is what a tool gave back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Texts, pictures, sounds, resources, as the server wrote them.
    #[serde(default)]
    pub content: Value,
    /// The same as data, where the tool gives any.
    #[serde(default)]
    pub structured_content: Option<Value>,
    /// Whether the tool says that it failed.
    #[serde(default)]
    pub is_error: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanting {
    #[serde(default)]
    result_type: Option<String>,
    #[serde(default)]
    input_requests: Option<Map<String, Value>>,
    #[serde(default)]
    request_state: Option<String>,
}

/// Is what a server wants before it answers.
#[derive(Default)]
struct Wanted {
    answers: Option<Value>,
    state: Option<String>,
}

impl Client {
    pub(crate) fn new(link: Link, welcome: Welcome, limits: &Limits) -> Self {
        Self { link, welcome, limits: limits.clone(), mirrors: RwLock::default() }
    }

    /// Gives what the server says about itself.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Hears what the server says by itself from now on. Who listens too slowly misses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.link.inbox().listen()
    }

    fn meta(&self) -> Meta<'_> {
        match self.welcome.revision.is_modern() {
            true => Meta::modern(self.link.inbox().capabilities()),
            false => Meta::default(),
        }
    }

    /// Asks whether the server is there. The newest revision has no such question; there it is asked for
    /// what it always can say.
    pub async fn ping(&self, until: &Until) -> Result<(), McpError> {
        let method = match self.welcome.revision.is_modern() {
            true => "server/discover",
            false => "ping",
        };
        let request = Request::new(method, Params { meta: self.meta(), ..Params::default() });
        self.link.request(request, until, None).await.map(|_| ())
    }

    /// Lists all tools. Those that the transport cannot call are left out, and that is said.
    pub async fn list_tools(&self, until: &Until) -> Result<Listing, McpError> {
        let mut listing = Listing::default();
        let mut mirrors = HashMap::new();
        for tool in self.list("tools/list", "tools", until).await? {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            if self.link.has_headers() && self.welcome.revision.is_modern() {
                match headers::mirrors(schema) {
                    Ok(found) if found.is_empty() => {}
                    Ok(found) => {
                        mirrors.insert(name, Arc::from(found));
                    }
                    Err(why) => {
                        tracing::warn!(tool = name, why, "a tool cannot be used");
                        listing.refused.push((name, why));
                        continue;
                    }
                }
            }
            listing.tools.push(tool);
        }
        *self.mirrors.write().unwrap_or_else(PoisonError::into_inner) = mirrors;
        Ok(listing)
    }

    /// Lists all resources, as the server describes them.
    pub async fn list_resources(&self, until: &Until) -> Result<Vec<Value>, McpError> {
        self.list("resources/list", "resources", until).await
    }

    /// Lists all forms of addresses of resources.
    pub async fn list_templates(&self, until: &Until) -> Result<Vec<Value>, McpError> {
        self.list("resources/templates/list", "resourceTemplates", until).await
    }

    /// Lists all prompts.
    pub async fn list_prompts(&self, until: &Until) -> Result<Vec<Value>, McpError> {
        self.list("prompts/list", "prompts", until).await
    }

    /// Reads a list page by page, up to the limits.
    async fn list(
        &self,
        method: &'static str,
        field: &'static str,
        until: &Until,
    ) -> Result<Vec<Value>, McpError> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        let (mut cursor, mut seen) = (None::<String>, HashSet::new());
        loop {
            let cursor_now = cursor.as_deref();
            let params = Params { cursor: cursor_now, meta: self.meta(), ..Params::default() };
            let raw = self.link.request(Request::new(method, params), until, None).await?;
            bytes += raw.get().len();
            if bytes > self.limits.list_bytes {
                return Err(McpError::TooLarge { what: "a list", most: self.limits.list_bytes });
            }
            let wrong = |why: &str| McpError::nonsense(format!("its answer to {method} {why}"));
            let mut page: Map<String, Value> =
                serde_json::from_str(raw.get()).map_err(|_| wrong("is no object"))?;
            let Some(Value::Array(items)) = page.remove(field) else {
                return Err(wrong(&format!("has no `{field}`")));
            };
            all.extend(items);
            if all.len() > self.limits.items {
                return Err(McpError::TooLarge { what: "a list", most: self.limits.items });
            }
            cursor = match page.remove("nextCursor") {
                Some(Value::String(next)) if !next.is_empty() => Some(next),
                _ => return Ok(all),
            };
            // Also a server that gives out empty pages for ever comes to an end.
            let is_new = cursor.clone().is_some_and(|next| seen.insert(next));
            if !is_new || seen.len() > self.limits.items {
                return Err(wrong("goes round in circles"));
            }
        }
    }

    /// Calls a tool. `progress` hears how far it has come.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &Value,
        until: &Until,
        progress: Option<Arc<dyn Fn(Step) + Send + Sync>>,
    ) -> Result<ToolResult, McpError> {
        let asked = self.called(name, arguments, until, progress.clone()).await;
        let raw = match asked {
            Err(McpError::Refused { code: HEADER_MISMATCH, .. }) if self.link.has_headers() => {
                // The tool may want other arguments in headers by now.
                self.list_tools(until).await?;
                self.called(name, arguments, until, progress).await?
            }
            other => other?,
        };
        serde_json::from_str(raw.get())
            .map_err(|error| McpError::nonsense(format!("a result of a tool is none: {error}")))
    }

    async fn called(
        &self,
        name: &str,
        arguments: &Value,
        until: &Until,
        sink: Option<Sink>,
    ) -> Result<Box<RawValue>, McpError> {
        let mirrors = {
            let mirrors = self.mirrors.read().unwrap_or_else(PoisonError::into_inner);
            if mirrors.is_empty() { None } else { mirrors.get(name).cloned() }
        };
        let mirrored = mirrors.map(|all| headers::mirrored(&all, arguments)).unwrap_or_default();
        let params =
            || Params { name: Some(name), arguments: Some(arguments), ..Params::default() };
        self.rounds("tools/call", params, &mirrored, until, sink).await
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str, until: &Until) -> Result<Value, McpError> {
        let params = || Params { uri: Some(uri), ..Params::default() };
        value(&self.rounds("resources/read", params, &[], until, None).await?)
    }

    /// Gets a prompt, filled in.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &Value,
        until: &Until,
    ) -> Result<Value, McpError> {
        let params =
            || Params { name: Some(name), arguments: Some(arguments), ..Params::default() };
        value(&self.rounds("prompts/get", params, &[], until, None).await?)
    }

    /// Asks, and asks again with what the server wants to know first.
    async fn rounds<'p>(
        &self,
        method: &'static str,
        params: impl Fn() -> Params<'p>,
        mirrored: &[(String, String)],
        until: &Until,
        sink: Option<Sink>,
    ) -> Result<Box<RawValue>, McpError> {
        let mut wanted = Wanted::default();
        for _ in 0..self.limits.rounds {
            let params = Params {
                input_responses: wanted.answers.as_ref(),
                request_state: wanted.state.as_deref(),
                meta: self.meta(),
                ..params()
            };
            let request = Request { method, params, mirrored: mirrored.to_vec() };
            let raw = self.link.request(request, until, sink.clone()).await?;
            match self.wanting(&raw)? {
                None => return Ok(raw),
                Some(wanting) => wanted = self.fulfil(wanting, until).await?,
            }
        }
        let why = format!("it asked for more input {} times", self.limits.rounds);
        Err(McpError::nonsense(why))
    }

    /// Tells whether a result is a question.
    fn wanting(&self, raw: &RawValue) -> Result<Option<Wanting>, McpError> {
        // Most results are none, and are not read twice.
        if !self.welcome.revision.is_modern() || !raw.get().contains("input_required") {
            return Ok(None);
        }
        let wanting: Wanting = serde_json::from_str(raw.get())
            .map_err(|error| McpError::nonsense(format!("a result is none: {error}")))?;
        Ok(Some(wanting).filter(|it| it.result_type.as_deref() == Some("input_required")))
    }

    async fn fulfil(&self, wanting: Wanting, until: &Until) -> Result<Wanted, McpError> {
        let state = wanting.request_state;
        let Some(questions) = wanting.input_requests else {
            return Ok(Wanted { answers: None, state });
        };
        if questions.len() > self.limits.questions {
            return Err(McpError::nonsense("it asks too much at once"));
        }
        let (mut answers, mut unanswered) = (Map::new(), Vec::new());
        for (key, mut question) in questions {
            let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
            let method = method.to_owned();
            let params = question.get_mut("params").map(Value::take).unwrap_or_else(|| json!({}));
            let answer = tokio::select! {
                answer = self.link.inbox().answer(&method, params) => answer,
                over = until.over() => return Err(over),
            };
            match answer {
                Ok(answer) => {
                    answers.insert(key, answer);
                }
                Err(_) => unanswered.push(method),
            }
        }
        if !unanswered.is_empty() {
            return Err(McpError::InputRequired { methods: unanswered });
        }
        Ok(Wanted { answers: Some(Value::Object(answers)), state })
    }
}

fn value(raw: &RawValue) -> Result<Value, McpError> {
    serde_json::from_str(raw.get())
        .map_err(|error| McpError::nonsense(format!("an answer cannot be read: {error}")))
}
