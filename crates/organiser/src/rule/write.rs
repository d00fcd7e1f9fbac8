//! Writes a rule as RFC 5545 has it.

use std::fmt;

use jiff::civil::Weekday;

use super::{ByDay, Frequency, Rule, Until};

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secondly => "SECONDLY",
            Self::Minutely => "MINUTELY",
            Self::Hourly => "HOURLY",
            Self::Daily => "DAILY",
            Self::Weekly => "WEEKLY",
            Self::Monthly => "MONTHLY",
            Self::Yearly => "YEARLY",
        })
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => write!(f, "{}", date.strftime("%Y%m%d")),
            Self::Local(time) => write!(f, "{}", time.strftime("%Y%m%dT%H%M%S")),
            Self::Utc(moment) => write!(f, "{}", moment.strftime("%Y%m%dT%H%M%SZ")),
        }
    }
}

impl fmt::Display for ByDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nth != 0 {
            write!(f, "{}", self.nth)?;
        }
        f.write_str(short(self.weekday))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FREQ={}", self.frequency)?;
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        if let Some(until) = self.until {
            write!(f, ";UNTIL={until}")?;
        }
        if let Some(count) = self.count {
            write!(f, ";COUNT={count}")?;
        }
        list(f, "BYMONTH", &self.by_month)?;
        list(f, "BYWEEKNO", &self.by_week)?;
        list(f, "BYYEARDAY", &self.by_year_day)?;
        list(f, "BYMONTHDAY", &self.by_month_day)?;
        list(f, "BYDAY", &self.by_day)?;
        list(f, "BYHOUR", &self.by_hour)?;
        list(f, "BYMINUTE", &self.by_minute)?;
        list(f, "BYSECOND", &self.by_second)?;
        list(f, "BYSETPOS", &self.by_position)?;
        if self.week_start != Weekday::Monday {
            write!(f, ";WKST={}", short(self.week_start))?;
        }
        Ok(())
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, values: &[T]) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        if at == 0 {
            write!(f, ";{name}={value}")?;
        } else {
            write!(f, ",{value}")?;
        }
    }
    Ok(())
}

fn short(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "MO",
        Weekday::Tuesday => "TU",
        Weekday::Wednesday => "WE",
        Weekday::Thursday => "TH",
        Weekday::Friday => "FR",
        Weekday::Saturday => "SA",
        Weekday::Sunday => "SU",
    }
}
