//! iCalendar files: what is read, what is written, and what is said about the rest.

use remit_organiser::limits::{ATTENDEES, IMPORT_BYTES, IMPORT_EVENTS, TITLE_CHARS};
use serde_json::{Value, json};

use crate::world::World;

fn file(body: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}\r\nEND:VCALENDAR\r\n",
        body.trim().replace('\n', "\r\n")
    )
}

fn vevent(lines: &str) -> String {
    file(&format!("BEGIN:VEVENT\nUID:one\n{}\nEND:VEVENT", lines.trim()))
}

fn import(world: &mut World, text: &str) -> Value {
    world.import("ann", text.as_bytes()).outcome.unwrap()
}

fn only(world: &mut World) -> Value {
    let id = world.rows.values().next().unwrap().id.clone();
    world.ok("ann", "calendar.read", &json!({ "mode": "event", "event_id": id }))
}

#[test]
fn a_series_with_all_its_parts_is_read() {
    let mut world = World::new();
    let text = file(
        "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19961027T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n\
         BEGIN:VEVENT\nUID:series@example.com\nDTSTAMP:20260101T000000Z\nDTSTART;TZID=Europe/Berlin:20260406T090000\nDTEND;TZID=Europe/Berlin:20260406T100000\n\
         SUMMARY:Planning\\, weekly\\; long\nDESCRIPTION:first line\\nsecond\n  line\nLOCATION:Room 1\nRRULE:FREQ=WEEKLY;COUNT=5\n\
         EXDATE;TZID=Europe/Berlin:20260413T090000\nRDATE;TZID=Europe/Berlin:20260408T090000\n\
         ORGANIZER;CN=Boss:mailto:boss@example.com\nATTENDEE;CN=\"Doe, Jane\";PARTSTAT=ACCEPTED:mailto:jane@example.com\nATTENDEE:mailto:joe@example.com\n\
         CATEGORIES:WORK\nBEGIN:VALARM\nACTION:DISPLAY\nEND:VALARM\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:series@example.com\nRECURRENCE-ID:20260420T070000Z\nDTSTART;TZID=Europe/Berlin:20260421T110000\nDTEND;TZID=Europe/Berlin:20260421T120000\nSUMMARY:Moved\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:series@example.com\nRECURRENCE-ID;TZID=Europe/Berlin:20260504T090000\nDTSTART;TZID=Europe/Berlin:20260504T090000\nSTATUS:CANCELLED\nEND:VEVENT\n\
         BEGIN:VTODO\nUID:todo\nEND:VTODO",
    );
    let data = import(&mut world, &text);
    assert_eq!((&data["created"], &data["count"]), (&json!(1), &json!(1)));
    assert_eq!(data["skipped"]["ignored"], json!({ "CATEGORIES": 1, "VALARM": 1, "VTODO": 1 }));
    assert_eq!(data["skipped"]["count"], 0, "{data}");
    assert_eq!(
        world.starts("ann", "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z"),
        [
            "2026-04-06T09:00:00+02:00",
            "2026-04-08T09:00:00+02:00",
            "2026-04-21T11:00:00+02:00",
            "2026-04-27T09:00:00+02:00"
        ]
    );
    let event = only(&mut world);
    assert_eq!(event["title"], "Planning, weekly; long");
    assert_eq!(event["notes"], "first line\nsecond line");
    assert_eq!(event["organizer"], "mailto:boss@example.com");
    assert_eq!(
        event["attendees"],
        json!([
            { "address": "mailto:jane@example.com", "name": "Doe, Jane", "answer": "ACCEPTED" },
            { "address": "mailto:joe@example.com", "name": null, "answer": "NEEDS-ACTION" },
        ])
    );
}

#[test]
fn the_same_file_twice_changes_nothing_and_a_newer_one_updates() {
    let mut world = World::new();
    let text = |sequence: u32, title: &str| {
        vevent(&format!(
            "SEQUENCE:{sequence}\nSUMMARY:{title}\nDTSTART:20260406T090000Z\nDURATION:PT1H"
        ))
    };
    assert_eq!(import(&mut world, &text(1, "a"))["created"], 1);
    let again = world.import("ann", text(1, "a").as_bytes());
    assert_eq!(again.outcome.unwrap()["unchanged"], 1);
    assert!(again.changes.is_empty());
    assert_eq!(import(&mut world, &text(2, "b"))["updated"], 1);
    assert_eq!(import(&mut world, &text(1, "c"))["older"], 1);
    let event = only(&mut world);
    assert_eq!((&event["title"], &event["revision"]), (&json!("b"), &json!(2)));
    // Another user's file with the same UID is another event.
    assert_eq!(world.import("bob", text(1, "d").as_bytes()).outcome.unwrap()["created"], 1);
    assert_eq!(world.rows.len(), 2);
}

