//! Agents: what they declare, version by version (S0).

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use remit_engine::directory::TokenKind;
use remit_engine::registry::{Agent, AgentQuery, Page, Patch, RegistryError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::calls::bad_query;
use super::names;
use super::users::no_chance;
use crate::app::App;
use crate::auth::{Area, Principal, token};
use crate::body::{self, Json};
use crate::error::{Answer, ApiError, ErrorBody};

/// How many are listed at most.
const MOST: usize = 200;

impl From<RegistryError> for ApiError {
    fn from(error: RegistryError) -> Self {
        let status = match &error {
            RegistryError::UnknownAgent
            | RegistryError::UnknownVersion { .. }
            | RegistryError::NothingPublished
            | RegistryError::NotAdded => StatusCode::NOT_FOUND,
            RegistryError::BadName { .. } | RegistryError::BadKey => StatusCode::BAD_REQUEST,
            RegistryError::KeyTaken | RegistryError::Conflict { .. } => StatusCode::CONFLICT,
            RegistryError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            RegistryError::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            RegistryError::Store(error) => return error.clone().into(),
        };
        let answer = Self::new(status, error.code(), error.to_string());
        match &error {
            RegistryError::Invalid(diagnostics) => {
                let list: Vec<Value> = diagnostics
                    .iter()
                    .map(|d| {
                        json!({
                            "rule": d.rule, "severity": d.severity, "message": d.message,
                            "pointer": d.pointer, "line": d.position.line,
                            "column": d.position.column, "help": d.help,
                        })
                    })
                    .collect();
                answer.with_details(json!({"diagnostics": list}))
            }
            RegistryError::Conflict { current } => {
                answer.with_details(json!({"current_version": current}))
            }
            _ => answer,
        }
    }
}

/// Asks for an agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAgent {
    /// Its name for people.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
}

/// Is an agent with its token, which is shown this once.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedAgent {
    /// The agent's id.
    pub(super) agent_id: String,
    /// The token: `hsk_` and 40 characters. Remit keeps only its hash.
    pub(super) token: String,
}

/// Registers an agent
#[utoipa::path(post, path = "/agents", tag = "agents", request_body = NewAgent, responses(
    (status = 201, description = "The agent and its token", body = AddedAgent),
    (status = 400, description = "Not a name", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn add(
    State(app): State<App>,
    principal: Principal,
    Json(new): Json<NewAgent>,
) -> Answer<(StatusCode, axum::Json<AddedAgent>)> {
    let owner = principal.must(Area::Agents)?.user(None)?;
    let agent = app.agents.create(&new.name, &owner).await?;
    let text = token::fresh_token(token::prefix(TokenKind::Agent)).map_err(no_chance)?;
    let record =
        token::token_record(&text, TokenKind::Agent, &agent.id, "first token", app.now_ms());
    app.directory.add_token(record).await?;
    Ok((StatusCode::CREATED, axum::Json(AddedAgent { agent_id: agent.id, token: text })))
}

/// Is an agent.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentView {
    /// Its id.
    agent_id: String,
    /// Its name for people.
    name: String,
    /// Whether it is the caller's own.
    own: bool,
    /// When it was registered.
    created_at: String,
    /// The version of its manifest; 0 before the first.
    version: u64,
    /// The hash of that version.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// What its author should know, such as a manifest that is nearly too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

pub(super) fn is_own(principal: &Principal, agent: &Agent) -> bool {
    match principal.kind {
        TokenKind::Admin => true,
        TokenKind::Agent => principal.subject == agent.id,
        TokenKind::User | TokenKind::Key => principal.subject == agent.owner,
    }
}

fn view(principal: &Principal, agent: &Agent) -> AgentView {
    let own = is_own(principal, agent);
    AgentView {
        agent_id: agent.id.clone(),
        name: agent.name.clone(),
        own,
        created_at: names::time(agent.created_at_ms),
        version: agent.version,
        hash: agent.hash.clone(),
        warning: agent.warning().filter(|_| own),
    }
}

/// Asks for a part of a list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// Only those behind this id.
    after: Option<String>,
}

/// Is a list of agents.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentList {
    /// In order of id.
    agents: Vec<AgentView>,
    /// Where the list goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists the caller's own agents
