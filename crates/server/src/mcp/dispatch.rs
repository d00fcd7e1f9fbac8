//! What each method answers.

use remit_engine::ports::StoreError;
use remit_engine::registry::Offers as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Tools;
use super::beside;
use super::call;
use super::exchange::Exchange;
use super::list::{self, Kept};
use super::listen::Listener;
use super::params::Params;
use super::revision::Revision;
use super::side::Side;
use super::wire::{self, Fault, INTERNAL};

/// Is what answers a request.
pub(crate) enum Answer {
    /// One message.
    Now(Vec<u8>),
    /// A call, which takes its time.
    Call(Box<Exchange>),
    /// A stream without an end.
    Listens(Box<Listener>),
}

/// Names this server.
fn server() -> Value {
    json!({"name": "remit", "title": "Remit", "version": env!("CARGO_PKG_VERSION")})
}

const INSTRUCTIONS: &str = "Every tool here is declared, checked and recorded. Some ask the user \
     first; a denial is final for that call. Name the conversation in `_meta` as `remit/threadId` and \
     the call as `remit/callId`: the same call again gives the first outcome and runs nothing.";

fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    })
}

/// Gives what a handshake is answered with.
pub(crate) fn welcome(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision.as_str(),
        "capabilities": capabilities(),
        "serverInfo": server(),
        "instructions": INSTRUCTIONS,
    })
}

/// Lists the revisions that are spoken.
pub(crate) fn revisions() -> Value {
    json!(Revision::ALL.map(Revision::as_str))
}

fn discovery() -> Value {
    let mut result = json!({
        "supportedVersions": revisions(),
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": server()},
    });
    let kept = Kept::of(Revision::V20260728).map(|kept| json!(kept));
    if let (Some(map), Some(Value::Object(kept))) = (result.as_object_mut(), kept) {
        map.extend(kept);
    }
    result
}

fn unavailable(error: &StoreError) -> Fault {
    tracing::error!(%error, "what agents offer could not be read");
    Fault::new(INTERNAL, "what agents offer cannot be read now; try again")
}

/// Answers a request, whatever brought it.
pub(crate) async fn answer(
    side: &Side,
    id: &RawValue,
    method: &str,
    params: Params<'_>,
) -> Result<Answer, Fault> {
    let is_modern = side.revision.is_modern();
    match method {
        "tools/call" if let Some(read) = call::reads(side, id, &params)? => Ok(Answer::Now(read)),
        "tools/call" => Ok(Answer::Call(Box::new(call::begin(side, id, params).await?))),
        "tools/list" => {
            let agent = params.meta.and_then(|meta| meta.agent);
            let (catalog, caller) = (side.app.engine.catalog(), side.caller(agent)?);
            let cursor = params.cursor.as_deref();
            let offers = match side.tools {
                Tools::Catalog => {
                    side.app.agents.offers(&caller).await.map_err(|error| unavailable(&error))?
                }
                Tools::ProjectCli => Vec::new(),
            };
            let of = list::Of { catalog: &catalog, caller: &caller, offers: &offers };
            let list = list::list(of, side.tools, side.revision, cursor)?;
            Ok(Answer::Now(wire::result(id, &list)))
        }
        "ping" if !is_modern => Ok(Answer::Now(wire::result(id, &json!({})))),
        "server/discover" if is_modern => Ok(Answer::Now(wire::result(id, &discovery()))),
        "subscriptions/listen" if is_modern && side.streams => {
            let filter = params
                .notifications
                .ok_or_else(|| Fault::params("`notifications` says what to listen for"))?;
            let caller = side.caller(None)?;
            let listener = Listener::subscribed(side, caller, filter, id).await?;
            Ok(Answer::Listens(Box::new(listener)))
        }
        other => match beside::answer(side, id, other, params).await {
            Some(answered) => answered.map(Answer::Now),
            None => Err(Fault::method(other)),
        },
    }
}
