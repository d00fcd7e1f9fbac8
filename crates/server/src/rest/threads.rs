//! Threads: everything that happens in a conversation.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::names;
use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer, ErrorBody};
use crate::sse::{self, Wanted};

/// Streams all that is recorded in a conversation
///
/// Each event has the number of its place in the thread as its id; `Last-Event-ID` goes on from there.
/// The stream does not end.
#[utoipa::path(get, path = "/threads/{id}/events", tag = "threads", params(("id" = String, Path, description = "The conversation's id", pattern = "^[A-Za-z0-9._:-]+$", min_length = 1, max_length = 60)), responses(
    (status = 200, description = "The events", content_type = "text/event-stream", body = String),
    (status = 400, description = "Not an id", body = ErrorBody),
    (status = 401, description = "No valid token", body = ErrorBody),
    (status = 403, description = "Not with this token", body = ErrorBody),
))]
pub(crate) async fn events(
    State(app): State<App>,
    principal: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer<Response> {
    let user = principal.must(Area::Threads)?.user(None)?;
    let thread = names::thread(&user, &id)?;
    let after = sse::last_event(&headers).unwrap_or(0);
    Ok(sse::events(app.store(), &thread, after, Wanted::All, principal.still(&app), app.stop()))
}
