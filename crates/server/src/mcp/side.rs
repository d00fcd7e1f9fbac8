//! Who speaks, in which revision, and what they can do: what is the same on every transport.

use std::sync::Arc;

use axum::http::HeaderMap;
use remit_engine::client::Level;
use remit_model::Caller;

use super::Tools;
use super::line::Can;
use super::revision::Revision;
use super::session::{Session, locked};
use super::wire::Fault;
use crate::app::App;
use crate::auth::{Area, Principal};

/// Says how a person can be asked through the client.
#[derive(Clone)]
pub(crate) enum Asking {
    /// They cannot: the question waits at the desk.
    Elsewhere,
    /// They cannot, and nobody comes to the desk either.
    Nowhere,
    /// By a request of the server's, within the answer to theirs.
    ByRequest(Arc<Session>),
    /// By an answer that says what is missing.
    ByAnswer,
}

/// Reads how much a remark must matter.
pub(crate) fn level(word: &str) -> Result<Level, Fault> {
    let unknown = || {
        let word = remit_model::text::quoted(word);
        Fault::params(format!(
            "{word} is no level: debug, info, notice, warning, error, critical, alert or emergency"
        ))
    };
    Level::parse(word).ok_or_else(unknown)
}

/// Is the other side of a conversation with this server.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) app: App,
    pub(crate) principal: Arc<Principal>,
    pub(crate) tools: Tools,
    pub(crate) revision: Revision,
    pub(crate) session: Option<Arc<Session>>,
    /// Whether several messages can answer one request.
    pub(crate) streams: bool,
    /// Whether this client is the only way to the person.
    pub(crate) alone: bool,
    /// Whether a client that is gone wants nothing any more.
    pub(crate) leaving_cancels: bool,
    /// The head of the request, where a call's arguments stand in it too.
    pub(crate) heads: Option<Arc<HeaderMap>>,
}

impl Side {
    /// Gives who makes calls.
    pub(crate) fn caller(&self, agent: Option<String>) -> Result<Caller, Fault> {
        self.principal
            .caller(agent)
            .map_err(|_| Fault::request("an agent's token makes no calls of its own"))
    }

    /// Gives how much a remark must matter to be told to this side; none if it wants none.
    pub(crate) fn level(&self, said: Option<&str>) -> Result<Option<Level>, Fault> {
        if !self.streams {
            return Ok(None);
        }
        match (&self.session, said) {
            (_, Some(word)) if self.revision.is_modern() => level(word).map(Some),
            (Some(session), _) if !self.revision.is_modern() => Ok(*locked(&session.level)),
            _ => Ok(None),
        }
    }

    /// Gives what can really be asked through this side of what a client says it can do. A form is for the
    /// person, so who may not answer for them is not shown one; the model and the folders are the client's.
    pub(crate) fn reach(&self, can: Can) -> Can {
        let is_modern = self.revision.is_modern();
        if !is_modern && (self.session.is_none() || !self.streams) {
            return Can::default();
        }
        let forms = can.forms
            && self.revision.has_structure()
            && self.principal.must(Area::Approvals).is_ok();
        Can { forms, ..can }
    }

    /// Says how a person is asked. Only whoever may answer questions anywhere else is asked here: a
    /// key that was given calls alone, or an agent, must not say yes to itself.
    pub(crate) fn asking(&self, shows_forms: bool) -> Asking {
        let may = self.principal.must(Area::Approvals).is_ok();
        match &self.session {
            _ if !shows_forms && self.alone => Asking::Nowhere,
            _ if !may || !shows_forms => Asking::Elsewhere,
            _ if self.revision.is_modern() => Asking::ByAnswer,
            Some(session) if self.streams && self.revision.has_structure() => {
                Asking::ByRequest(Arc::clone(session))
            }
            _ => Asking::Elsewhere,
        }
    }
}
