//! Whose calendar, contacts and memory a request is about.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use jiff::Timestamp;
use remit_engine::directory::TokenKind;
use remit_organiser::{Context, Zone};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::{Area, Principal};
use crate::error::{Answer, ApiError};

/// Says where somebody is.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Where {
    /// The zone whose clocks the person goes by, an IANA name such as `Europe/Berlin`; UTC if left
    /// out.
    #[param(max_length = 64)]
    time_zone: Option<String>,
}

/// Names a user.
#[derive(Deserialize)]
struct Named {
    user: Option<String>,
}

/// Is who the token speaks for, with the time and the place that a call needs.
pub(crate) struct Person(pub(crate) Context);

impl FromRequestParts<App> for Person {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let principal = Principal::from_request_parts(parts, app).await?;
        // Only the operator can name somebody; what others write there says nothing.
        let named = Query::<Named>::try_from_uri(&parts.uri).ok().and_then(|Query(n)| n.user);
        let named = named.filter(|_| principal.kind == TokenKind::Admin);
        let user = principal.must(Area::Organiser)?.user(named.as_deref())?;
        context(user, app.now_ms(), &parts.uri).map(Self)
    }
}

/// Gives what a request of somebody's is about: they, the present time, and the place they name.
pub(crate) fn context(user: String, now_ms: i64, uri: &Uri) -> Answer<Context> {
    let bad = |message: String| ApiError::bad_request("INVALID_TIME_ZONE", message);
    let Query(place) = Query::<Where>::try_from_uri(uri)
        .map_err(|_| bad("the query cannot be read; write `?time_zone=…` once".to_owned()))?;
    let zone = match place.time_zone {
        Some(name) => Zone::named(&name).map_err(bad)?,
        None => Zone::utc(),
    };
    Ok(Context {
        user,
        now: Timestamp::from_millisecond(now_ms).unwrap_or_default(),
        zone,
        fresh: uuid::Uuid::now_v7().simple().to_string(),
    })
}
