//! What clients tell without wanting an answer.

use serde_json::value::RawValue;

use super::params::Params;
use super::side::Side;

/// Hears a notification. What is not understood changes nothing, as the protocol wants it.
pub(crate) fn notified(side: &Side, method: &str, params: Option<&RawValue>) {
    if method != "notifications/cancelled" {
        return;
    }
    let Ok(params) = Params::read(params) else { return };
    // Ids of requests are a session's own, so nobody calls off what is another's.
    let running = side.session.as_ref().zip(params.request_id);
    if let Some(key) = running.and_then(|(session, id)| session.running(id)) {
        side.app.engine.cancel(&key);
    }
}
