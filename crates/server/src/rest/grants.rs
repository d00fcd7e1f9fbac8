//! Grants: what was permitted, and taking it back.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use remit_model::{Grant, Permit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approvals::Whose;
use super::calls::bad_query;
use super::names;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};

/// Is a permission that stands or was taken back.
#[derive(Serialize, ToSchema)]
pub(crate) struct GrantView {
    /// The agent it is for; empty for the person themselves.
    agent: String,
    /// The tool, skill or agent that declares the scope.
    source: String,
    /// The scope.
    scope: String,
    /// How much care was said to be needed.
    sensitivity: String,
    /// The conversation it was given in.
    thread_id: String,
    /// The device it was given at.
    device: String,
    /// When it was last used; it lapses a day after.
    last_used: String,
    /// Whether it was taken back.
    revoked: bool,
}

fn view(user: &str, grant: &Grant) -> GrantView {
    let prefix = format!("{user}:");
    GrantView {
        agent: grant.agent.clone(),
        source: grant.source.clone(),
        scope: grant.scope.clone(),
        sensitivity: grant.sensitivity.as_str().to_owned(),
        thread_id: grant.thread.strip_prefix(&prefix).unwrap_or(&grant.thread).to_owned(),
        device: grant.device.clone(),
        last_used: names::time(grant.used.wall_ms),
        revoked: grant.revoked,
    }
}

/// Is a list of permissions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Grants {
    /// The permissions.
    grants: Vec<GrantView>,
}

/// Lists what a user permitted and took back
#[utoipa::path(get, path = "/grants", tag = "grants", params(Whose), responses(
    (status = 200, description = "The permissions", body = Grants),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<axum::Json<Grants>> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Grants)?.user(whose.user.as_deref())?;
    let grants = app.store().granted_by(&user).await?;
    Ok(axum::Json(Grants { grants: grants.iter().map(|grant| view(&user, grant)).collect() }))
}

/// Names a permission.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// The tool, skill or agent that declares the scope.
    source: String,
    /// The scope.
    scope: String,
    /// The agent it is about; nothing for the person themselves.
    #[serde(default)]
    agent: Option<String>,
}

impl Named {
    fn permit(self, user: String) -> Permit {
        Permit {
            user,
            agent: self.agent.unwrap_or_default(),
            source: self.source,
            scope: self.scope,
        }
    }
}

/// Is what came of taking a permission back.
#[derive(Serialize, ToSchema)]
pub(crate) struct Revoked {
    /// How many standing permissions are gone.
    revoked: usize,
}

/// Takes a permission back
///
/// From now on what needs it is denied, also if it was never given.
#[utoipa::path(delete, path = "/grants", tag = "grants", request_body = Named, responses(
    (status = 200, description = "How many stood", body = Revoked),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn revoke(
    State(app): State<App>,
    principal: Principal,
    Json(named): Json<Named>,
) -> Answer<axum::Json<Revoked>> {
    let user = principal.must(Area::Grants)?.user(None)?;
    let revoked = app.store().revoke(named.permit(user.clone()), app.clock.now()).await?;
    // A call that runs on it may not ask for anything more.
    app.doorway.revoke(&user);
    Ok(axum::Json(Revoked { revoked }))
}

/// Lets a permission that was taken back be asked for again
#[utoipa::path(post, path = "/grants/lift", tag = "grants", request_body = Named, responses(
    (status = 204, description = "It may be asked for"),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "It was not taken back", body = ErrorBody),
))]
pub(crate) async fn lift(
    State(app): State<App>,
    principal: Principal,
    Json(named): Json<Named>,
) -> Answer<axum::http::StatusCode> {
    let user = principal.must(Area::Grants)?.user(None)?;
    if !app.store().lift(named.permit(user), app.clock.now()).await? {
        return Err(ApiError::not_found("permission that was taken back"));
    }
    Ok(axum::http::StatusCode::NO_CONTENT)
}
