//! The catalog: what can be called, and what cannot and why.

use axum::extract::{Path, State};
use remit_engine::catalog::{Entry, State as Ready};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer, ApiError, ErrorBody};

/// Is a capability in the catalog.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tool {
    /// The qualified name.
    name: String,
    /// What it does.
    description: String,
    /// What declares it.
    source: String,
    /// The hash of that declaration.
    manifest_hash: String,
    /// The permission it needs.
    scope: String,
    /// How much care that takes: `low`, `medium` or `high`.
    sensitivity: String,
    /// `ready`, `stale`, `disabled` or `broken`.
    state: String,
    /// Why it is not simply ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What it takes, as a JSON Schema.
    #[schema(value_type = Object)]
    input_schema: Value,
}

fn view(entry: &Entry) -> Tool {
    let (state, reason) = match &entry.state {
        Ready::Ready => ("ready", None),
        Ready::Stale(why) => ("stale", Some(why.clone())),
        Ready::Disabled => ("disabled", None),
        Ready::Broken(why) => ("broken", Some(why.clone())),
    };
    Tool {
        name: entry.capability.name.clone(),
        description: entry.capability.description.clone(),
        source: entry.source.name.clone(),
        manifest_hash: entry.source.hash.clone(),
        scope: entry.scope.clone(),
        sensitivity: entry.sensitivity.as_str().to_owned(),
        state: state.to_owned(),
        reason,
        input_schema: entry.capability.input_schema.clone(),
    }
}

/// Is a list of capabilities.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tools {
    /// In order of name.
    tools: Vec<Tool>,
}

/// Lists what the caller may see
#[utoipa::path(get, path = "/tools", tag = "tools", responses(
    (status = 200, description = "The capabilities", body = Tools),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
) -> Answer<axum::Json<Tools>> {
    let caller = principal.must(Area::Calls)?.caller(None)?;
    let catalog = app.engine.catalog();
    let tools = catalog.visible(&caller).map(|entry| view(entry)).collect();
    Ok(axum::Json(Tools { tools }))
}

/// Shows one capability
#[utoipa::path(get, path = "/tools/{name}", tag = "tools", params(("name" = String, Path, description = "The qualified name")), responses(
    (status = 200, description = "The capability", body = Tool),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is none that the caller may see", body = ErrorBody),
))]
pub(crate) async fn one(
    State(app): State<App>,
    principal: Principal,
    Path(name): Path<String>,
) -> Answer<axum::Json<Tool>> {
    let caller = principal.must(Area::Calls)?.caller(None)?;
    let catalog = app.engine.catalog();
    let entry = catalog.get(&name).filter(|_| catalog.policy().shows(&caller, &name));
    entry.map(|entry| axum::Json(view(entry))).ok_or_else(|| ApiError::not_found("capability"))
}
