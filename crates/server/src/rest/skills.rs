//! Skill documents: what a caller can read about. Reading gives no right to call anything.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use remit_engine::directory::TokenKind;
use remit_model::Caller;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::calls::bad_query;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer, ApiError, ErrorBody};
use crate::project::skills::{self, Listed};

/// Says for whom it is read.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct For {
    /// The agent whose documents are wanted; an agent's own token needs none.
    agent: Option<String>,
}

/// Says who reads: a user, perhaps for an agent, or an agent by itself.
pub(crate) fn reader(principal: &Principal, agent: Option<String>) -> Answer<Caller> {
    principal.must(Area::Calls)?;
    if principal.kind != TokenKind::Agent {
        return principal.caller(agent);
    }
    if agent.is_some_and(|agent| agent != principal.subject) {
        return Err(ApiError::forbidden("an agent reads its own documents only"));
    }
    Ok(Caller { user: String::new(), agent: Some(principal.subject.clone()), device: None })
}

/// Is the index of skill documents.
#[derive(Serialize, ToSchema)]
pub(crate) struct SkillIndex {
    /// In order of name.
    skills: Vec<Listed>,
    /// The same for a model's prompt; empty if there are none.
    index: String,
}

/// Lists the modules that the caller can read about
#[utoipa::path(get, path = "/skill-documents", tag = "tools", params(For), responses(
    (status = 200, description = "The modules", body = SkillIndex),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    of: Result<Query<For>, QueryRejection>,
) -> Answer<axum::Json<SkillIndex>> {
    let Query(of) = of.map_err(|error| bad_query(&error))?;
    let caller = reader(&principal, of.agent)?;
    let catalog = app.engine.catalog();
    let (skills, index) = (skills::list(&catalog, &caller), skills::index(&catalog, &caller));
    Ok(axum::Json(SkillIndex { skills, index }))
}

/// Gives the document of a module
#[utoipa::path(get, path = "/skill-documents/{module}", tag = "tools", params(("module" = String, Path, description = "The module"), For), responses(
    (status = 200, description = "The document", content_type = "text/markdown", body = String),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is none that the caller can read", body = ErrorBody),
))]
pub(crate) async fn one(
    State(app): State<App>,
    principal: Principal,
    Path(module): Path<String>,
    of: Result<Query<For>, QueryRejection>,
) -> Answer<Response> {
    let Query(of) = of.map_err(|error| bad_query(&error))?;
    let caller = reader(&principal, of.agent)?;
    let catalog = app.engine.catalog();
    let document = skills::document(&catalog, &caller, &module);
    let document = document.ok_or_else(|| ApiError::not_found("skill document"))?;
    let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
    Ok((kind, document.into_owned()).into_response())
}
