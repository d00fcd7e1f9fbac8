//! Reads the times and the recurrence that an input gives an event.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::Value;

use crate::context::Context;
use crate::failure::{Failure, shown};
use crate::input::Input;
use crate::limits::DURATION_SECONDS;
use crate::rule::{self, Rule, Until};
use crate::times::{self, Moment};
use crate::zone::Zone;

/// Is when something is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    pub start: DateTime,
    /// None for whole days.
    pub zone: Option<Zone>,
    pub seconds: i64,
}

/// Is how something repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recurrence {
    pub rule: Option<String>,
    pub added: Vec<DateTime>,
    pub excluded: Vec<DateTime>,
}

/// Reads the times of a new event.
pub(super) fn new_times(context: &Context, input: Input<'_>) -> Result<Times, Failure> {
    if let Some(first) = input.text("start_date") {
        let first = times::date(first, "/start_date")?;
        let last = input.text("end_date").map(|text| times::date(text, "/end_date")).transpose()?;
        return days(first.at(0, 0, 0, 0), last.unwrap_or(first).at(0, 0, 0, 0));
    }
    let start = required(context, input, "start_at")?;
    let end = required(context, input, "end_at")?;
    let seconds = lasting(start.instant, end.instant)?;
    let zone = match input.text("time_zone") {
        Some(name) => times::zone(name, "/time_zone")?,
        // The user's own zone, unless the offset shows that another is meant.
        None if context.zone.time_zone().to_offset(start.instant) == start.offset => {
            context.zone.clone()
        }
        None => Zone::fixed(start.offset),
    };
    let repeats = input.has("recurrence");
    let (start, zone) = place(start.instant, &zone, repeats)?;
    Ok(Times { start, zone: Some(zone), seconds })
}

/// Reads the times that an event is to have instead of its present ones; none if they stay.
pub(super) fn changed_times(
    context: &Context,
    input: Input<'_>,
    now: &Times,
    repeats: bool,
) -> Result<Option<Times>, Failure> {
    let timed = ["start_at", "end_at", "time_zone"].into_iter().find(|name| input.has(name));
    let dated = ["start_date", "end_date"].into_iter().find(|name| input.has(name));
    match (timed, dated) {
        (None, None) => Ok(None),
        (Some(timed), Some(dated)) => Err(Failure::input(
            format!("/{dated}"),
            format!("`{dated}` and `{timed}` cannot stand together; an event is all-day or timed"),
        )),
        (None, Some(_)) => changed_days(input, now).map(Some),
        (Some(_), None) => changed_clock(context, input, now, repeats).map(Some),
    }
}

fn changed_days(input: Input<'_>, now: &Times) -> Result<Times, Failure> {
    let date = |name: &str| {
        input.text(name).map(|text| times::date(text, &format!("/{name}"))).transpose()
    };
    let first = match (date("start_date")?, &now.zone) {
        (Some(first), _) => first,
        (None, None) => now.start.date(),
        (None, Some(_)) => {
            return Err(Failure::input(
                "/start_date",
                "a timed event becomes all-day with `start_date`",
            ));
        }
    };
    let first = first.at(0, 0, 0, 0);
    match (date("end_date")?, &now.zone) {
        (Some(last), _) => days(first, last.at(0, 0, 0, 0)),
        (None, None) => Ok(Times { start: first, zone: None, seconds: now.seconds }),
        (None, Some(_)) => days(first, first),
    }
}

fn changed_clock(
    context: &Context,
    input: Input<'_>,
    now: &Times,
    repeats: bool,
) -> Result<Times, Failure> {
    let read = |name: &str| {
        let text = input.text(name);
        text.map(|text| times::moment(text, &format!("/{name}"), &context.zone)).transpose()
    };
    let (start, end) = (read("start_at")?, read("end_at")?);
    let named = input.text("time_zone").map(|name| times::zone(name, "/time_zone")).transpose()?;
    let Some(old_zone) = &now.zone else {
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Failure::input(
                "/start_at",
                "an all-day event becomes timed with `start_at` and `end_at`",
            ));
        };
        let zone = named.unwrap_or_else(|| Zone::fixed(start.offset));
        let seconds = lasting(start.instant, end.instant)?;
        let (start, zone) = place(start.instant, &zone, repeats)?;
        return Ok(Times { start, zone: Some(zone), seconds });
    };
    let begin = match start {
        Some(start) => start.instant,
        None => old_zone.instant(now.start).unwrap_or(context.now),
    };
    let seconds = match end {
        Some(end) => lasting(begin, end.instant)?,
        None => now.seconds,
    };
    let (start, zone) = place(begin, named.as_ref().unwrap_or(old_zone), repeats)?;
    Ok(Times { start, zone: Some(zone), seconds })
}

