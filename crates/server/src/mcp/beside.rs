//! What is answered about resources, prompts and the blanks in both.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use remit_model::{Caller, text};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::list::Kept;
use super::params::{Params, Reference};
use super::prompting;
use super::session::locked;
use super::shelf::{Amiss, Blank, Contents, Of, Prompt, Resource, Template};
use super::side::{self, Side};
use super::strict;
use super::wire::{self, Fault, INTERNAL, NO_RESOURCE};
use crate::rest::skills::reader;

/// How many things are listed at once.
pub(crate) const PAGE: usize = 500;
/// How many values for a blank are given.
const MOST_VALUES: usize = 100;
/// How long a URI may be.
const LONGEST_URI: usize = 2_048;
/// How many resources a session, or a listener, may wait for changes of.
pub(crate) const MOST_WATCHED: usize = 256;

impl From<Amiss> for Fault {
    fn from(amiss: Amiss) -> Self {
        match amiss {
            Amiss::Question(message) => Self::params(message),
            Amiss::Shelf(message) => Self::new(INTERNAL, message),
        }
    }
}

/// Answers a request about what there is beside tools; none if it is about something else.
pub(crate) async fn answer(
    side: &Side,
    id: &RawValue,
    method: &str,
    params: Params<'_>,
) -> Option<Result<Vec<u8>, Fault>> {
    let has_handshake = !side.revision.is_modern();
    let answered = match method {
        "resources/list" => resources(side, params).await,
        "resources/templates/list" => templates(side, params).await,
        "resources/read" => read(side, params).await,
        "resources/subscribe" if has_handshake => subscribe(side, params).await,
        "resources/unsubscribe" if has_handshake => unsubscribe(side, &params),
        "prompts/list" => prompts(side, params).await,
        "prompts/get" => get(side, params).await,
        "completion/complete" => complete(side, params).await,
        "logging/setLevel" if has_handshake => set_level(side, &params),
        _ => return None,
    };
    Some(answered.map(|result| wire::result(id, &result)))
}

/// Gives who reads: whom documents are shown to, the same rule says everywhere.
fn caller(side: &Side, params: &mut Params<'_>) -> Result<Caller, Fault> {
    let agent = params.meta.as_mut().and_then(|meta| meta.agent.take());
    reader(&side.principal, agent)
        .map_err(|_| Fault::request("this token reads for no such agent or user"))
}

/// Marks a result as whole, where the revision has that.
fn whole(side: &Side, mut result: Value) -> Value {
    if let (true, Some(map)) = (side.revision.is_modern(), result.as_object_mut()) {
        map.entry("resultType").or_insert_with(|| json!("complete"));
    }
    result
}

/// Says how long a result may be kept, where the revision has that.
fn kept(side: &Side, mut result: Map<String, Value>) -> Value {
    if let Some(Value::Object(kept)) = Kept::of(side.revision).map(|kept| json!(kept)) {
        result.extend(kept);
    }
    Value::Object(result)
}

/// Puts the page behind a cursor into a result. The cursor is the last key that went out.
fn page<T: Serialize>(
    side: &Side,
    name: &str,
    mut all: Vec<T>,
    key: fn(&T) -> &str,
    cursor: Option<&str>,
) -> Result<Value, Fault> {
    if cursor.is_some_and(|last| last.is_empty() || last.len() > LONGEST_URI) {
        return Err(Fault::params("the cursor is none that was given out; begin without one"));
    }
    // In this order, so that of two with one key the first stays.
    all.sort_by(|one, other| key(one).cmp(key(other)));
    all.dedup_by(|later, first| key(later) == key(first));
    let behind = |one: &&T| cursor.is_none_or(|last| key(one) > last);
    let mut rest = all.iter().filter(behind);
    let page: Vec<&T> = rest.by_ref().take(PAGE).collect();
    let last = page.last().map(|one| key(one).to_owned());
    let mut result = Map::from_iter([(name.to_owned(), json!(page))]);
    if let Some(last) = last.filter(|_| rest.next().is_some()) {
        result.insert("nextCursor".to_owned(), Value::String(last));
    }
    Ok(kept(side, result))
}

async fn all_resources(side: &Side, caller: &Caller) -> Result<Vec<Resource>, Fault> {
    let mut all = Vec::new();
    for shelf in side.app.shelves.iter() {
        all.extend(shelf.resources(caller).await?);
    }
    if !side.revision.has_structure() {
        all.iter_mut().for_each(|one| one.title = None);
    }
    Ok(all)
}

async fn resources(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let all = all_resources(side, &caller).await?;
    page(side, "resources", all, |one: &Resource| &one.uri, params.cursor.as_deref())
}

async fn templates(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let mut all = Vec::new();
    for shelf in side.app.shelves.iter() {
        all.extend(shelf.templates(&caller).await?);
    }
    if !side.revision.has_structure() {
        all.iter_mut().for_each(|one| one.title = None);
    }
    page(
        side,
        "resourceTemplates",
        all,
        |one: &Template| &one.uri_template,
        params.cursor.as_deref(),
    )
}

fn uri(params: &Params<'_>) -> Result<String, Fault> {
    let uri = params.uri.clone().filter(|uri| !uri.is_empty() && uri.len() <= LONGEST_URI);
    uri.ok_or_else(|| Fault::params(format!("`uri` has 1 to {LONGEST_URI} bytes")))
}

/// Reads a resource from the first shelf that has it.
async fn found(side: &Side, caller: &Caller, uri: &str) -> Result<Vec<Contents>, Fault> {
    for shelf in side.app.shelves.iter() {
        if let Some(contents) = shelf.read(caller, uri).await?.filter(|all| !all.is_empty()) {
            return Ok(contents);
        }
    }
    let message = format!("there is no resource {} that you can read", text::quoted(uri));
    let fault = match side.revision.is_modern() {
        true => Fault::params(message),
        false => Fault::new(NO_RESOURCE, message),
    };
    Err(fault.with_data(json!({"uri": uri})))
}

