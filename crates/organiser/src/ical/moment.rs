//! Dates, times and durations of files.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::line::Line;
use super::zones::Zones;
use crate::rule::{basic_date, basic_time};
use crate::times::{FIRST_YEAR, LAST_YEAR};
use crate::zone::Zone;

/// Is a date or a time of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A date.
    Date(Date),
    /// What the clock of a zone shows; whether the zone was only assumed.
    Local(DateTime, Zone, bool),
}

impl Value {
    /// Gives the moment; for a date, that of its midnight in a zone.
    pub(super) fn instant(&self, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Date(date) => zone.instant(date.at(0, 0, 0, 0)),
            Self::Local(local, own, _) => own.instant(*local),
        }
    }
}

/// Reads the values of a line such as DTSTART, RDATE or EXDATE.
pub(super) fn values(line: &Line, zones: &Zones) -> Result<Vec<Value>, String> {
    line.value.split(',').map(|text| value(text.trim(), line, zones)).collect()
}

/// Reads the one value of a line.
pub(super) fn single(line: &Line, zones: &Zones) -> Result<Value, String> {
    value(line.value.trim(), line, zones)
}

fn value(text: &str, line: &Line, zones: &Zones) -> Result<Value, String> {
    // A PERIOD begins like a time; how long it lasts is not kept.
    let text = text.split_once('/').map_or(text, |(start, _)| start);
    let shown = crate::failure::shown(text);
    let wrong = || format!("`{shown}` is neither a date nor a time");
    let in_reach = |date: Date| (FIRST_YEAR..=LAST_YEAR).contains(&date.year());
    if let Some(date) = basic_date(text) {
        return if in_reach(date) { Ok(Value::Date(date)) } else { Err(wrong()) };
    }
    let (bare, zulu) = text.strip_suffix('Z').map_or((text, false), |bare| (bare, true));
    let local = basic_time(bare).filter(|local| in_reach(local.date())).ok_or_else(wrong)?;
    if zulu {
        return Ok(Value::Local(local, Zone::utc(), false));
    }
    match line.parameter("TZID") {
        Some(id) => Ok(Value::Local(local, zones.find(id)?, false)),
        None => Ok(Value::Local(local, zones.assumed.clone(), true)),
    }
}

/// Reads a moment such as DTSTAMP, which is always in UTC.
pub(super) fn stamp(line: &Line) -> Option<Timestamp> {
    let local = basic_time(line.value.trim().strip_suffix('Z')?)?;
    Offset::UTC.to_timestamp(local).ok()
}

/// Reads a duration such as `P1DT2H`, in seconds; a negative one is none.
pub(super) fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text).strip_prefix('P')?;
    let (days, clock) = text.split_once('T').map_or((text, None), |(d, t)| (d, Some(t)));
    let mut seconds = units(days, &[('W', 604_800), ('D', 86_400)])?;
    if let Some(clock) = clock {
        seconds = seconds.checked_add(units(clock, &[('H', 3_600), ('M', 60), ('S', 1)])?)?;
    }
    Some(seconds)
}

fn units(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut total: i64 = 0;
    for (unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(*unit) {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(*seconds)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_read_or_refused() {
        assert_eq!(duration("P15DT5H0M20S"), Some(15 * 86_400 + 5 * 3_600 + 20));
        assert_eq!(duration("P7W"), Some(7 * 604_800));
        assert_eq!(duration("PT1H"), Some(3_600));
        assert_eq!(duration("PT0S"), Some(0));
        for text in ["", "P1", "1D", "-PT1H", "PT1H1H", "P1S", "PTH", "P99999999999999999W"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
