//! Users, whom the operator adds.

use axum::extract::State;
use axum::http::StatusCode;
use remit_engine::directory::{TokenKind, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names;
use crate::app::App;
use crate::auth::{ADMIN, Area, Principal, token};
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};

/// How long a name for people may be, in characters.
pub(crate) const LONGEST_NAME: usize = 200;

/// Asks for a user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    /// The name that everything refers to: small letters, digits, `-`, `_` and `.`, at most 64.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9._-]+$")]
    id: String,
    /// The name for people.
    #[serde(default)]
    #[schema(max_length = 200)]
    name: Option<String>,
}

/// Is a user with their first token, which is shown this once.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedUser {
    /// The name that everything refers to.
    user_id: String,
    /// The token. Remit keeps only its hash.
    token: String,
}

/// Adds a user
#[utoipa::path(post, path = "/users", tag = "users", request_body = NewUser, responses(
    (status = 201, description = "The user and their token", body = AddedUser),
    (status = 400, description = "Not a name", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 409, description = "The name is taken", body = ErrorBody),
))]
pub(crate) async fn add(
    State(app): State<App>,
    principal: Principal,
    Json(new): Json<NewUser>,
) -> Answer<(StatusCode, axum::Json<AddedUser>)> {
    principal.must(Area::Operation)?;
    if !names::is_user(&new.id) {
        let message = "a user's id is 1 to 64 small letters, digits, `-`, `_` and `.`";
        return Err(ApiError::bad_request("INVALID_NAME", message));
    }
    let name = new.name.unwrap_or_else(|| new.id.clone());
    if name.chars().count() > LONGEST_NAME {
        let message = format!("a name has at most {LONGEST_NAME} characters");
        return Err(ApiError::bad_request("INVALID_NAME", message));
    }
    let now = app.now_ms();
    let user = User { id: new.id.clone(), name, created_ms: now };
    if new.id == ADMIN || !app.directory.add_user(user).await? {
        return Err(ApiError::conflict("NAME_TAKEN", "there is a user of that name"));
    }
    let token = token::fresh_token(token::prefix(TokenKind::User)).map_err(no_chance)?;
    let record = token::token_record(&token, TokenKind::User, &new.id, "first token", now);
    app.directory.add_token(record).await?;
    Ok((StatusCode::CREATED, axum::Json(AddedUser { user_id: new.id, token })))
}

/// Says that no token could be made.
pub(crate) fn no_chance(message: String) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "NO_RANDOM_NUMBERS", message)
}

/// Is a user.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserView {
    /// The name that everything refers to.
    id: String,
    /// The name for people.
    name: String,
    /// When they were added.
    created_at: String,
}

/// Is a list of users.
#[derive(Serialize, ToSchema)]
pub(crate) struct Users {
    /// In order of their names.
    users: Vec<UserView>,
}

/// Lists the users
#[utoipa::path(get, path = "/users", tag = "users", responses(
    (status = 200, description = "The users", body = Users),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
) -> Answer<axum::Json<Users>> {
    principal.must(Area::Operation)?;
    let users = app.directory.users().await?.into_iter().map(|user| UserView {
        id: user.id,
        name: user.name,
        created_at: names::time(user.created_ms),
    });
    Ok(axum::Json(Users { users: users.collect() }))
}
