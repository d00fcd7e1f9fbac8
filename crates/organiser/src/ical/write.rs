//! Writes events as an iCalendar file.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};

use super::fold::fold;
use super::text::{escape, parameter};
use super::{USER, zones};
use crate::event::{Event, Override};
use crate::invitation::{Invitation, Status};
use crate::zone::Zone;

/// Is an event to be written, with who is invited to it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The event.
    pub event: Event,
    /// The invitations to it.
    pub invitations: Vec<Invitation>,
}

/// Writes a calendar with a VTIMEZONE for each zone it speaks of.
pub fn write(events: &[Written]) -> String {
    let mut out = String::new();
    for line in
        ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Remit//Remit//EN", "CALSCALE:GREGORIAN"]
    {
        fold(line, &mut out);
    }
    let mut firsts: BTreeMap<&str, (&Zone, DateTime)> = BTreeMap::new();
    for written in events {
        if let Some(zone) = written.event.zone.as_ref().filter(|zone| zone.name() != "UTC") {
            let first = firsts.entry(zone.name()).or_insert((zone, written.event.start));
            first.1 = first.1.min(written.event.start);
        }
    }
    for (zone, first) in firsts.values() {
        zones::write(zone, *first, &mut out);
    }
    for written in events {
        event(written, &mut out);
    }
    fold("END:VCALENDAR", &mut out);
    out
}

fn event(written: &Written, out: &mut String) {
    let event = &written.event;
    let whole = Whole { start: event.start, seconds: event.seconds, at: None };
    begin(event, &whole, out);
    texts(Some(&event.title), event.notes.as_ref(), event.location.as_ref(), out);
    if let Some(rule) = &event.rule {
        fold(&format!("RRULE:{rule}"), out);
    }
    for at in &event.added {
        dated(event, "RDATE", *at, out);
    }
    for at in &event.excluded {
        dated(event, "EXDATE", *at, out);
    }
    people(written, out);
    fold("END:VEVENT", out);
    for own in &event.overrides {
        differing(event, own, out);
    }
}

/// Is the times of a VEVENT.
struct Whole {
    start: DateTime,
    seconds: i64,
    at: Option<DateTime>,
}

fn begin(event: &Event, whole: &Whole, out: &mut String) {
    fold("BEGIN:VEVENT", out);
    fold(&format!("UID:{}", event.uid), out);
    fold(&format!("DTSTAMP:{}", utc(event.updated_at)), out);
    fold(&format!("CREATED:{}", utc(event.created_at)), out);
    fold(&format!("LAST-MODIFIED:{}", utc(event.updated_at)), out);
    fold(&format!("SEQUENCE:{}", event.sequence), out);
    if let Some(at) = whole.at {
        dated(event, "RECURRENCE-ID", at, out);
    }
    dated(event, "DTSTART", whole.start, out);
    // A duration is exact, where the clock of an end could be one that comes twice.
    match &event.zone {
        None => {
            let end = whole.start.checked_add(SignedDuration::from_secs(whole.seconds));
            dated(event, "DTEND", end.unwrap_or(whole.start), out);
        }
        Some(_) => fold(&format!("DURATION:PT{}S", whole.seconds), out),
    }
}

fn differing(event: &Event, own: &Override, out: &mut String) {
    let whole = Whole { start: own.start, seconds: own.seconds, at: Some(own.at) };
    begin(event, &whole, out);
    let title = own.title.as_ref().unwrap_or(&event.title);
    let notes = own.notes.as_ref().or(event.notes.as_ref());
    let location = own.location.as_ref().or(event.location.as_ref());
    texts(Some(title), notes, location, out);
    fold("END:VEVENT", out);
}

fn texts(
    title: Option<&String>,
    notes: Option<&String>,
    location: Option<&String>,
    out: &mut String,
) {
    for (name, text) in [("SUMMARY", title), ("DESCRIPTION", notes), ("LOCATION", location)] {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            fold(&format!("{name}:{}", escape(text)), out);
        }
    }
}

fn people(written: &Written, out: &mut String) {
    let event = &written.event;
    if let Some(organizer) = &event.organizer {
        fold(&format!("ORGANIZER:{organizer}"), out);
    } else if !written.invitations.is_empty() {
        fold(&format!("ORGANIZER:{USER}{}", encoded(&event.owner)), out);
    }
    for one in &event.attendees {
        let name =
            one.name.as_ref().map_or_else(String::new, |name| format!(";CN={}", parameter(name)));
        fold(&format!("ATTENDEE{name};PARTSTAT={}:{}", one.answer, one.address), out);
    }
    for invitation in &written.invitations {
        let answer = match invitation.status {
            Status::Pending => "NEEDS-ACTION",
            Status::Accepted => "ACCEPTED",
            Status::Rejected => "DECLINED",
        };
        fold(&format!("ATTENDEE;PARTSTAT={answer}:{USER}{}", encoded(&invitation.to)), out);
    }
}

/// Writes a date or time of an event's clock.
fn dated(event: &Event, name: &str, local: DateTime, out: &mut String) {
    let line = match &event.zone {
        None => format!("{name};VALUE=DATE:{}", local.strftime("%Y%m%d")),
        Some(zone) if zone.name() == "UTC" => {
            format!("{name}:{}", local.strftime("%Y%m%dT%H%M%SZ"))
        }
        Some(zone) => {
            format!("{name};TZID={}:{}", zones::id(zone), local.strftime("%Y%m%dT%H%M%S"))
        }
    };
    fold(&line, out);
}

fn utc(moment: Timestamp) -> String {
    moment.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Writes an id so that it fits into a URN.
fn encoded(id: &str) -> String {
    let mut out = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
