//! Reads the dates and times of inputs: dates are dates, times carry an offset.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;

use crate::failure::{Failure, shown};
use crate::zone::{Zone, written_offset};

/// Is the first year a date may have.
pub const FIRST_YEAR: i16 = 1600;
/// Is the last year a date may have.
pub const LAST_YEAR: i16 = 9000;

/// Is a moment as it was written, with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The moment.
    pub instant: Timestamp,
    /// The offset it was written with.
    pub offset: Offset,
}

/// Reads `2026-04-21`.
pub(crate) fn date(text: &str, pointer: &str) -> Result<Date, Failure> {
    let strict = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let parsed = strict.then(|| text.parse::<Date>().ok()).flatten();
    match parsed {
        Some(date) if (FIRST_YEAR..=LAST_YEAR).contains(&date.year()) => Ok(date),
        Some(_) => Err(year(pointer, text)),
        None => Err(Failure::input(
            pointer,
            format!("`{}` is no date; write it as 2026-04-21", shown(text)),
        )),
    }
}

/// Reads `2026-04-21T10:00:00+08:00`; `zone` is where the caller lives, for a better hint.
pub(crate) fn moment(text: &str, pointer: &str, zone: &Zone) -> Result<Moment, Failure> {
    let wrong = || {
        Failure::input(
            pointer,
            format!(
                "`{}` is no time; write it as 2026-04-21T10:00:00+08:00 (RFC 3339 with an offset)",
                shown(text)
            ),
        )
    };
    let shaped = text.len() <= 40 && text.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let pieces = shaped.then(|| Pieces::parse(text).ok()).flatten().ok_or_else(wrong)?;
    let date = pieces.date();
    if !(FIRST_YEAR..=LAST_YEAR).contains(&date.year()) {
        return Err(year(pointer, text));
    }
    let Some(time) = pieces.time() else {
        let hint = suggestion(date.to_datetime(Time::constant(9, 0, 0, 0)), zone);
        return Err(Failure::input(
            pointer,
            format!("`{}` is a date, not a time; write for example {hint}", shown(text)),
        ));
    };
    let local = whole_seconds(date.to_datetime(time));
    let offset = match pieces.offset() {
        Some(PiecesOffset::Zulu) => Offset::UTC,
        Some(PiecesOffset::Numeric(numeric)) => numeric.offset(),
        _ => {
            let hint = suggestion(local, zone);
            return Err(Failure::input(
                pointer,
                format!("`{}` has no offset from UTC; write for example {hint}", shown(text)),
            ));
        }
    };
    if pieces.time_zone_annotation().is_some() {
        return Err(Failure::input(
            pointer,
            format!(
                "`{}` names a time zone in brackets; write the name in `time_zone` instead",
                shown(text)
            ),
        ));
    }
    let instant = offset.to_timestamp(local).map_err(|_| wrong())?;
    Ok(Moment { instant, offset })
}

/// Finds a time zone by the name in an input.
pub(crate) fn zone(name: &str, pointer: &str) -> Result<Zone, Failure> {
    Zone::named(name).map_err(|message| Failure::input(pointer, message))
}

/// Drops what is finer than a second: calendars know nothing finer.
pub(crate) fn whole_seconds(time: DateTime) -> DateTime {
    time.date().at(time.hour(), time.minute(), time.second(), 0)
}

fn suggestion(local: DateTime, zone: &Zone) -> String {
    let moment = zone.instant(local);
    let offset = moment.map_or(Offset::UTC, |moment| zone.time_zone().to_offset(moment));
    format!("{}{}", local.strftime("%Y-%m-%dT%H:%M:%S"), written_offset(offset, ":"))
}

fn year(pointer: &str, text: &str) -> Failure {
    Failure::input(
        pointer,
        format!("`{}` is not between the years {FIRST_YEAR} and {LAST_YEAR}", shown(text)),
    )
}
