//! Expands a rule: local times in order, with a bound on the work.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, ToSpan};

use super::days::Days;
use super::{Frequency, Rule};

/// Is how much work may still be done. A rule that never happens must not keep anybody waiting.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u32,
}

impl Budget {
    /// Gives a budget of so many steps.
    pub fn new(steps: u32) -> Self {
        Self { left: steps }
    }

    /// Tells whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Gives what is left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Takes steps away; false when there were not enough.
    pub fn spend(&mut self, steps: u32) -> bool {
        let enough = self.left > steps;
        self.left = self.left.saturating_sub(steps);
        enough
    }
}

/// Is the walk through the occurrences of a rule, the start first and in order.
///
/// The start counts as the first occurrence even where the rule does not choose it (RFC 5545
/// §3.8.5.3).
pub struct Expansion<'r> {
    rule: &'r Rule,
    days: Days,
    start: DateTime,
    until: Option<DateTime>,
    from: DateTime,
    /// The times of day of a chosen day, or what is open within a period shorter than a day.
    times: Vec<Time>,
    period: i64,
    chosen: Vec<Date>,
    places: Places,
    given: u32,
    begun: bool,
    over: bool,
}

/// Is what of a period is still to come, as places in its ordered set.
enum Places {
    Run(usize, usize),
    Some(std::vec::IntoIter<usize>),
}

impl Places {
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Run(at, end) if *at < *end => {
                *at += 1;
                Some(*at - 1)
            }
            Self::Run(..) => None,
            Self::Some(list) => list.next(),
        }
    }
}

impl<'r> Expansion<'r> {
    /// Begins a walk. `until` is the end on the event's own clock; what lies before `from` is left out.
    pub fn new(rule: &'r Rule, start: DateTime, until: Option<DateTime>, from: DateTime) -> Self {
        let mut walk = Self {
            rule,
            days: Days::of(rule, start.date()),
            start,
            until,
            from,
            times: times(rule, start),
            period: 0,
            chosen: Vec::new(),
            places: Places::Run(0, 0),
            given: 0,
            begun: false,
            over: false,
        };
        if rule.count.is_none() && from > start {
            walk.skip_to(from);
        }
        walk
    }

    /// Gives the next occurrence; nothing at the end, or when the budget is spent.
    pub fn next(&mut self, budget: &mut Budget) -> Option<DateTime> {
        while !self.over {
            let found = if self.begun { self.candidate(budget)? } else { self.start };
            if self.begun && found <= self.start {
                continue;
            }
            self.begun = true;
            if self.until.is_some_and(|until| found > until) {
                self.over = true;
                return None;
            }
            self.given = self.given.saturating_add(1);
            self.over = self.rule.count.is_some_and(|count| self.given >= count);
            if found >= self.from {
                return Some(found);
            }
        }
        None
    }

    /// Tells whether the rule chooses the start. True where telling is too much work.
    pub fn chooses_start(mut self, budget: &mut Budget) -> bool {
        loop {
            match self.candidate(budget) {
                Some(found) if found < self.start => {}
                Some(found) => return found == self.start,
                None => return budget.is_spent(),
            }
        }
    }

    /// Gives the next time that the rule chooses, also before the start.
    fn candidate(&mut self, budget: &mut Budget) -> Option<DateTime> {
        loop {
            if !budget.spend(1) {
                return None;
            }
            if let Some(place) = self.places.next() {
                let per_day = self.times.len().max(1);
                let date = self.chosen.get(place / per_day)?;
                let time = self.times.get(place % per_day)?;
                return Some(date.to_datetime(*time));
            }
            let price = match self.rule.frequency {
                Frequency::Yearly => 12,
                Frequency::Monthly => 2,
                _ => 1,
            };
            if !budget.spend(price) {
                return None;
            }
            if self.load().is_none() {
                self.over = true;
                return None;
            }
        }
    }

