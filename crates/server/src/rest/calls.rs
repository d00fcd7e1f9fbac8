//! Calls: made, listed, followed, called off.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use remit_engine::directory::TokenKind;
use remit_engine::record::{CallQuery, CallRecord};
use remit_engine::registry::{RegistryError, Relation, Standing};
use remit_engine::stage::project::{self, Execution};
use remit_engine::{Ended, fresh_call_id, fresh_thread_id};
use remit_model::{Binding, Call, CallKey, Caller};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::names;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};
use crate::sse::{self, Wanted};

/// How many calls are listed if nobody says.
const SOME: usize = 50;
/// How many are listed at most.
const MOST: usize = 1_000;

/// Asks for a call.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCall {
    /// What is called: `tool.command`.
    capability: String,
    /// What it is given.
    #[serde(default)]
    input: Option<Value>,
    /// The call's id: the same id again gives the first outcome and runs nothing.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 128)]
    call_id: Option<String>,
    /// The conversation it belongs to.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 60)]
    thread_id: Option<String>,
    /// The agent on whose behalf it is made. An agent's own token says that by itself.
    #[serde(default)]
    agent: Option<String>,
    /// The user for whom an agent makes it, who must have added the agent. Users need not say it.
    #[serde(default)]
    #[schema(pattern = "^[a-z0-9._-]+$", min_length = 1, max_length = 64)]
    user: Option<String>,
    /// A shorter timeout than the capability's own.
    #[serde(default, deserialize_with = "names::number")]
    #[schema(maximum = 9007199254740991u64)]
    timeout_ms: Option<u64>,
    /// Whether the conversation has more than two sides.
    #[serde(default)]
    group: bool,
    /// Whether to wait for the outcome. If nobody says, everything is waited for but `async` tools.
    #[serde(default)]
    wait: Option<bool>,
}

/// Is what came of a call.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallResponse {
    /// `success` or `error`.
    status: String,
    /// How it ended: `succeeded`, `partial`, `denied`, `failed`, `timed_out`, `cancelled`,
    /// `outcome_unknown`; or `running`.
    outcome: String,
    /// What came back.
    result: Option<Value>,
    /// A sentence for the model.
    message: Option<String>,
    /// What went wrong.
    error: Option<String>,
    /// The code of what went wrong.
    code: Option<String>,
    /// What a program can use.
    details: Option<Value>,
    /// Binary data.
    base64: Option<String>,
    /// How long the work took.
    duration_ms: u64,
    /// When.
    timestamp: String,
    /// The call's id.
    call_id: String,
    /// The id under which work that goes on can be asked about: the call's.
    execution_id: Option<String>,
    /// The conversation it belongs to.
    thread_id: Option<String>,
}

/// Makes a call
///
/// It is resolved, checked, allowed, asked about or refused, run within limits, and recorded. The
/// answer is 200 with the outcome, whatever that is; 202 if it was not waited for.
#[utoipa::path(post, path = "/calls", tag = "calls", request_body = NewCall, responses(
    (status = 200, description = "The outcome", body = CallResponse),
    (status = 202, description = "It goes on; `GET /calls/{id}` says how", body = CallResponse),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn make(
    State(app): State<App>,
    principal: Principal,
    Json(new): Json<NewCall>,
) -> Answer<Response> {
    let caller = caller(&app, principal.must(Area::Calls)?, new.agent, new.user).await?;
    if principal.kind == TokenKind::Agent {
        within_its_reach(&app, &caller, &new.capability)?;
    }
    let thread = match &new.thread_id {
        Some(name) => names::thread(&caller.user, name)?,
        None => names::thread(&caller.user, fresh_thread_id().as_str())?,
    };
    let id = match &new.call_id {
        Some(id) => names::call(id)?,
        None => fresh_call_id(),
    };
    let thread_name = names::thread_name(&caller.user, &thread).to_owned();
    let call = Call {
        id,
        caller,
        thread,
        group: new.group,
        capability: new.capability,
        input: new.input.unwrap_or_else(|| json!({})),
        timeout_ms: new.timeout_ms,
    };
    let wait = new.wait.unwrap_or_else(|| !is_async(&app, &call.capability));
    let id = call.id.as_str().to_owned();
    let attended = app.engine.attend(call);
    let timestamp = names::time(app.now_ms());
    let (status, mut body) = if wait {
        let Ended { outcome, duration_ms } = attended.await;
        app.measures.call(outcome.status());
        (StatusCode::OK, json!(project::tool_call_response(&outcome, &id, duration_ms, timestamp)))
    } else {
        drop(attended);
        (StatusCode::ACCEPTED, json!(project::still_running(&id, timestamp)))
    };
    if let Some(map) = body.as_object_mut() {
        map.insert("thread_id".to_owned(), Value::String(thread_name));
    }
    Ok((status, axum::Json(body)).into_response())
}

