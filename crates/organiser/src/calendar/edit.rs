//! Changes events: all of a series, or one occurrence.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Span};

use super::fields::{Recurrence, Times};
use crate::event::{Event, Override};
use crate::failure::Failure;
use crate::limits::OVERRIDES;
use crate::rule::Until;
use crate::series::{self, Occurrence};

/// Is what an update changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    pub title: Option<String>,
    pub notes: Option<Option<String>>,
    pub location: Option<Option<String>>,
    pub times: Option<Times>,
    pub recurrence: Option<Option<Recurrence>>,
}

/// Changes the whole of an event. Gives how many changed occurrences no longer have a place in it.
pub(super) fn all(event: &mut Event, patch: Patch) -> usize {
    let overridden = event.overrides.len();
    if let Some(title) = patch.title {
        event.title = title;
    }
    if let Some(notes) = patch.notes {
        event.notes = notes;
    }
    if let Some(location) = patch.location {
        event.location = location;
    }
    let moved = patch.times.is_some() || patch.recurrence.is_some();
    if let Some(times) = patch.times {
        retime(event, times);
    }
    match patch.recurrence {
        Some(Some(recurrence)) => {
            event.rule = recurrence.rule;
            event.added = recurrence.added;
            event.excluded = recurrence.excluded;
        }
        Some(None) => {
            event.rule = None;
            event.added.clear();
            event.excluded.clear();
            event.overrides.clear();
        }
        None => {
            let strangers = series::strangers(event, &event.excluded);
            event.excluded.retain(|at| !strangers.contains(at));
        }
    }
    if moved {
        let named: Vec<DateTime> = event.overrides.iter().map(|own| own.at).collect();
        let strangers = series::strangers(event, &named);
        event.overrides.retain(|own| !strangers.contains(&own.at));
    }
    overridden - event.overrides.len()
}

/// Moves a series. What is said of single occurrences moves along.
fn retime(event: &mut Event, times: Times) {
    if event.is_all_day() != times.zone.is_none() {
        event.added.clear();
        event.excluded.clear();
        event.overrides.clear();
    }
    let by = times.start.duration_since(event.start);
    let shift = |local: &mut DateTime| *local = local.checked_add(by).unwrap_or(*local);
    event.added.iter_mut().for_each(shift);
    event.excluded.iter_mut().for_each(shift);
    for own in &mut event.overrides {
        shift(&mut own.at);
        shift(&mut own.start);
        if own.seconds == event.seconds {
            own.seconds = times.seconds;
        }
    }
    if let Some(mut rule) = event.parsed_rule() {
        rule.until = rule.until.map(|until| shifted(until, by));
        let rule = super::fields::settle_until(rule, times.zone.as_ref());
        event.rule = Some(rule.to_string());
    }
    event.start = times.start;
    event.zone = times.zone;
    event.seconds = times.seconds;
}

fn shifted(until: Until, by: SignedDuration) -> Until {
    let days = by.as_secs().div_euclid(86_400);
    match until {
        Until::Date(date) => {
            let span = Span::new().try_days(days);
            Until::Date(span.and_then(|span| date.checked_add(span)).unwrap_or(date))
        }
        Until::Local(local) => Until::Local(local.checked_add(by).unwrap_or(local)),
        Until::Utc(moment) => Until::Utc(moment.checked_add(by).unwrap_or(moment)),
    }
}

/// Changes one occurrence.
pub(super) fn one(event: &mut Event, occurrence: &Occurrence, patch: Patch) -> Result<(), Failure> {
    if patch.recurrence.is_some() {
        return Err(Failure::input(
            "/recurrence",
            "one occurrence has no recurrence of its own; use scope `all` or `following`",
        ));
    }
    let at = occurrence.at;
    let mut own = occurrence.differs.clone().unwrap_or(Override {
        at,
        start: at,
        seconds: event.seconds,
        title: None,
        notes: None,
        location: None,
    });
    if let Some(times) = patch.times {
        if times.zone != event.zone {
            return Err(Failure::input(
                "/time_zone",
                "one occurrence keeps the time zone of its series, and stays all-day or timed; delete it and create an event instead",
            ));
        }
        own.start = times.start;
        own.seconds = times.seconds;
    }
    if let Some(title) = patch.title {
        own.title = Some(title).filter(|title| *title != event.title);
    }
    if let Some(notes) = patch.notes {
        own.notes = differing(notes, event.notes.as_ref());
    }
    if let Some(location) = patch.location {
        own.location = differing(location, event.location.as_ref());
    }
    event.overrides.retain(|other| other.at != at);
    let plain = own.start == at
        && own.seconds == event.seconds
        && own.title.is_none()
        && own.notes.is_none()
        && own.location.is_none();
    if !plain {
        if event.overrides.len() >= OVERRIDES {
            return Err(Failure::limit(format!(
                "an event has at most {OVERRIDES} changed occurrences; change this and the following ones instead"
            )));
        }
        event.overrides.push(own);
        event.overrides.sort_by_key(|own| own.at);
    }
    Ok(())
}

/// Gives an occurrence's own text: none where it is that of the series, empty where it has none.
fn differing(own: Option<String>, series: Option<&String>) -> Option<String> {
    if own.as_ref() == series { None } else { Some(own.unwrap_or_default()) }
}
