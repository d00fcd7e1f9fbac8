//! What stands before the router. The two requests that are made by far the most often, calls over MCP
//! and over REST, are answered here: the way through the router costs more than all that is done for
//! such a call on this side of the record. What the router does around its pages is done here by the
//! same functions, and a test holds both ways to the same answers.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;

use crate::app::App;
use crate::auth::Principal;
use crate::body::Json;
use crate::error::Answer;
use crate::{guard, mcp, measure, rest};

/// Answers requests.
#[derive(Clone)]
pub(crate) struct Front {
    app: App,
    router: TowerToHyperService<Router>,
}

/// Names what is answered without the router.
#[derive(Clone, Copy)]
enum Page {
    Mcp,
    Calls,
}

impl Page {
    fn of<B>(request: &axum::http::Request<B>) -> Option<Self> {
        match request.uri().path() {
            _ if request.method() != Method::POST => None,
            "/mcp" => Some(Self::Mcp),
            "/calls" => Some(Self::Calls),
            _ => None,
        }
    }

    fn route(self) -> &'static str {
        match self {
            Self::Mcp => "/mcp",
            Self::Calls => "/calls",
        }
    }

    async fn answer(self, app: &App, request: Request) -> Answer<Response> {
        let (mut parts, body) = request.into_parts();
        let principal = Principal::from_request_parts(&mut parts, app).await?;
        let (request, state) = (Request::from_parts(parts, body), State(app.clone()));
        match self {
            Self::Mcp => mcp::post(state, principal, request).await,
            Self::Calls => {
                let new = Json::from_request(request, app).await?;
                rest::calls::make(state, principal, new).await
            }
        }
    }
}

impl Front {
    pub(crate) fn new(app: App, router: Router) -> Self {
        Self { app, router: TowerToHyperService::new(router) }
    }
}

async fn answer(app: App, page: Page, request: Request) -> Response {
    let answered = measure::around(&app, page.route(), request, async |request| {
        if let Err(error) = guard::judge(&app, &request) {
            return error.into_response();
        }
        let answered = page.answer(&app, request).await;
        rest::protected(answered.unwrap_or_else(IntoResponse::into_response))
    });
    answered.await
}

impl hyper::service::Service<axum::http::Request<Incoming>> for Front {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: axum::http::Request<Incoming>) -> Self::Future {
        match Page::of(&request) {
            Some(page) => {
                let (app, request) = (self.app.clone(), request.map(Body::new));
                Box::pin(async move { Ok(answer(app, page, request).await) })
            }
            None => Box::pin(self.router.call(request)),
        }
    }
}
