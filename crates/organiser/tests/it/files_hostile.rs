//! Any bytes at all, and files that were written and read back.

use jiff::Timestamp;
use jiff::civil::{DateTime, date};
use proptest::prelude::*;
use remit_organiser::Zone;
use remit_organiser::event::{Attendee, Event, Override};
use remit_organiser::ical::{Written, parse, write};
use remit_organiser::limits::{IMPORT_DEPTH, IMPORT_LINE_BYTES, IMPORT_SKIPS};

fn now() -> Timestamp {
    "2026-04-01T08:00:00Z".parse().unwrap()
}

fn read(bytes: &[u8]) -> remit_organiser::ical::Parsed {
    parse(bytes, &Zone::utc(), now()).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 ,;:\\\\\"^\n日本語é🎉-]{1,120}".prop_map(|text| text.replace('\r', ""))
}

fn zone() -> impl Strategy<Value = Option<Zone>> {
    prop::sample::select(vec![
        None,
        Some("UTC"),
        Some("Europe/Berlin"),
        Some("America/New_York"),
        Some("Asia/Kolkata"),
        Some("Asia/Shanghai"),
        Some("+03:30"),
        Some("-11:00"),
    ])
    .prop_map(|name| name.map(|name| Zone::named(name).unwrap()))
}

fn rule() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![
        None,
        Some("FREQ=DAILY"),
        Some("FREQ=DAILY;COUNT=30"),
        Some("FREQ=DAILY;INTERVAL=2;COUNT=30;WKST=SU"),
    ])
}

prop_compose! {
    fn any_event()(
        title in text(),
        notes in prop::option::of(text()),
        location in prop::option::of(text()),
        zone in zone(),
        rule in rule(),
        day in 0..3_000i32,
        minute in 0..1_440i32,
        length in 1..2_000i64,
        added in prop::collection::btree_set(1..400i32, 0..5),
        excluded in prop::collection::btree_set(1..14i32, 0..5),
        moved in prop::collection::btree_map(7..14i32, (0..600i32, prop::option::of(text())), 0..3),
        name in prop::option::of("[a-zA-Z \"^,;:]{1,20}"),
    ) -> Event {
        let base = date(2019, 1, 1).at(0, 0, 0, 0);
        let minutes = |n: i32| jiff::SignedDuration::from_mins(n.into());
        let days = |n: i32| jiff::SignedDuration::from_hours(24 * i64::from(n));
        let all_day = zone.is_none();
        let start = base + days(day) + minutes(if all_day { 0 } else { minute });
        let at = |n: i32| -> DateTime { start + days(2 * n) };
        let seconds = if all_day { (1 + length % 5) * 86_400 } else { length * 60 };
        let excluded: Vec<DateTime> = excluded.into_iter().map(at).collect();
        let repeats = rule.is_some();
        let overrides = moved.into_iter().filter(|_| repeats).map(|(n, (by, title))| Override {
            at: at(n),
            start: at(n) + if all_day { days(by % 3) } else { minutes(by) },
            seconds,
            title: title.filter(|own| own.trim() == own),
            notes: None,
            location: None,
        }).collect();
        Event {
            id: String::new(), owner: String::new(), uid: "uid-1".to_owned(),
            title, notes, location, start, zone, seconds,
            rule: rule.map(str::to_owned),
            added: if repeats { added.into_iter().map(|n| start + days(n) ).collect() } else { Vec::new() },
            excluded: if repeats { excluded } else { Vec::new() },
            overrides,
            attendees: vec![Attendee {
                address: "mailto:a@example.com".to_owned(),
                name: name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()),
                answer: "TENTATIVE".to_owned(),
            }],
            organizer: Some("mailto:o@example.com".to_owned()),
            sequence: 3, created_at: now(), updated_at: now(),
        }
    }
}

