//! Reads a file into events that have no owner yet, with a report of what was left out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::component::components;
use super::convert::{Piece, into_override, piece};
use super::moment;
use super::zones::Zones;
use crate::event::Event;
use crate::failure::Failure;
use crate::limits::{IMPORT_BYTES, IMPORT_EVENTS, IMPORT_SKIPS, OVERRIDES, STEPS_PER_ANSWER};
use crate::rule::Budget;
use crate::series;
use crate::zone::Zone;

/// Is something that was left out, or altered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The line it is on.
    pub line: usize,
    /// The event it belongs to.
    pub uid: Option<String>,
    /// What was done, and why.
    pub reason: String,
}

/// Is the report of what was left out. It counts all and lists the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Skips {
    pub list: Vec<Skip>,
    pub count: usize,
    /// How often parts and properties were met that calendars here do not keep.
    pub ignored: BTreeMap<String, usize>,
}

impl Skips {
    pub(super) fn add(&mut self, line: usize, uid: Option<&str>, reason: impl Into<String>) {
        self.count += 1;
        if self.list.len() < IMPORT_SKIPS {
            let uid = uid.map(str::to_owned);
            self.list.push(Skip { line, uid, reason: reason.into() });
        }
    }

    pub(super) fn ignore(&mut self, name: &str) {
        const NAMES: usize = 50;
        let name = crate::failure::shown(name);
        if self.ignored.len() < NAMES || self.ignored.contains_key(&name) {
            *self.ignored.entry(name).or_default() += 1;
        }
    }
}

/// Is an event of a file. Its id and owner are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The event.
    pub event: Event,
    /// The line it begins on.
    pub line: usize,
}

/// Is what a file holds.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The events, each UID once.
    pub events: Vec<Draft>,
    /// What was left out or altered, the first of it.
    pub skipped: Vec<Skip>,
    /// How much was left out or altered.
    pub skipped_count: usize,
    /// How often parts and properties were met that are not kept.
    pub ignored: BTreeMap<String, usize>,
}

impl Parsed {
    /// Gives the report.
    pub(super) fn report(&self) -> Value {
        let list: Vec<Value> = self
            .skipped
            .iter()
            .map(|skip| json!({ "line": skip.line, "uid": skip.uid, "reason": skip.reason }))
            .collect();
        json!({
            "items": list,
            "count": self.skipped_count,
            "truncated": self.skipped_count > self.skipped.len(),
            "ignored": self.ignored,
        })
    }
}

/// Reads a file. Times that name no zone are taken to be of `zone`; `now` is for events that do not say
/// when they were made.
pub fn parse(bytes: &[u8], zone: &Zone, now: Timestamp) -> Result<Parsed, Failure> {
    if bytes.len() > IMPORT_BYTES {
        return Err(Failure::limit(format!(
            "the file has more than {IMPORT_BYTES} bytes; split it"
        )));
    }
    let mut skips = Skips::default();
    let mut masters: Vec<Draft> = Vec::new();
    let mut by_uid: BTreeMap<String, usize> = BTreeMap::new();
    let mut loose: Vec<Piece> = Vec::new();
    for calendar in components(bytes, &mut skips) {
        if calendar.name != "VCALENDAR" {
            skips.add(calendar.number, None, "only a VCALENDAR can stand here");
            continue;
        }
        let zones = Zones::of(&calendar, zone);
        for part in &calendar.children {
            match part.name.as_str() {
                "VEVENT" => {}
                "VTIMEZONE" => continue,
                other => {
                    skips.ignore(other);
                    continue;
                }
            }
            match piece(part, &zones, now, &mut skips) {
                Err(reason) => {
                    let uid = part.line("UID").map(|line| crate::failure::shown(&line.value));
                    skips.add(
                        part.number,
                        uid.as_deref(),
                        format!("the event was skipped: {reason}"),
                    );
                }
                Ok(found) if found.recurrence.is_some() => loose.push(found),
                Ok(found) => {
                    if by_uid.contains_key(&found.event.uid) {
                        let reason = "the event was skipped: its UID was met before";
                        skips.add(found.line, Some(&found.event.uid), reason);
                        continue;
                    }
                    by_uid.insert(found.event.uid.clone(), masters.len());
                    masters.push(Draft { event: found.event, line: found.line });
                }
            }
            if masters.len() > IMPORT_EVENTS {
                return Err(Failure::limit(format!(
                    "the file has more than {IMPORT_EVENTS} events; split it"
                )));
            }
        }
    }
    for piece in loose {
        match by_uid.get(&piece.event.uid).and_then(|at| masters.get_mut(*at)) {
            Some(master) => attach(&mut master.event, piece, &mut skips),
            None => detach(piece, &mut masters, &mut by_uid, &mut skips),
        }
    }
    if masters.len() > IMPORT_EVENTS {
        return Err(Failure::limit(format!(
            "the file has more than {IMPORT_EVENTS} events; split it"
        )));
    }
    let mut budget = Budget::new(STEPS_PER_ANSWER);
    masters.retain_mut(|draft| finish(draft, &mut budget, &mut skips));
    Ok(Parsed {
        events: masters,
        skipped: skips.list,
        skipped_count: skips.count,
        ignored: skips.ignored,
    })
}

