//! Relations: which agents a user has added, what they still have to look at, and the notices about it.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use remit_engine::registry::{Disclosure, NoticeQuery, Page, Relation, Review};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::agents::{Difference, difference};
use super::approvals::Whose;
use super::calls::bad_query;
use super::names;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};

/// How many notices are listed at most.
const MOST: usize = 200;

/// Shows what an agent asks for, before a user adds it: scopes, sensitivities and tools
#[utoipa::path(get, path = "/agents/{id}/disclosure", tag = "relations", params(("id" = String, Path, description = "The agent's id")), responses(
    (status = 200, description = "What it asks for", body = Object),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such agent, or it has published nothing", body = ErrorBody),
))]
pub(crate) async fn disclosure(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<axum::Json<Disclosure>> {
    principal.must(Area::Grants)?.user(None)?;
    Ok(axum::Json(app.agents.disclosure(&id).await?))
}

/// Is a relation.
#[derive(Serialize, ToSchema)]
pub(crate) struct RelationView {
    /// The agent.
    agent_id: String,
    /// The version the user saw and accepted last.
    accepted_version: u64,
    /// When they added it.
    added_at: String,
    /// When they removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
}

fn view(relation: Relation) -> RelationView {
    RelationView {
        agent_id: relation.agent,
        accepted_version: relation.accepted_version,
        added_at: names::time(relation.added_at_ms),
        ended_at: relation.ended_at_ms.map(names::time),
    }
}

/// Says which version of an agent a user saw.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saw {
    /// The version of the disclosure or the review that was shown. With any other nothing happens.
    #[schema(maximum = 9007199254740991u64)]
    version: u64,
}

/// Adds an agent for the user, who saw what it asks for
#[utoipa::path(put, path = "/relations/{agent}", tag = "relations", params(("agent" = String, Path, description = "The agent's id")), request_body = Saw, responses(
    (status = 200, description = "The relation", body = RelationView),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such agent", body = ErrorBody),
    (status = 409, description = "The agent has another version by now", body = ErrorBody),
))]
pub(crate) async fn add(
    State(app): State<App>,
    principal: Principal,
    Path(agent): Path<String>,
    Json(saw): Json<Saw>,
) -> Answer<axum::Json<RelationView>> {
    let user = principal.must(Area::Grants)?.user(None)?;
    let added = app.agents.add(&user, &agent, saw.version).await?;
    app.mcp.touched();
    Ok(axum::Json(view(added)))
}

/// Is a list of relations.
#[derive(Serialize, ToSchema)]
pub(crate) struct Relations {
    /// The relations, also those that ended.
    relations: Vec<RelationView>,
}

/// Lists the agents the user has or had added
#[utoipa::path(get, path = "/relations", tag = "relations", params(Whose), responses(
    (status = 200, description = "The relations", body = Relations),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<axum::Json<Relations>> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Grants)?.user(whose.user.as_deref())?;
    let relations = app.agents.registry().relations(&user).await?;
    Ok(axum::Json(Relations { relations: relations.into_iter().map(view).collect() }))
}

/// Removes an agent: from now on all its calls for this user are denied
#[utoipa::path(delete, path = "/relations/{agent}", tag = "relations", params(("agent" = String, Path, description = "The agent's id")), responses(
    (status = 200, description = "The relation, ended", body = RelationView),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "The user has not added such an agent", body = ErrorBody),
))]
pub(crate) async fn remove(
    State(app): State<App>,
    principal: Principal,
    Path(agent): Path<String>,
) -> Answer<axum::Json<RelationView>> {
    let user = principal.must(Area::Grants)?.user(None)?;
    let ended = app.agents.remove(&user, &agent).await?;
    app.doorway.revoke(&user);
    app.mcp.touched();
    Ok(axum::Json(view(ended)))
}

/// Is what a user has to look at.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewView {
    /// The agent.
    agent_id: String,
    /// Its name for people.
    name: String,
    /// The version the user accepted.
    accepted_version: u64,
    /// The present one. Accepting names it.
    version: u64,
    /// What changed between the two.
    changes: Difference,
    /// The tools that wait until it is accepted.
    held: Vec<String>,
}

