//! When an event happens: its rule, single dates and exceptions, as moments.

use std::iter::Peekable;
use std::vec::IntoIter;

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::event::{Event, Override};
use crate::limits::{STEPS_FOR_END, STEPS_PER_EVENT};
use crate::rule::{Budget, Expansion, Frequency, Rule, Until};
use crate::zone::Zone;

/// Is how far the clocks of the world are apart: an all-day event matters this long around its days.
const AROUND: SignedDuration = SignedDuration::from_hours(14);

/// Is a stretch of time, its end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it begins.
    pub from: Timestamp,
    /// Where it has ended.
    pub until: Timestamp,
}

impl Window {
    /// Tells whether something that lasts from one moment to another touches the window.
    pub fn touches(self, start: Timestamp, end: Timestamp) -> bool {
        start < self.until && (end > self.from || (start == end && start >= self.from))
    }
}

/// Is one occurrence of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// The time the rule gives it, on the event's clock: its name within the series.
    pub at: DateTime,
    /// When it begins.
    pub start: Timestamp,
    /// When it has ended.
    pub end: Timestamp,
    /// How it differs from the rest.
    pub differs: Option<Override>,
}

/// Is what was found of an event.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The occurrences, in order of time.
    pub items: Vec<Occurrence>,
    /// Whether there was too much work, so that later occurrences may be missing.
    pub cut: bool,
}

/// Finds the occurrences that touch a window, at most so many or a few more.
pub fn occurrences(
    event: &Event,
    reader: &Zone,
    window: Window,
    most: usize,
    budget: &mut Budget,
) -> Found {
    let clock = event.clock(reader);
    let mut found = Found::default();
    for differing in &event.overrides {
        let item = occurrence(event, reader, differing.at, differing.start, differing.seconds);
        if let Some(mut item) = item.filter(|item| window.touches(item.start, item.end)) {
            item.differs = Some(differing.clone());
            found.items.push(item);
        }
    }
    let rule = event.parsed_rule();
    let often = rule.as_ref().is_some_and(|rule| rule.frequency < Frequency::Daily);
    // A time that clocks skip is moved to a later one, at most by a day (where the date line moved).
    // Rules that repeat within a day leave such times out, so nothing earlier can reach the window.
    let slack = if often { 0 } else { 86_400 };
    let reach = SignedDuration::from_secs(event.seconds.saturating_add(slack));
    let first = window.from.checked_sub(reach).unwrap_or(Timestamp::MIN);
    let last = window.until.checked_add(24.hours()).unwrap_or(Timestamp::MAX);
    let last = clock.local(last);
    let mut own = Budget::new(STEPS_PER_EVENT.min(budget.left()));
    let before = own.left();
    let mut locals = Locals::new(event, rule.as_ref(), clock.local(first));
    let mut taken = 0;
    let mut latest = Timestamp::MIN;
    while let Some(local) = locals.next(&mut own) {
        if local > last {
            break;
        }
        if event.overrides.binary_search_by(|other| other.at.cmp(&local)).is_ok()
            || (often && clock.skips(local))
        {
            continue;
        }
        let Some(item) = occurrence(event, reader, local, local, event.seconds) else { break };
        if often && item.start >= window.until {
            break;
        }
        if !window.touches(item.start, item.end) {
            continue;
        }
        // Around a skipped hour the order on the clock is not the order in time.
        if taken >= most && item.start > latest {
            break;
        }
        latest = latest.max(item.start);
        taken += 1;
        found.items.push(item);
    }
    found.cut = rule.is_some() && own.is_spent();
    budget.spend(before - own.left());
    found.items.sort_by_key(|item| (item.start, item.at));
    found
}

