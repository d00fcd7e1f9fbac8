//! The limits of calendars, at them and past them.

use remit_organiser::event::Event;
use remit_organiser::limits::{
    DURATION_SECONDS, INVITATIONS, LOADED_EVENTS, LOCATION_CHARS, NOTES_CHARS, OVERRIDES, PAGE,
    PAGE_MOST, RANGE_DAYS, SHARE_PER_CALL, SINGLE_DATES, TITLE_CHARS,
};
use remit_organiser::{Change, Kind};
use serde_json::{Value, json};

use crate::world::World;

fn basic() -> Value {
    json!({ "title": "x", "start_at": "2026-04-01T09:00:00Z", "end_at": "2026-04-01T10:00:00Z" })
}

#[test]
fn texts_have_lengths() {
    let mut world = World::new();
    for (name, most) in
        [("title", TITLE_CHARS), ("notes", NOTES_CHARS), ("location", LOCATION_CHARS)]
    {
        let mut input = basic();
        input[name] = json!("語".repeat(most));
        let event = world.ok("ann", "calendar.create", &input);
        let mut update = json!({ "event_id": event["id"] });
        update[name] = json!("語".repeat(most + 1));
        input[name] = update[name].clone();
        for (method, input) in [("calendar.create", &input), ("calendar.update", &update)] {
            let error = world.fails("ann", method, input);
            assert_eq!(
                (&error["code"], &error["pointer"]),
                (&json!("INVALID_ACTION_INPUT"), &json!(format!("/{name}")))
            );
        }
    }
}

#[test]
fn an_event_lasts_so_long() {
    let mut world = World::new();
    let start: jiff::Timestamp = "2026-04-01T09:00:00Z".parse().unwrap();
    for (more, fine) in [(0, true), (1, false)] {
        let end = start + jiff::SignedDuration::from_secs(DURATION_SECONDS + more);
        let mut input = basic();
        input["end_at"] = json!(end.to_string());
        assert_eq!(world.run("ann", "calendar.create", &input).outcome.is_ok(), fine);
    }
    let input = json!({ "title": "x", "start_date": "2026-01-01", "end_date": "2027-01-03" });
    assert_eq!(world.fails("ann", "calendar.create", &input)["code"], "LIMIT_EXCEEDED");
}

#[test]
fn a_range_is_so_wide_and_a_page_so_long() {
    let mut world = World::new();
    let mut input = basic();
    input["recurrence"] = json!({ "rule": "FREQ=HOURLY" });
    world.ok("ann", "calendar.create", &input);
    let start: jiff::Timestamp = "2026-04-01T09:00:00Z".parse().unwrap();
    let range = |seconds: i64| {
        let end = start + jiff::SignedDuration::from_secs(RANGE_DAYS * 86_400 + seconds);
        json!({ "mode": "range", "start_at": "2026-04-01T09:00:00Z", "end_at": end.to_string() })
    };
    let data = world.ok("ann", "calendar.read", &range(0));
    assert_eq!((&data["count"], &data["truncated"]), (&json!(PAGE), &json!(true)));
    assert_eq!(world.fails("ann", "calendar.read", &range(1))["code"], "LIMIT_EXCEEDED");
    for (limit, fine) in [(0, false), (1, true), (PAGE_MOST, true), (PAGE_MOST + 1, false)] {
        let mut input = range(0);
        input["limit"] = json!(limit);
        let outcome = world.run("ann", "calendar.read", &input).outcome;
        assert_eq!(outcome.is_ok(), fine, "{limit}");
        if let Ok(data) = outcome {
            assert_eq!(data["count"], limit);
        }
    }
}

#[test]
fn more_events_than_are_loaded_are_said_to_be_missing() {
    let mut world = World::new();
    world.ok("ann", "calendar.create", &basic());
    let row = world.rows.values().next().unwrap().clone();
    let event = Event::from_row(&row).unwrap();
    let add = |world: &mut World, from: usize, to: usize| {
        for n in from..to {
            let mut event = event.clone();
            event.id = format!("evt_many_{n}");
            let row = event.to_row(1);
            world.rows.insert((row.owner.clone(), Kind::Event, row.id.clone()), row);
        }
    };
    let day = json!({ "mode": "day", "date": "2026-04-01", "limit": 500 });
    add(&mut world, 1, LOADED_EVENTS - 1);
    assert_eq!(world.ok("ann", "calendar.read", &day).get("note"), None);
    add(&mut world, LOADED_EVENTS, LOADED_EVENTS + 2);
    let data = world.ok("ann", "calendar.read", &day);
    assert_eq!(data["truncated"], true);
    assert!(data["note"].as_str().unwrap().contains("shorter"));
}

