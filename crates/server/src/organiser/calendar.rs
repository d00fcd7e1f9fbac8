//! Calendars as files: iCalendar (RFC 5545) in and out.

use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use remit_organiser::limits::{IMPORT_BYTES, IMPORT_EVENTS};
use remit_organiser::series::Window;
use remit_organiser::{Code, Failure, ical};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::person::{Person, Where};
use super::refusal;
use crate::app::App;
use crate::body;
use crate::error::{Answer, ApiError, ErrorBody};

/// Says which part of a calendar is wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// From when: RFC 3339 with an offset. With `until`, or not at all.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Until when.
    #[param(format = DateTime)]
    until: Option<String>,
}

impl Part {
    fn window(&self) -> Answer<Option<Window>> {
        let bad = || {
            ApiError::bad_request(
                "INVALID_RANGE",
                "write `from` and `until`, the later of the two, as 2026-04-21T00:00:00Z, or neither",
            )
        };
        match (&self.from, &self.until) {
            (None, None) => Ok(None),
            (Some(from), Some(until)) => {
                let read = |text: &str| text.parse::<Timestamp>().map_err(|_| bad());
                let window = Window { from: read(from)?, until: read(until)? };
                if window.from < window.until { Ok(Some(window)) } else { Err(bad()) }
            }
            _ => Err(bad()),
        }
    }
}

/// Gives a person's own events as an iCalendar file
#[utoipa::path(get, path = "/calendar.ics", tag = "organiser", params(Where, Part), responses(
    (status = 200, description = "The file", body = String, content_type = "text/calendar"),
    (status = 400, description = "No such zone or range", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
    (status = 422, description = "Too many events for one file", body = ErrorBody),
))]
pub(crate) async fn export(
    State(app): State<App>,
    Person(context): Person,
    request: Request,
) -> Answer<Response> {
    let Query(part) = Query::<Part>::try_from_uri(request.uri()).map_err(|_| {
        ApiError::bad_request("INVALID_RANGE", "the query cannot be read; write each name once")
    })?;
    let window = part.window()?;
    let outcome =
        super::run(app.rows.clone(), move |loaded| ical::export(&context, window, loaded)).await?;
    let data = outcome.map_err(refusal)?;
    if data.get("truncated") == Some(&Value::Bool(true)) {
        // Half a calendar that looks whole would be worse than none.
        let message = format!(
            "a file holds at most {IMPORT_EVENTS} events; ask for parts with `from` and `until`"
        );
        return Err(refusal(Failure::new(Code::LimitExceeded, message)));
    }
    let text = data.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let headers = [
        (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"calendar.ics\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, text).into_response())
}

/// Brings the events of an iCalendar file into a person's calendar
///
/// What cannot be used is skipped, and the answer says what and where. The same file twice changes
/// nothing.
#[utoipa::path(post, path = "/calendar/import", tag = "organiser", params(Where),
    request_body(content = String, content_type = "text/calendar"),
    responses(
        (status = 200, description = "`{created, updated, unchanged, older, items, count, skipped}`", body = Value),
        (status = 400, description = "Not a file of this kind", body = ErrorBody),
        (status = 401, description = "No valid token", body = ErrorBody),
        (status = 403, description = "Not with this token", body = ErrorBody),
        (status = 413, description = "The file is too large", body = ErrorBody),
        (status = 415, description = "Not text/calendar", body = ErrorBody),
        (status = 422, description = "Too many events", body = ErrorBody),
    ))]
pub(crate) async fn import(
    State(app): State<App>,
    Person(context): Person,
    request: Request,
) -> Answer<axum::Json<Value>> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("text/calendar") {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "NOT_A_CALENDAR",
            "send an iCalendar file: `Content-Type: text/calendar`",
        ));
    }
    let bytes = body::up_to(IMPORT_BYTES, request, &app).await?;
    let outcome =
        super::run(app.rows.clone(), move |loaded| ical::import(&context, &bytes, loaded)).await?;
    outcome.map(axum::Json).map_err(refusal)
}