/// Says who makes a call: a user, or an agent for a user who has added it.
pub(crate) async fn caller(
    app: &App,
    principal: &Principal,
    agent: Option<String>,
    user: Option<String>,
) -> Answer<Caller> {
    if principal.kind != TokenKind::Agent {
        let user = principal.user(user.as_deref())?;
        if let Some(agent) = &agent {
            may_name(app, &user, agent).await?;
        }
        return Ok(Caller { user, agent, device: None });
    }
    // The same answer for a user who is not there and for one who has not added it.
    let nobody = || ApiError::forbidden("no such user has added this agent; name one as `user`");
    let user = user.ok_or_else(nobody)?;
    let standing = app.agents.standing(&user, &principal.subject).await.map_err(|_| nobody())?;
    standing.relation.filter(|relation| agent.is_none() && relation.stands()).ok_or_else(nobody)?;
    Ok(Caller { user, agent: Some(principal.subject.clone()), device: None })
}

/// Demands that a user who names a registered agent has added it: what stands under its name, it sees.
pub(crate) async fn may_name(app: &App, user: &str, agent: &str) -> Answer<()> {
    let added = |standing: &Standing| standing.relation.as_ref().is_some_and(Relation::stands);
    match app.agents.standing(user, agent).await {
        Ok(standing) if added(&standing) => Ok(()),
        Err(RegistryError::UnknownAgent) if !names::holds_secret(agent) => Ok(()),
        Ok(_) | Err(RegistryError::UnknownAgent) => {
            Err(ApiError::forbidden("only who has added an agent can name it"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Demands that a registered agent calls its own tools, or what the operator gave it. What its users
/// saw when they added it were its own tools; of others they know nothing.
fn within_its_reach(app: &App, caller: &Caller, capability: &str) -> Answer<()> {
    let own = caller.agent.as_deref().and_then(|agent| capability.strip_prefix(agent));
    let is_own = own.is_some_and(|rest| rest.starts_with('/'));
    if is_own || app.engine.catalog().policy().gives(caller, capability) {
        return Ok(());
    }
    Err(ApiError::forbidden(
        "an agent calls its own tools, `<its id>/<tool>`; a white-list of the operator's that names the agent gives it others",
    ))
}

fn is_async(app: &App, name: &str) -> bool {
    let catalog = app.engine.catalog();
    let binding = catalog.get(name).map(|entry| &entry.capability.binding);
    let is = |execution: &remit_model::Execution| *execution == remit_model::Execution::Async;
    matches!(binding, Some(Binding::Process { execution, .. }) if is(execution))
}

/// Is a call and how far it has come.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallView {
    /// The call's id.
    call_id: String,
    /// The conversation it belongs to.
    thread_id: String,
    /// The agent on whose behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// What it was given.
    input: Value,
    /// `asking`, `running`, or how it ended.
    state: String,
    /// What decided.
    rule: String,
    /// What it was judged by.
    #[schema(value_type = Option<Object>)]
    basis: Value,
    /// What was called and how far it has come, in the words of an execution.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    execution: Execution,
}

fn view(record: &CallRecord) -> CallView {
    let call = &record.call;
    CallView {
        call_id: call.id.to_string(),
        thread_id: names::thread_name(&call.caller.user, &call.thread).to_owned(),
        agent: call.caller.agent.clone(),
        input: call.input.clone(),
        state: record.state.as_str().to_owned(),
        rule: record.rule.clone(),
        basis: json!(record.basis),
        execution: project::execution(record, names::time(record.begun_ms)),
    }
}

/// Asks for calls. What is not said does not matter.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Filter {
    /// Only in this conversation.
    #[param(pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 60)]
    thread_id: Option<String>,
    /// Only of this capability.
    capability: Option<String>,
    /// Only in this state.
    state: Option<String>,
    /// At most so many, the latest first.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Of this user; only the operator sees others'.
    #[param(pattern = "^[a-z0-9._-]+$", min_length = 1, max_length = 64)]
    user: Option<String>,
}

/// Is a list of calls.
#[derive(Serialize, ToSchema)]
pub(crate) struct Calls {
    /// The calls, the latest first.
    calls: Vec<CallView>,
}

/// Lists calls
#[utoipa::path(get, path = "/calls", tag = "calls", params(Filter), responses(
    (status = 200, description = "The calls", body = Calls),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Answer<axum::Json<Calls>> {
    let Query(filter) = filter.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Calls)?.user(filter.user.as_deref())?;
    let thread = filter.thread_id.map(|name| names::thread(&user, &name)).transpose()?;
    let limit = filter.limit.unwrap_or(SOME);
    if limit == 0 || limit > MOST {
        return Err(ApiError::bad_request("INVALID_QUERY", format!("`limit` is 1 to {MOST}")));
    }
    let query = CallQuery {
        user: Some(user),
        thread,
        capability: filter.capability,
        state: filter.state,
        id: None,
        id_start: None,
        limit: Some(limit),
    };
    let calls = app.store().calls(query).await?;
    Ok(axum::Json(Calls { calls: calls.iter().map(view).collect() }))
}

/// Says that the part of an address behind the question mark is not understood.
pub(crate) fn bad_query(error: &axum::extract::rejection::QueryRejection) -> ApiError {
    ApiError::bad_request("INVALID_QUERY", error.body_text())
}

/// How many calls of different callers that have one id are looked at.
const MOST_ALIKE: usize = 64;

/// Finds a call of a user by its id, whatever agent it was made for.
async fn find(app: &App, principal: &Principal, id: &str) -> Answer<CallRecord> {
    principal.must(Area::Calls)?;
    let id = names::call(id)?;
    if principal.kind == TokenKind::Agent {
        let query = CallQuery { id: Some(id), limit: Some(MOST_ALIKE), ..CallQuery::default() };
        for record in app.store().calls(query).await? {
            let caller = &record.call.caller;
            if caller.agent.as_ref() == Some(&principal.subject)
                && app.agents.standing(&caller.user, &principal.subject).await.is_ok_and(
                    |standing| standing.relation.is_some_and(|relation| relation.stands()),
                )
            {
                return Ok(record);
            }
        }
        return Err(ApiError::not_found("call"));
    }
    let user = principal.user(None)?;
    // Most calls have no agent.
    let key = CallKey { user: user.clone(), agent: String::new(), id: id.clone() };
    if let Some(record) = app.store().call(key).await? {
        return Ok(record);
    }
    let everybody = principal.kind == TokenKind::Admin;
    let query = CallQuery {
        user: (!everybody).then_some(user),
        id: Some(id),
        limit: Some(1),
        ..CallQuery::default()
    };
    let found = app.store().calls(query).await?.into_iter().next();
    found.ok_or_else(|| ApiError::not_found("call"))
}

/// Shows a call: its input, its decision, how far it has come and what came of it
#[utoipa::path(get, path = "/calls/{id}", tag = "calls", params(("id" = String, Path, description = "The call's id", pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 128)), responses(
    (status = 200, description = "The call", body = CallView),
    (status = 400, description = "Not an id", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such call", body = ErrorBody),
))]
pub(crate) async fn one(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<axum::Json<CallView>> {
    Ok(axum::Json(view(&find(&app, &principal, &id).await?)))
}

/// Streams the events of a call until it has ended
///
/// Each event has the number of its place in the thread as its id; `Last-Event-ID` goes on from there.
#[utoipa::path(get, path = "/calls/{id}/events", tag = "calls", params(("id" = String, Path, description = "The call's id", pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 128)), responses(
    (status = 200, description = "The events", content_type = "text/event-stream", body = String),
    (status = 400, description = "Not an id", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such call", body = ErrorBody),
))]
pub(crate) async fn events(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer<Response> {
    let call = find(&app, &principal, &id).await?.call;
    let after = sse::last_event(&headers).unwrap_or(0);
    Ok(sse::events(
        app.store(),
        &call.thread,
        after,
        Wanted::Call(call.id),
        principal.still(&app),
        app.stop(),
    ))
}

/// Is what came of calling a call off.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallOff {
    /// Whether the call was under way.
    under_way: bool,
}

/// Calls a call off
#[utoipa::path(post, path = "/calls/{id}/cancel", tag = "calls", params(("id" = String, Path, description = "The call's id", pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 128)), responses(
    (status = 200, description = "Whether it was under way", body = CallOff),
    (status = 400, description = "Not an id", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such call", body = ErrorBody),
))]
pub(crate) async fn cancel(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<axum::Json<CallOff>> {
    let call = find(&app, &principal, &id).await?.call;
    // Through the record, so that it says who wanted it; at once, if it is here.
    let under_way =
        app.store().ask_to_stop(call.key(), &principal.subject, app.clock.now()).await?;
    app.engine.cancel(&call.key());
    Ok(axum::Json(CallOff { under_way }))
}