#[utoipa::path(get, path = "/agents", tag = "agents", params(After), responses(
    (status = 200, description = "The agents", body = AgentList),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    after: Result<Query<After>, QueryRejection>,
) -> Answer<axum::Json<AgentList>> {
    let Query(after) = after.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Agents)?.user(None)?;
    let owner = (principal.kind != TokenKind::Admin).then_some(user);
    let query = AgentQuery { owner, after: after.after, limit: Some(MOST) };
    let found = app.agents.registry().agents(query).await?;
    let next = found.last().filter(|_| found.len() == MOST).map(|agent| agent.id.clone());
    let agents = found.iter().map(|agent| view(&principal, agent)).collect();
    Ok(axum::Json(AgentList { agents, next }))
}

/// Shows an agent
#[utoipa::path(get, path = "/agents/{id}", tag = "agents", params(("id" = String, Path, description = "The agent's id")), responses(
    (status = 200, description = "The agent", body = AgentView),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such agent", body = ErrorBody),
))]
pub(crate) async fn one(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
) -> Answer<axum::Json<AgentView>> {
    principal.must(Area::Agents)?;
    Ok(axum::Json(view(&principal, &app.agents.agent(&id).await?)))
}

/// Is what came of publishing a manifest.
#[derive(Serialize, ToSchema)]
pub(crate) struct PublishedManifest {
    /// The agent's id.
    agent_id: String,
    /// The number of the version.
    capability_manifest_version: u64,
    /// The SHA-256 of the canonical form.
    capability_manifest_hash: String,
    /// What breaks callers or trust.
    #[schema(value_type = Vec<Object>)]
    breaking_changes: Vec<Value>,
    /// What a user must see before it takes effect; only if there is any.
    #[schema(value_type = Option<Vec<Object>>)]
    consent_changes: Option<Vec<Value>>,
}

/// Reads the version a request is for: a number, quoted or not.
fn if_match(headers: &HeaderMap) -> Answer<Option<u64>> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim().trim_matches('"');
    text.parse().map(Some).map_err(|_| {
        ApiError::bad_request("INVALID_IF_MATCH", "`If-Match` is the number of a version")
    })
}

/// Publishes the next version of an agent's manifest
///
/// The version goes up by one for each manifest that is accepted. `If-Match` makes it conditional,
/// `Idempotency-Key` makes a retry safe.
#[utoipa::path(patch, path = "/agents/{id}", tag = "agents", params(
    ("id" = String, Path, description = "The agent's id"),
    ("If-Match" = Option<u64>, Header, description = "The version the sender knows"),
    ("Idempotency-Key" = Option<String>, Header, description = "With the same key and body the first answer is given again", pattern = "^[!-~]+$", min_length = 1, max_length = 255),
), request_body(content = Object, description = "The capability manifest"), responses(
    (status = 200, description = "It is published", body = PublishedManifest),
    (status = 400, description = "A header is not what it should be", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such agent of the caller's", body = ErrorBody),
    (status = 409, description = "The key was used for another manifest", body = ErrorBody),
    (status = 412, description = "The agent has another version by now", body = ErrorBody),
    (status = 413, description = "The manifest is too large", body = ErrorBody),
    (status = 422, description = "The manifest is not good; all its faults are named", body = ErrorBody),
))]
pub(crate) async fn publish(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Answer<Response> {
    principal.must(Area::Agents)?;
    let agent = app.agents.agent(&id).await?;
    if !is_own(&principal, &agent) {
        return Err(RegistryError::UnknownAgent.into());
    }
    let if_match = if_match(&headers)?;
    let key = match headers.get("idempotency-key") {
        None => None,
        Some(value) => Some(value.to_str().map_err(|_| RegistryError::BadKey)?.to_owned()),
    };
    let body = body::whole(request, &app).await?.to_vec();
    let patch = Patch { agent: id, body, format: None, if_match, key };
    let published = app.agents.publish(patch).await.map_err(|error| {
        let is_precondition = matches!(error, RegistryError::Conflict { .. });
        let answer = ApiError::from(error);
        if is_precondition { answer.with_status(StatusCode::PRECONDITION_FAILED) } else { answer }
    })?;
    app.mcp.touched();
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, published.to_json()).into_response())
}

/// Names a version.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The number; the present one if nobody says.
    #[serde(default, deserialize_with = "names::number")]
    #[param(maximum = 9007199254740991u64)]
    version: Option<u64>,
}

