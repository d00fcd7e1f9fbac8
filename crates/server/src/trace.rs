//! Spans of requests, for those who trace them. They have a target of their own, which logs leave out:
//! where nobody traces, none is made.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use remit_engine::TRACES;
use tracing::Span;
use tracing::field::Empty;

use crate::app::App;

/// Makes a span the child of the one that a `traceparent` names (W3C Trace Context).
pub type Adopt = fn(&Span, &str);

/// Begins the span of a request: its method and its route, and nothing that its maker chose.
pub(crate) fn request(app: &App, request: &Request, route: &str) -> Span {
    let method = method(request.method());
    let span = tracing::info_span!(
        target: TRACES,
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        otel.status_code = Empty,
    );
    if let (Some(adopt), Some(parent), false) =
        (app.adopt, parent(request.headers()), span.is_disabled())
    {
        adopt(&span, parent);
    }
    span
}

/// Notes how a request was answered.
pub(crate) fn answered(span: &Span, status: StatusCode) {
    if span.is_disabled() {
        return;
    }
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

fn parent(headers: &HeaderMap) -> Option<&str> {
    headers.get("traceparent")?.to_str().ok()
}

/// Gives the word for a method; a method can be any word, and those that nobody knows are one.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}