/// Leaves out what says nothing: a title that is the series' own.
fn plain(mut event: Event) -> Event {
    let title = event.title.clone();
    for own in &mut event.overrides {
        own.title = own.title.take().filter(|own| *own != title);
    }
    event
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn what_is_written_is_read_back(event in any_event()) {
        let event = plain(event);
        let text = write(&[Written { event: event.clone(), invitations: Vec::new() }]);
        prop_assert!(text.split("\r\n").all(|line| line.len() <= 75));
        let parsed = read(text.as_bytes());
        // Overrides of occurrences that the series lacks are the one thing a reader takes away.
        prop_assert_eq!(parsed.events.len(), 1, "{:?}", parsed);
        let found = &parsed.events[0].event;
        let mut expected = event;
        expected.overrides.retain(|own| found.overrides.iter().any(|other| other.at == own.at));
        prop_assert_eq!(found, &expected);
        let again = write(&[Written { event: found.clone(), invitations: Vec::new() }]);
        prop_assert_eq!(read(again.as_bytes()).events[0].event.clone(), expected);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_file_with_a_hole_makes_it_panic(event in any_event(), cut in any::<(usize, usize, u8)>()) {
        let mut bytes = write(&[Written { event, invitations: Vec::new() }]).into_bytes();
        let length = bytes.len();
        let from = cut.0 % length;
        let to = (from + cut.1 % 60).min(length);
        bytes.splice(from..to, [cut.2]);
        let _ = read(&bytes);
    }

    #[test]
    fn no_lines_make_it_panic(lines in prop::collection::vec(prop::sample::select(vec![
        "BEGIN:VCALENDAR", "END:VCALENDAR", "BEGIN:VEVENT", "END:VEVENT", "UID:a", "UID:b",
        "DTSTART:20260101T000000Z", "DTSTART;VALUE=DATE:20260101", "DTSTART;TZID=Europe/Berlin:20260329T023000",
        "RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "EXDATE:20260101T000000Z",
        "RDATE:20260105T000000Z/PT1H", "RECURRENCE-ID:20260102T000000Z", "DURATION:P1D", "DTEND:90000101T000000Z",
        "DTEND;VALUE=DATE:20260101", "STATUS:CANCELLED", "ATTENDEE:x", "BEGIN:VTIMEZONE", "END:VTIMEZONE",
        "TZID:Europe/Berlin", " folded", "\t", "", ":", ";;;", "X;Y=\"", "SEQUENCE:99999999999",
    ]), 0..40)) {
        let _ = read(lines.join("\n").as_bytes());
    }
}

#[test]
fn a_file_full_of_hostile_rules_is_bounded_work() {
    let mut text = "BEGIN:VCALENDAR\n".to_owned();
    for n in 0..2_000 {
        text.push_str(&format!(
            "BEGIN:VEVENT\nUID:{n}\nDTSTART:20000101T000000Z\nRRULE:FREQ=SECONDLY;COUNT=10000;BYMONTH=2;BYMONTHDAY=29\nEND:VEVENT\n\
             BEGIN:VEVENT\nUID:{n}\nRECURRENCE-ID:20240229T000000Z\nDTSTART:20240229T000000Z\nEND:VEVENT\n"
        ));
    }
    text.push_str("END:VCALENDAR\n");
    assert_eq!(read(text.as_bytes()).events.len(), 2_000);
}

#[test]
fn a_fold_may_fall_inside_a_character() {
    let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:20260101T000000Z\nSUMMARY:caf\u{e9}\nEND:VEVENT\nEND:VCALENDAR";
    let bytes = text.as_bytes();
    let at = text.find('\u{e9}').unwrap() + 1;
    let mut folded = bytes[..at].to_vec();
    folded.extend_from_slice(b"\r\n ");
    folded.extend_from_slice(&bytes[at..]);
    assert_eq!(read(&folded).events[0].event.title, "caf\u{e9}");
}

#[test]
fn depth_and_length_of_lines_are_bounded() {
    let nested = |depth: usize| {
        let begin = "BEGIN:VCALENDAR\n".repeat(depth);
        let end = "END:VCALENDAR\n".repeat(depth);
        read(format!("{begin}{end}").as_bytes()).skipped_count
    };
    assert_eq!(nested(IMPORT_DEPTH), 0);
    assert_eq!(nested(IMPORT_DEPTH + 1), 1);
    assert_eq!(nested(100_000), 1);
    let long = |length: usize| {
        let line = format!("SUMMARY:{}", "x".repeat(length - 8));
        let text = format!(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:20260101T000000Z\n{line}\nEND:VEVENT\nEND:VCALENDAR"
        );
        read(text.as_bytes()).skipped
    };
    // At the limit the title is cut; past it the line is not read.
    assert!(long(IMPORT_LINE_BYTES)[0].reason.contains("cut to"));
    assert!(long(IMPORT_LINE_BYTES + 1)[0].reason.contains("longer than"));
}

#[test]
fn the_report_lists_the_first_and_counts_all() {
    for (lines, listed) in [(IMPORT_SKIPS, IMPORT_SKIPS), (IMPORT_SKIPS + 1, IMPORT_SKIPS)] {
        let parsed = read("rubbish\n".repeat(lines).as_bytes());
        assert_eq!((parsed.skipped.len(), parsed.skipped_count), (listed, lines));
    }
}
