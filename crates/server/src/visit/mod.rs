//! The way back in for the processes that run calls: each has a connection of its own, on which only
//! what its call needs is answered, and only with the credential of that call.
//!
//! Whoever holds the credential of a call without its connection has nothing: no address answers it.

mod credentials;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use remit_engine::ports::Clock;
use remit_engine::stage::Authorised;
use remit_engine::visit::{Connection, Doorkeeper, Visit};
use remit_model::Failure;
use remit_organiser::Rows;

use crate::auth::bearer;
use crate::body;
use crate::error::{Answer, ApiError};
use crate::organiser::{actions, person};
use credentials::{Credentials, Refusal};

/// Is how long a process may take to write its request.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Is the longest input.
const BODY_BYTES: usize = 1 << 20;

/// Lets the processes that run calls call back. Clones are the same.
#[derive(Clone)]
pub struct Doorway(Arc<Inner>);

struct Inner {
    rows: Arc<dyn Rows>,
    clock: Arc<dyn Clock>,
    credentials: Credentials,
}

/// Is what one connection can reach.
#[derive(Clone)]
struct Visiting {
    doorway: Doorway,
    /// Names the connection.
    audience: Arc<str>,
}

impl Doorway {
    /// Makes one to these calendars, contacts and memories.
    #[must_use]
    pub fn new(rows: Arc<dyn Rows>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { rows, clock, credentials: Credentials::default() }))
    }

    /// Takes back every credential that was made for a user.
    pub(crate) fn revoke(&self, user: &str) {
        self.0.credentials.revoke(user, None);
    }

    async fn serve(self, audience: Arc<str>, connection: Box<dyn Connection>) {
        let router = Router::new()
            .route("/organiser/{module}/{method}", post(method))
            .with_state(Visiting { doorway: self, audience });
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .keep_alive(false)
            .serve_connection(TokioIo::new(connection), TowerToHyperService::new(router))
            .await;
        if let Err(error) = served {
            tracing::debug!(%error, "the connection to a method ended early");
        }
    }
}

impl Doorkeeper for Doorway {
    fn admit(&self, call: &Authorised, time: Duration) -> Result<Visit, Failure> {
        let audience: Arc<str> = uuid::Uuid::now_v7().to_string().into();
        let now = self.0.clock.now();
        let minted = self.0.credentials.mint(call.call(), &audience, time, now);
        let (credential, stay) = minted.map_err(|why| Failure::new("NO_CREDENTIAL", why))?;
        let doorway = self.clone();
        let serve = Box::new(move |connection: Box<dyn Connection>| {
            Box::pin(doorway.serve(audience, connection))
                as remit_engine::ports::Pending<'static, ()>
        });
        Ok(Visit { credential, serve, stay: Box::new(stay) })
    }
}

/// Runs a method for the user of the call. Who that is, the credential says and nothing else.
async fn method(
    State(visiting): State<Visiting>,
    Path((module, method)): Path<(String, String)>,
    request: Request,
) -> Answer<Response> {
    let Inner { rows, clock, credentials } = &*visiting.doorway.0;
    let (parts, body) = request.into_parts();
    let now = clock.now();
    let presented = bearer(&parts).ok_or(Refusal::Unknown).and_then(|credential| {
        credentials.present(credential, &visiting.audience, &format!("{module}.{method}"), &now)
    });
    let user = presented.map_err(|refusal| {
        tracing::warn!(?refusal, "a credential was refused");
        match refusal {
            Refusal::NotForThis => ApiError::forbidden("the credential is for another method"),
            _ => ApiError::new(
                StatusCode::UNAUTHORIZED,
                "INVALID_CREDENTIAL",
                "the credential does not count, or no more; the call must be made again",
            ),
        }
    })?;
    let context = person::context(user, now.wall_ms, &parts.uri)?;
    let input = axum::body::to_bytes(body, BODY_BYTES).await.map_err(|_| {
        ApiError::bad_request("INVALID_BODY", format!("the input has at most {BODY_BYTES} bytes"))
    })?;
    let input = body::value(input)?;
    Ok(actions::perform(rows.clone(), context, module, method, input).await?.into_response())
}
