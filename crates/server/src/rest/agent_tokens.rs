//! The tokens of agents: a new one for one that is lost or was seen by somebody.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use remit_engine::directory::TokenKind;
use remit_engine::registry::RegistryError;

use super::agents::{AddedAgent, is_own};
use super::users::no_chance;
use crate::app::App;
use crate::auth::{Area, Principal, token};
use crate::error::{Answer, ErrorBody};

/// Gives an agent a new token, and takes all others back
///
/// For its owner and the operator. Users and versions stay as they are.
#[utoipa::path(post, path = "/agents/{id}/token", tag = "agents", params(("id" = String, Path, description = "The agent's id")), responses(
    (status = 201, description = "The new token, shown once", body = AddedAgent),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such agent of theirs", body = ErrorBody),
))]
pub(crate) async fn renew(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<(StatusCode, axum::Json<AddedAgent>)> {
    // Not by the agent itself: whoever stole its token could shut it out.
    principal.must(Area::Agents)?.user(None)?;
    let agent = app.agents.agent(&id).await?;
    if !is_own(&principal, &agent) {
        return Err(RegistryError::UnknownAgent.into());
    }
    let text = token::fresh_token(token::prefix(TokenKind::Agent)).map_err(no_chance)?;
    let now = app.now_ms();
    for old in app.directory.tokens(TokenKind::Agent, &agent.id).await? {
        app.directory.revoke_token(&old.id, now).await?;
    }
    let record = token::token_record(&text, TokenKind::Agent, &agent.id, "new token", now);
    app.directory.add_token(record).await?;
    Ok((StatusCode::CREATED, axum::Json(AddedAgent { agent_id: agent.id, token: text })))
}
