//! Runs and histories: a conversation as front ends know it.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use remit_engine::log::Turn;
use remit_engine::record::EventQuery;
use remit_model::{Event, EventKind, ThreadId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing::Instrument as _;
use utoipa::{IntoParams, ToSchema};

use super::calls::bad_query;
use super::names;
use crate::agui;
use crate::agui::input::RunAgentInput;
use crate::agui::run::Run;
use crate::agui::said::Beside;
use crate::agui::stream::Projection;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};
use crate::project::Locale;
use crate::sse::{self, Wanted};

/// How many events are read from the record at once.
const PAGE: usize = 256;
/// How long the id of a run may be.
const LONGEST_RUN: usize = 128;

fn locale(headers: &HeaderMap) -> Locale {
    let tag = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Locale::parse(tag.unwrap_or_default())
}

/// Carries out a run and streams it
///
/// AG-UI's endpoint: the body is its `RunAgentInput`, the answer its event stream. The run goes on if
/// the client leaves; `GET /runs/{id}/events` takes the stream up again.
#[utoipa::path(post, path = "/runs", tag = "threads", request_body = RunAgentInput, responses(
    (status = 200, description = "The events", content_type = "text/event-stream", body = String),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn run(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    Json(input): Json<RunAgentInput>,
) -> Answer<Response> {
    let locale = locale(&headers);
    let (runner, needs) = agui::runner(&input, locale)?;
    principal.must(needs)?;
    let caller = principal.must(Area::Threads)?.caller(None)?;
    if input.resume.is_some() {
        // To resume is to answer: whoever may only call must not say yes to its own calls.
        principal.must(Area::Approvals)?;
    }
    let thread = names::thread(&caller.user, &input.thread_id)?;
    let is_bad = input.run_id.is_empty() || names::holds_secret(&input.run_id);
    if is_bad || input.run_id.len() > LONGEST_RUN {
        let message = format!("`runId` has 1 to {LONGEST_RUN} bytes");
        return Err(ApiError::bad_request("INVALID_RUN", message));
    }
    let projection = Projection {
        thread: input.thread_id.clone(),
        run: input.run_id.clone(),
        locale,
        skip: (0, 0),
    };
    let run = Run { app: app.clone(), caller, thread: thread.clone(), input, runner };
    let began = run.begin().await?;
    tokio::spawn(run.finish().in_current_span());
    Ok(sse::events(
        app.store(),
        &thread,
        began - 1,
        Wanted::Run(projection),
        principal.still(&app),
        app.stop(),
    ))
}

/// Names a thread.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfThread {
    /// The conversation.
    #[param(pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 60)]
    thread_id: String,
}

/// Streams a run again, from the beginning or behind `Last-Event-ID`
#[utoipa::path(get, path = "/runs/{id}/events", tag = "threads", params(("id" = String, Path, description = "The run's id", min_length = 1, max_length = 128), OfThread), responses(
    (status = 200, description = "The events", content_type = "text/event-stream", body = String),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such run", body = ErrorBody),
))]
pub(crate) async fn events(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    of: Result<Query<OfThread>, QueryRejection>,
    headers: HeaderMap,
) -> Answer<Response> {
    let Query(of) = of.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Threads)?.user(None)?;
    let thread = names::thread(&user, &of.thread_id)?;
    if !has_run(&app, &thread, &id).await? {
        return Err(ApiError::not_found("run in this thread"));
    }
    let skip = last_event(&headers);
    let locale = locale(&headers);
    let projection = Projection { thread: of.thread_id, run: id, locale, skip };
    let after = skip.0.saturating_sub(1);
    Ok(sse::events(
        app.store(),
        &thread,
        after,
        Wanted::Run(projection),
        principal.still(&app),
        app.stop(),
    ))
}

/// Tells whether a thread has a run: one that it has not would be waited for in vain.
async fn has_run(app: &App, thread: &ThreadId, run: &str) -> Answer<bool> {
    let is_it = |event: &Event| {
        event.kind == EventKind::RunStarted
            && serde_json::from_str::<Turn<'_>>(&event.body).is_ok_and(|turn| turn.run == run)
    };
    let mut after = 0;
    loop {
        let query = EventQuery { thread: thread.clone(), after, limit: Some(PAGE) };
        let events = app.store().events(query).await?;
        if events.iter().any(is_it) {
            return Ok(true);
        }
        match events.last() {
            Some(last) if events.len() == PAGE => after = last.sequence,
            _ => return Ok(false),
        }
    }
}

/// Reads where a client was: the number of an event, and how many of its AG-UI events came.
fn last_event(headers: &HeaderMap) -> (u64, usize) {
    let text = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let parts = text.and_then(|text| text.split_once('-'));
    parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))).unwrap_or((0, 0))
}

/// Is a message of a conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryMessage {
    /// Its id.
    id: String,
    /// `user`, `assistant`, `tool` or `system`.
    role: String,
    /// What was said: always a text.
    content: String,
    /// The calls it makes.
    #[serde(rename = "toolCalls", skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>, required = false)]
    tool_calls: Vec<Value>,
    /// The call it answers.
    #[serde(rename = "toolCallId", skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// The card for people, an Adaptive Card.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    ui_schema: Option<Value>,
    /// When.
    at: String,
}

/// Is a conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct History {
    /// The conversation.
    thread_id: String,
    /// What was said, in order.
    messages: Vec<HistoryMessage>,
}

/// Gives a conversation: messages with what belongs to them
#[utoipa::path(get, path = "/history", tag = "threads", params(OfThread), responses(
    (status = 200, description = "The conversation", body = History),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn history(
    State(app): State<App>,
    principal: Principal,
    of: Result<Query<OfThread>, QueryRejection>,
    headers: HeaderMap,
) -> Answer<axum::Json<History>> {
    let Query(of) = of.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Threads)?.user(None)?;
    let thread = names::thread(&user, &of.thread_id)?;
    let locale = locale(&headers);
    let messages = app.store().messages(thread).await?.into_iter().map(|message| {
        let beside = Beside::of(&message);
        HistoryMessage {
            id: beside.message_id,
            role: message.role,
            content: message.content,
            tool_calls: beside
                .tool_calls
                .iter()
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": call.arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect(),
            tool_call_id: message.call.map(|id| id.to_string()),
            ui_schema: beside.tool_agent_output.and_then(|output| output.ui_schema(locale)),
            at: names::time(message.at_ms),
        }
    });
    Ok(axum::Json(History { thread_id: of.thread_id, messages: messages.collect() }))
}
