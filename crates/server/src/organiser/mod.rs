//! Calendars, contacts and memories over HTTP, for people and for the handlers that act for them.
//!
//! Whose they are comes from the token alone ([`person::Person`]): nothing in a path or a body names a
//! user.

#![allow(unused_qualifications, reason = "the OpenAPI macros write whole paths")]

pub(crate) mod actions;
mod calendar;
mod contacts;
pub(crate) mod person;

use std::sync::Arc;

use axum::http::StatusCode;
use remit_engine::ports::StoreError;
use remit_organiser::port::drive;
use remit_organiser::{Code, Failure, Loaded, Rows, Step};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::{Answer, ApiError};

/// Gives the routes.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(actions::run))
        .routes(routes!(calendar::export))
        .routes(routes!(calendar::import))
        .routes(routes!(contacts::add, contacts::list))
        .routes(routes!(contacts::one, contacts::replace, contacts::remove))
}

/// Carries something through, on a thread that it may keep busy: reading a file or unfolding years of
/// a calendar takes longer than other requests should wait.
async fn run(
    rows: Arc<dyn Rows>,
    step: impl Fn(&Loaded) -> Step + Send + 'static,
) -> Answer<Result<Value, Failure>> {
    let runtime = tokio::runtime::Handle::current();
    let work = move || runtime.block_on(drive(&*rows, step));
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| StoreError::new("a request to the organiser broke off"))?;
    Ok(done.map_err(|trouble| StoreError::new(trouble.message))?)
}

/// Gives the status that goes with a failure.
fn status(code: Code) -> StatusCode {
    match code {
        Code::UnknownAction | Code::NotFound => StatusCode::NOT_FOUND,
        Code::InvalidActionInput => StatusCode::BAD_REQUEST,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::Conflict => StatusCode::CONFLICT,
        Code::LimitExceeded => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Says a failure as every other part of the server does.
fn refusal(failure: Failure) -> ApiError {
    let mut details = failure.details;
    if let Some(pointer) = failure.pointer {
        details.insert("pointer".to_owned(), pointer.into());
    }
    let error = ApiError::new(status(failure.code), failure.code.name(), failure.message);
    if details.is_empty() { error } else { error.with_details(Value::Object(details)) }
}