fn review_view(review: &Review) -> ReviewView {
    ReviewView {
        agent_id: review.agent.id.clone(),
        name: review.agent.name.clone(),
        accepted_version: review.relation.accepted_version,
        version: review.agent.version,
        changes: difference(&review.changes),
        held: review.held.tools().map(str::to_owned).collect(),
    }
}

/// Shows what changed since the version the user accepted
#[utoipa::path(get, path = "/relations/{agent}/review", tag = "relations", params(("agent" = String, Path, description = "The agent's id")), responses(
    (status = 200, description = "What changed, and what waits", body = ReviewView),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "The user has not added such an agent", body = ErrorBody),
))]
pub(crate) async fn review(
    State(app): State<App>,
    principal: Principal,
    Path(agent): Path<String>,
) -> Answer<axum::Json<ReviewView>> {
    let user = principal.must(Area::Grants)?.user(None)?;
    Ok(axum::Json(review_view(&app.agents.review(&user, &agent).await?)))
}

/// Accepts what changed
#[utoipa::path(post, path = "/relations/{agent}/accept", tag = "relations", params(("agent" = String, Path, description = "The agent's id")), request_body = Saw, responses(
    (status = 200, description = "The relation", body = RelationView),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "The user has not added such an agent", body = ErrorBody),
    (status = 409, description = "The agent has another version by now", body = ErrorBody),
))]
pub(crate) async fn accept(
    State(app): State<App>,
    principal: Principal,
    Path(agent): Path<String>,
    Json(saw): Json<Saw>,
) -> Answer<axum::Json<RelationView>> {
    let user = principal.must(Area::Grants)?.user(None)?;
    let accepted = app.agents.accept(&user, &agent, saw.version).await?;
    app.mcp.touched();
    Ok(axum::Json(view(accepted)))
}

/// Asks for notices.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NoticeFilter {
    /// Whether only those that were not read.
    #[serde(default)]
    unread: bool,
    /// Only those behind this number.
    #[serde(default, deserialize_with = "names::number")]
    #[param(maximum = 9007199254740991u64)]
    after: Option<u64>,
}

/// Is a card for a user.
#[derive(Serialize, ToSchema)]
pub(crate) struct NoticeView {
    /// Its number; later ones have larger numbers.
    id: u64,
    /// The agent it is about.
    agent_id: String,
    /// What about: `review`.
    kind: String,
    /// The card.
    #[schema(value_type = Object)]
    card: Value,
    /// When it came.
    at: String,
    /// Whether the user has seen it.
    read: bool,
}

/// Is a list of cards.
#[derive(Serialize, ToSchema)]
pub(crate) struct NoticeList {
    /// The cards, the oldest first.
    notices: Vec<NoticeView>,
}

/// Lists what the user was told
#[utoipa::path(get, path = "/notices", tag = "relations", params(NoticeFilter), responses(
    (status = 200, description = "The cards", body = NoticeList),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn notices(
    State(app): State<App>,
    principal: Principal,
    asked: Result<Query<NoticeFilter>, QueryRejection>,
) -> Answer<axum::Json<NoticeList>> {
    let Query(asked) = asked.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Grants)?.user(None)?;
    let page = Page { after: asked.after.unwrap_or(0), limit: Some(MOST) };
    let query = NoticeQuery { user, unread: asked.unread, page };
    let notices =
        app.agents.registry().notices(query).await?.into_iter().map(|notice| NoticeView {
            id: notice.id,
            agent_id: notice.agent,
            kind: notice.kind.as_str().to_owned(),
            card: json!(notice.body),
            at: names::time(notice.at_ms),
            read: notice.read,
        });
    Ok(axum::Json(NoticeList { notices: notices.collect() }))
}

/// Marks a card as read
#[utoipa::path(post, path = "/notices/{id}/read", tag = "relations", params(("id" = u64, Path, description = "The card's number")), responses(
    (status = 204, description = "It is read"),
    (status = 400, description = "Not a number", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such card", body = ErrorBody),
))]
pub(crate) async fn read(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<StatusCode> {
    let user = principal.must(Area::Grants)?.user(None)?;
    let id: u64 = id
        .parse()
        .map_err(|_| ApiError::bad_request("INVALID_ID", "the id of a notice is a number"))?;
    match app.agents.registry().read_notice(&user, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("notice")),
    }
}
