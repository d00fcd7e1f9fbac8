//! Time zones: by their IANA names, or as fixed offsets.

use std::fmt;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use crate::failure::shown;

/// Is the database that comes with the program: the same on every machine.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Is a time zone with the name it is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Gives UTC.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// Finds a zone by its IANA name, or reads a fixed offset such as `+08:00`.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some(offset) = read_offset(name) {
            return Ok(Self::fixed(offset));
        }
        if name.eq_ignore_ascii_case("UTC") || name.eq_ignore_ascii_case("Etc/UTC") || name == "Z" {
            return Ok(Self::utc());
        }
        match DATABASE.get(name) {
            Ok(zone) if zone.iana_name().is_some_and(|found| found != "Etc/Unknown") => {
                let name = zone.iana_name().unwrap_or(name).to_owned();
                Ok(Self { name, zone })
            }
            _ => Err(format!(
                "`{}` is no time zone; write an IANA name such as Europe/Berlin or Asia/Shanghai",
                shown(name)
            )),
        }
    }

    /// Gives the zone whose clocks never change.
    pub fn fixed(offset: Offset) -> Self {
        if offset == Offset::UTC {
            return Self::utc();
        }
        Self { name: written_offset(offset, ":"), zone: offset.to_time_zone() }
    }

    /// Gives the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether this is an offset without a place, UTC excluded.
    pub fn is_fixed(&self) -> bool {
        self.name.starts_with(['+', '-'])
    }

    /// Gives the zone itself.
    pub fn time_zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Gives the moment at which this zone's clocks show a time.
    ///
    /// A time that is skipped is read with the offset before the gap, one that comes twice is the
    /// first (RFC 5545 §3.3.5).
    pub fn instant(&self, local: DateTime) -> Option<Timestamp> {
        self.zone.to_timestamp(local).ok()
    }

    /// Tells whether this zone's clocks skip a time.
    pub fn skips(&self, local: DateTime) -> bool {
        matches!(self.zone.to_ambiguous_timestamp(local).offset(), AmbiguousOffset::Gap { .. })
    }

    /// Gives what this zone's clocks show at a moment.
    pub fn local(&self, moment: Timestamp) -> DateTime {
        self.zone.to_datetime(moment)
    }

    /// Writes a moment as RFC 3339 with this zone's offset.
    pub fn written(&self, moment: Timestamp) -> String {
        let offset = self.zone.to_offset(moment);
        let local = offset.to_datetime(moment);
        format!("{}{}", local.strftime("%Y-%m-%dT%H:%M:%S"), written_offset(offset, ":"))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name)
    }
}

/// Writes an offset as `+08:00`, with what stands between hours and minutes.
pub(crate) fn written_offset(offset: Offset, between: &str) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let all = seconds.unsigned_abs();
    let mut out = format!("{sign}{:02}{between}{:02}", all / 3600, all / 60 % 60);
    if between.is_empty() && !all.is_multiple_of(60) {
        out.push_str(&format!("{:02}", all % 60));
    }
    out
}

/// Reads `+08:00`.
fn read_offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let two = |text: &str, most: i32| {
        let fits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| text.parse::<i32>().ok()).flatten().filter(|n| *n <= most)
    };
    let seconds = two(hours, 23)? * 3600 + two(minutes, 59)? * 60;
    Offset::from_seconds(sign * seconds).ok()
}
