//! Tokens: a user's own, and keys for their programs.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use remit_engine::directory::{Token, TokenKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approvals::Whose;
use super::calls::bad_query;
use super::names;
use super::users::{LONGEST_NAME, no_chance};
use crate::app::App;
use crate::auth::{ADMIN, Area, Principal, token};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};

/// Asks for a token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for.
    #[schema(max_length = 200)]
    label: String,
    /// What a program may do with it: without this, all that its user can.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Scope>>)]
    scopes: Option<Vec<String>>,
    /// How long it is valid, in seconds; for ever if nobody says.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 315360000)]
    valid_seconds: Option<u32>,
    /// For this user; only the operator makes others'.
    #[serde(default)]
    #[schema(pattern = "^[a-z0-9._-]+$", min_length = 1, max_length = 64)]
    user: Option<String>,
}

/// Names what a program may do.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it stands in the document; `known` reads the words")]
enum Scope {
    Calls,
    Approvals,
    Grants,
    Threads,
    Agents,
    Organiser,
}

/// Is a token, which is shown this once.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedToken {
    /// Its own name, by which it is taken back.
    id: String,
    /// The token. Remit keeps only its hash.
    token: String,
}

/// How long a token may be valid: ten years.
const LONGEST_SECONDS: u32 = 315_360_000;

/// Makes a token
#[utoipa::path(post, path = "/tokens", tag = "tokens", request_body = NewToken, responses(
    (status = 201, description = "The token", body = AddedToken),
    (status = 400, description = "The request is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such user", body = ErrorBody),
))]
pub(crate) async fn add(
    State(app): State<App>,
    principal: Principal,
    Json(new): Json<NewToken>,
) -> Answer<(StatusCode, axum::Json<AddedToken>)> {
    let user = principal.must(Area::Tokens)?.user(new.user.as_deref())?;
    if new.label.chars().count() > LONGEST_NAME {
        let message = format!("a label has at most {LONGEST_NAME} characters");
        return Err(ApiError::bad_request("INVALID_LABEL", message));
    }
    if new.valid_seconds.is_some_and(|seconds| seconds == 0 || seconds > LONGEST_SECONDS) {
        let message = format!("`valid_seconds` is 1 to {LONGEST_SECONDS}");
        return Err(ApiError::bad_request("INVALID_TIME", message));
    }
    if user != ADMIN && app.directory.user(&user).await?.is_none() {
        return Err(ApiError::not_found("user"));
    }
    let kind = match (&new.scopes, user.as_str()) {
        (Some(scopes), _) => {
            known(scopes)?;
            TokenKind::Key
        }
        (None, ADMIN) => TokenKind::Admin,
        (None, _) => TokenKind::User,
    };
    let now = app.now_ms();
    let text = token::fresh_token(token::prefix(kind)).map_err(no_chance)?;
    let record = Token {
        scopes: new.scopes.unwrap_or_default(),
        expires_ms: new.valid_seconds.map(|seconds| now + i64::from(seconds) * 1_000),
        ..token::token_record(&text, kind, &user, &new.label, now)
    };
    let id = record.id.clone();
    app.directory.add_token(record).await?;
    Ok((StatusCode::CREATED, axum::Json(AddedToken { id, token: text })))
}

fn known(scopes: &[String]) -> Answer<()> {
    let is_known = |scope: &String| Area::GIVEN.iter().any(|area| area.as_str() == scope);
    match scopes.iter().find(|scope| !is_known(scope)) {
        None => Ok(()),
        Some(_) => {
            let all = Area::GIVEN.map(Area::as_str).join("`, `");
            let message = format!("the scopes of a key are some of `{all}`");
            Err(ApiError::bad_request("UNKNOWN_SCOPE", message))
        }
    }
}

/// Is a token as it is listed.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Its own name, by which it is taken back.
    id: String,
    /// `admin`, `user` or `key`.
    kind: String,
    /// What it is for.
    label: String,
    /// What a program may do with it.
    scopes: Vec<String>,
    /// When it was made.
    created_at: String,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// When it was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<String>,
}

/// Is a list of tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tokens {
    /// The tokens, those of people first.
    tokens: Vec<TokenView>,
}

async fn of(app: &App, user: &str) -> Answer<Vec<Token>> {
    let mut all = Vec::new();
    for kind in [TokenKind::Admin, TokenKind::User, TokenKind::Key] {
        all.extend(app.directory.tokens(kind, user).await?);
    }
    Ok(all)
}

/// Lists a user's tokens, without the tokens themselves
#[utoipa::path(get, path = "/tokens", tag = "tokens", params(Whose), responses(
    (status = 200, description = "The tokens", body = Tokens),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<axum::Json<Tokens>> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Tokens)?.user(whose.user.as_deref())?;
    let tokens = of(&app, &user).await?.into_iter().map(|token| TokenView {
        id: token.id,
        kind: token.kind.as_str().to_owned(),
        label: token.label,
        scopes: token.scopes,
        created_at: names::time(token.created_ms),
        expires_at: token.expires_ms.map(names::time),
        revoked_at: token.revoked_ms.map(names::time),
    });
    Ok(axum::Json(Tokens { tokens: tokens.collect() }))
}

/// Takes a token back
#[utoipa::path(delete, path = "/tokens/{id}", tag = "tokens", params(("id" = String, Path, description = "The token's own name"), Whose), responses(
    (status = 204, description = "It is taken back"),
    (status = 400, description = "The question is not one", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "There is no such token", body = ErrorBody),
))]
pub(crate) async fn revoke(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    whose: Result<Query<Whose>, QueryRejection>,
) -> Answer<StatusCode> {
    let Query(whose) = whose.map_err(|error| bad_query(&error))?;
    let user = principal.must(Area::Tokens)?.user(whose.user.as_deref())?;
    if !of(&app, &user).await?.iter().any(|token| token.id == id) {
        return Err(ApiError::not_found("token"));
    }
    app.directory.revoke_token(&id, app.now_ms()).await?;
    // What was made of it goes with it.
    app.doorway.revoke(&user);
    Ok(StatusCode::NO_CONTENT)
}
