//! Changing and deleting one occurrence, this and following ones, or all.

use serde_json::{Value, json};

use crate::world::World;

const FROM: &str = "2026-04-01T00:00:00Z";
const UNTIL: &str = "2026-06-30T00:00:00Z";

/// Makes four Mondays at nine in Berlin, from 6 April on.
fn mondays(world: &mut World) -> String {
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "standup", "notes": "all", "start_at": "2026-04-06T09:00:00+02:00",
            "end_at": "2026-04-06T09:30:00+02:00", "recurrence": { "rule": "FREQ=WEEKLY;COUNT=4" },
        }),
    );
    assert_eq!(event["status"], "created");
    assert_eq!(event["timeZone"], "Europe/Berlin");
    assert_eq!(event["warnings"], json!([]));
    event["id"].as_str().unwrap().to_owned()
}

fn day(number: u8) -> String {
    format!("2026-04-{number:02}T09:00:00+02:00")
}

#[test]
fn one_occurrence_is_moved_and_renamed() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let data = world.ok(
        "ann",
        "calendar.update",
        &json!({
            "event_id": id, "recurrence_id": day(13), "title": "retro", "notes": null,
            "start_at": "2026-04-14T15:00:00+02:00", "end_at": "2026-04-14T16:00:00+02:00",
        }),
    );
    assert_eq!(data["scope"], "this");
    assert_eq!(data["recurrenceId"], day(13));
    assert_eq!(data["startAt"], "2026-04-14T15:00:00+02:00");
    assert_eq!(data["revision"], 2);
    assert_eq!(data.get("notes"), None);
    let moved = "2026-04-14T15:00:00+02:00".to_owned();
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), moved, day(20), day(27)]);
    // It is still named by the time it would have had, and taking the changes back is possible.
    let data = world.ok(
        "ann",
        "calendar.update",
        &json!({
            "event_id": id, "recurrence_id": day(13), "title": "standup", "notes": "all",
            "start_at": day(13), "end_at": "2026-04-13T09:30:00+02:00",
        }),
    );
    assert_eq!(data["overridden"], false);
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), day(13), day(20), day(27)]);
}

#[test]
fn one_occurrence_is_deleted_and_its_name_is_gone() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let data =
        world.ok("ann", "calendar.delete", &json!({ "event_id": id, "recurrence_id": day(13) }));
    assert_eq!((&data["scope"], &data["eventLeft"]), (&json!("this"), &json!(true)));
    // COUNT counts what the rule gives, not what is left.
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), day(20), day(27)]);
    let error =
        world.fails("ann", "calendar.delete", &json!({ "event_id": id, "recurrence_id": day(13) }));
    assert_eq!((&error["code"], &error["first"]), (&json!("NOT_FOUND"), &json!(day(6))));
}

#[test]
fn deleting_every_occurrence_deletes_the_event() {
    let mut world = World::new();
    let id = mondays(&mut world);
    for number in [6, 13, 20] {
        world.ok(
            "ann",
            "calendar.delete",
            &json!({ "event_id": id, "recurrence_id": day(number) }),
        );
    }
    let data =
        world.ok("ann", "calendar.delete", &json!({ "event_id": id, "recurrence_id": day(27) }));
    assert_eq!(data["eventLeft"], false);
    assert!(world.rows.is_empty());
}

#[test]
fn this_and_following_are_cut_off_into_a_series_of_their_own() {
    let mut world = World::new();
    let id = mondays(&mut world);
    world.ok("ann", "calendar.share", &json!({ "event_id": id, "with": [{ "user_id": "bob" }] }));
    world.ok("bob", "calendar.accept_invite", &json!({ "event_id": id }));
    world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence_id": day(27), "title": "last one" }),
    );
    let data = world.ok(
        "ann",
        "calendar.update",
        &json!({
            "event_id": id, "recurrence_id": day(20), "scope": "following",
            "start_at": "2026-04-20T10:00:00+02:00",
        }),
    );
    assert_eq!(data["scope"], "following");
    assert_eq!(data["splitFrom"], id);
    assert_ne!(data["id"], id);
    assert_eq!(data["recurrence"]["rule"], "FREQ=WEEKLY;COUNT=2");
    let ten = |number: u8| format!("2026-04-{number}T10:00:00+02:00");
    let all = [day(6), day(13), ten(20), ten(27)];
    assert_eq!(world.starts("ann", FROM, UNTIL), all);
    // Who accepted the series has accepted its second half; the changed occurrence moved along.
    assert_eq!(world.starts("bob", FROM, UNTIL), all);
    let old = world.ok("ann", "calendar.read", &json!({ "mode": "event", "event_id": id }));
    assert_eq!(old["recurrence"]["rule"], "FREQ=WEEKLY;UNTIL=20260420T065959Z");
    let new = world.ok(
        "bob",
        "calendar.read",
        &json!({ "mode": "event", "event_id": data["id"], "recurrence_id": ten(27) }),
    );
    assert_eq!(new["title"], "last one");
    assert_eq!(new["invitation"]["status"], "accepted");
}