    /// Finds what the present period holds, and steps to the next; nothing past the last year.
    fn load(&mut self) -> Option<()> {
        let step = self.period.checked_mul(i64::from(self.rule.interval))?;
        self.chosen.clear();
        match self.rule.frequency {
            Frequency::Yearly => {
                let year = i64::from(self.start.year()).checked_add(step)?;
                self.choose_year(i16::try_from(year).ok()?)?;
            }
            Frequency::Monthly => {
                let month = (i64::from(self.start.year()) * 12)
                    .checked_add(i64::from(self.start.month()) - 1)?
                    .checked_add(step)?;
                let year = i16::try_from(month.div_euclid(12)).ok()?;
                let first =
                    Date::new(year, i8::try_from(month.rem_euclid(12)).ok()? + 1, 1).ok()?;
                self.choose_month(first);
            }
            Frequency::Weekly => {
                let first = self.week_begin()?.checked_add((step.checked_mul(7)?).days_checked()?);
                let mut day = first.ok()?;
                for _ in 0..7 {
                    if self.days.has(day) {
                        self.chosen.push(day);
                    }
                    match day.tomorrow() {
                        Ok(next) => day = next,
                        Err(_) => break,
                    }
                }
            }
            _ => return self.load_short(step),
        }
        self.period += 1;
        self.place();
        Some(())
    }

    fn choose_year(&mut self, year: i16) -> Option<()> {
        for month in 1..=12 {
            self.choose_month(Date::new(year, month, 1).ok()?);
        }
        Some(())
    }

    fn choose_month(&mut self, first: Date) {
        if !self.days.has_month(first) {
            return;
        }
        for number in 1..=first.days_in_month() {
            if let Ok(day) = Date::new(first.year(), first.month(), number)
                && self.days.has(day)
            {
                self.chosen.push(day);
            }
        }
    }

    fn week_begin(&self) -> Option<Date> {
        let date = self.start.date();
        let into = date.weekday().since(self.rule.week_start);
        date.checked_sub(i64::from(into).days()).ok()
    }

    /// Finds what a period of a day or less holds, and jumps over days and hours that hold nothing.
    fn load_short(&mut self, step: i64) -> Option<()> {
        let unit = self.unit();
        let begin = self.short_begin()?;
        let moment = begin
            .checked_add(SignedDuration::from_secs(step.checked_mul(unit)?))
            .ok()
            .filter(|moment| moment.year() <= 9999)?;
        let date = moment.date();
        self.places = Places::Run(0, 0);
        let jump = if !self.days.has_month(date) {
            date.last_of_month().tomorrow().ok()?.to_datetime(Time::midnight())
        } else if !self.days.has(date) {
            date.tomorrow().ok()?.to_datetime(Time::midnight())
        } else if self.rule.frequency < Frequency::Daily
            && misses(&self.rule.by_hour, moment.hour())
        {
            let hour = date.at(moment.hour(), 0, 0, 0);
            hour.checked_add(1.hour()).ok()?
        } else if self.rule.frequency < Frequency::Hourly
            && misses(&self.rule.by_minute, moment.minute())
        {
            let minute = date.at(moment.hour(), moment.minute(), 0, 0);
            minute.checked_add(1.minute()).ok()?
        } else {
            self.period += 1;
            if self.rule.frequency == Frequency::Secondly
                && misses(&self.rule.by_second, moment.second())
            {
                return Some(());
            }
            self.times_within(moment);
            self.chosen.push(date);
            self.place();
            return Some(());
        };
        // The first period that does not begin before the jump's end.
        let gap = seconds_between(begin, jump)?;
        let length = unit.checked_mul(i64::from(self.rule.interval))?;
        self.period = (gap + length - 1).div_euclid(length).max(self.period + 1);
        Some(())
    }

    /// Fills in the hour, minute and second of a period shorter than a day.
    fn times_within(&mut self, moment: DateTime) {
        let (hour, minute) = (moment.hour(), moment.minute());
        for time in &mut self.times {
            *time = match self.rule.frequency {
                Frequency::Hourly => Time::new(hour, time.minute(), time.second(), 0),
                Frequency::Minutely => Time::new(hour, minute, time.second(), 0),
                Frequency::Secondly => Time::new(hour, minute, moment.second(), 0),
                _ => return,
            }
            .unwrap_or(*time);
        }
    }