#[test]
fn zones_are_found_by_whatever_name_they_have() {
    for (zone, declared, start) in [
        ("Europe/Berlin", "", "2026-07-06T09:00:00+02:00"),
        ("/example.org/20260101_1/Europe/Berlin", "", "2026-07-06T09:00:00+02:00"),
        ("W. Europe Standard Time", "", "2026-07-06T09:00:00+02:00"),
        ("\"China Standard Time\"", "", "2026-07-06T09:00:00+08:00"),
        ("Mine", "X-LIC-LOCATION:America/New_York", "2026-07-06T09:00:00-04:00"),
        (
            "Mine",
            "BEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0530\nTZOFFSETTO:+0530\nEND:STANDARD",
            "2026-07-06T09:00:00+05:30",
        ),
    ] {
        let mut world = World::new();
        let text = file(&format!(
            "BEGIN:VTIMEZONE\nTZID:Mine\n{declared}\nEND:VTIMEZONE\nBEGIN:VEVENT\nUID:one\nDTSTART;TZID={zone}:20260706T090000\nEND:VEVENT"
        ));
        assert_eq!(import(&mut world, &text)["created"], 1, "{zone}");
        assert_eq!(only(&mut world)["startAt"], start, "{zone}");
    }
}

#[test]
fn what_is_skipped_is_said_with_its_line() {
    for (lines, line, word) in [
        ("SUMMARY:x", 3, "DTSTART"),
        ("DTSTART:tomorrow", 3, "neither a date nor a time"),
        ("DTSTART;TZID=Moon/Base:20260406T090000", 3, "unknown time zone"),
        ("DTSTART:20260406T090000Z\nDTEND:20260406T080000Z", 3, "ends before"),
        ("DTSTART:20260406T090000Z\nDTEND;VALUE=DATE:20260407", 3, "both be dates"),
        ("DTSTART:20260406T090000Z\nDURATION:PT", 3, ""),
        ("DTSTART:20260406T090000Z\nDURATION:soon", 3, "duration"),
        ("DTSTART:20260406T090000Z\nDTEND:20290406T090000Z", 3, "longer"),
        ("DTSTART:20260406T090000Z\nRRULE:FREQ=NEVER", 3, "RRULE"),
        ("DTSTART:20260406T090000Z\nRRULE:FREQ=DAILY;UNTIL=20250101T000000Z", 3, "never happens"),
        ("DTSTART:20260406T090000Z\nSTATUS:CANCELLED", 3, "cancelled"),
        ("DTSTART;VALUE=DATE:20260406\nDURATION:PT1H", 3, "whole days"),
    ] {
        let mut world = World::new();
        let data = import(&mut world, &vevent(lines));
        if word.is_empty() {
            assert_eq!(data["created"], 1, "{lines}");
            continue;
        }
        assert_eq!(
            (&data["created"], &data["skipped"]["count"]),
            (&json!(0), &json!(1)),
            "{lines}: {data}"
        );
        let skip = &data["skipped"]["items"][0];
        assert_eq!((&skip["line"], &skip["uid"]), (&json!(line), &json!("one")));
        assert!(skip["reason"].as_str().unwrap().contains(word), "{lines}: {skip}");
    }
}

#[test]
fn parts_are_skipped_and_the_event_kept() {
    for (lines, line, word) in [
        ("DTSTART:20260406T090000", 5, "names no zone"),
        ("DTSTART:20260406T090000Z\nRRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", 7, "second RRULE"),
        ("DTSTART:20260406T090000Z\nRRULE:FREQ=DAILY\nEXDATE:never", 7, "EXDATE"),
        ("DTSTART:20260406T090000Z\nthis is no line", 6, "content line"),
        ("DTSTART:20260406T090000Z\nEND:VTODO", 6, "BEGIN"),
    ] {
        let mut world = World::new();
        let data = import(&mut world, &vevent(lines));
        assert_eq!(
            (&data["created"], &data["skipped"]["count"]),
            (&json!(1), &json!(1)),
            "{lines}: {data}"
        );
        let skip = &data["skipped"]["items"][0];
        assert_eq!(skip["line"], line, "{lines}");
        assert!(skip["reason"].as_str().unwrap().contains(word), "{lines}: {skip}");
    }
}

#[test]
fn occurrences_without_a_place_are_reported() {
    let mut world = World::new();
    let text = file(
        "BEGIN:VEVENT\nUID:one\nDTSTART:20260406T090000Z\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:one\nRECURRENCE-ID:20270101T090000Z\nDTSTART:20270101T100000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:one\nRECURRENCE-ID:20260407T090000Z\nDTSTART;VALUE=DATE:20260407\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:one\nDTSTART:20260406T090000Z\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:lost\nRECURRENCE-ID:20260407T090000Z\nDTSTART:20260407T100000Z\nEND:VEVENT",
    );
    let data = import(&mut world, &text);
    assert_eq!((&data["created"], &data["skipped"]["count"]), (&json!(2), &json!(4)), "{data}");
    assert_eq!(data["items"][1]["uid"], "lost#20260407T090000");
}

