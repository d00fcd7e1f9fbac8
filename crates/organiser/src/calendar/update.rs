//! Changes events.

use serde_json::{Value, json};

use super::access::{self, Access};
use super::create::{judge, warnings};
use super::edit::{self, Patch};
use super::fields::{Times, changed_times, recurrence};
use super::target::{Target, target};
use super::{split, view};
use crate::context::Context;
use crate::event::Event;
use crate::failure::Failure;
use crate::input::Input;
use crate::invitation::Invitation;
use crate::row::{Change, Loaded, Row, Stop, Success};
use crate::series;

/// Runs `calendar.update`.
pub(crate) fn update(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let input = Input(input);
    let id = input.text("event_id").unwrap_or_default();
    let mut found = access::find(context, id, loaded)?;
    found.may_edit()?;
    found.at_revision(input.number("revision"))?;
    let target = target(context, &found.event, input)?;
    let patch = patch(context, &found.event, &target, input)?;
    let invited = access::invitations(id, loaded)?;
    let scope = target.name();
    let mut event = found.event.clone();
    event.updated_at = context.now;
    event.sequence = event.sequence.saturating_add(1);
    let mut changes = Vec::new();
    let mut dropped = 0;
    let mut shown = None;
    let mut split_from = None;
    match target {
        Target::All => {
            dropped = edit::all(&mut event, patch);
            judge(&event)?;
        }
        Target::This(occurrence) => {
            edit::one(&mut event, &occurrence, patch)?;
            shown = Some(occurrence.at);
        }
        Target::Following(occurrence) => {
            let mut next = split::start_at(&event, occurrence.at, context.id("evt", 0))?;
            next.created_at = context.now;
            dropped = edit::all(&mut next, patch);
            judge(&next)?;
            split::end_before(&mut event, occurrence.at);
            changes.extend(save(&event, found.row, &invited));
            changes.push(Change::Create(next.to_row(1)));
            changes.extend(copies(context, &next, &invited));
            if let Some(own) = &mut found.invitation {
                let nth = invited.iter().position(|(other, _)| other.id == own.id);
                *own = copy(context, &next, own, nth.unwrap_or_default());
            }
            split_from = Some(event.id.clone());
            event = next;
        }
    }
    if split_from.is_none() {
        changes.extend(save(&event, found.row, &invited));
    }
    let revision = if split_from.is_some() { 1 } else { found.row.revision + 1 };
    let row = event.to_row(revision);
    let after = Access { event, row: &row, invitation: found.invitation };
    let occurrence = shown.and_then(|at| {
        let zone = after.event.clock(&context.zone);
        series::named(&after.event, &context.zone, zone.instant(at)?)
    });
    let mut data = view::full(&after, occurrence.as_ref());
    if let Some(map) = data.as_object_mut() {
        map.insert("status".to_owned(), json!("updated"));
        map.insert("scope".to_owned(), json!(scope));
        map.insert("droppedOverrides".to_owned(), json!(dropped));
        map.insert("warnings".to_owned(), json!(warnings(&after.event)));
        if let Some(from) = split_from {
            map.insert("splitFrom".to_owned(), json!(from));
        }
    }
    Ok(Success { data, changes })
}

fn patch(
    context: &Context,
    event: &Event,
    target: &Target,
    input: Input<'_>,
) -> Result<Patch, Failure> {
    let (start, seconds) = match target {
        Target::All => (event.start, event.seconds),
        Target::This(one) => {
            one.differs.as_ref().map_or((one.at, event.seconds), |own| (own.start, own.seconds))
        }
        Target::Following(one) => (one.at, event.seconds),
    };
    let now = Times { start, zone: event.zone.clone(), seconds };
    let stops = input.0.get("recurrence").is_some_and(Value::is_null);
    let repeats = !stops && (event.repeats() || input.has("recurrence"));
    let times = changed_times(context, input, &now, repeats)?;
    if times.is_some() && matches!(target, Target::All) && input.has("recurrence_id") {
        let explicit = input.text("scope") == Some("all");
        if explicit {
            return Err(Failure::input(
                "/recurrence_id",
                "with scope `all` the new times are those of the first occurrence; leave out `recurrence_id`, or use `this` or `following`",
            ));
        }
    }
    let recurrence = match input.0.get("recurrence") {
        None => None,
        Some(Value::Null) => Some(None),
        Some(value) => Some(Some(recurrence(context, value, times.as_ref().unwrap_or(&now))?)),
    };
    Ok(Patch {
        title: input.text("title").map(str::to_owned),
        notes: input.change("notes"),
        location: input.change("location"),
        times,
        recurrence,
    })
}

/// Gives the changes that keep an event, and the times its invitations are found by.
pub(crate) fn save(event: &Event, old: &Row, invited: &[(Invitation, &Row)]) -> Vec<Change> {
    let row = event.to_row(old.revision + 1);
    let mut changes = Vec::new();
    for (invitation, before) in invited {
        if before.starts != row.starts || before.ends != row.ends {
            changes.push(Change::Update(invitation.to_row(event, before.revision + 1)));
        }
    }
    changes.insert(0, Change::Update(row));
    changes
}

/// Gives the invitations to a series that was cut off another, as they stood.
fn copies(context: &Context, next: &Event, invited: &[(Invitation, &Row)]) -> Vec<Change> {
    invited
        .iter()
        .enumerate()
        .map(|(nth, (one, _))| Change::Create(copy(context, next, one, nth).to_row(next, 1)))
        .collect()
}

fn copy(context: &Context, next: &Event, invitation: &Invitation, nth: usize) -> Invitation {
    Invitation { id: context.id("inv", nth), event: next.id.clone(), ..invitation.clone() }
}
