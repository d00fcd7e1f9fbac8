//! Makes an event of a VEVENT.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::USER;
use super::component::Component;
use super::line::Line;
use super::moment::{Value, duration, single, stamp, values};
use super::parse::Skips;
use super::text::unescape;
use super::zones::Zones;
use crate::calendar::settle_until;
use crate::event::{Attendee, Event, Override};
use crate::limits::{
    ATTENDEES, DURATION_SECONDS, ID_CHARS, LOCATION_CHARS, NOTES_CHARS, SINGLE_DATES, TITLE_CHARS,
};
use crate::rule;
use crate::zone::Zone;

/// Is a VEVENT: an event, or one occurrence of it.
pub(super) struct Piece {
    pub event: Event,
    pub recurrence: Option<Value>,
    pub cancelled: bool,
    pub line: usize,
}

/// What is read here; anything else in a VEVENT is counted as ignored.
const KNOWN: [&str; 19] = [
    "UID",
    "DTSTART",
    "DTEND",
    "DURATION",
    "SUMMARY",
    "DESCRIPTION",
    "LOCATION",
    "RRULE",
    "RDATE",
    "EXDATE",
    "RECURRENCE-ID",
    "ATTENDEE",
    "ORGANIZER",
    "STATUS",
    "SEQUENCE",
    "DTSTAMP",
    "CREATED",
    "LAST-MODIFIED",
    "TRANSP",
];

/// Reads a VEVENT. The error says why it cannot be kept.
pub(super) fn piece(
    part: &Component,
    zones: &Zones,
    now: Timestamp,
    skips: &mut Skips,
) -> Result<Piece, String> {
    let uid = part.line("UID").map(|line| clean(&line.value)).unwrap_or_default();
    if uid.is_empty() || uid.chars().count() > ID_CHARS {
        return Err(format!("it needs a UID of at most {ID_CHARS} characters"));
    }
    let start_line = part.line("DTSTART").ok_or("it has no DTSTART")?;
    let first = single(start_line, zones)?;
    if let Value::Local(_, zone, true) = &first {
        let reason = format!("the time names no zone and was read as of {zone}");
        skips.add(start_line.number, Some(&uid), reason);
    }
    let (start, zone) = match &first {
        Value::Date(date) => (date.at(0, 0, 0, 0), None),
        Value::Local(local, zone, _) => (*local, Some(zone.clone())),
    };
    let seconds = lasting(part, &first, zone.as_ref(), zones)?;
    let created = part.line("CREATED").and_then(stamp);
    let updated = ["LAST-MODIFIED", "DTSTAMP"].iter().find_map(|name| stamp(part.line(name)?));
    let mut event = Event {
        id: String::new(),
        owner: String::new(),
        title: text(part, "SUMMARY", TITLE_CHARS, &uid, skips)
            .unwrap_or_else(|| "(untitled)".to_owned()),
        notes: text(part, "DESCRIPTION", NOTES_CHARS, &uid, skips),
        location: text(part, "LOCATION", LOCATION_CHARS, &uid, skips),
        uid,
        start,
        zone,
        seconds,
        rule: None,
        added: Vec::new(),
        excluded: Vec::new(),
        overrides: Vec::new(),
        attendees: Vec::new(),
        organizer: None,
        sequence: part
            .line("SEQUENCE")
            .and_then(|line| line.value.trim().parse().ok())
            .unwrap_or(0),
        created_at: created.or(updated).unwrap_or(now),
        updated_at: updated.or(created).unwrap_or(now),
    };
    let recurrence =
        part.line("RECURRENCE-ID").map(|line| recurrence_id(line, zones)).transpose()?;
    let cancelled =
        part.line("STATUS").is_some_and(|line| line.value.trim().eq_ignore_ascii_case("CANCELLED"));
    if recurrence.is_none() {
        if cancelled {
            return Err("it is cancelled".to_owned());
        }
        repetition(&mut event, part, zones, skips)?;
    }
    people(&mut event, part, skips);
    ignored(part, skips);
    Ok(Piece { event, recurrence, cancelled, line: part.number })
}