#[test]
fn a_file_that_is_too_large_or_brings_too_much_is_refused() {
    let mut world = World::new();
    let mut text = vevent("DTSTART:20260406T090000Z").into_bytes();
    text.resize(IMPORT_BYTES, b'\n');
    assert!(world.import("ann", &text).outcome.is_ok());
    text.push(b'\n');
    assert_eq!(world.import("ann", &text).outcome.unwrap_err().code.name(), "LIMIT_EXCEEDED");
    let many = |count: usize| {
        let events: Vec<String> = (0..count)
            .map(|n| format!("BEGIN:VEVENT\nUID:{n}\nDTSTART:20260406T090000Z\nEND:VEVENT"))
            .collect();
        file(&events.join("\n"))
    };
    let mut world = World::new();
    let failure = world.import("ann", many(IMPORT_EVENTS + 1).as_bytes()).outcome.unwrap_err();
    assert_eq!(failure.code.name(), "LIMIT_EXCEEDED");
    assert!(world.rows.is_empty());
    assert_eq!(import(&mut world, &many(IMPORT_EVENTS))["created"], IMPORT_EVENTS);
}

#[test]
fn long_texts_and_many_people_are_cut_and_it_is_said() {
    for (more, skipped) in [(0, 0), (1, 2)] {
        let mut lines =
            format!("DTSTART:20260406T090000Z\nSUMMARY:{}", "x".repeat(TITLE_CHARS + more));
        for n in 0..ATTENDEES + more {
            lines.push_str(&format!("\nATTENDEE:mailto:{n}@example.com"));
        }
        let mut world = World::new();
        let data = import(&mut world, &vevent(&lines));
        assert_eq!((&data["created"], &data["skipped"]["count"]), (&json!(1), &json!(skipped)));
        let event = only(&mut world);
        assert_eq!(event["title"].as_str().unwrap().len(), TITLE_CHARS);
        assert_eq!(event["attendees"].as_array().unwrap().len(), ATTENDEES);
    }
}

#[test]
fn a_file_says_who_is_invited_and_lines_are_short() {
    let mut world = World::new();
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "会议 ".repeat(40), "start_at": "2026-04-06T09:00:00+02:00", "end_at": "2026-04-06T10:00:00+02:00",
            "recurrence": { "rule": "FREQ=WEEKLY;UNTIL=20260501" },
        }),
    );
    world.ok(
        "ann",
        "calendar.share",
        &json!({ "event_id": event["id"], "with": [{ "user_id": "bob" }, { "user_id": "cem" }] }),
    );
    world.ok("bob", "calendar.accept_invite", &json!({ "event_id": event["id"] }));
    let text = world.export("ann");
    for line in [
        "DTSTART;TZID=Europe/Berlin:20260406T090000",
        "RRULE:FREQ=WEEKLY;UNTIL=20260501T215959Z",
        "ATTENDEE;PARTSTAT=ACCEPTED:urn:x-remit:user:bob",
        "ATTENDEE;PARTSTAT=NEEDS-ACTION:urn:x-remit:user:cem",
        "ORGANIZER:urn:x-remit:user:ann",
        "TZID:Europe/Berlin",
        "BEGIN:DAYLIGHT",
        "RDATE:20270328T020000",
    ] {
        assert!(text.split("\r\n").any(|found| found == line), "{line} in {text}");
    }
    assert!(text.split("\r\n").all(|line| line.len() <= 75));
    // Bringing it back changes nothing, and invites nobody.
    let again = world.import("ann", text.as_bytes());
    assert_eq!(again.outcome.unwrap()["unchanged"], 1);
    assert!(again.changes.is_empty());
    assert_eq!(world.export("bob").matches("BEGIN:VEVENT").count(), 0);
}

#[test]
fn a_shared_event_that_a_file_moves_takes_its_invitations_along() {
    let mut world = World::new();
    import(&mut world, &vevent("DTSTART:20260406T090000Z\nDURATION:PT1H"));
    let id = only(&mut world)["id"].clone();
    world.ok("ann", "calendar.share", &json!({ "event_id": id, "with": [{ "user_id": "bob" }] }));
    import(
        &mut world,
        &vevent("DTSTART:20270406T090000Z\nDURATION:PT1H\nATTENDEE:mailto:eve@example.com"),
    );
    let seen = world.ok("bob", "calendar.read", &json!({ "mode": "event", "event_id": id }));
    assert_eq!(seen.get("attendees"), None);
    let list = world.starts("bob", "2027-04-01T00:00:00Z", "2027-05-01T00:00:00Z");
    assert_eq!(list, ["2027-04-06T09:00:00+00:00"]);
}
