//! Who makes a request, and what they may do.

pub(crate) mod fetch;
pub(crate) mod issuer;
mod jwks;
pub(crate) mod jwt;
mod still;
pub(crate) mod token;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use remit_engine::directory::{Token, TokenKind};
use remit_model::Caller;

use crate::app::App;
use crate::error::{Answer, ApiError};
use crate::rest::names;

use still::Proof;
pub(crate) use still::Still;

/// The operator's name as a user.
pub(crate) const ADMIN: &str = "admin";

/// Names what a principal may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Make calls and see them.
    Calls,
    /// See and answer questions.
    Approvals,
    /// See and take back permissions.
    Grants,
    /// Read conversations and take part in them.
    Threads,
    /// Manage agents.
    Agents,
    /// Use one's calendar, contacts and memory.
    Organiser,
    /// Manage one's own tokens.
    Tokens,
    /// Manage users, and act for all of them.
    Operation,
}

impl Area {
    /// Lists those that a program's key may be given.
    pub(crate) const GIVEN: [Self; 6] =
        [Self::Calls, Self::Approvals, Self::Grants, Self::Threads, Self::Agents, Self::Organiser];

    /// Gives the word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Approvals => "approvals",
            Self::Grants => "grants",
            Self::Threads => "threads",
            Self::Agents => "agents",
            Self::Organiser => "organiser",
            Self::Tokens => "tokens",
            Self::Operation => "operation",
        }
    }
}

/// Is who makes a request.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    /// What kind of token proved it.
    pub(crate) kind: TokenKind,
    /// The user, or the agent.
    pub(crate) subject: String,
    scopes: Vec<String>,
    proof: Proof,
}

impl Principal {
    /// Gives a person who is at this machine.
    pub(crate) fn local(user: &str) -> Self {
        let (kind, subject) = (TokenKind::User, user.to_owned());
        Self { kind, subject, scopes: Vec::new(), proof: Proof::Here }
    }

    /// Gives the user for whom an issuer's token speaks. It gives what a key can be given: whoever the
    /// issuer shuts out must not have made tokens here that go on.
    async fn vouched(app: &App, trust: &jwt::Trust, token: &str) -> Answer<Self> {
        let proved = match trust.prove(token, &app.clock).await {
            Ok(proved) => proved,
            Err(why) => {
                tracing::debug!(why, "an issuer's token was refused");
                return Err(unproved(app));
            }
        };
        app.rates.principal(&proved.user).map_err(ApiError::too_many)?;
        if !trust.provision(&proved, &*app.directory, app.now_ms()).await? {
            let message =
                format!("there is no user `{}` here; the operator adds them", proved.user);
            return Err(ApiError::forbidden(message));
        }
        let jwt::Proved { user, scopes, until_ms, .. } = proved;
        Ok(Self { kind: TokenKind::Key, subject: user, scopes, proof: Proof::Until(until_ms) })
    }

    /// Demands that they may do something.
    pub(crate) fn must(&self, area: Area) -> Answer<&Self> {
        let may = match self.kind {
            TokenKind::Admin => true,
            TokenKind::User => area != Area::Operation,
            TokenKind::Agent => matches!(area, Area::Calls | Area::Threads | Area::Agents),
            TokenKind::Key => self.scopes.iter().any(|scope| scope == area.as_str()),
        };
        if may {
            return Ok(self);
        }
        Err(ApiError::forbidden(format!("this token does not give `{}`", area.as_str())))
    }

    /// Gives the user whom the request is about: themselves, or for the operator whoever they name.
    pub(crate) fn user(&self, named: Option<&str>) -> Answer<String> {
        match (self.kind, named) {
            (TokenKind::Admin, Some(named)) if names::is_user(named) => Ok(named.to_owned()),
            (TokenKind::Admin, Some(_)) => Err(ApiError::bad_request(
                "INVALID_USER",
                "a user's id is 1 to 64 small letters, digits, `-`, `_` and `.`",
            )),
            (TokenKind::Agent, _) => {
                Err(ApiError::forbidden("an agent has no such things of its own"))
            }
            (_, Some(named)) if named != self.subject => {
                Err(ApiError::forbidden("only the operator acts for another user"))
            }
            _ => Ok(self.subject.clone()),
        }
    }

    /// Gives who makes a call.
    pub(crate) fn caller(&self, agent: Option<String>) -> Answer<Caller> {
        Ok(Caller { user: self.user(None)?, agent, device: None })
    }
}

pub(crate) fn bearer(parts: &Parts) -> Option<&str> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Counts a request that did not prove who makes it, and says so.
fn unproved(app: &App) -> ApiError {
    match app.rates.failure() {
        Ok(()) => ApiError::unauthenticated(),
        Err(wait) => ApiError::too_many(wait),
    }
}

impl FromRequestParts<App> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let trust = app.trust();
        let signed = bearer(parts).filter(|token| trust.is_any() && jwt::is_jwt(token));
        if let Some(token) = signed {
            return Self::vouched(app, &trust, token).await;
        }
        let found = match bearer(parts) {
            Some(written) => app.directory.token(&token::digest(written))?,
            None => None,
        };
        let now = app.now_ms();
        let Some(found) = found.filter(|token| token.stands(now)) else {
            return Err(unproved(app));
        };
        app.rates.principal(&found.id).map_err(ApiError::too_many)?;
        let Token { kind, subject, scopes, digest, .. } = found;
        Ok(Self { kind, subject, scopes, proof: Proof::Token(digest) })
    }
}