fn recurrence_id(line: &Line, zones: &Zones) -> Result<Value, String> {
    if line.parameter("RANGE").is_some() {
        return Err("RANGE=THISANDFUTURE is not read; cut the series in two".to_owned());
    }
    single(line, zones)
}

fn lasting(
    part: &Component,
    first: &Value,
    zone: Option<&Zone>,
    zones: &Zones,
) -> Result<i64, String> {
    let seconds = if let Some(line) = part.line("DTEND") {
        match (first, single(line, zones)?) {
            (Value::Date(first), Value::Date(last)) => {
                let days = last.at(0, 0, 0, 0).duration_since(first.at(0, 0, 0, 0)).as_secs();
                // Some programs write the same day twice for an event of one day.
                if days == 0 { 86_400 } else { days }
            }
            (Value::Local(..), last @ Value::Local(..)) => {
                let utc = Zone::utc();
                let reader = zone.unwrap_or(&utc);
                let (Some(from), Some(to)) = (first.instant(reader), last.instant(reader)) else {
                    return Err("its times cannot be told".to_owned());
                };
                to.duration_since(from).as_secs()
            }
            _ => return Err("DTSTART and DTEND must both be dates, or both be times".to_owned()),
        }
    } else if let Some(line) = part.line("DURATION") {
        duration(&line.value)
            .ok_or_else(|| format!("`{}` is no duration", crate::failure::shown(&line.value)))?
    } else if zone.is_none() {
        86_400
    } else {
        0
    };
    if zone.is_none() && seconds % 86_400 != 0 {
        return Err("an all-day event lasts whole days".to_owned());
    }
    if seconds < 0 || (zone.is_none() && seconds == 0) {
        return Err("it ends before it starts".to_owned());
    }
    if seconds > DURATION_SECONDS {
        return Err(format!("it lasts longer than {} days", DURATION_SECONDS / 86_400));
    }
    Ok(seconds)
}

fn repetition(
    event: &mut Event,
    part: &Component,
    zones: &Zones,
    skips: &mut Skips,
) -> Result<(), String> {
    let mut rules = part.all("RRULE");
    if let Some(line) = rules.next() {
        let rule = rule::parse(&line.value).map_err(|reason| format!("RRULE: {reason}"))?;
        event.rule = Some(settle_until(rule, event.zone.as_ref()).to_string());
    }
    for line in rules {
        skips.add(line.number, Some(&event.uid), "a second RRULE was skipped");
    }
    event.added = single_dates(event, part, "RDATE", zones, skips);
    let start = event.start;
    event.added.retain(|local| *local != start);
    event.excluded = single_dates(event, part, "EXDATE", zones, skips);
    Ok(())
}