/// Puts a changed occurrence into its series.
fn attach(event: &mut Event, piece: Piece, skips: &mut Skips) {
    let line = piece.line;
    let uid = event.uid.clone();
    match into_override(event, piece) {
        Err(reason) => skips.add(line, Some(&uid), format!("the occurrence was skipped: {reason}")),
        Ok(None) => {}
        Ok(Some(own)) => match event.overrides.binary_search_by(|other| other.at.cmp(&own.at)) {
            Ok(_) => skips.add(line, Some(&uid), "the occurrence was skipped: it was met before"),
            Err(_) if event.overrides.len() >= OVERRIDES => {
                let reason = format!("the occurrence was skipped: there are more than {OVERRIDES}");
                skips.add(line, Some(&uid), reason);
            }
            Err(at) => event.overrides.insert(at, own),
        },
    }
}

/// Keeps an occurrence whose series is not in the file as an event of its own.
fn detach(
    piece: Piece,
    masters: &mut Vec<Draft>,
    by_uid: &mut BTreeMap<String, usize>,
    skips: &mut Skips,
) {
    let name = match &piece.recurrence {
        Some(moment::Value::Date(date)) => date.strftime("%Y%m%d").to_string(),
        Some(moment::Value::Local(local, ..)) => local.strftime("%Y%m%dT%H%M%S").to_string(),
        None => return,
    };
    if piece.cancelled {
        return skips.add(
            piece.line,
            Some(&piece.event.uid),
            "the occurrence was skipped: it is cancelled",
        );
    }
    let mut event = piece.event;
    event.uid = format!("{}#{name}", event.uid.chars().take(200).collect::<String>());
    if by_uid.contains_key(&event.uid) {
        return skips.add(
            piece.line,
            Some(&event.uid),
            "the occurrence was skipped: it was met before",
        );
    }
    skips.add(
        piece.line,
        Some(&event.uid),
        "its series is not in the file; it became an event of its own",
    );
    by_uid.insert(event.uid.clone(), masters.len());
    masters.push(Draft { event, line: piece.line });
}

/// Takes away occurrences that the series does not have; false if nothing is left of it.
fn finish(draft: &mut Draft, budget: &mut Budget, skips: &mut Skips) -> bool {
    let event = &mut draft.event;
    let named: Vec<_> = event.overrides.iter().map(|own| own.at).collect();
    let strangers = series::strangers_within(event, &named, budget);
    if !strangers.is_empty() {
        let uid = event.uid.clone();
        for at in &strangers {
            let reason = format!("a changed occurrence was skipped: the series has none at {at}");
            skips.add(draft.line, Some(&uid), reason);
        }
        event.overrides.retain(|own| strangers.binary_search(&own.at).is_err());
    }
    if event.repeats() && series::first(event).is_none() {
        let uid = event.uid.clone();
        skips.add(draft.line, Some(&uid), "the event was skipped: it never happens");
        return false;
    }
    true
}
