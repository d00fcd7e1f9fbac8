//! Brings a file into a user's calendar. An event whose UID is there already is brought up to date, so
//! that the same file twice changes nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parse::parse;
use crate::calendar::save;
use crate::context::Context;
use crate::event::Event;
use crate::invitation::Invitation;
use crate::row::{Change, Kind, Loaded, Query, Row, Step, Stop, Success};

/// Imports a file: `{created, updated, unchanged, older, items, count, skipped}`.
pub fn import(context: &Context, bytes: &[u8], loaded: &Loaded) -> Step {
    Step::from(run(context, bytes, loaded))
}

fn run(context: &Context, bytes: &[u8], loaded: &Loaded) -> Result<Success, Stop> {
    let parsed = parse(bytes, &context.zone, context.now)?;
    let (known, invited) = known(context, &parsed.events, loaded)?;
    let mut changes = Vec::new();
    let mut items: Vec<Value> = Vec::new();
    let mut counts =
        BTreeMap::from([("created", 0), ("updated", 0), ("unchanged", 0), ("older", 0)]);
    for (nth, draft) in parsed.events.iter().enumerate() {
        let mut event = draft.event.clone();
        event.owner.clone_from(&context.user);
        let status = match known.get(event.uid.as_str()) {
            None => {
                event.id = context.id("evt", nth);
                changes.push(Change::Create(event.to_row(1)));
                "created"
            }
            Some((old, row)) => {
                event.id.clone_from(&old.id);
                event.created_at = old.created_at;
                if event.sequence < old.sequence {
                    "older"
                } else if same(&event, old) {
                    "unchanged"
                } else {
                    event.updated_at = context.now;
                    let empty = Vec::new();
                    changes.extend(save(&event, row, invited.get(&event.id).unwrap_or(&empty)));
                    "updated"
                }
            }
        };
        if let Some(count) = counts.get_mut(status) {
            *count += 1;
        }
        items.push(
            json!({ "id": event.id, "uid": event.uid, "line": draft.line, "status": status }),
        );
    }
    let mut data = json!({
        "count": items.len(),
        "items": items,
        "skipped": parsed.report(),
    });
    if let Some(map) = data.as_object_mut() {
        for (name, count) in counts {
            map.insert(name.to_owned(), json!(count));
        }
    }
    Ok(Success { data, changes })
}

/// Tells whether two events differ in nothing but when they were written.
fn same(new: &Event, old: &Event) -> bool {
    Event { updated_at: old.updated_at, ..new.clone() } == *old
}

type Known<'l> = BTreeMap<String, (Event, &'l Row)>;
type Invited<'l> = BTreeMap<String, Vec<(Invitation, &'l Row)>>;

/// Gives the caller's events with the UIDs of the file, and the invitations to them.
fn known<'l>(
    context: &Context,
    drafts: &[super::Draft],
    loaded: &'l Loaded,
) -> Result<(Known<'l>, Invited<'l>), Stop> {
    let mut known = BTreeMap::new();
    let mut invited: Invited<'l> = BTreeMap::new();
    if drafts.is_empty() {
        return Ok((known, invited));
    }
    let links = drafts.iter().map(|draft| draft.event.uid.clone()).collect();
    let query = Query::Links { owner: Some(context.user.clone()), kind: Kind::Event, links };
    for row in loaded.rows(query)? {
        let event = Event::from_row(row)?;
        known.insert(event.uid.clone(), (event, row));
    }
    if !known.is_empty() {
        let links = known.values().map(|(event, _)| event.id.clone()).collect();
        for row in loaded.rows(Query::Links { owner: None, kind: Kind::Invitation, links })? {
            let invitation = Invitation::from_row(row)?;
            invited.entry(invitation.event.clone()).or_default().push((invitation, row));
        }
    }
    Ok((known, invited))
}
