//! Clocks that go forward and back, leap days, and the ends of years.

use serde_json::{Value, json};

use crate::world::World;

fn series(world: &mut World, zone: &str, start: &str, end: &str, rule: &str) -> Value {
    world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "series", "start_at": start, "end_at": end, "time_zone": zone,
            "recurrence": { "rule": rule },
        }),
    )
}

#[test]
fn a_meeting_at_nine_stays_at_nine() {
    let cases = [
        (
            "Europe/Berlin",
            ["2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00"],
            ["2026-10-24T09:00:00+02:00", "2026-10-25T09:00:00+01:00"],
        ),
        (
            "America/New_York",
            ["2026-03-07T09:00:00-05:00", "2026-03-08T09:00:00-04:00"],
            ["2026-10-31T09:00:00-04:00", "2026-11-01T09:00:00-05:00"],
        ),
        // Half an hour of difference, and on the southern half of the world.
        (
            "Australia/Lord_Howe",
            ["2026-04-04T09:00:00+11:00", "2026-04-05T09:00:00+10:30"],
            ["2026-10-03T09:00:00+10:30", "2026-10-04T09:00:00+11:00"],
        ),
        (
            "Asia/Kolkata",
            ["2026-03-28T09:00:00+05:30", "2026-03-29T09:00:00+05:30"],
            ["2026-10-24T09:00:00+05:30", "2026-10-25T09:00:00+05:30"],
        ),
        (
            "Asia/Shanghai",
            ["2026-03-28T09:00:00+08:00", "2026-03-29T09:00:00+08:00"],
            ["2026-10-24T09:00:00+08:00", "2026-10-25T09:00:00+08:00"],
        ),
    ];
    for (zone, spring, autumn) in cases {
        let mut world = World::new();
        let first = spring[0];
        let end = first.replace("T09", "T10");
        series(&mut world, zone, first, &end, "FREQ=DAILY");
        for [one, two] in [spring, autumn] {
            let until = two.replace("T09", "T11");
            assert_eq!(world.starts("ann", one, &until), [one, two], "{zone}");
        }
    }
}

#[test]
fn a_skipped_time_is_moved_and_can_still_be_named() {
    let mut world = World::new();
    let event = series(
        &mut world,
        "Europe/Berlin",
        "2026-03-27T02:30:00+01:00",
        "2026-03-27T02:45:00+01:00",
        "FREQ=DAILY;COUNT=4",
    );
    let all = [
        "2026-03-27T02:30:00+01:00",
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:30:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ];
    assert_eq!(world.starts("ann", "2026-03-27T00:00:00Z", "2026-03-31T00:00:00Z"), all);
    world.ok(
        "ann",
        "calendar.delete",
        &json!({ "event_id": event["id"], "recurrence_id": all[2], "scope": "following" }),
    );
    assert_eq!(world.starts("ann", "2026-03-27T00:00:00Z", "2026-03-31T00:00:00Z"), all[..2]);
}

#[test]
fn a_time_that_comes_twice_is_the_first() {
    let mut world = World::new();
    series(
        &mut world,
        "America/New_York",
        "2026-10-31T01:30:00-04:00",
        "2026-10-31T01:40:00-04:00",
        "FREQ=DAILY;COUNT=3",
    );
    assert_eq!(
        world.starts("ann", "2026-10-31T00:00:00Z", "2026-11-03T00:00:00Z"),
        ["2026-10-31T01:30:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"]
    );
}

#[test]
fn the_second_time_is_kept_for_a_single_event_and_refused_for_a_series() {
    let mut world = World::new();
    let mut input = json!({
        "title": "night", "start_at": "2026-10-25T02:30:00+01:00", "end_at": "2026-10-25T03:00:00+01:00",
        "time_zone": "Europe/Berlin",
    });
    let event = world.ok("ann", "calendar.create", &input);
    assert_eq!(event["startAt"], "2026-10-25T02:30:00+01:00");
    input["recurrence"] = json!({ "rule": "FREQ=DAILY" });
    let error = world.fails("ann", "calendar.create", &input);
    assert_eq!(error["code"], "INVALID_ACTION_INPUT");
    assert_eq!(error["pointer"], "/start_at");
}

#[test]
fn every_hour_leaves_out_the_hour_that_is_not_there() {
    let mut world = World::new();
    series(
        &mut world,
        "Europe/Berlin",
        "2026-03-29T00:00:00+01:00",
        "2026-03-29T00:10:00+01:00",
        "FREQ=HOURLY;COUNT=5",
    );
    assert_eq!(
        world.starts("ann", "2026-03-28T00:00:00Z", "2026-03-30T00:00:00Z"),
        [
            "2026-03-29T00:00:00+01:00",
            "2026-03-29T01:00:00+01:00",
            "2026-03-29T03:00:00+02:00",
            "2026-03-29T04:00:00+02:00"
        ]
    );
}

#[test]
fn a_leap_day_comes_every_four_years() {
    let mut world = World::new();
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "leap", "start_date": "2024-02-29", "recurrence": { "rule": "FREQ=YEARLY" } }),
    );
    for (year, there) in [(2024, true), (2025, false), (2026, false), (2027, false), (2028, true)] {
        let list = world.starts(
            "ann",
            &format!("{year}-01-01T00:00:00Z"),
            &format!("{year}-12-31T00:00:00Z"),
        );
        assert_eq!(list.len(), usize::from(there), "{year}");
    }
    // The last day of February is every year.
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "end", "start_date": "2024-02-29", "recurrence": { "rule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" } }),
    );
    assert_eq!(world.starts("ann", "2027-01-01T00:00:00Z", "2027-12-31T00:00:00Z"), ["2027-02-28"]);
    assert_eq!(world.starts("ann", "2100-01-01T00:00:00Z", "2100-12-31T00:00:00Z"), ["2100-02-28"]);
}

#[test]
fn new_years_eve_is_on_both_days() {
    let mut world = World::new();
    series(
        &mut world,
        "Asia/Shanghai",
        "2025-12-31T23:00:00+08:00",
        "2026-01-01T01:00:00+08:00",
        "FREQ=YEARLY",
    );
    for date in ["2026-12-31", "2027-01-01"] {
        let data = world.ok(
            "ann",
            "calendar.read",
            &json!({ "mode": "day", "date": date, "time_zone": "Asia/Shanghai" }),
        );
        assert_eq!(data["count"], 1, "{date}");
        assert_eq!(data["items"][0]["startAt"], "2026-12-31T23:00:00+08:00");
    }
}

#[test]
fn a_day_has_the_hours_it_has() {
    let mut world = World::new();
    for (date, from, until) in [
        ("2026-03-29", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"),
        ("2026-10-25", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ] {
        let data = world.ok("ann", "calendar.read", &json!({ "mode": "day", "date": date }));
        assert_eq!(data["from"], from);
        assert_eq!(data["until"], until);
    }
}

#[test]
fn an_all_day_event_is_on_its_dates_wherever_one_is() {
    let mut world = World::new();
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "trip", "start_date": "2026-03-28", "end_date": "2026-03-29" }),
    );
    for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin", "Asia/Shanghai"] {
        for (date, count) in
            [("2026-03-27", 0), ("2026-03-28", 1), ("2026-03-29", 1), ("2026-03-30", 0)]
        {
            let input = json!({ "mode": "day", "date": date, "time_zone": zone });
            let data = world.ok("ann", "calendar.read", &input);
            assert_eq!(data["count"], count, "{date} in {zone}");
        }
    }
}