/// Finds the occurrence whose time by the rule is this moment, also where it was moved since.
pub fn named(event: &Event, reader: &Zone, moment: Timestamp) -> Option<Occurrence> {
    let clock = event.clock(reader);
    let local = clock.local(moment);
    let rule = event.parsed_rule();
    let mut budget = Budget::new(STEPS_PER_EVENT);
    let mut locals =
        Locals::new(event, rule.as_ref(), local.checked_sub(1.day()).unwrap_or(DateTime::MIN));
    let end = local.checked_add(1.day()).unwrap_or(DateTime::MAX);
    while let Some(at) = locals.next(&mut budget) {
        if at > end {
            break;
        }
        if clock.instant(at) == Some(moment) {
            return at_local(event, reader, at);
        }
    }
    None
}

/// Gives the occurrence that stands at a time of the rule, as it is now.
fn at_local(event: &Event, reader: &Zone, at: DateTime) -> Option<Occurrence> {
    match event.overrides.iter().find(|other| other.at == at) {
        Some(other) => {
            let mut item = occurrence(event, reader, at, other.start, other.seconds)?;
            item.differs = Some(other.clone());
            Some(item)
        }
        None => occurrence(event, reader, at, at, event.seconds),
    }
}

/// Gives those of some ordered times that the series does not have, exceptions left aside.
///
/// Where telling is too much work, a time is taken to belong.
pub fn strangers(event: &Event, times: &[DateTime]) -> Vec<DateTime> {
    strangers_within(event, times, &mut Budget::new(STEPS_PER_EVENT))
}

/// Gives the same, with the work taken from a budget that others share.
pub(crate) fn strangers_within(
    event: &Event,
    times: &[DateTime],
    shared: &mut Budget,
) -> Vec<DateTime> {
    let (Some(from), Some(to)) = (times.first(), times.last()) else { return Vec::new() };
    let bare = Event { excluded: Vec::new(), ..event.clone() };
    let rule = bare.parsed_rule();
    let mut budget = Budget::new(STEPS_PER_EVENT.min(shared.left()));
    let before = budget.left();
    let mut locals = Locals::new(&bare, rule.as_ref(), *from);
    let mut known = Vec::new();
    while let Some(local) = locals.next(&mut budget) {
        if local > *to {
            break;
        }
        known.push(local);
    }
    shared.spend(before - budget.left());
    if rule.is_some() && budget.is_spent() {
        return Vec::new();
    }
    times.iter().filter(|time| known.binary_search(time).is_err()).copied().collect()
}

/// Tells whether the rule itself gives the event's start; RFC 5545 counts the start in any case.
pub fn is_in_step(event: &Event) -> bool {
    let Some(rule) = event.parsed_rule() else { return true };
    let mut budget = Budget::new(STEPS_PER_EVENT);
    Expansion::new(&rule, event.start, None, event.start).chooses_start(&mut budget)
}

/// Tells how many times the rule gives before a time, exceptions included; none if that is too much work.
pub fn count_before(event: &Event, at: DateTime) -> Option<u32> {
    let rule = event.parsed_rule()?;
    let until = until_local(event, &rule);
    let mut budget = Budget::new(STEPS_PER_EVENT);
    let mut walk = Expansion::new(&rule, event.start, until, DateTime::MIN);
    let mut count = 0;
    while let Some(local) = walk.next(&mut budget) {
        if local >= at {
            return Some(count);
        }
        count += 1;
    }
    (!budget.is_spent()).then_some(count)
}

/// Gives the first occurrence's time that does happen, if there is any.
pub fn first(event: &Event) -> Option<DateTime> {
    let rule = event.parsed_rule();
    let mut budget = Budget::new(STEPS_PER_EVENT);
    Locals::new(event, rule.as_ref(), DateTime::MIN).next(&mut budget)
}