#[test]
fn an_event_has_so_many_invitations() {
    let mut world = World::new();
    world.users = (0..=INVITATIONS).map(|n| format!("user{n}")).collect();
    let id = world.ok("ann", "calendar.create", &basic())["id"].clone();
    let with = |from: usize, to: usize| {
        let list: Vec<Value> =
            (from..to).map(|n| json!({ "user_id": format!("user{n}") })).collect();
        json!({ "event_id": id, "with": list })
    };
    let error = world.fails("ann", "calendar.share", &with(0, SHARE_PER_CALL + 1));
    assert_eq!(error["code"], "INVALID_ACTION_INPUT");
    for from in (0..INVITATIONS).step_by(SHARE_PER_CALL) {
        world.ok("ann", "calendar.share", &with(from, from + SHARE_PER_CALL));
    }
    let error = world.fails("ann", "calendar.share", &with(INVITATIONS, INVITATIONS + 1));
    assert_eq!((&error["code"], &error["total"]), (&json!("LIMIT_EXCEEDED"), &json!(INVITATIONS)));
}

/// Makes a daily series and gives its event and the names of its first occurrences.
fn daily(world: &mut World) -> (Event, u64) {
    let mut input = basic();
    input["recurrence"] = json!({ "rule": "FREQ=DAILY" });
    world.ok("ann", "calendar.create", &input);
    let row = world.rows.values().next().unwrap();
    (Event::from_row(row).unwrap(), row.revision)
}

fn name(event: &Event, nth: usize) -> String {
    let start = event
        .start
        .date()
        .checked_add(jiff::Span::new().days(i64::try_from(nth).unwrap()))
        .unwrap();
    format!("{start}T09:00:00+00:00")
}

#[test]
fn a_series_has_so_many_exceptions() {
    let mut world = World::new();
    let (mut event, revision) = daily(&mut world);
    let at = |nth: usize| {
        event.start.checked_add(jiff::Span::new().days(i64::try_from(nth).unwrap())).unwrap()
    };
    event.excluded = (1..SINGLE_DATES).map(at).collect();
    assert!(world.apply(&[Change::Update(event.to_row(revision + 1))]));
    let delete = |nth: usize| json!({ "event_id": event.id, "recurrence_id": name(&event, nth) });
    world.ok("ann", "calendar.delete", &delete(SINGLE_DATES + 3));
    assert_eq!(
        world.fails("ann", "calendar.delete", &delete(SINGLE_DATES + 4))["code"],
        "LIMIT_EXCEEDED"
    );
    let mut input = basic();
    let dates: Vec<String> = (0..=SINGLE_DATES).map(|n| name(&event, n + 1)).collect();
    input["recurrence"] = json!({ "add": dates[1..] });
    world.ok("ann", "calendar.create", &input);
    input["recurrence"] = json!({ "add": dates });
    assert_eq!(world.fails("ann", "calendar.create", &input)["pointer"], "/recurrence/add");
}

#[test]
fn a_series_has_so_many_changed_occurrences() {
    let mut world = World::new();
    let (mut event, revision) = daily(&mut world);
    for nth in 1..OVERRIDES {
        let at =
            event.start.checked_add(jiff::Span::new().days(i64::try_from(nth).unwrap())).unwrap();
        event.overrides.push(remit_organiser::event::Override {
            at,
            start: at,
            seconds: 60,
            title: None,
            notes: None,
            location: None,
        });
    }
    assert!(world.apply(&[Change::Update(event.to_row(revision + 1))]));
    let change = |nth: usize| json!({ "event_id": event.id, "recurrence_id": name(&event, nth), "title": "y" });
    world.ok("ann", "calendar.update", &change(OVERRIDES + 3));
    assert_eq!(
        world.fails("ann", "calendar.update", &change(OVERRIDES + 4))["code"],
        "LIMIT_EXCEEDED"
    );
    // One that differs already may be changed again.
    world.ok("ann", "calendar.update", &change(3));
}
