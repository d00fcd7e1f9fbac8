//! Reads the text of a rule. What RFC 5545 forbids is refused with words that say what to write.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;

use super::{ByDay, Frequency, Rule, Until};
use crate::limits::{RULE_CHARS, RULE_COUNT, RULE_TIMES};

/// Reads a rule such as `FREQ=WEEKLY;BYDAY=MO,WE`; a leading `RRULE:` is allowed.
///
/// The error is a sentence for whoever wrote the rule.
pub fn parse(text: &str) -> Result<Rule, String> {
    if text.chars().count() > RULE_CHARS {
        return Err(format!("the rule is longer than {RULE_CHARS} characters"));
    }
    let text = text.trim();
    let text = match text.get(..6) {
        Some(head) if head.eq_ignore_ascii_case("RRULE:") => text.get(6..).unwrap_or_default(),
        _ => text,
    };
    let mut rule = Rule::every(Frequency::Daily);
    let mut seen: Vec<String> = Vec::new();
    for part in text.split(';').filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!("`{}` is not NAME=VALUE", shown(part)));
        };
        let name = name.trim().to_ascii_uppercase();
        let value = value.trim().to_ascii_uppercase();
        if seen.contains(&name) {
            return Err(format!("{} is written twice", shown(&name)));
        }
        read_part(&mut rule, &name, &value)?;
        seen.push(name);
    }
    if !seen.iter().any(|name| name == "FREQ") {
        return Err("FREQ is missing; start with FREQ=DAILY, WEEKLY, MONTHLY or YEARLY".to_owned());
    }
    judge(&rule)?;
    Ok(rule)
}

fn read_part(rule: &mut Rule, name: &str, value: &str) -> Result<(), String> {
    match name {
        "FREQ" => rule.frequency = frequency(value)?,
        "INTERVAL" => {
            rule.interval = positive(value)
                .filter(|n| *n <= 10_000)
                .ok_or("INTERVAL must be a whole number from 1 to 10000")?;
        }
        "COUNT" => {
            let count = positive(value).filter(|n| *n <= RULE_COUNT);
            rule.count = Some(count.ok_or_else(|| {
                format!("COUNT must be a whole number from 1 to {RULE_COUNT}; use UNTIL for more")
            })?);
        }
        "UNTIL" => rule.until = Some(until(value)?),
        "BYMONTH" => rule.by_month = numbers(name, value, 1, 12, Sign::Plus)?,
        "BYWEEKNO" => rule.by_week = numbers(name, value, 1, 53, Sign::Both)?,
        "BYYEARDAY" => rule.by_year_day = numbers(name, value, 1, 366, Sign::Both)?,
        "BYMONTHDAY" => rule.by_month_day = numbers(name, value, 1, 31, Sign::Both)?,
        "BYSETPOS" => rule.by_position = numbers(name, value, 1, 366, Sign::Both)?,
        "BYHOUR" => rule.by_hour = numbers(name, value, 0, 23, Sign::Plus)?,
        "BYMINUTE" => rule.by_minute = numbers(name, value, 0, 59, Sign::Plus)?,
        // A leap second is allowed by the format; no clock here shows one, so it is the 59th.
        "BYSECOND" => {
            let mut seconds = numbers(name, value, 0, 60, Sign::Plus)?;
            seconds.iter_mut().for_each(|second| *second = (*second).min(59));
            seconds.dedup();
            rule.by_second = seconds;
        }
        "BYDAY" => rule.by_day = value.split(',').map(by_day).collect::<Result<_, _>>()?,
        "WKST" => {
            rule.week_start =
                weekday(value).ok_or("WKST must be one of MO, TU, WE, TH, FR, SA, SU")?;
        }
        other => {
            return Err(format!("`{}` is not a part of a recurrence rule", shown(other)));
        }
    }
    Ok(())
}

/// Refuses combinations that mean nothing, and rules that name too many times a day.
fn judge(rule: &Rule) -> Result<(), String> {
    use Frequency as F;
    let numbered = rule.by_day.iter().any(|day| day.nth != 0);
    if rule.count.is_some() && rule.until.is_some() {
        return Err("COUNT and UNTIL cannot stand together; keep one".to_owned());
    }
    if numbered && !matches!(rule.frequency, F::Monthly | F::Yearly) {
        return Err("a BYDAY with a number needs FREQ=MONTHLY or FREQ=YEARLY".to_owned());
    }
    if numbered && !rule.by_week.is_empty() {
        return Err("a BYDAY with a number cannot stand with BYWEEKNO".to_owned());
    }
    if !rule.by_week.is_empty() && rule.frequency != F::Yearly {
        return Err("BYWEEKNO needs FREQ=YEARLY".to_owned());
    }
    if !rule.by_year_day.is_empty() && matches!(rule.frequency, F::Daily | F::Weekly | F::Monthly) {
        return Err("BYYEARDAY cannot stand with FREQ=DAILY, WEEKLY or MONTHLY".to_owned());
    }
    if !rule.by_month_day.is_empty() && rule.frequency == F::Weekly {
        return Err("BYMONTHDAY cannot stand with FREQ=WEEKLY; use FREQ=MONTHLY".to_owned());
    }
    let selects = [
        rule.by_month.len(),
        rule.by_week.len(),
        rule.by_year_day.len(),
        rule.by_month_day.len(),
        rule.by_day.len(),
        rule.by_hour.len(),
        rule.by_minute.len(),
        rule.by_second.len(),
    ];
    if !rule.by_position.is_empty() && selects.iter().all(|n| *n == 0) {
        return Err("BYSETPOS needs another BY part to choose from".to_owned());
    }
    let times = [&rule.by_hour, &rule.by_minute, &rule.by_second]
        .iter()
        .fold(1, |product, list| product * list.len().max(1));
    if times > RULE_TIMES {
        return Err(format!("the rule names more than {RULE_TIMES} times a day"));
    }
    Ok(())
}