#[test]
fn who_may_edit_cuts_a_series_that_stays_its_owners() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let with = json!([{ "user_id": "cem" }, { "user_id": "bob", "permission": "edit" }]);
    world.ok("ann", "calendar.share", &json!({ "event_id": id, "with": with }));
    world.ok("bob", "calendar.accept_invite", &json!({ "event_id": id }));
    let data = world.ok(
        "bob",
        "calendar.update",
        &json!({ "event_id": id, "recurrence_id": day(20), "scope": "following", "title": "bob's" }),
    );
    assert_eq!((&data["owner"], &data["access"]), (&json!("ann"), &json!("edit")));
    let read =
        world.ok("bob", "calendar.read", &json!({ "mode": "event", "event_id": data["id"] }));
    assert_eq!(read["invitation"], data["invitation"]);
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), day(13), day(20), day(27)]);
    assert_eq!(world.starts("cem", FROM, UNTIL).len(), 4);
    world.ok("ann", "calendar.delete", &json!({ "event_id": data["id"] }));
    assert_eq!(world.starts("bob", FROM, UNTIL).len(), 2);
}

#[test]
fn following_from_the_first_is_all() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let input =
        json!({ "event_id": id, "recurrence_id": day(6), "scope": "following", "title": "new" });
    assert_eq!(world.ok("ann", "calendar.update", &input)["scope"], "all");
    let input = json!({ "event_id": id, "recurrence_id": day(6), "scope": "following" });
    assert_eq!(world.ok("ann", "calendar.delete", &input)["eventLeft"], false);
}

#[test]
fn all_are_moved_and_single_changes_move_along() {
    let mut world = World::new();
    let id = mondays(&mut world);
    world.ok("ann", "calendar.delete", &json!({ "event_id": id, "recurrence_id": day(13) }));
    world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence_id": day(20), "location": "roof" }),
    );
    let data = world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "start_at": "2026-04-07T11:00:00+02:00" }),
    );
    assert_eq!((&data["scope"], &data["droppedOverrides"]), (&json!("all"), &json!(0)));
    assert_eq!(data["endAt"], "2026-04-07T11:30:00+02:00");
    let tuesdays =
        ["2026-04-07T11:00:00+02:00", "2026-04-21T11:00:00+02:00", "2026-04-28T11:00:00+02:00"];
    assert_eq!(world.starts("ann", FROM, UNTIL), tuesdays);
    let one = json!({ "mode": "event", "event_id": id, "recurrence_id": tuesdays[1] });
    assert_eq!(world.ok("ann", "calendar.read", &one)["location"], "roof");
}

#[test]
fn a_new_rule_drops_changes_that_have_no_place_in_it() {
    let mut world = World::new();
    let id = mondays(&mut world);
    world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence_id": day(13), "title": "other" }),
    );
    let data = world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence": { "rule": "FREQ=WEEKLY;INTERVAL=2;COUNT=2" } }),
    );
    assert_eq!(data["droppedOverrides"], 1);
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), day(20)]);
    let data = world.ok("ann", "calendar.update", &json!({ "event_id": id, "recurrence": null }));
    assert_eq!(data["recurring"], false);
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6)]);
}

