//! The time zones of files: finding what a TZID means, and describing zones in VTIMEZONEs.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

use super::component::Component;
use super::fold::fold;
use super::windows;
use crate::zone::{Zone, written_offset};

/// Is the zones a file speaks of.
pub(super) struct Zones {
    /// What the VTIMEZONEs of the file say, where it is one offset for all times.
    fixed: BTreeMap<String, Offset>,
    /// Which known zones the VTIMEZONEs name beside their own TZID.
    located: BTreeMap<String, String>,
    /// The zone of times that name none.
    pub assumed: Zone,
}

impl Zones {
    /// Reads the VTIMEZONEs of a calendar.
    pub(super) fn of(calendar: &Component, assumed: &Zone) -> Self {
        let mut zones =
            Self { fixed: BTreeMap::new(), located: BTreeMap::new(), assumed: assumed.clone() };
        if let Some(line) = calendar.line("X-WR-TIMEZONE")
            && let Ok(zone) = Zone::named(line.value.trim())
        {
            zones.assumed = zone;
        }
        for part in calendar.children.iter().filter(|part| part.name == "VTIMEZONE") {
            let Some(id) = part.line("TZID").map(|line| line.value.trim().to_owned()) else {
                continue;
            };
            if let Some(line) = part.line("X-LIC-LOCATION") {
                zones.located.insert(id.clone(), line.value.trim().to_owned());
            }
            let mut offsets =
                part.children.iter().map(|rule| read_offset(&rule.line("TZOFFSETTO")?.value));
            if let Some(Some(first)) = offsets.next()
                && offsets.all(|other| other == Some(first))
            {
                zones.fixed.insert(id, first);
            }
        }
        zones
    }

    /// Finds what a TZID means: an IANA name, bare or at the end of a path, a Windows name, what the
    /// file's own VTIMEZONE says.
    pub(super) fn find(&self, id: &str) -> Result<Zone, String> {
        let id = id.trim();
        let tail: Vec<&str> = id.rsplit('/').take(2).collect();
        let tail = tail.into_iter().rev().collect::<Vec<_>>().join("/");
        let located = self.located.get(id).map(String::as_str);
        [Some(id), Some(tail.as_str()), located, windows::iana(id)]
            .into_iter()
            .flatten()
            .find_map(|name| Zone::named(name).ok())
            .or_else(|| self.fixed.get(id).map(|offset| Zone::fixed(*offset)))
            .ok_or_else(|| format!("`{}` is an unknown time zone", crate::failure::shown(id)))
    }
}

/// Reads `+0800` or `-033000`.
fn read_offset(text: &str) -> Option<Offset> {
    let text = text.trim();
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text.get(1..)?;
    if !matches!(digits.len(), 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part =
        |from: usize| digits.get(from..from + 2).map_or(Some(0), |two| two.parse::<i32>().ok());
    let seconds = part(0)? * 3_600 + part(2)? * 60 + part(4).unwrap_or(0);
    Offset::from_seconds(sign * seconds).ok()
}

/// Gives the TZID that a file knows a zone by.
pub(super) fn id(zone: &Zone) -> String {
    if zone.is_fixed() {
        format!("UTC{}", zone.name().replace(':', ""))
    } else {
        zone.name().to_owned()
    }
}

/// Writes a VTIMEZONE that holds from a year before a time for about thirty years.
///
/// The TZIDs are IANA names, so a program that knows those needs none of it.
pub(super) fn write(zone: &Zone, first: DateTime, out: &mut String) {
    const YEARS: i64 = 31;
    let mut line = |text: &str| fold(text, out);
    line("BEGIN:VTIMEZONE");
    line(&format!("TZID:{}", id(zone)));
    let begin = zone.instant(first).and_then(|t| t.checked_sub((366 * 24).hours()).ok());
    let begin = begin.unwrap_or(Timestamp::UNIX_EPOCH);
    let end = begin.checked_add((366 * 24 * YEARS).hours()).unwrap_or(Timestamp::MAX);
    let tz = zone.time_zone();
    let mut before = tz.to_offset(begin);
    observance(&mut line, "STANDARD", before, before, None, &[zone.local(begin)]);
    // Changes of the same kind share one observance.
    let mut kinds: Vec<(bool, Offset, Offset, String, Vec<DateTime>)> = Vec::new();
    for change in tz.following(begin).take_while(|change| change.timestamp() < end) {
        let to = change.offset();
        let local = before.to_datetime(change.timestamp());
        let name = change.abbreviation();
        let dst = change.dst().is_dst();
        let alike = kinds.iter_mut().find(|(other_dst, from, other, other_name, _)| {
            (*other_dst, *from, *other, other_name.as_str()) == (dst, before, to, name)
        });
        match alike {
            Some((.., times)) => times.push(local),
            None => kinds.push((dst, before, to, name.to_owned(), vec![local])),
        }
        before = to;
    }
    for (dst, from, to, name, times) in &kinds {
        let kind = if *dst { "DAYLIGHT" } else { "STANDARD" };
        observance(&mut line, kind, *from, *to, Some(name), times);
    }
    line("END:VTIMEZONE");
}

fn observance(
    line: &mut impl FnMut(&str),
    kind: &str,
    from: Offset,
    to: Offset,
    name: Option<&str>,
    times: &[DateTime],
) {
    line(&format!("BEGIN:{kind}"));
    for (at, time) in times.iter().enumerate() {
        let property = if at == 0 { "DTSTART" } else { "RDATE" };
        line(&format!("{property}:{}", time.strftime("%Y%m%dT%H%M%S")));
    }
    line(&format!("TZOFFSETFROM:{}", written_offset(from, "")));
    line(&format!("TZOFFSETTO:{}", written_offset(to, "")));
    if let Some(name) = name {
        line(&format!("TZNAME:{name}"));
    }
    line(&format!("END:{kind}"));
}
