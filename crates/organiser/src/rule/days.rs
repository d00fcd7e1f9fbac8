//! Tells which days a rule chooses, by its parts that speak of days.

use jiff::civil::{Date, Weekday};

use super::{ByDay, Frequency, Rule};

/// Is the day parts of a rule, with what the start fills in.
pub(super) struct Days {
    by_month: Vec<i16>,
    by_week: Vec<i16>,
    by_year_day: Vec<i16>,
    by_month_day: Vec<i16>,
    by_day: Vec<ByDay>,
    week_start: Weekday,
    /// Whether a numbered day is counted within its month, not within its year.
    by_month_count: bool,
}

impl Days {
    /// Takes the parts of a rule; what it leaves open comes from the start (RFC 5545 §3.3.10).
    pub(super) fn of(rule: &Rule, start: Date) -> Self {
        let mut days = Self {
            by_month: rule.by_month.clone(),
            by_week: rule.by_week.clone(),
            by_year_day: rule.by_year_day.clone(),
            by_month_day: rule.by_month_day.clone(),
            by_day: rule.by_day.clone(),
            week_start: rule.week_start,
            by_month_count: rule.frequency == Frequency::Monthly || !rule.by_month.is_empty(),
        };
        let open =
            days.by_year_day.is_empty() && days.by_month_day.is_empty() && days.by_day.is_empty();
        let own_weekday = ByDay { nth: 0, weekday: start.weekday() };
        match rule.frequency {
            Frequency::Yearly if open && !days.by_week.is_empty() => days.by_day.push(own_weekday),
            Frequency::Yearly if open => {
                if days.by_month.is_empty() {
                    days.by_month.push(i16::from(start.month()));
                }
                days.by_month_day.push(i16::from(start.day()));
            }
            Frequency::Monthly if open => days.by_month_day.push(i16::from(start.day())),
            Frequency::Weekly if open => days.by_day.push(own_weekday),
            _ => {}
        }
        days
    }

    /// Tells whether the rule chooses a month at all, which spares a look at its days.
    pub(super) fn has_month(&self, date: Date) -> bool {
        self.by_month.is_empty() || self.by_month.contains(&i16::from(date.month()))
    }

    /// Tells whether the rule chooses a day.
    pub(super) fn has(&self, date: Date) -> bool {
        self.has_month(date)
            && (self.by_month_day.is_empty()
                || either_end(&self.by_month_day, date.day().into(), date.days_in_month().into()))
            && (self.by_year_day.is_empty()
                || either_end(&self.by_year_day, date.day_of_year(), date.days_in_year()))
            && (self.by_day.is_empty() || self.by_day.iter().any(|day| self.is_day(*day, date)))
            && (self.by_week.is_empty() || self.is_week(date))
    }

    fn is_day(&self, day: ByDay, date: Date) -> bool {
        if day.weekday != date.weekday() {
            return false;
        }
        let (at, of) = if self.by_month_count {
            (i16::from(date.day()), i16::from(date.days_in_month()))
        } else {
            (date.day_of_year(), date.days_in_year())
        };
        match day.nth {
            0 => true,
            nth if nth > 0 => (at - 1) / 7 + 1 == nth,
            nth => (of - at) / 7 + 1 == -nth,
        }
    }

    fn is_week(&self, date: Date) -> bool {
        let (number, weeks) = week_of(date, self.week_start);
        either_end(&self.by_week, number, weeks)
    }
}

/// Tells whether a list names a place, counted from either end.
fn either_end(list: &[i16], at: i16, of: i16) -> bool {
    list.contains(&at) || list.contains(&(at - of - 1))
}

/// Gives the number of a day's week and how many weeks the year of that week has.
///
/// The first week of a year is the first with at least four days in it.
fn week_of(date: Date, week_start: Weekday) -> (i16, i16) {
    let year = date.year();
    // Day of the year of the first day of week 1, which may lie before the year.
    let first = |year: i16| {
        let new_year = Date::new(year, 1, 1).unwrap_or(date);
        let into_week = i16::from(new_year.weekday().since(week_start));
        if into_week <= 3 { 1 - into_week } else { 8 - into_week }
    };
    let length = |year: i16| if Date::new(year, 2, 29).is_ok() { 366 } else { 365 };
    let day = date.day_of_year();
    let this = first(year);
    if day < this {
        // Before the first week: it belongs to the last week of the year before.
        let days = length(year - 1);
        let before = first(year - 1);
        return ((day + days - before) / 7 + 1, (this + days - before) / 7);
    }
    let days = length(year);
    let weeks = (first(year.saturating_add(1).min(9999)) + days - this) / 7;
    let number = (day - this) / 7 + 1;
    if number > weeks {
        let next = year + 1;
        let next_weeks = (first(next + 1) + length(next) - first(next)) / 7;
        return (number - weeks, next_weeks);
    }
    (number, weeks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn weeks_are_those_of_iso_when_they_start_on_monday() {
        let mut day = date(1995, 1, 1);
        while day < date(2045, 1, 1) {
            let iso = day.iso_week_date();
            let weeks = i16::from(iso.weeks_in_year());
            assert_eq!(week_of(day, Weekday::Monday), (iso.week().into(), weeks), "{day}");
            day = day.tomorrow().unwrap();
        }
    }

    #[test]
    fn the_start_of_the_week_moves_the_weeks() {
        // 1997-01-05 is a Sunday: with Monday weeks it ends week 1, with Sunday weeks it starts 2.
        assert_eq!(week_of(date(1997, 1, 5), Weekday::Monday).0, 1);
        assert_eq!(week_of(date(1997, 1, 5), Weekday::Sunday).0, 2);
    }
}
