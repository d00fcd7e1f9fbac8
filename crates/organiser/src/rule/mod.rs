//! Recurrence rules (RFC 5545 §3.3.10): what a rule says, and when it happens.
//!
//! Rules are expanded over the clock on the wall, without a time zone: a meeting at nine stays at
//! nine. Whoever asks turns the local times into instants.

mod days;
mod expand;
mod parse;
mod write;

use jiff::civil::{Date, DateTime, Weekday};

pub use expand::{Budget, Expansion};
pub use parse::parse;
pub(crate) use parse::{basic_date, basic_time};

/// Is how often a rule begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frequency {
    /// Every second.
    Secondly,
    /// Every minute.
    Minutely,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
}

/// Is the last moment a rule may reach, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A whole day, its end included.
    Date(Date),
    /// A time on the clock of the event.
    Local(DateTime),
    /// A moment.
    Utc(jiff::Timestamp),
}

/// Is a day of the week, perhaps only the nth of its month or year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByDay {
    /// Which one, counted from the end if negative; 0 is every one.
    pub nth: i16,
    /// The day of the week.
    pub weekday: Weekday,
}

/// Is a recurrence rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// How often the rule begins anew.
    pub frequency: Frequency,
    /// How many periods lie between one and the next.
    pub interval: u32,
    /// After how many occurrences it ends.
    pub count: Option<u32>,
    /// When it ends.
    pub until: Option<Until>,
    /// In which months.
    pub by_month: Vec<i16>,
    /// In which weeks of the year.
    pub by_week: Vec<i16>,
    /// On which days of the year.
    pub by_year_day: Vec<i16>,
    /// On which days of the month.
    pub by_month_day: Vec<i16>,
    /// On which days of the week.
    pub by_day: Vec<ByDay>,
    /// In which hours.
    pub by_hour: Vec<i16>,
    /// In which minutes.
    pub by_minute: Vec<i16>,
    /// In which seconds.
    pub by_second: Vec<i16>,
    /// Which ones of each period's occurrences.
    pub by_position: Vec<i16>,
    /// The day a week starts on.
    pub week_start: Weekday,
}

impl Rule {
    /// Gives a rule that says nothing but how often.
    pub fn every(frequency: Frequency) -> Self {
        Self {
            frequency,
            interval: 1,
            count: None,
            until: None,
            by_month: Vec::new(),
            by_week: Vec::new(),
            by_year_day: Vec::new(),
            by_month_day: Vec::new(),
            by_day: Vec::new(),
            by_hour: Vec::new(),
            by_minute: Vec::new(),
            by_second: Vec::new(),
            by_position: Vec::new(),
            week_start: Weekday::Monday,
        }
    }
}
