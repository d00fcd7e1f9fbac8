//! REST: one file a resource.

#![allow(unused_qualifications, reason = "the OpenAPI macros write whole paths")]

mod agent_tokens;
mod agents;
mod approvals;
pub(crate) mod calls;
mod document;
mod grants;
mod health;
pub(crate) mod names;
mod relations;
mod runs;
pub(crate) mod skills;
mod threads;
mod tokens;
mod tools;
mod users;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::ApiError;
use crate::{guard, measure};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Remit",
        description = "The capability plane for AI agents: declared tools, called within limits, asked about where they are sensitive, and recorded.",
        license(name = "MIT OR Apache-2.0"),
    ),
    security(("bearer" = [])),
)]
struct Document;

fn parts() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(calls::make, calls::list))
        .routes(routes!(calls::one))
        .routes(routes!(calls::events))
        .routes(routes!(calls::cancel))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::stream))
        .routes(routes!(approvals::answer))
        .routes(routes!(grants::list, grants::revoke))
        .routes(routes!(grants::lift))
        .routes(routes!(threads::events))
        .routes(routes!(runs::run))
        .routes(routes!(runs::events))
        .routes(routes!(runs::history))
        .routes(routes!(agents::add, agents::list))
        .routes(routes!(agents::one, agents::publish))
        .routes(routes!(agents::manifest))
        .routes(routes!(agent_tokens::renew))
        .routes(routes!(agents::versions))
        .routes(routes!(agents::diff))
        .routes(routes!(relations::disclosure))
        .routes(routes!(relations::list))
        .routes(routes!(relations::add, relations::remove))
        .routes(routes!(relations::review))
        .routes(routes!(relations::accept))
        .routes(routes!(relations::notices))
        .routes(routes!(relations::read))
        .routes(routes!(tools::list))
        .routes(routes!(tools::one))
        .routes(routes!(skills::list))
        .routes(routes!(skills::one))
        .routes(routes!(users::add, users::list))
        .routes(routes!(tokens::add, tokens::list))
        .routes(routes!(tokens::revoke))
        .merge(crate::organiser::routes())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
}

/// Gives the OpenAPI document.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let (_, mut document) = parts().split_for_parts();
    document::complete(&mut document);
    document
}

/// Makes the router of everything.
pub fn router(app: App) -> Router {
    let (router, _) = parts().split_for_parts();
    let document = axum::Json(openapi());
    router
        .merge(crate::mcp::routes())
        .route("/openapi.json", get(move || std::future::ready(document.clone())))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(no_sniffing))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .route_layer(from_fn_with_state(app.clone(), measure::measure))
        .with_state(app)
}

async fn nowhere() -> ApiError {
    ApiError::not_found("page; `/openapi.json` lists what there is")
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "this page does not take that method; `/openapi.json` says which it takes",
    )
}

/// Keeps browsers from guessing what an answer might be, and from showing it inside another page.
async fn no_sniffing(request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    protected(next.run(request).await)
}

/// Adds what keeps a browser from that.
pub(crate) fn protected(mut response: Response) -> Response {
    use axum::http::HeaderValue;
    let headers = response.headers_mut();
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("x-frame-options", HeaderValue::from_static("DENY"));
    response
}