async fn read(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let contents = found(side, &caller, &uri(&params)?).await?;
    Ok(kept(side, Map::from_iter([("contents".to_owned(), json!(contents))])))
}

async fn subscribe(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let uri = uri(&params)?;
    let contents = found(side, &caller, &uri).await?;
    let session = side.session.as_ref().ok_or_else(no_session)?;
    let mut watched = locked(&session.watched);
    if watched.len() >= MOST_WATCHED && !watched.contains_key(&uri) {
        let message = format!("a session hears of the changes of at most {MOST_WATCHED} resources");
        return Err(Fault::params(message));
    }
    watched.insert(uri, fingerprint(&contents));
    Ok(json!({}))
}

fn unsubscribe(side: &Side, params: &Params<'_>) -> Result<Value, Fault> {
    let session = side.session.as_ref().ok_or_else(no_session)?;
    locked(&session.watched).remove(&uri(params)?);
    Ok(json!({}))
}

fn no_session() -> Fault {
    Fault::request("without a session there is nothing to keep it in; shake hands first")
}

async fn all_prompts(side: &Side, caller: &Caller) -> Result<Vec<Prompt>, Fault> {
    let mut all = Vec::new();
    for shelf in side.app.shelves.iter() {
        all.extend(shelf.prompts(caller).await?);
    }
    if !side.revision.has_structure() {
        all.iter_mut().for_each(|one| one.title = None);
    }
    Ok(all)
}

async fn prompts(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let all = all_prompts(side, &caller).await?;
    page(side, "prompts", all, |one: &Prompt| &one.name, params.cursor.as_deref())
}

fn arguments(raw: Option<&RawValue>) -> Result<BTreeMap<String, String>, Fault> {
    let wrong = || Fault::params("the arguments of a prompt are an object of texts");
    let Some(raw) = raw else { return Ok(BTreeMap::new()) };
    let Value::Object(map) = strict::value(raw).map_err(Fault::params)? else {
        return Err(wrong());
    };
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(wrong()),
    };
    map.into_iter().map(text).collect()
}

async fn get(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let name = params.name.take().ok_or_else(|| Fault::params("the prompt has no name"))?;
    let arguments = arguments(params.arguments)?;
    for shelf in side.app.shelves.iter() {
        let listed = shelf.prompts(&caller).await?;
        let Some(prompt) = listed.iter().find(|one| one.name == name) else { continue };
        let needed = prompt.arguments.iter().filter(|one| one.required);
        let missing = needed.map(|one| &one.name).find(|one| !arguments.contains_key(*one));
        if let Some(missing) = missing {
            let missing = text::quoted(missing);
            return Err(Fault::params(format!("the prompt needs the argument {missing}")));
        }
        let declared = |argument: &str| prompt.arguments.iter().any(|one| one.name == argument);
        if let Some(other) = arguments.keys().find(|argument| !declared(argument)) {
            let other = text::quoted(other);
            return Err(Fault::params(format!("the prompt takes no argument {other}")));
        }
        let wanted = super::shelf::Wanted { name, arguments };
        let result = prompting::get(side, shelf, caller, wanted, params).await?;
        return Ok(whole(side, result));
    }
    Err(Fault::params(format!("there is no prompt {}", text::quoted(&name))))
}

async fn complete(side: &Side, mut params: Params<'_>) -> Result<Value, Fault> {
    let caller = caller(side, &mut params)?;
    let of = match params.reference {
        Some(Reference::Prompt { name }) => Of::Prompt(name),
        Some(Reference::Template { uri }) => Of::Template(uri),
        None => return Err(Fault::params("`ref` says what has the blank")),
    };
    let argument = params.argument.ok_or_else(|| Fault::params("`argument` is the blank"))?;
    let others = params.context.unwrap_or_default().arguments;
    let blank = Blank { of, name: argument.name, begun: argument.value, others };
    for shelf in side.app.shelves.iter() {
        if let Some(mut values) = shelf.complete(&caller, &blank).await? {
            let total = values.len();
            values.truncate(MOST_VALUES);
            let has_more = total > MOST_VALUES;
            let completion = json!({"values": values, "total": total, "hasMore": has_more});
            return Ok(whole(side, json!({"completion": completion})));
        }
    }
    Err(Fault::params("there is no such prompt or template"))
}

fn set_level(side: &Side, params: &Params<'_>) -> Result<Value, Fault> {
    let word = params.level.as_deref().ok_or_else(|| Fault::params("`level` is missing"))?;
    let level = side::level(word)?;
    let session = side.session.as_ref().ok_or_else(no_session)?;
    *locked(&session.level) = Some(level);
    Ok(json!({}))
}

fn fingerprint(of: &impl Serialize) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_vec(of).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// Gives a number that changes when the list of resources does.
pub(crate) async fn resources_now(side: &Side, caller: &Caller) -> Option<u64> {
    all_resources(side, caller).await.ok().map(|all| fingerprint(&all))
}

/// Gives a number that changes when the list of prompts does.
pub(crate) async fn prompts_now(side: &Side, caller: &Caller) -> Option<u64> {
    all_prompts(side, caller).await.ok().map(|all| fingerprint(&all))
}

/// Gives a number that changes when a resource does; none means that it cannot be read.
pub(crate) async fn resource_now(side: &Side, caller: &Caller, uri: &str) -> Option<u64> {
    found(side, caller, uri).await.ok().map(|contents| fingerprint(&contents))
}
