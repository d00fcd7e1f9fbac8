//! Approvals: what waits for an answer, and the answers.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use futures_util::stream;
use remit_engine::desk::Asked;
use remit_engine::ports::Reply;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::calls::bad_query;
use super::names;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};
use crate::sse;

/// How often a line goes out when nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Is a question that waits for an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Approval {
    /// Its name.
    id: String,
    /// The call that has waited longest.
    call_id: String,
    /// The conversation it belongs to.
    thread_id: String,
    /// The agent on whose behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// What is to be called.
    capability: String,
    /// What declares it.
    source: String,
    /// What it does.
    description: String,
    /// The permission it needs.
    scope: String,
    /// How much care that takes: `low`, `medium` or `high`.
    sensitivity: String,
    /// What it is given.
    #[schema(value_type = Object)]
    input: Value,
    /// Why somebody is asked.
    why: String,
    /// How many calls wait for the answer.
    calls: usize,
    /// How long there is to answer.
    seconds_left: u64,
}

fn approval(asked: &Asked) -> Approval {
    let question = &asked.question;
    let call = &question.call;
    Approval {
        id: asked.id.clone(),
        call_id: call.id.to_string(),
        thread_id: names::thread_name(&call.caller.user, &call.thread).to_owned(),
        agent: call.caller.agent.clone(),
        capability: call.capability.clone(),
        source: question.source.clone(),
        description: question.description.clone(),
        scope: question.scope.clone(),
        sensitivity: question.sensitivity.as_str().to_owned(),
        input: call.input.clone(),
        why: question.why.clone(),
        calls: asked.calls,
        seconds_left: asked.left.as_secs(),
    }
}

/// Is a list of questions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Approvals {
    /// The questions, the oldest first.
    approvals: Vec<Approval>,
}

fn waiting(app: &App, user: &str) -> Approvals {
    Approvals { approvals: app.desk.list(user).iter().map(approval).collect() }
}

/// Says whose.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// Of this user; only the operator sees others'.
    #[param(pattern = "^[a-z0-9._-]+$", min_length = 1, max_length = 64)]
    pub(crate) user: Option<String>,
}

/// Lists what waits for an answer
#[utoipa::path(get, path = "/approvals", tag = "approvals", params(Whose), responses(
    (status = 200, description = "The questions", body = Approvals),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<axum::Json<Approvals>> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Approvals)?.user(whose.user.as_deref())?;
    Ok(axum::Json(waiting(&app, &user)))
}

/// Streams what waits for an answer: the whole list at first, and again at every change
#[utoipa::path(get, path = "/approvals/stream", tag = "approvals", params(Whose), responses(
    (status = 200, description = "The lists", content_type = "text/event-stream", body = String),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn stream(
    State(app): State<App>,
    principal: Principal,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<Response> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Approvals)?.user(whose.user.as_deref())?;
    let changes = app.desk.watch();
    let still = principal.still(&app);
    let state = (app, user, changes, still, true);
    let lists =
        stream::unfold(state, |(app, user, mut changes, mut still, mut is_due)| async move {
            let stop = app.stop();
            while !is_due {
                tokio::select! {
                    change = changes.recv() => {
                        is_due = change.map_or_else(
                            // More happened than could be heard: the list says all.
                            |error| error != tokio::sync::broadcast::error::RecvError::Closed,
                            |change| change.call().user == user,
                        );
                    }
                    () = tokio::time::sleep(IDLE) => {
                        let line = Bytes::from_static(b": \n\n");
                        let goes_on = still.stands();
                        return goes_on.then(|| (Ok(line), (app, user, changes, still, false)));
                    }
                    () = stop.cancelled() => return None,
                }
            }
            let list = serde_json::to_string(&waiting(&app, &user)).unwrap_or_default();
            let lines = Bytes::from(format!("event: approvals\ndata: {list}\n\n"));
            let goes_on = still.stands();
            goes_on.then(|| {
                (Ok::<_, std::convert::Infallible>(lines), (app, user, changes, still, false))
            })
        });
    Ok(sse::response(Body::from_stream(lists)))
}

/// Says what the answer is.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// Run it; for medium, also without asking again for a day in this conversation.
    Approve,
    /// Run it this once, and ask again.
    ApproveOnce,
    /// Do not run it.
    Deny,
}

/// Is an answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answering {
    /// The answer.
    decision: Decision,
}

/// Answers a question
///
/// A yes to what takes great care lets one call run: the one that has waited longest.
#[utoipa::path(post, path = "/approvals/{id}", tag = "approvals", params(("id" = String, Path, description = "The question's id"), Whose), request_body = Answering, responses(
    (status = 204, description = "The answer was taken"),
    (status = 400, description = "Not an answer", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such question waits", body = ErrorBody),
))]
pub(crate) async fn answer(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    whose: Result<Query<Whose>, QueryRejection>,
    Json(answering): Json<Answering>,
) -> Answer<axum::http::StatusCode> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Approvals)?.user(whose.user.as_deref())?;
    let reply = match answering.decision {
        Decision::Approve => Reply::Yes,
        Decision::ApproveOnce => Reply::Once,
        Decision::Deny => Reply::No,
    };
    app.desk
        .answer(&id, &user, reply, &principal.subject)
        .map_err(|_| ApiError::not_found("question; it may have been answered or be too old"))?;
    Ok(axum::http::StatusCode::NO_CONTENT)
}
