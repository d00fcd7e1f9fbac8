//! Calls: from a request to what the engine runs.

use std::collections::BTreeMap;

use remit_engine::client::Level;
use remit_engine::registry::{Offers as _, agent_of};
use remit_engine::{fresh_call_id, fresh_thread_id};
use remit_model::{Call, CallId, CallKey, Caller, Sensitivity};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Tools;
use super::content::{self, Meta, Reading};
use super::exchange::asks::{Attached, Given};
use super::exchange::{Exchange, Opening};
use super::line::Can;
use super::list::{PROJECT_CLI, project_cli_schema};
use super::params::Params;
use super::side::{Asking, Side};
use super::wire::{self, Fault};
use super::{echoes, names, strict};
use crate::project::{Ask, skills};
use crate::rest::calls::may_name;
use crate::rest::names as rest_names;

/// Is what `project_cli` was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Routed {
    pub(crate) module: String,
    pub(crate) method: String,
}

fn object(raw: Option<&RawValue>) -> Result<Value, Fault> {
    let Some(raw) = raw else { return Ok(json!({})) };
    let value = strict::value(raw)
        .map_err(|error| Fault::params(format!("the arguments cannot be read: {error}")))?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(Fault::params("the arguments are no object")),
    }
}

/// Reads what `project_cli` is to do.
fn route(arguments: Value) -> Result<(Routed, String, Value), Fault> {
    let wrong = |what: &str| {
        let data = json!({"code": "INVALID_INPUT", "input_schema": project_cli_schema()});
        Fault::params(format!("`project_cli` takes module, method and input: {what}"))
            .with_data(data)
    };
    let Value::Object(mut map) = arguments else { return Err(wrong("this is no object")) };
    let mut text = |name: &str| match map.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err(wrong(&format!("`{name}` is missing or no string"))),
    };
    let routed = Routed { module: text("module")?, method: text("method")? };
    let input = match map.remove("input") {
        None => json!({}),
        Some(Value::Object(input)) => Value::Object(input),
        Some(_) => return Err(wrong("`input` is no object")),
    };
    if let Some((other, _)) = map.iter().next() {
        return Err(wrong(&format!("there is no {}", remit_model::text::quoted(other))));
    }
    let capability = format!("{}.{}", routed.module, routed.method);
    Ok((routed, capability, input))
}

/// Says that nobody was given what a client brought.
pub(crate) fn wrong_state() -> Fault {
    Fault::params("`requestState` is none that was given out; call without one")
}

/// Answers at once what a model reads about the tool; none if a request asks for something else.
pub(crate) fn reads(
    side: &Side,
    id: &RawValue,
    params: &Params<'_>,
) -> Result<Option<Vec<u8>>, Fault> {
    let is_ours = params.name.as_deref() == Some(PROJECT_CLI);
    // Most calls are of something else, and their arguments need not be read twice.
    let may_be = params.arguments.is_some_and(|raw| raw.get().contains(skills::MODULE));
    if side.tools != Tools::ProjectCli || !is_ours || !may_be {
        return Ok(None);
    }
    let (routed, _, input) = route(object(params.arguments)?)?;
    let ask = Ask { module: routed.module, method: routed.method, input };
    let agent = params.meta.as_ref().and_then(|meta| meta.agent.clone());
    let (catalog, caller) = (side.app.engine.catalog(), side.caller(agent)?);
    let Some(outcome) = skills::answer(&catalog, &caller, &ask) else { return Ok(None) };
    let (call, thread) = (fresh_call_id(), fresh_thread_id());
    let meta = Meta { call: call.as_str(), thread: thread.as_str(), outcome: outcome.status() };
    let reading = Reading { revision: side.revision, entry: None, meta };
    let result = content::project_cli(&outcome, reading, &ask.module, &ask.method);
    Ok(Some(wire::result(id, &result)))
}

