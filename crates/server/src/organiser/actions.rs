//! The methods of the organiser, as handlers run them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use remit_organiser::{Action, Context, Failure, Rows};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::person::{Person, Where};
use crate::app::App;
use crate::body::Json;
use crate::error::{Answer, ErrorBody};

/// Is what a method gives: `data` when `ok`, `error` when not.
#[derive(Serialize, ToSchema)]
pub(crate) struct MethodOutput {
    /// Whether it did what it should.
    ok: bool,
    /// The module.
    module: String,
    /// The method.
    method: String,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    /// What went wrong: `{code, message, module, method, pointer?, input_schema?, …}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// Is what is refused: by the method, or before it is reached.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it stands in the document only")]
pub(crate) enum Refusal {
    /// By the method.
    Method(MethodOutput),
    /// By the server.
    Server(ErrorBody),
}

/// Runs a method of the organiser
///
/// The body is the method's input. Modules are `calendar`, `contacts` and `memory`; an error of
/// `INVALID_ACTION_INPUT` has the schema of the input.
#[utoipa::path(post, path = "/organiser/{module}/{method}", tag = "organiser",
    params(
        ("module" = String, Path, description = "The module"),
        ("method" = String, Path, description = "The method"),
        Where,
    ),
    request_body = Value,
    responses(
        (status = 200, description = "What the method gave", body = MethodOutput),
        (status = 400, description = "The input does not fit", body = Refusal),
        (status = 401, description = "No valid token", body = ErrorBody),
        (status = 403, description = "Not with this token, or not theirs to change", body = Refusal),
        (status = 404, description = "No such method or thing", body = MethodOutput),
        (status = 409, description = "It has changed since", body = MethodOutput),
        (status = 422, description = "Too many or too much", body = MethodOutput),
    ))]
pub(crate) async fn run(
    State(app): State<App>,
    Person(context): Person,
    Path((module, method)): Path<(String, String)>,
    Json(input): Json<Value>,
) -> Answer<(StatusCode, axum::Json<MethodOutput>)> {
    perform(app.rows.clone(), context, module, method, input).await
}

/// Runs a method for somebody.
pub(crate) async fn perform(
    rows: Arc<dyn Rows>,
    context: Context,
    module: String,
    method: String,
    input: Value,
) -> Answer<(StatusCode, axum::Json<MethodOutput>)> {
    let action = match Action::find(&module, &method) {
        Ok(action) => action,
        Err(failure) => return Ok(output(module, method, Err(failure), None)),
    };
    let step = move |loaded: &_| action.execute(&context, &input, loaded);
    let outcome = super::run(rows, step).await?;
    Ok(output(module, method, outcome, Some(action.input_schema())))
}

fn output(
    module: String,
    method: String,
    outcome: Result<Value, Failure>,
    schema: Option<&Value>,
) -> (StatusCode, axum::Json<MethodOutput>) {
    let (status, data, error) = match outcome {
        Ok(data) => (StatusCode::OK, Some(data), None),
        Err(failure) => {
            let error = failure.json(&module, &method, schema);
            (super::status(failure.code), None, Some(error))
        }
    };
    let ok = error.is_none();
    (status, axum::Json(MethodOutput { ok, module, method, data, error }))
}
