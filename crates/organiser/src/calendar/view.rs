//! What results say of events.

use jiff::civil::DateTime;
use jiff::{SignedDuration, ToSpan};
use serde_json::{Map, Value, json};

use super::access::Access;
use crate::event::Event;
use crate::series::Occurrence;
use crate::zone::Zone;

/// Gives the name of an occurrence, which calls hand back as `recurrence_id`.
pub(super) fn recurrence_id(event: &Event, at: DateTime) -> String {
    match &event.zone {
        None => at.date().to_string(),
        Some(zone) => zone.instant(at).map_or_else(String::new, |moment| zone.written(moment)),
    }
}

/// Gives the times of something that begins at a time of the event's clock.
fn times(event: &Event, start: DateTime, seconds: i64) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("allDay".to_owned(), json!(event.is_all_day()));
    match &event.zone {
        None => {
            let last = start
                .checked_add(SignedDuration::from_secs(seconds))
                .and_then(|end| end.checked_sub(1.day()))
                .unwrap_or(start);
            map.insert("startDate".to_owned(), json!(start.date().to_string()));
            map.insert("endDate".to_owned(), json!(last.date().to_string()));
        }
        Some(zone) => {
            if let Some(begin) = zone.instant(start) {
                let end = begin.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(begin);
                map.insert("startAt".to_owned(), json!(zone.written(begin)));
                map.insert("endAt".to_owned(), json!(zone.written(end)));
            }
            map.insert("timeZone".to_owned(), json!(zone.name()));
        }
    }
    map
}

/// Gives what a list says of an occurrence. Notes are left to mode `event`: a series would repeat them.
pub(super) fn item(access: &Access<'_>, occurrence: &Occurrence) -> Value {
    let event = &access.event;
    let differs = occurrence.differs.as_ref();
    let title = differs.and_then(|own| own.title.as_ref()).unwrap_or(&event.title);
    let location = own_or(differs.and_then(|own| own.location.as_ref()), event.location.as_ref());
    let notes = own_or(differs.and_then(|own| own.notes.as_ref()), event.notes.as_ref());
    let (start, seconds) =
        differs.map_or((occurrence.at, event.seconds), |own| (own.start, own.seconds));
    let mut map = head(access, title);
    map.extend(times(event, start, seconds));
    if let Some(location) = location {
        map.insert("location".to_owned(), json!(location));
    }
    map.insert("hasNotes".to_owned(), json!(notes.is_some()));
    if event.repeats() {
        map.insert("recurrenceId".to_owned(), json!(recurrence_id(event, occurrence.at)));
        map.insert("overridden".to_owned(), json!(differs.is_some()));
    }
    Value::Object(map)
}

/// Gives all that the caller may know of an event, or of one occurrence of it.
pub(super) fn full(access: &Access<'_>, occurrence: Option<&Occurrence>) -> Value {
    let event = &access.event;
    let mut value = match occurrence {
        Some(occurrence) => item(access, occurrence),
        None => {
            let mut map = head(access, &event.title);
            map.extend(times(event, event.start, event.seconds));
            if let Some(location) = &event.location {
                map.insert("location".to_owned(), json!(location));
            }
            Value::Object(map)
        }
    };
    let differs = occurrence.and_then(|occurrence| occurrence.differs.as_ref());
    let notes = own_or(differs.and_then(|own| own.notes.as_ref()), event.notes.as_ref());
    if let Some(map) = value.as_object_mut() {
        map.remove("hasNotes");
        if let Some(notes) = notes {
            map.insert("notes".to_owned(), json!(notes));
        }
        if event.repeats() {
            map.insert("recurrence".to_owned(), recurrence(event));
        }
        // Who else is named is the owner's to know.
        if !event.attendees.is_empty() && access.invitation.is_none() {
            let list: Vec<Value> = event
                .attendees
                .iter()
                .map(
                    |one| json!({ "address": one.address, "name": one.name, "answer": one.answer }),
                )
                .collect();
            map.insert("attendees".to_owned(), json!(list));
        }
        if let Some(organizer) = &event.organizer {
            map.insert("organizer".to_owned(), json!(organizer));
        }
        map.insert("uid".to_owned(), json!(event.uid));
        map.insert("createdAt".to_owned(), json!(event.created_at.to_string()));
        map.insert("updatedAt".to_owned(), json!(event.updated_at.to_string()));
    }
    value
}

fn head(access: &Access<'_>, title: &str) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(access.event.id));
    map.insert("title".to_owned(), json!(title));
    map.insert("owner".to_owned(), json!(access.event.owner));
    map.insert("access".to_owned(), json!(access.name()));
    map.insert("recurring".to_owned(), json!(access.event.repeats()));
    map.insert("revision".to_owned(), json!(access.row.revision));
    if let Some(own) = &access.invitation {
        let invitation = json!({ "id": own.id, "status": own.status.name() });
        map.insert("invitation".to_owned(), invitation);
    }
    map
}

/// Gives an occurrence's own text, where empty means none, or else that of the series.
fn own_or<'a>(own: Option<&'a String>, series: Option<&'a String>) -> Option<&'a String> {
    own.or(series).filter(|text| !text.is_empty())
}

fn recurrence(event: &Event) -> Value {
    let names = |list: &[DateTime]| -> Vec<String> {
        list.iter().map(|at| recurrence_id(event, *at)).collect()
    };
    let changed: Vec<DateTime> = event.overrides.iter().map(|own| own.at).collect();
    json!({
        "rule": event.rule,
        "add": names(&event.added),
        "exclude": names(&event.excluded),
        "overridden": names(&changed),
    })
}

/// Gives the zone an answer is read in.
pub(super) fn zone_json(zone: &Zone) -> Value {
    json!(zone.name())
}