    /// Turns the chosen days into places, by BYSETPOS where there is one.
    fn place(&mut self) {
        let size = self.chosen.len() * self.times.len();
        if self.rule.by_position.is_empty() {
            self.places = Places::Run(0, size);
            return;
        }
        let mut places: Vec<usize> = self
            .rule
            .by_position
            .iter()
            .filter_map(|position| {
                let distance = usize::from(position.unsigned_abs());
                if *position > 0 { distance.checked_sub(1) } else { size.checked_sub(distance) }
            })
            .filter(|place| *place < size)
            .collect();
        places.sort_unstable();
        places.dedup();
        self.places = Places::Some(places.into_iter());
    }

    /// Steps over the periods that end before a time, which needs no counting.
    fn skip_to(&mut self, from: DateTime) {
        let start = self.start;
        let periods = match self.rule.frequency {
            Frequency::Yearly => i64::from(from.year()) - i64::from(start.year()),
            Frequency::Monthly => {
                (i64::from(from.year()) - i64::from(start.year())) * 12 + i64::from(from.month())
                    - i64::from(start.month())
            }
            Frequency::Weekly => {
                self.week_begin()
                    .and_then(|begin| seconds_between(begin.to_datetime(Time::midnight()), from))
                    .unwrap_or(0)
                    / (7 * 86_400)
            }
            _ => {
                let begin = self.short_begin().unwrap_or(start);
                seconds_between(begin, from).unwrap_or(0) / self.unit()
            }
        };
        self.period = (periods / i64::from(self.rule.interval)).max(0);
        // The start was before; the first period may not be looked at again.
        self.begun = true;
        self.given = 1;
    }

    fn unit(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Secondly => 1,
            Frequency::Minutely => 60,
            Frequency::Hourly => 3_600,
            _ => 86_400,
        }
    }

    /// Gives the beginning of the start's own period, where that is a day or shorter.
    fn short_begin(&self) -> Option<DateTime> {
        let start = self.start;
        let time = match self.rule.frequency {
            Frequency::Secondly => Time::new(start.hour(), start.minute(), start.second(), 0),
            Frequency::Minutely => Time::new(start.hour(), start.minute(), 0, 0),
            Frequency::Hourly => Time::new(start.hour(), 0, 0, 0),
            _ => Ok(Time::midnight()),
        };
        Some(start.date().to_datetime(time.ok()?))
    }
}

fn misses(list: &[i16], value: i8) -> bool {
    !list.is_empty() && !list.contains(&i16::from(value))
}

fn seconds_between(from: DateTime, to: DateTime) -> Option<i64> {
    Some(to.duration_since(from).as_secs())
}

/// Makes days of a count, or nothing where no span could hold it.
trait DaysChecked {
    fn days_checked(self) -> Option<jiff::Span>;
}

impl DaysChecked for i64 {
    fn days_checked(self) -> Option<jiff::Span> {
        jiff::Span::new().try_days(self).ok()
    }
}

/// Gives the times of day that a rule names, in order; what it leaves open comes from the start.
fn times(rule: &Rule, start: DateTime) -> Vec<Time> {
    let or_own = |list: &[i16], own: i8, limits: bool| -> Vec<i8> {
        if list.is_empty() || limits {
            vec![own]
        } else {
            list.iter().filter_map(|n| i8::try_from(*n).ok()).collect()
        }
    };
    let hours = or_own(&rule.by_hour, start.hour(), rule.frequency < Frequency::Daily);
    let minutes = or_own(&rule.by_minute, start.minute(), rule.frequency < Frequency::Hourly);
    let seconds = or_own(&rule.by_second, start.second(), rule.frequency < Frequency::Minutely);
    let mut times = Vec::new();
    for hour in &hours {
        for minute in &minutes {
            for second in &seconds {
                times.extend(Time::new(*hour, *minute, *second, 0));
            }
        }
    }
    times
}