fn frequency(value: &str) -> Result<Frequency, String> {
    Ok(match value {
        "SECONDLY" => Frequency::Secondly,
        "MINUTELY" => Frequency::Minutely,
        "HOURLY" => Frequency::Hourly,
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        _ => {
            return Err(format!(
                "`{}` is no frequency; use DAILY, WEEKLY, MONTHLY or YEARLY",
                shown(value)
            ));
        }
    })
}

fn positive(value: &str) -> Option<u32> {
    digits(value)?.parse().ok().filter(|n| *n > 0)
}

fn digits(value: &str) -> Option<&str> {
    (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())).then_some(value)
}

enum Sign {
    Plus,
    Both,
}

/// Reads a list of numbers, sorted and each once, so that a rule has one way to be written.
#[expect(clippy::needless_pass_by_value, reason = "a word, not a value")]
fn numbers(name: &str, value: &str, least: i16, most: i16, sign: Sign) -> Result<Vec<i16>, String> {
    let mut list = Vec::new();
    for item in value.split(',') {
        let (bare, negative) = match item.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (item.strip_prefix('+').unwrap_or(item), false),
        };
        let number = digits(bare).and_then(|text| text.parse::<i16>().ok());
        let allowed = number.filter(|n| (least..=most).contains(n));
        match (allowed, negative, &sign) {
            (Some(n), false, _) => list.push(n),
            (Some(n), true, Sign::Both) => list.push(-n),
            _ => {
                let minus = if matches!(sign, Sign::Both) { ", or the same negative" } else { "" };
                return Err(format!("{name} takes numbers from {least} to {most}{minus}"));
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

fn by_day(item: &str) -> Result<ByDay, String> {
    let wrong = || format!("`{}` is no BYDAY; write MO, TU, …, or 1MO, -1FR", shown(item));
    let at = item.len().checked_sub(2).ok_or_else(wrong)?;
    let (number, day) = item.split_at_checked(at).ok_or_else(wrong)?;
    let weekday = weekday(day).ok_or_else(wrong)?;
    if number.is_empty() {
        return Ok(ByDay { nth: 0, weekday });
    }
    let list = numbers("BYDAY", number, 1, 53, Sign::Both).map_err(|_| wrong())?;
    match list.as_slice() {
        [nth] => Ok(ByDay { nth: *nth, weekday }),
        _ => Err(wrong()),
    }
}

fn weekday(text: &str) -> Option<Weekday> {
    Some(match text {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return None,
    })
}

fn until(value: &str) -> Result<Until, String> {
    let wrong = || {
        format!(
            "`{}` is no UNTIL; write 20261231T235959Z, or 20261231 for all-day events",
            shown(value)
        )
    };
    if let Some(date) = basic_date(value) {
        return Ok(Until::Date(date));
    }
    match value.strip_suffix('Z') {
        Some(text) => {
            let local = basic_time(text).ok_or_else(wrong)?;
            let moment = TimeZone::UTC.to_timestamp(local).map_err(|_| wrong())?;
            Ok(Until::Utc(moment))
        }
        None => basic_time(value).map(Until::Local).ok_or_else(wrong),
    }
}

/// Reads `20260421`.
pub(crate) fn basic_date(text: &str) -> Option<Date> {
    if text.len() != 8 {
        return None;
    }
    let text = digits(text)?;
    let year = text.get(..4)?.parse().ok()?;
    let month = text.get(4..6)?.parse().ok()?;
    let day = text.get(6..)?.parse().ok()?;
    // Nothing happens in the year 0; the neighbouring years must exist to be looked at.
    Date::new(year, month, day).ok().filter(|date| date.year() >= 1)
}

/// Reads `20260421T100000`.
pub(crate) fn basic_time(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once('T')?;
    let date = basic_date(date)?;
    if time.len() != 6 {
        return None;
    }
    let time = digits(time)?;
    let hour = time.get(..2)?.parse().ok()?;
    let minute = time.get(2..4)?.parse().ok()?;
    let second = time.get(4..)?.parse::<i8>().ok().filter(|n| *n <= 60)?;
    Some(date.to_datetime(Time::new(hour, minute, second.min(59), 0).ok()?))
}

/// Gives the beginning of what someone wrote, fit for a message.
fn shown(text: &str) -> String {
    crate::failure::shown(text)
}
