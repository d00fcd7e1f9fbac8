//! What the document says of every operation: the answers that come before any handler has its say.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder};

/// Lists what any operation may answer.
const ANY: [(&str, &str); 2] = [
    ("403", "Not with this token, or a page from elsewhere"),
    ("421", "The request was meant for a server of another name"),
];
/// Lists what an operation may answer that asks for a token.
const KNOWN: [(&str, &str); 3] = [
    ("401", "No valid token"),
    ("429", "Too many requests; `Retry-After` says how long to wait"),
    ("503", "The record cannot be used right now"),
];
/// Lists what an operation may answer that takes a body.
const BODY: [(&str, &str); 4] = [
    ("400", "The body is not what is asked for"),
    ("408", "The body did not arrive in time"),
    ("413", "The body is too large"),
    ("415", "The body is of another kind"),
];

/// Adds to a document what holds for all of its operations.
pub(super) fn complete(document: &mut OpenApi) {
    let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().add_security_scheme("bearer", scheme);
    for item in document.paths.paths.values_mut() {
        operations(item).for_each(describe);
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

fn describe(operation: &mut Operation) {
    // A schema says what a whole body is, and a stream has no whole.
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && let Some(RefOr::T(stream)) = response.content.get_mut("text/event-stream")
        {
            stream.schema = None;
        }
    }
    // An operation says of itself if it asks for no token.
    let is_known = operation.security.is_none();
    let known = KNOWN.iter().filter(|_| is_known);
    let body = BODY.iter().filter(|_| operation.request_body.is_some());
    for (status, description) in ANY.iter().chain(known).chain(body) {
        let all = &mut operation.responses.responses;
        all.entry((*status).to_owned()).or_insert_with(|| error(description));
    }
}

fn error(description: &str) -> RefOr<Response> {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
    let response = ResponseBuilder::new().description(description);
    RefOr::T(response.content("application/json", body).build())
}
