//! For those who watch over the server.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header;
use axum::response::IntoResponse;
use remit_engine::record::CallQuery;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer, ErrorBody};

/// Says that the server is there.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
}

/// Tells whether the process lives
#[utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses(
    (status = 200, description = "It does", body = Health),
))]
pub(crate) async fn healthz() -> axum::Json<Health> {
    axum::Json(Health { status: "ok" })
}

/// Tells whether the server can do its work: the record can be read, and it is not stopping
#[utoipa::path(get, path = "/readyz", tag = "operation", security(()), responses(
    (status = 200, description = "It can", body = Health),
    (status = 503, description = "It cannot", body = Health),
))]
pub(crate) async fn readyz(State(app): State<App>) -> (StatusCode, axum::Json<Health>) {
    let query = CallQuery { limit: Some(1), ..CallQuery::default() };
    let is_ready = !app.stop.is_cancelled() && app.store().calls(query).await.is_ok();
    match is_ready {
        true => (StatusCode::OK, axum::Json(Health { status: "ok" })),
        false => (StatusCode::SERVICE_UNAVAILABLE, axum::Json(Health { status: "unavailable" })),
    }
}

/// Gives figures in the form that Prometheus reads
#[utoipa::path(get, path = "/metrics", tag = "operation", responses(
    (status = 200, description = "The figures", content_type = "text/plain", body = String),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn metrics(
    State(app): State<App>,
    principal: Principal,
) -> Answer<impl IntoResponse> {
    principal.must(Area::Operation)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.measures.text()))
}