fn single_dates(
    event: &Event,
    part: &Component,
    name: &str,
    zones: &Zones,
    skips: &mut Skips,
) -> Vec<DateTime> {
    let mut list = Vec::new();
    for line in part.all(name) {
        let found = values(line, zones).and_then(|values| {
            values.iter().map(|value| on_clock(event, value)).collect::<Result<Vec<_>, _>>()
        });
        match found {
            Ok(mut times) => list.append(&mut times),
            Err(reason) => {
                skips.add(line.number, Some(&event.uid), format!("{name} was skipped: {reason}"));
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    if list.len() > SINGLE_DATES {
        let reason = format!("of {name} only the first {SINGLE_DATES} were kept");
        skips.add(part.number, Some(&event.uid), reason);
        list.truncate(SINGLE_DATES);
    }
    list
}

/// Gives what the clock of an event shows at a time of the file.
fn on_clock(event: &Event, value: &Value) -> Result<DateTime, String> {
    match (&event.zone, value) {
        (None, Value::Date(date)) => Ok(date.at(0, 0, 0, 0)),
        (None, Value::Local(local, ..)) => Ok(local.date().at(0, 0, 0, 0)),
        // A bare date means the occurrence of that day.
        (Some(_), Value::Date(date)) => Ok(date.to_datetime(event.start.time())),
        (Some(zone), Value::Local(local, other, _)) if zone == other => Ok(*local),
        (Some(zone), Value::Local(local, other, _)) => other
            .instant(*local)
            .map(|moment| zone.local(moment))
            .ok_or_else(|| "a time cannot be told".to_owned()),
    }
}

/// Makes a changed occurrence of a piece. A cancelled one is excluded from the series instead.
pub(super) fn into_override(event: &mut Event, piece: Piece) -> Result<Option<Override>, String> {
    let Some(recurrence) = piece.recurrence else { return Ok(None) };
    let at = on_clock(event, &recurrence)?;
    if piece.cancelled {
        if let Err(place) = event.excluded.binary_search(&at)
            && event.excluded.len() < SINGLE_DATES
        {
            event.excluded.insert(place, at);
        }
        return Ok(None);
    }
    let own = piece.event;
    if own.is_all_day() != event.is_all_day() {
        return Err("it changes between all-day and timed".to_owned());
    }
    let start = match own.zone {
        Some(zone) => on_clock(event, &Value::Local(own.start, zone, false))?,
        None => own.start,
    };
    let differs = |own: Option<String>, series: &Option<String>| {
        if own == *series { None } else { Some(own.unwrap_or_default()) }
    };
    Ok(Some(Override {
        at,
        start,
        seconds: own.seconds,
        title: Some(own.title).filter(|title| *title != event.title),
        notes: differs(own.notes, &event.notes),
        location: differs(own.location, &event.location),
    }))
}

fn people(event: &mut Event, part: &Component, skips: &mut Skips) {
    let ours = |address: &str| address.starts_with(USER);
    event.organizer = part.line("ORGANIZER").map(|line| clean(&line.value)).filter(|address| {
        !ours(address) && !address.is_empty() && address.chars().count() <= ID_CHARS
    });
    for line in part.all("ATTENDEE") {
        let address = clean(&line.value);
        if ours(&address) {
            continue;
        }
        if event.attendees.len() >= ATTENDEES
            || address.chars().count() > ID_CHARS
            || address.is_empty()
        {
            let reason = format!(
                "an attendee was skipped: at most {ATTENDEES}, with addresses of at most {ID_CHARS} characters"
            );
            skips.add(line.number, Some(&event.uid), reason);
            continue;
        }
        let answer = line.parameter("PARTSTAT").unwrap_or("NEEDS-ACTION").to_ascii_uppercase();
        let known = ["NEEDS-ACTION", "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"];
        let answer =
            if known.contains(&answer.as_str()) { answer } else { "NEEDS-ACTION".to_owned() };
        let name =
            line.parameter("CN").map(|name| clean(name).chars().take(ID_CHARS).collect::<String>());
        event.attendees.push(Attendee {
            address,
            name: name.filter(|name| !name.is_empty()),
            answer,
        });
    }
}

fn ignored(part: &Component, skips: &mut Skips) {
    for line in &part.lines {
        if !KNOWN.contains(&line.name.as_str()) {
            skips.ignore(&line.name);
        }
    }
    for child in &part.children {
        skips.ignore(&child.name);
    }
}

/// Gives the text of a property, cut to what a calendar keeps.
fn text(part: &Component, name: &str, most: usize, uid: &str, skips: &mut Skips) -> Option<String> {
    let line = part.line(name)?;
    let full = unescape(&line.value);
    let full: String =
        full.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if full.chars().count() > most {
        skips.add(line.number, Some(uid), format!("{name} was cut to {most} characters"));
        return Some(full.chars().take(most).collect());
    }
    Some(full).filter(|text| !text.is_empty())
}

/// Gives a short value without spaces around it or control characters inside.
fn clean(value: &str) -> String {
    value.trim().chars().filter(|c| !c.is_control()).collect()
}
