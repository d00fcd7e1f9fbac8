//! Bodies: read whole, within limits, and held to the same rules as manifests.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use remit_manifest::read::{self, Format, Limits};
use remit_model::Severity;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::App;
use crate::error::{Answer, ApiError};

/// Reads a JSON body: no duplicate keys, no number that would change on the way, not too deep.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Answer<Self> {
        let is_json = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| {
                let essence = kind.split(';').next().unwrap_or_default().trim();
                essence.eq_ignore_ascii_case("application/json")
            });
        if !is_json {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "NOT_JSON",
                "send JSON: `Content-Type: application/json`",
            ));
        }
        let bytes = whole(request, app).await?;
        let value = value(bytes)?;
        serde_json::from_value(value).map(Json).map_err(|error| {
            ApiError::bad_request("INVALID_BODY", format!("the body has another shape: {error}"))
        })
    }
}

/// Reads a body whole.
pub(crate) async fn whole(request: Request, app: &App) -> Answer<Bytes> {
    up_to(app.limits.body_bytes, request, app).await
}

/// Reads a body whole that may have a size of its own.
pub(crate) async fn up_to(most: usize, request: Request, app: &App) -> Answer<Bytes> {
    let read = axum::body::to_bytes(request.into_body(), most);
    match tokio::time::timeout(app.limits.body_time, read).await {
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "BODY_TOO_SLOW",
            "the body did not arrive in time",
        )),
        Ok(Err(error)) if is_too_long(&error) => Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "BODY_TOO_LARGE",
            format!("the body has more than {most} bytes"),
        )),
        Ok(Err(_)) => Err(ApiError::bad_request("BODY_BROKEN_OFF", "the body broke off")),
        Ok(Ok(bytes)) => Ok(bytes),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(now) = source {
        // Only its name tells: the type is that of a crate that axum does not show.
        if now.to_string() == "length limit exceeded" {
            return true;
        }
        source = now.source();
    }
    false
}

/// Reads JSON as manifests are read.
pub(crate) fn value(bytes: Bytes) -> Answer<Value> {
    let reading = read::read(Vec::from(bytes), Some(Format::Json), &Limits::DOCUMENT);
    if let Some(root) = reading.accepted().filter(|_| reading.bare_templates.is_empty()) {
        return Ok(root.to_json());
    }
    let first = reading.diagnostics.iter().find(|d| d.severity == Severity::Error);
    let why = first.map_or("a bare template stands in it".to_owned(), |d| {
        format!("line {}, column {}: {}", d.position.line, d.position.column, d.message)
    });
    Err(ApiError::bad_request("INVALID_JSON", format!("the body is not JSON: {why}")))
}
