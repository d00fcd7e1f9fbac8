//! What comes from a server without being an answer: notifications and questions. It is the same for
//! every transport.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, broadcast};

use crate::host::{Event, Host, Question, Step};
use crate::limits::Limits;
use crate::rpc::{self, INTERNAL, METHOD_NOT_FOUND};

/// How many events wait for who listens slowly; then the oldest are lost, and that is said.
const EVENTS: usize = 64;

/// Takes how far a call has come.
pub(crate) type Sink = Arc<dyn Fn(Step) + Send + Sync>;

/// Takes what nobody asked for.
pub(crate) struct Inbox {
    server: String,
    host: Arc<dyn Host>,
    capabilities: Value,
    events: broadcast::Sender<Event>,
    questions: Arc<Semaphore>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'m> {
    #[serde(borrow)]
    progress_token: &'m RawValue,
    #[serde(default)]
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(borrow, default)]
    message: Option<Cow<'m, str>>,
}

impl Inbox {
    pub(crate) fn new(server: &str, host: Arc<dyn Host>, limits: &Limits) -> Self {
        let capabilities = match host.capabilities() {
            Value::Object(map) => Value::Object(map),
            _ => json!({}),
        };
        Self {
            server: server.to_owned(),
            capabilities,
            host,
            events: broadcast::Sender::new(EVENTS),
            questions: Arc::new(Semaphore::new(limits.questions)),
        }
    }

    /// Gives what this client can do.
    pub(crate) fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    /// Hears what the server says from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Reads how far a request has come, and which one.
    pub(crate) fn step(params: Option<&RawValue>) -> Option<(u64, Step)> {
        let read: Progress<'_> = serde_json::from_str(params?.get()).ok()?;
        let token = read.progress_token.get().trim_matches('"').parse().ok()?;
        let message = read.message.map(Cow::into_owned);
        Some((token, Step { progress: read.progress, total: read.total, message }))
    }

    /// Takes a notification that is not about one request.
    pub(crate) fn notified(&self, method: &str, params: Option<&RawValue>) {
        let params = || -> Value {
            params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
        };
        let event = match method {
            "notifications/tools/list_changed" => Event::ToolsChanged,
            "notifications/resources/list_changed" => Event::ResourcesChanged,
            "notifications/prompts/list_changed" => Event::PromptsChanged,
            "notifications/resources/updated" => {
                let params = params();
                let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
                Event::ResourceUpdated(uri.to_owned())
            }
            "notifications/message" => {
                let mut params = params();
                let level = params.get("level").and_then(Value::as_str).unwrap_or("info");
                let level = level.to_owned();
                let data = params.get_mut("data").map(Value::take).unwrap_or_default();
                Event::Log { level, data }
            }
            // Others are of later revisions, or nobody's business here.
            _ => return,
        };
        // Nobody may be listening.
        let _ = self.events.send(event);
    }

    /// Answers a request of the server's; the answer is handed to `send`.
    pub(crate) fn asked(
        &self,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
        send: impl FnOnce(Vec<u8>) + Send + 'static,
    ) {
        let write = |answer: Result<&Value, (i64, &str)>| rpc::reply(id, answer).ok();
        if method == "ping" {
            if let Some(bytes) = write(Ok(&json!({}))) {
                send(bytes);
            }
            return;
        }
        if !Question::METHODS.contains(&method) {
            let why = "there is no such method in this client";
            if let Some(bytes) = write(Err((METHOD_NOT_FOUND, why))) {
                send(bytes);
            }
            return;
        }
        let Ok(place) = Arc::clone(&self.questions).try_acquire_owned() else {
            let why = "this client is being asked too much at once";
            if let Some(bytes) = write(Err((INTERNAL, why))) {
                send(bytes);
            }
            return;
        };
        let (id, host, question) =
            (id.to_owned(), Arc::clone(&self.host), self.question(method, params));
        tokio::spawn(async move {
            let _place = place;
            let answer = host.answer(question).await;
            let answer = answer.as_ref().map_err(|why| (METHOD_NOT_FOUND, why.as_str()));
            if let Ok(bytes) = rpc::reply(&id, answer) {
                send(bytes);
            }
        });
    }

    fn question(&self, method: &str, params: Option<&RawValue>) -> Question {
        let params = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Question {
            server: self.server.clone(),
            method: method.to_owned(),
            params: params.unwrap_or_default(),
        }
    }

    /// Answers a question that came inside a result.
    pub(crate) async fn answer(&self, method: &str, params: Value) -> Result<Value, String> {
        let server = self.server.clone();
        self.host.answer(Question { server, method: method.to_owned(), params }).await
    }
}