/// Gives the moments between which an event matters; no end where it has none, or none that is easily told.
pub fn bounds(event: &Event) -> (Option<Timestamp>, Option<Timestamp>) {
    let utc = Zone::utc();
    let clock = event.clock(&utc);
    let ends_after = |local: DateTime, seconds: i64| {
        clock.instant(local).and_then(|t| t.checked_add(SignedDuration::from_secs(seconds)).ok())
    };
    let mut starts = clock.instant(event.start);
    let mut ends = ends_after(event.start, event.seconds);
    for local in &event.added {
        starts = starts.min(clock.instant(*local));
        ends = ends.max(ends_after(*local, event.seconds));
    }
    for other in &event.overrides {
        starts = starts.min(clock.instant(other.start));
        ends = ends.max(ends_after(other.start, other.seconds));
    }
    if let Some(rule) = event.parsed_rule() {
        let last = match (until_local(event, &rule), rule.count) {
            (Some(until), _) => Some(until),
            (None, Some(_)) => last_counted(event, &rule),
            (None, None) => None,
        };
        ends = last
            .and_then(|last| ends_after(last, event.seconds))
            .and_then(|end| ends.max(Some(end)));
    }
    if event.is_all_day() {
        starts = starts.and_then(|t| t.checked_sub(AROUND).ok());
        ends = ends.and_then(|t| t.checked_add(AROUND).ok());
    }
    (starts, ends)
}

fn last_counted(event: &Event, rule: &Rule) -> Option<DateTime> {
    let mut budget = Budget::new(STEPS_FOR_END);
    let mut walk = Expansion::new(rule, event.start, None, DateTime::MIN);
    let mut last = None;
    while let Some(local) = walk.next(&mut budget) {
        last = Some(local);
    }
    last.filter(|_| !budget.is_spent())
}

fn occurrence(
    event: &Event,
    reader: &Zone,
    at: DateTime,
    start: DateTime,
    seconds: i64,
) -> Option<Occurrence> {
    let clock = event.clock(reader);
    let begin = clock.instant(start)?;
    // Whole days end at a midnight, however long the days between are.
    let end = if event.is_all_day() {
        let days = jiff::Span::new().try_days(seconds / 86_400).ok()?;
        clock.instant(start.checked_add(days).ok()?)?
    } else {
        begin.checked_add(SignedDuration::from_secs(seconds)).ok()?
    };
    Some(Occurrence { at, start: begin, end, differs: None })
}

/// Gives the end of a rule on the event's own clock.
pub fn until_local(event: &Event, rule: &Rule) -> Option<DateTime> {
    Some(match rule.until? {
        Until::Date(date) => date.at(23, 59, 59, 0),
        Until::Local(local) => local,
        Until::Utc(moment) => {
            event.zone.as_ref().map_or_else(|| Zone::utc().local(moment), |zone| zone.local(moment))
        }
    })
}

/// Is the walk through the local times of an event: rule and single dates merged, exceptions left out.
struct Locals<'e> {
    event: &'e Event,
    walk: Option<Expansion<'e>>,
    ahead: Option<DateTime>,
    added: Peekable<IntoIter<DateTime>>,
    last: Option<DateTime>,
}

impl<'e> Locals<'e> {
    fn new(event: &'e Event, rule: Option<&'e Rule>, from: DateTime) -> Self {
        let mut added: Vec<DateTime> = event.added.clone();
        if rule.is_none() {
            added.push(event.start);
            added.sort_unstable();
        }
        added.retain(|local| *local >= from);
        let walk =
            rule.map(|rule| Expansion::new(rule, event.start, until_local(event, rule), from));
        Self { event, walk, ahead: None, added: added.into_iter().peekable(), last: None }
    }

    fn next(&mut self, budget: &mut Budget) -> Option<DateTime> {
        loop {
            if let (None, Some(walk)) = (self.ahead, &mut self.walk) {
                self.ahead = walk.next(budget);
                // Without knowing what the rule says next, nothing after it can be in order.
                if budget.is_spent() {
                    return None;
                }
            }
            let next = match (self.ahead, self.added.peek()) {
                (Some(ahead), Some(added)) if *added < ahead => self.added.next(),
                (Some(_), _) => self.ahead.take(),
                (None, _) => self.added.next(),
            }?;
            if self.last.is_some_and(|last| next <= last) {
                continue;
            }
            self.last = Some(next);
            if self.event.excluded.binary_search(&next).is_err() {
                return Some(next);
            }
        }
    }
}
