//! Answers invitations.

use serde_json::{Value, json};

use super::access::Access;
use super::view;
use crate::context::Context;
use crate::event::Event;
use crate::failure::Failure;
use crate::input::Input;
use crate::invitation::{Invitation, Status};
use crate::row::{Change, Kind, Loaded, Query, Row, Stop, Success};

/// Runs `calendar.accept_invite`.
pub(crate) fn accept(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    answer(context, input, loaded, Status::Accepted)
}

/// Runs `calendar.reject_invite`.
pub(crate) fn reject(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    answer(context, input, loaded, Status::Rejected)
}

/// Writes an answer. The same answer again changes nothing; the other one is a change of mind.
fn answer(
    context: &Context,
    input: &Value,
    loaded: &Loaded,
    status: Status,
) -> Result<Success, Stop> {
    let (mut invitation, row) = find(context, Input(input), loaded)?;
    let query = Query::Ids { kind: Kind::Event, ids: vec![invitation.event.clone()] };
    let event_row = loaded.rows(query)?.first();
    let event_row = event_row.ok_or_else(|| Failure::not_found("invitation", &invitation.id))?;
    let event = Event::from_row(event_row)?;
    let changed = invitation.status != status;
    let before = invitation.status;
    let mut changes = Vec::new();
    if changed {
        invitation.status = status;
        invitation.answered_at = Some(context.now);
        changes.push(Change::Update(invitation.to_row(&event, row.revision + 1)));
    }
    let mut data = invitation.json();
    if let Some(map) = data.as_object_mut() {
        map.insert("changed".to_owned(), json!(changed));
        map.insert("before".to_owned(), json!(before.name()));
        let access = Access { event, row: event_row, invitation: Some(invitation) };
        map.insert("event".to_owned(), view::full(&access, None));
    }
    Ok(Success { data, changes })
}

fn find<'l>(
    context: &Context,
    input: Input<'_>,
    loaded: &'l Loaded,
) -> Result<(Invitation, &'l Row), Stop> {
    let (query, what, id) = match (input.text("invitation_id"), input.text("event_id")) {
        (Some(id), _) => {
            (Query::Ids { kind: Kind::Invitation, ids: vec![id.to_owned()] }, "invitation", id)
        }
        (None, event) => {
            let id = event.unwrap_or_default();
            let query = Query::Links {
                owner: Some(context.user.clone()),
                kind: Kind::Invitation,
                links: vec![id.to_owned()],
            };
            (query, "invitation to the event", id)
        }
    };
    let row = loaded.rows(query)?.iter().find(|row| row.owner == context.user);
    let row = row.ok_or_else(|| Failure::not_found(what, id))?;
    Ok((Invitation::from_row(row)?, row))
}
