//! Reads the calendar.

use jiff::civil::{DateTime, Time};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::access::{self, Access};
use super::{target, view};
use crate::context::Context;
use crate::cursor;
use crate::event::Event;
use crate::failure::Failure;
use crate::input::Input;
use crate::invitation::{Invitation, Status};
use crate::limits::{LOADED_EVENTS, PAGE, RANGE_DAYS, STEPS_PER_ANSWER};
use crate::row::{Kind, Loaded, Query, Stop, Success};
use crate::rule::Budget;
use crate::series::{self, Occurrence, Window};
use crate::times;
use crate::zone::Zone;

/// Runs `calendar.read`.
pub(crate) fn read(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let input = Input(input);
    let data = match input.text("mode") {
        Some("event") => one(context, input, loaded)?,
        Some("day") => {
            let zone = reader(context, input)?;
            let date = times::date(input.text("date").unwrap_or_default(), "/date")?;
            let midnight =
                |date: jiff::civil::Date| zone.instant(date.to_datetime(Time::midnight()));
            let until = date.tomorrow().ok().and_then(midnight);
            let (Some(from), Some(until)) = (midnight(date), until) else {
                return Err(Failure::input("/date", "there is no such day in this zone").into());
            };
            let mut data = range(context, input, loaded, Window { from, until }, &zone)?;
            data.insert("date".to_owned(), json!(date.to_string()));
            Value::Object(data)
        }
        _ => {
            let zone = reader(context, input)?;
            let read = |name: &str| {
                let text = input.text(name).unwrap_or_default();
                times::moment(text, &format!("/{name}"), &context.zone)
            };
            let (from, until) = (read("start_at")?.instant, read("end_at")?.instant);
            if until <= from {
                return Err(Failure::input("/end_at", "`end_at` must lie after `start_at`").into());
            }
            if until.duration_since(from) > SignedDuration::from_hours(24 * RANGE_DAYS) {
                let mut failure = Failure::limit(format!(
                    "a range is at most {RANGE_DAYS} days wide; read it in parts"
                ));
                failure.pointer = Some("/end_at".to_owned());
                return Err(failure.into());
            }
            Value::Object(range(context, input, loaded, Window { from, until }, &zone)?)
        }
    };
    Ok(Success::read(data))
}

fn reader(context: &Context, input: Input<'_>) -> Result<Zone, Failure> {
    input
        .text("time_zone")
        .map_or_else(|| Ok(context.zone.clone()), |name| times::zone(name, "/time_zone"))
}

/// Reads one event in full.
fn one(context: &Context, input: Input<'_>, loaded: &Loaded) -> Result<Value, Stop> {
    let id = input.text("event_id").unwrap_or_default();
    let found = access::find(context, id, loaded)?;
    let occurrence = match input.text("recurrence_id") {
        Some(name) if found.event.repeats() => {
            Some(target::occurrence(context, &found.event, name)?)
        }
        Some(_) => {
            let message = "the event happens once; leave out `recurrence_id`";
            return Err(Failure::input("/recurrence_id", message).into());
        }
        None => None,
    };
    let mut data = view::full(&found, occurrence.as_ref());
    if found.invitation.is_none() {
        let list: Vec<Value> =
            access::invitations(id, loaded)?.iter().map(|(one, _)| one.json()).collect();
        if let Some(map) = data.as_object_mut() {
            map.insert("invitations".to_owned(), json!(list));
        }
    }
    Ok(data)
}

/// Is the place of an occurrence among others; as a cursor, the last one given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Place(Timestamp, String, DateTime);

/// Reads the occurrences that touch a window, a page at a time.
fn range(
    context: &Context,
    input: Input<'_>,
    loaded: &Loaded,
    window: Window,
    zone: &Zone,
) -> Result<Map<String, Value>, Stop> {
    let after: Option<Place> = input.text("cursor").map(cursor::read).transpose()?;
    let limit = input.number("limit").and_then(|n| usize::try_from(n).ok()).unwrap_or(PAGE);
    // Whatever began before the cursor was given already.
    let ahead = Window {
        from: after.as_ref().map_or(window.from, |place| place.0.max(window.from)),
        until: window.until,
    };
    let (events, all_loaded) = events(context, loaded, window)?;
    let mut budget = Budget::new(STEPS_PER_ANSWER);
    let mut found: Vec<(Place, usize, Occurrence)> = Vec::new();
    let mut incomplete: Vec<&str> = Vec::new();
    for (at, access) in events.iter().enumerate() {
        let list = series::occurrences(&access.event, zone, ahead, limit + 1, &mut budget);
        if list.cut {
            incomplete.push(&access.event.id);
        }
        for item in list.items {
            let place = Place(item.start, access.event.id.clone(), item.at);
            if after.as_ref().is_none_or(|after| place > *after) {
                found.push((place, at, item));
            }
        }
    }
    found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<Value> = found
        .iter()
        .filter_map(|(_, at, occurrence)| Some(view::item(events.get(*at)?, occurrence)))
        .collect();
    let mut data = Map::new();
    data.insert("count".to_owned(), json!(items.len()));
    data.insert("items".to_owned(), json!(items));
    data.insert("from".to_owned(), json!(zone.written(window.from)));
    data.insert("until".to_owned(), json!(zone.written(window.until)));
    data.insert("timeZone".to_owned(), view::zone_json(zone));
    data.insert("truncated".to_owned(), json!(more || !all_loaded || !incomplete.is_empty()));
    if let (true, Some((place, ..))) = (more, found.last()) {
        data.insert("nextCursor".to_owned(), json!(cursor::write(place)));
    }
    if !all_loaded {
        let note = format!(
            "only the first {LOADED_EVENTS} events of this range were looked at; ask for a shorter one"
        );
        data.insert("note".to_owned(), json!(note));
    }
    if !incomplete.is_empty() {
        data.insert("incomplete".to_owned(), json!(incomplete));
    }
    Ok(data)
}

/// Gives the caller's events that may touch a window: their own, and those they have not refused.
/// Also tells whether that is all.
fn events<'l>(
    context: &Context,
    loaded: &'l Loaded,
    window: Window,
) -> Result<(Vec<Access<'l>>, bool), Stop> {
    let between = |kind| Query::Between {
        owner: context.user.clone(),
        kind,
        from: window.from,
        until: window.until,
        limit: LOADED_EVENTS,
    };
    loaded.need(&[between(Kind::Event), between(Kind::Invitation)])?;
    let mut list = Vec::new();
    let rows = loaded.rows(between(Kind::Event))?;
    for row in rows {
        list.push(Access { event: Event::from_row(row)?, row, invitation: None });
    }
    let invited_rows = loaded.rows(between(Kind::Invitation))?;
    let mut invited = Vec::new();
    for row in invited_rows {
        let invitation = Invitation::from_row(row)?;
        if invitation.status != Status::Rejected {
            invited.push(invitation);
        }
    }
    if !invited.is_empty() {
        let ids = invited.iter().map(|invitation| invitation.event.clone()).collect();
        let rows = loaded.rows(Query::Ids { kind: Kind::Event, ids })?;
        let by_id: std::collections::BTreeMap<&str, &crate::row::Row> =
            rows.iter().map(|row| (row.id.as_str(), row)).collect();
        for invitation in invited {
            if let Some(row) = by_id.get(invitation.event.as_str()) {
                let event = Event::from_row(row)?;
                list.push(Access { event, row, invitation: Some(invitation) });
            }
        }
    }
    let all = rows.len() < LOADED_EVENTS && invited_rows.len() < LOADED_EVENTS;
    Ok((list, all))
}
