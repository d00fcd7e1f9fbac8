//! The address book, which people keep and agents read.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use remit_organiser::contacts::{self, Draft};
use remit_organiser::{Action, Context};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use super::person::Person;
use super::refusal;
use crate::app::App;
use crate::body::Json;
use crate::error::{Answer, ApiError, ErrorBody};

/// Says what is to be kept of a person.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContactDraft {
    /// Their name.
    #[schema(pattern = "\\S", min_length = 1, max_length = 200)]
    name: String,
    /// Their mail addresses.
    #[serde(default)]
    #[schema(max_items = 20)]
    emails: Vec<String>,
    /// Their numbers.
    #[serde(default)]
    #[schema(max_items = 20)]
    phones: Vec<String>,
    /// Where they work.
    #[serde(default)]
    #[schema(pattern = "\\S", min_length = 1, max_length = 200)]
    organisation: Option<String>,
    /// What there is to say about them.
    #[serde(default)]
    #[schema(pattern = "\\S", min_length = 1, max_length = 8000)]
    notes: Option<String>,
    /// Which user of this server they are.
    #[serde(default)]
    #[schema(pattern = "\\S", min_length = 1, max_length = 200)]
    user_id: Option<String>,
}

impl From<ContactDraft> for Draft {
    fn from(draft: ContactDraft) -> Self {
        let ContactDraft { name, emails, phones, organisation, notes, user_id } = draft;
        Self { name, emails, phones, organisation, notes, user_id }
    }
}

/// Says which contacts are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Find {
    /// Words that must all occur somewhere.
    #[param(max_length = 200)]
    query: Option<String>,
    /// How many a page holds.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
}

/// Lists contacts
#[utoipa::path(get, path = "/contacts", tag = "organiser", params(Find), responses(
    (status = 200, description = "`{items, count, total, truncated, nextCursor?}`", body = Value),
    (status = 400, description = "The query does not fit", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Person(context): Person,
    find: Result<Query<Find>, QueryRejection>,
) -> Answer<axum::Json<Value>> {
    let Query(find) = find.map_err(|error| {
        ApiError::bad_request("INVALID_QUERY", format!("the query cannot be read: {error}"))
    })?;
    let mut input = Map::new();
    let fields = [
        ("query", find.query.filter(|query| !query.is_empty()).map(Value::from)),
        ("limit", find.limit.map(Value::from)),
        ("cursor", find.cursor.map(Value::from)),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            input.insert(name.to_owned(), value);
        }
    }
    read(&app, context, Value::Object(input)).await.map(axum::Json)
}

async fn read(app: &App, context: Context, input: Value) -> Answer<Value> {
    let step = move |loaded: &_| Action::ContactsRead.execute(&context, &input, loaded);
    super::run(app.rows.clone(), step).await?.map_err(refusal)
}

/// Shows a contact
#[utoipa::path(get, path = "/contacts/{id}", tag = "organiser",
    params(("id" = String, Path, description = "The contact")), responses(
    (status = 200, description = "The contact", body = Value),
    (status = 400, description = "Not an id", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such contact of theirs", body = ErrorBody),
))]
pub(crate) async fn one(
    State(app): State<App>,
    Person(context): Person,
    Path(id): Path<String>,
) -> Answer<axum::Json<Value>> {
    let found = read(&app, context, json!({ "contact_id": id })).await?;
    let contact = found.pointer("/items/0").cloned();
    contact.map(axum::Json).ok_or_else(|| ApiError::not_found("contact"))
}

/// Adds a contact
#[utoipa::path(post, path = "/contacts", tag = "organiser", request_body = ContactDraft, responses(
    (status = 201, description = "The contact, with its id", body = Value),
    (status = 400, description = "It does not fit", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 422, description = "Too many contacts", body = ErrorBody),
))]
pub(crate) async fn add(
    State(app): State<App>,
    Person(context): Person,
    Json(draft): Json<ContactDraft>,
) -> Answer<(StatusCode, axum::Json<Value>)> {
    let added = save(&app, context, None, draft).await?;
    Ok((StatusCode::CREATED, axum::Json(added)))
}

async fn save(
    app: &App,
    context: Context,
    id: Option<String>,
    draft: ContactDraft,
) -> Answer<Value> {
    let draft = Draft::from(draft);
    let step = move |loaded: &_| contacts::save(&context, id.as_deref(), &draft, loaded);
    super::run(app.rows.clone(), step).await?.map_err(refusal)
}

/// Writes over a contact
#[utoipa::path(put, path = "/contacts/{id}", tag = "organiser",
    params(("id" = String, Path, description = "The contact")), request_body = ContactDraft, responses(
    (status = 200, description = "The contact as it is now", body = Value),
    (status = 400, description = "It does not fit", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such contact of theirs", body = ErrorBody),
))]
pub(crate) async fn replace(
    State(app): State<App>,
    Person(context): Person,
    Path(id): Path<String>,
    Json(draft): Json<ContactDraft>,
) -> Answer<axum::Json<Value>> {
    save(&app, context, Some(id), draft).await.map(axum::Json)
}

/// Forgets a contact
#[utoipa::path(delete, path = "/contacts/{id}", tag = "organiser",
    params(("id" = String, Path, description = "The contact")), responses(
    (status = 204, description = "It is gone"),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 404, description = "No such contact of theirs", body = ErrorBody),
))]
pub(crate) async fn remove(
    State(app): State<App>,
    Person(context): Person,
    Path(id): Path<String>,
) -> Answer<StatusCode> {
    let step = move |loaded: &_| contacts::delete(&context, &id, loaded);
    super::run(app.rows.clone(), step).await?.map_err(refusal)?;
    Ok(StatusCode::NO_CONTENT)
}