/// Starts what a request asks for.
pub(crate) async fn begin(
    side: &Side,
    id: &RawValue,
    params: Params<'_>,
) -> Result<Exchange, Fault> {
    let app = &side.app;
    let meta = params.meta.unwrap_or_default();
    let name = params.name.ok_or_else(|| Fault::params("the tool has no name"))?;
    let caller = side.caller(meta.agent)?;
    if let Some(agent) = &caller.agent {
        let refused = |_| Fault::request("only who has added an agent can name it");
        may_name(app, &caller.user, agent).await.map_err(refused)?;
    }
    let arguments = object(params.arguments)?;
    let catalog = app.engine.catalog();
    let (routed, capability, input) = match side.tools {
        Tools::Catalog => (None, names::capability(&name, &catalog, &caller), arguments),
        Tools::ProjectCli if name == PROJECT_CLI => {
            let (routed, capability, input) = route(arguments)?;
            (Some(routed), capability, input)
        }
        Tools::ProjectCli => return Err(unknown_tool(&name, None)),
    };
    let mut given = Given { round: None, answers: brought(params.input_responses)? };
    let answer = given.answers.remove(super::consent::NAME);
    let (call_id, thread_name) = match &params.request_state {
        Some(state) => {
            let state = app.mcp.seal.open(&side.principal, state).ok_or_else(wrong_state)?;
            let call = rest_names::call(&state.id).map_err(|_| wrong_state())?;
            let thread = thread_of(side, &caller, &call).await?;
            given.round = Some(state.round);
            (call, Some(thread))
        }
        None => {
            let call = match &meta.call {
                Some(given) => rest_names::call(given)
                    .map_err(|_| Fault::params("`remit/callId` is no id of a call"))?,
                None => fresh_call_id(),
            };
            (call, meta.thread)
        }
    };
    let (thread_name, thread) = match (thread_name, &side.session) {
        (None, Some(session)) => session.thread.clone(),
        (named, _) => {
            let name = named.unwrap_or_else(|| fresh_thread_id().to_string());
            let thread = rest_names::thread(&caller.user, &name)
                .map_err(|_| Fault::params("`remit/threadId` is no id of a conversation"))?;
            (name, thread)
        }
    };
    // An agent's tool is not in the catalog; what it declares counts all the same.
    let offered = match agent_of(&capability) {
        Some(_) => app.agents.offer(&caller, &capability).await.ok().flatten(),
        None => None,
    };
    let offered = offered.and_then(|offer| offer.entry(&capability).cloned());
    let entry = catalog.get(&capability).or(offered.as_ref());
    if let (Some(entry), Some(heads), Tools::Catalog) = (entry, &side.heads, side.tools) {
        echoes::judge(&entry.capability.input_schema, &input, heads)?;
    }
    // Whoever is never asked needs nobody to listen at the desk.
    let can_be_asked = entry.is_none_or(|entry| entry.sensitivity != Sensitivity::Low);
    let can = match &side.session {
        Some(session) if !side.revision.is_modern() => session.can,
        _ => meta.capabilities.map(|can| can.can()).unwrap_or_default(),
    };
    let asking = if can_be_asked { side.asking(can.forms) } else { Asking::Elsewhere };
    let call =
        Call { id: call_id, caller, thread, group: false, capability, input, timeout_ms: None };
    let level = side.level(meta.level.as_deref())?;
    let attached = attached(side, &call, can, given, level);
    let token = meta.progress_token.filter(|_| side.streams).map(ToOwned::to_owned);
    Ok(Exchange::open(
        side,
        Opening { id, name, call, thread_name, routed, token, asking, answer, attached, offered },
    ))
}

/// Reads the answers that came with a request.
pub(crate) fn brought(
    responses: Option<BTreeMap<String, &RawValue>>,
) -> Result<BTreeMap<String, Value>, Fault> {
    let read = |(name, raw): (String, &RawValue)| Ok((name, strict::value(raw)?));
    responses.into_iter().flatten().map(read).collect::<Result<_, String>>().map_err(Fault::params)
}

/// Takes the end of the line to a call, for a client that can be asked something or wants to be told.
fn attached(
    side: &Side,
    call: &Call,
    can: Can,
    given: Given,
    level: Option<Level>,
) -> Option<Attached> {
    let can = side.reach(can);
    if !can.anything() && level.is_none() {
        return None;
    }
    let line = side.app.mcp.lines.of(&call.key(), can);
    let session = side.session.clone().filter(|_| !side.revision.is_modern());
    Some(Attached::new(line, can, session, given, level))
}

/// Finds the thread of a call that is to go on. What a client brings back proves nothing: the call must
/// be one that this caller made, and the record says where.
async fn thread_of(side: &Side, caller: &Caller, call: &CallId) -> Result<String, Fault> {
    let agent = caller.agent.clone().unwrap_or_default();
    let key = CallKey { user: caller.user.clone(), agent, id: call.clone() };
    match side.app.store().call(key).await {
        Ok(Some(record)) => {
            Ok(rest_names::thread_name(&caller.user, &record.call.thread).to_owned())
        }
        Ok(None) | Err(_) => Err(wrong_state()),
    }
}

/// Says that there is no such tool, as the protocol wants it said.
pub(crate) fn unknown_tool(name: &str, hint: Option<&str>) -> Fault {
    let name = remit_model::text::quoted(name);
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    Fault::params(format!("unknown tool: {name}{hint}"))
}
