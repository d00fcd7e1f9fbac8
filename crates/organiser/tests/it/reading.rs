//! Reading ranges: order, pages, what is found by the columns of a row.

use serde_json::{Value, json};

use crate::world::{World, start_of};

fn fill(world: &mut World) {
    for (start, rule) in [
        ("2026-04-01T09:00:00+02:00", Some("FREQ=DAILY;COUNT=40")),
        ("2026-04-01T09:00:00+02:00", Some("FREQ=WEEKLY;BYDAY=MO,WE,FR")),
        ("2026-04-03T09:00:00+02:00", None),
        ("2020-04-03T07:15:00+02:00", Some("FREQ=MONTHLY;BYDAY=1FR")),
    ] {
        let mut input = json!({ "title": "x", "start_at": start, "end_at": start });
        if let Some(rule) = rule {
            input["recurrence"] = json!({ "rule": rule });
        }
        world.ok("ann", "calendar.create", &input);
    }
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "day", "start_date": "2026-04-03", "end_date": "2026-04-05" }),
    );
}

fn range() -> Value {
    json!({ "mode": "range", "start_at": "2026-04-01T00:00:00+02:00", "end_at": "2026-05-01T00:00:00+02:00" })
}

fn place(item: &Value) -> String {
    format!("{} {} {}", start_of(item), item["id"], item["recurrenceId"])
}

#[test]
fn pages_of_any_size_give_the_same_in_the_same_order() {
    let mut world = World::new();
    fill(&mut world);
    let whole = world.ok("ann", "calendar.read", &range());
    assert_eq!(whole["truncated"], false);
    let expected: Vec<String> = whole["items"].as_array().unwrap().iter().map(place).collect();
    // 30 days, 13 weekdays, one alone, one first Friday, one of whole days.
    assert_eq!(expected.len(), 30 + 13 + 1 + 1 + 1);
    for limit in [1, 2, 7, 45, 46, 47] {
        let mut input = range();
        input["limit"] = json!(limit);
        let mut found = Vec::new();
        loop {
            let data = world.ok("ann", "calendar.read", &input);
            let items = data["items"].as_array().unwrap();
            assert_eq!(data["count"], items.len());
            assert!(items.len() <= limit);
            found.extend(items.iter().map(place));
            assert_eq!(data["truncated"].as_bool().unwrap(), data["nextCursor"].is_string());
            match data.get("nextCursor") {
                Some(cursor) => input["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(found, expected, "{limit}");
    }
}

#[test]
fn what_touches_the_edges_is_told_apart() {
    let mut world = World::new();
    let input = json!({ "title": "x", "start_at": "2026-04-01T09:00:00Z", "end_at": "2026-04-01T10:00:00Z" });
    world.ok("ann", "calendar.create", &input);
    for (from, until, count) in [
        ("2026-04-01T10:00:00Z", "2026-04-01T11:00:00Z", 0),
        ("2026-04-01T09:59:59Z", "2026-04-01T11:00:00Z", 1),
        ("2026-04-01T08:00:00Z", "2026-04-01T09:00:00Z", 0),
        ("2026-04-01T08:00:00Z", "2026-04-01T09:00:01Z", 1),
        ("2026-04-01T09:30:00Z", "2026-04-01T09:31:00Z", 1),
    ] {
        assert_eq!(world.starts("ann", from, until).len(), count, "{from} {until}");
    }
}

#[test]
fn long_occurrences_are_found_after_they_began() {
    let mut world = World::new();
    world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "x", "start_at": "2026-01-01T00:00:00Z", "end_at": "2026-01-21T00:00:00Z", "time_zone": "UTC",
            "recurrence": { "rule": "FREQ=MONTHLY" },
        }),
    );
    let data = world.ok("ann", "calendar.read", &json!({ "mode": "day", "date": "2026-07-15" }));
    assert_eq!(data["items"][0]["recurrenceId"], "2026-07-01T00:00:00+00:00");
}

#[test]
fn a_moved_occurrence_is_found_where_it_is() {
    let mut world = World::new();
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "x", "start_at": "2026-04-01T09:00:00Z", "end_at": "2026-04-01T10:00:00Z",
            "recurrence": { "rule": "FREQ=DAILY;COUNT=2" },
        }),
    );
    world.ok(
        "ann",
        "calendar.update",
        &json!({
            "event_id": event["id"], "recurrence_id": "2026-04-02T09:00:00Z",
            "start_at": "2027-01-01T09:00:00Z", "end_at": "2027-01-01T10:00:00Z",
        }),
    );
    assert_eq!(world.starts("ann", "2026-04-02T00:00:00Z", "2026-04-03T00:00:00Z").len(), 0);
    let data = world.ok("ann", "calendar.read", &json!({ "mode": "day", "date": "2027-01-01" }));
    assert_eq!(data["items"][0]["recurrenceId"], "2026-04-02T09:00:00+00:00");
    assert_eq!(data["items"][0]["overridden"], true);
}

#[test]
fn notes_are_in_full_only_where_they_are_asked_for() {
    let mut world = World::new();
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "x", "notes": "bring cake", "start_date": "2026-04-01" }),
    );
    let data = world.ok("ann", "calendar.read", &json!({ "mode": "day", "date": "2026-04-01" }));
    assert_eq!(data["items"][0]["hasNotes"], true);
    assert_eq!(data["items"][0].get("notes"), None);
    let data =
        world.ok("ann", "calendar.read", &json!({ "mode": "event", "event_id": event["id"] }));
    assert_eq!(data["notes"], "bring cake");
}

#[test]
fn a_foreign_cursor_is_refused() {
    let mut world = World::new();
    let mut input = range();
    for cursor in ["", "x", "AAAA", "W10", "eyJhIjoxfQ"] {
        input["cursor"] = json!(cursor);
        assert_eq!(world.fails("ann", "calendar.read", &input)["pointer"], "/cursor");
    }
}