/// Gives a version of an agent's manifest, in canonical form
#[utoipa::path(get, path = "/agents/{id}/manifest", tag = "agents", params(("id" = String, Path, description = "The agent's id"), Which), responses(
    (status = 200, description = "The manifest; `ETag` is its version", body = Object),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such version", body = ErrorBody),
))]
pub(crate) async fn manifest(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    which: Result<Query<Which>, QueryRejection>,
) -> Answer<Response> {
    let Query(which) = which.map_err(|error| bad_query(&error))?;
    principal.must(Area::Agents)?;
    let version = app.agents.version(&id, which.version).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::ETAG, format!("\"{}\"", version.version)),
    ];
    Ok((headers, version.canonical).into_response())
}

/// Is a version in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct VersionView {
    /// Its number, from 1.
    version: u64,
    /// The hash of the canonical form.
    hash: String,
    /// Its size in bytes.
    bytes: u64,
    /// When it was published.
    published_at: String,
    /// Whether anything in it broke the version before.
    breaking: bool,
    /// Whether users had to see anything in it.
    consent: bool,
}

/// Is a list of versions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Versions {
    /// The versions, the oldest first.
    versions: Vec<VersionView>,
    /// Where the list goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// Asks for a part of a list of versions.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Behind {
    /// Only those behind this number.
    #[serde(default, deserialize_with = "names::number")]
    #[param(maximum = 9007199254740991u64)]
    after: Option<u64>,
}

/// Lists the versions of an agent's manifest
#[utoipa::path(get, path = "/agents/{id}/versions", tag = "agents", params(("id" = String, Path, description = "The agent's id"), Behind), responses(
    (status = 200, description = "The versions", body = Versions),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such agent", body = ErrorBody),
))]
pub(crate) async fn versions(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    behind: Result<Query<Behind>, QueryRejection>,
) -> Answer<axum::Json<Versions>> {
    let Query(behind) = behind.map_err(|error| bad_query(&error))?;
    principal.must(Area::Agents)?;
    app.agents.agent(&id).await?;
    let page = Page { after: behind.after.unwrap_or(0), limit: Some(MOST) };
    let found = app.agents.registry().versions(&id, page).await?;
    let next = found.last().filter(|_| found.len() == MOST).map(|head| head.version);
    let versions = found.into_iter().map(|head| VersionView {
        version: head.version,
        hash: head.hash,
        bytes: head.bytes,
        published_at: names::time(head.at_ms),
        breaking: head.is_breaking,
        consent: head.asks_consent,
    });
    Ok(axum::Json(Versions { versions: versions.collect(), next }))
}

/// Names two versions.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Between {
    /// The one before.
    #[serde(deserialize_with = "names::whole")]
    #[param(maximum = 9007199254740991u64)]
    from: u64,
    /// The one after.
    #[serde(deserialize_with = "names::whole")]
    #[param(maximum = 9007199254740991u64)]
    to: u64,
}

/// Is a difference.
#[derive(Serialize, ToSchema)]
pub(crate) struct Difference {
    /// What breaks callers or trust.
    #[schema(value_type = Vec<Object>)]
    pub(crate) breaking: Value,
    /// What does not.
    #[schema(value_type = Vec<Object>)]
    pub(crate) non_breaking: Value,
    /// What a user must see before it takes effect.
    #[schema(value_type = Vec<Object>)]
    pub(crate) consent: Value,
}

/// Compares two versions of an agent's manifest
#[utoipa::path(get, path = "/agents/{id}/diff", tag = "agents", params(("id" = String, Path, description = "The agent's id"), Between), responses(
    (status = 200, description = "What changed", body = Difference),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such version", body = ErrorBody),
))]
pub(crate) async fn diff(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    between: Result<Query<Between>, QueryRejection>,
) -> Answer<axum::Json<Difference>> {
    let Query(between) = between.map_err(|error| bad_query(&error))?;
    principal.must(Area::Agents)?;
    let changes = app.agents.diff(&id, between.from, between.to).await?;
    Ok(axum::Json(difference(&changes)))
}

/// Gives the form of a difference.
pub(crate) fn difference(changes: &remit_manifest::diff::Changes) -> Difference {
    Difference {
        breaking: json!(changes.breaking),
        non_breaking: json!(changes.non_breaking),
        consent: json!(changes.consent),
    }
}