/// Gives what a zone's clock shows at a moment.
///
/// When clocks go back an hour comes twice, and its second time has no name on the zone's own clock:
/// a single event is then kept under its offset.
pub(crate) fn place(
    moment: Timestamp,
    zone: &Zone,
    repeats: bool,
) -> Result<(DateTime, Zone), Failure> {
    let local = zone.local(moment);
    if zone.instant(local) == Some(moment) {
        return Ok((local, zone.clone()));
    }
    if repeats {
        let text = zone.written(moment);
        return Err(Failure::input(
            "/start_at",
            format!(
                "`{text}` is the second time that clocks show this hour; start the series at the first"
            ),
        ));
    }
    let fixed = Zone::fixed(zone.time_zone().to_offset(moment));
    Ok((fixed.local(moment), fixed))
}

fn required(context: &Context, input: Input<'_>, name: &str) -> Result<Moment, Failure> {
    let pointer = format!("/{name}");
    match input.text(name) {
        Some(text) => times::moment(text, &pointer, &context.zone),
        None => Err(Failure::input(pointer, format!("`{name}` is missing"))),
    }
}

fn lasting(start: Timestamp, end: Timestamp) -> Result<i64, Failure> {
    let seconds = end.duration_since(start).as_secs();
    if seconds < 0 {
        return Err(Failure::input("/end_at", "`end_at` lies before `start_at`"));
    }
    if seconds > DURATION_SECONDS {
        return Err(too_long("/end_at"));
    }
    Ok(seconds)
}

fn days(first: DateTime, last: DateTime) -> Result<Times, Failure> {
    let seconds = last.duration_since(first).as_secs() + 86_400;
    if seconds <= 0 {
        return Err(Failure::input("/end_date", "`end_date` lies before `start_date`"));
    }
    if seconds > DURATION_SECONDS {
        return Err(too_long("/end_date"));
    }
    Ok(Times { start: first, zone: None, seconds })
}

fn too_long(pointer: &str) -> Failure {
    let most = DURATION_SECONDS / 86_400;
    let mut failure =
        Failure::limit(format!("an event lasts at most {most} days; make it recur instead"));
    failure.pointer = Some(pointer.to_owned());
    failure
}

/// Reads how an event with these times repeats.
pub(super) fn recurrence(
    context: &Context,
    value: &Value,
    times: &Times,
) -> Result<Recurrence, Failure> {
    let input = Input(value);
    let rule = input.text("rule").map(|text| {
        rule::parse(text).map_err(|reason| {
            Failure::input("/recurrence/rule", format!("`{}`: {reason}", shown(text)))
        })
    });
    let rule = rule.transpose()?.map(|rule| settle_until(rule, times.zone.as_ref()).to_string());
    let mut added = single_dates(context, input, "add", times)?;
    added.retain(|local| *local != times.start);
    let excluded = single_dates(context, input, "exclude", times)?;
    Ok(Recurrence { rule, added, excluded })
}

fn single_dates(
    context: &Context,
    input: Input<'_>,
    name: &str,
    times: &Times,
) -> Result<Vec<DateTime>, Failure> {
    let mut list = Vec::new();
    for (at, item) in input.list(name).iter().enumerate() {
        let pointer = format!("/recurrence/{name}/{at}");
        let text = item.as_str().unwrap_or_default();
        list.push(match &times.zone {
            None => times::date(text, &pointer)?.at(0, 0, 0, 0),
            Some(zone) => zone.local(times::moment(text, &pointer, &context.zone)?.instant),
        });
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// Writes the end of a rule as RFC 5545 wants it: a moment for timed events, a date for all-day ones.
pub(crate) fn settle_until(mut rule: Rule, zone: Option<&Zone>) -> Rule {
    rule.until = rule.until.map(|until| match (until, zone) {
        (Until::Local(local), None) => Until::Date(local.date()),
        (Until::Utc(moment), None) => Until::Date(Offset::UTC.to_datetime(moment).date()),
        (Until::Date(date), Some(zone)) => utc(date.at(23, 59, 59, 0), zone, until),
        (Until::Local(local), Some(zone)) => utc(local, zone, until),
        (other, _) => other,
    });
    rule
}

fn utc(local: DateTime, zone: &Zone, otherwise: Until) -> Until {
    zone.instant(local).map_or(otherwise, Until::Utc)
}

/// Gives the end of a rule that stops before an occurrence.
pub(super) fn until_before(at: DateTime, zone: Option<&Zone>) -> Option<Until> {
    let Some(zone) = zone else {
        return at.date().yesterday().ok().map(Until::Date);
    };
    let mut moment = zone.instant(at)?.checked_sub(SignedDuration::from_secs(1)).ok()?;
    // In an hour that clocks skip, a second before is still later on the clock.
    while zone.local(moment) >= at {
        moment = moment.checked_sub(1.hour()).ok()?;
    }
    Some(Until::Utc(moment))
}