#[test]
fn single_dates_are_added_and_excluded() {
    let mut world = World::new();
    let id = mondays(&mut world);
    world.ok(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence": {
            "rule": "FREQ=WEEKLY;COUNT=3", "add": ["2026-04-08T09:00:00+02:00"], "exclude": [day(13)],
        }}),
    );
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(6), day(8), day(20)]);
    // What was added can be changed alone, but not begin a second half.
    let mut input =
        json!({ "event_id": id, "recurrence_id": day(8), "scope": "following", "title": "x" });
    assert_eq!(world.fails("ann", "calendar.update", &input)["pointer"], "/recurrence_id");
    input["scope"] = json!("this");
    world.ok("ann", "calendar.update", &input);
    let error = world.fails(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence": { "rule": "FREQ=WEEKLY", "exclude": [day(7)] } }),
    );
    assert_eq!(error["pointer"], "/recurrence/exclude");
}

#[test]
fn a_series_that_never_happens_is_refused() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let error = world.fails(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence": { "rule": "FREQ=DAILY;UNTIL=20260101T000000Z" } }),
    );
    assert_eq!(error["pointer"], "/recurrence");
}

#[test]
fn a_start_beside_the_rule_is_allowed_with_a_warning() {
    let mut world = World::new();
    let event = world.ok(
        "ann",
        "calendar.create",
        &json!({
            "title": "x", "start_at": "2026-04-08T09:00:00+02:00", "end_at": "2026-04-08T10:00:00+02:00",
            "recurrence": { "rule": "FREQ=WEEKLY;BYDAY=MO;COUNT=2" },
        }),
    );
    assert_eq!(event["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(world.starts("ann", FROM, UNTIL), [day(8), day(13)]);
}

#[test]
fn an_old_revision_is_a_conflict_that_names_the_present_one() {
    let mut world = World::new();
    let id = mondays(&mut world);
    world.ok("ann", "calendar.update", &json!({ "event_id": id, "title": "two", "revision": 1 }));
    for method in ["calendar.update", "calendar.delete"] {
        let error = world.fails("ann", method, &json!({ "event_id": id, "revision": 1 }));
        assert_eq!((&error["code"], &error["revision"]), (&json!("CONFLICT"), &json!(2)));
    }
}

#[test]
fn an_event_becomes_all_day_and_timed_again() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let update = |world: &mut World, input: Value| {
        let mut input = input;
        input["event_id"] = json!(id);
        world.ok("ann", "calendar.update", &input)
    };
    let data = update(&mut world, json!({ "start_date": "2026-04-06" }));
    assert_eq!((&data["allDay"], &data["endDate"]), (&json!(true), &json!("2026-04-06")));
    assert_eq!(world.starts("ann", FROM, UNTIL).len(), 4);
    let data = update(&mut world, json!({ "end_date": "2026-04-07" }));
    assert_eq!(data["endDate"], "2026-04-07");
    let error = world.fails(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "start_at": "2026-04-06T09:00:00+02:00" }),
    );
    assert!(error["message"].as_str().unwrap().contains("end_at"));
    let error = world.fails(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "recurrence_id": "2026-04-13", "start_at": day(13), "end_at": day(13) }),
    );
    assert_eq!(error["code"], "INVALID_ACTION_INPUT");
    let data = update(
        &mut world,
        json!({ "start_at": "2026-04-06T09:00:00+08:00", "end_at": "2026-04-06T10:00:00+08:00", "time_zone": "Asia/Shanghai" }),
    );
    assert_eq!(data["timeZone"], "Asia/Shanghai");
}

#[test]
fn a_scope_needs_an_occurrence_and_a_series() {
    let mut world = World::new();
    let id = mondays(&mut world);
    let error = world.fails("ann", "calendar.delete", &json!({ "event_id": id, "scope": "this" }));
    assert_eq!(error["pointer"], "/recurrence_id");
    let error = world.fails(
        "ann",
        "calendar.update",
        &json!({ "event_id": id, "scope": "all", "recurrence_id": day(13), "start_at": day(14) }),
    );
    assert_eq!(error["pointer"], "/recurrence_id");
    world.ok("ann", "calendar.update", &json!({ "event_id": id, "recurrence": null }));
    let error =
        world.fails("ann", "calendar.delete", &json!({ "event_id": id, "recurrence_id": day(6) }));
    assert_eq!(error["code"], "INVALID_ACTION_INPUT");
}
