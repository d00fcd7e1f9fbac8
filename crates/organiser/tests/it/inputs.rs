//! Inputs that are refused, and whether what is said helps.

use remit_organiser::{Action, Code};
use serde_json::{Value, json};

use crate::world::World;

#[test]
fn schemas_are_schemas_that_close_their_objects() {
    for action in Action::ALL {
        let schema = action.input_schema();
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{action:?}");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        described(schema, &format!("{action:?}"));
    }
}

/// Checks that every property has words for a model.
fn described(schema: &Value, path: &str) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        let path = format!("{path}.{name}");
        let words =
            property["description"].as_str().or(property["anyOf"][0]["description"].as_str());
        assert!(words.is_some_and(|words| words.len() > 5), "{path}");
        described(property, &path);
        described(&property["items"], &path);
    }
}

#[test]
fn what_is_unknown_is_said_with_what_is_known() {
    for (module, method) in [("calendar", "drop"), ("shell", "run"), ("", "")] {
        let failure = Action::find(module, method).unwrap_err();
        assert_eq!(failure.code, Code::UnknownAction);
        assert!(failure.details["actions"].as_array().unwrap().contains(&json!("calendar.read")));
    }
    for action in Action::ALL {
        assert_eq!(Action::find(action.module(), action.method()).unwrap(), action);
    }
}

#[test]
fn command_subcommand_and_args_do_not_exist() {
    let mut world = World::new();
    for input in [
        json!({ "command": "calendar", "subcommand": "read", "args": ["--day"] }),
        json!({ "mode": "day", "date": "2026-04-21", "args": [] }),
        json!("calendar read"),
        json!(["day"]),
        Value::Null,
    ] {
        let error = world.fails("ann", "calendar.read", &input);
        assert_eq!(error["code"], "INVALID_ACTION_INPUT");
        assert_eq!(error["module"], "calendar");
        assert_eq!(error["method"], "read");
        assert_eq!(&error["input_schema"], Action::CalendarRead.input_schema());
    }
}

#[test]
fn a_naive_time_is_told_how_to_be_written() {
    let mut world = World::new();
    let read =
        |text: &str| json!({ "mode": "range", "start_at": text, "end_at": "2026-04-22T00:00:00Z" });
    for (text, hint) in [
        ("2026-04-21T10:00:00", "2026-04-21T10:00:00+02:00"),
        ("2026-01-21T10:00", "2026-01-21T10:00:00+01:00"),
        ("2026-04-21", "2026-04-21T09:00:00+02:00"),
        ("tomorrow", "2026-04-21T10:00:00+08:00"),
        ("2026-04-21T10:00:00+02:00[Europe/Berlin]", "time_zone"),
        ("2026-04-21T25:00:00Z", "RFC 3339"),
        ("9999-12-31T00:00:00Z", "years"),
    ] {
        let error = world.fails("ann", "calendar.read", &read(text));
        assert_eq!(error["code"], "INVALID_ACTION_INPUT");
        assert_eq!(error["pointer"], "/start_at");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(hint), "{text}: {message}");
        assert!(error["input_schema"].is_object());
    }
    for text in ["2026-04-21T00:00:00Z", "2026-04-21T00:00:00.5+05:45", "2026-04-20T23:00-01:00"] {
        world.ok("ann", "calendar.read", &read(text));
    }
}

#[test]
fn dates_are_dates_and_zones_are_known() {
    let mut world = World::new();
    for date in ["2026-02-29", "2026-4-1", "20260401", "2026-04-01T00:00:00Z", "0001-01-01"] {
        let error = world.fails("ann", "calendar.read", &json!({ "mode": "day", "date": date }));
        assert_eq!(error["pointer"], "/date", "{date}");
    }
    for zone in ["Mars/Olympus", "CEST", "", "Europe/../Berlin", "+25:00"] {
        let input = json!({ "mode": "day", "date": "2026-04-01", "time_zone": zone });
        let error = world.fails("ann", "calendar.read", &input);
        assert_eq!(error["pointer"], "/time_zone", "{zone}");
    }
    for zone in ["europe/berlin", "UTC", "+05:30", "Asia/Shanghai"] {
        let input = json!({ "mode": "day", "date": "2026-04-01", "time_zone": zone });
        world.ok("ann", "calendar.read", &input);
    }
}

#[test]
fn modes_take_their_own_fields_only() {
    let mut world = World::new();
    for (input, pointer) in [
        (json!({}), ""),
        (json!({ "mode": "week" }), "/mode"),
        (json!({ "mode": "day" }), ""),
        (json!({ "mode": "day", "date": "2026-04-01", "event_id": "x" }), "/event_id"),
        (json!({ "mode": "range", "start_at": "2026-04-01T00:00:00Z" }), ""),
        (json!({ "mode": "event" }), ""),
        (json!({ "mode": "event", "event_id": "x", "limit": 3 }), "/limit"),
    ] {
        let error = world.fails("ann", "calendar.read", &input);
        assert_eq!(
            (&error["code"], &error["pointer"]),
            (&json!("INVALID_ACTION_INPUT"), &json!(pointer)),
            "{input}"
        );
    }
}

#[test]
fn an_event_is_timed_or_all_day_and_ends_after_it_starts() {
    let mut world = World::new();
    let (nine, ten) = ("2026-04-01T09:00:00Z", "2026-04-01T10:00:00Z");
    for (input, word) in [
        (json!({ "title": "x" }), "alternatives"),
        (json!({ "title": "x", "start_at": nine }), "alternatives"),
        (
            json!({ "title": "x", "start_at": nine, "end_at": ten, "start_date": "2026-04-01" }),
            "alternatives",
        ),
        (json!({ "title": "x", "start_at": ten, "end_at": nine }), "before"),
        (json!({ "title": "x", "start_date": "2026-04-02", "end_date": "2026-04-01" }), "before"),
        (json!({ "title": "", "start_at": nine, "end_at": ten }), "/title"),
        (json!({ "start_at": nine, "end_at": ten }), "title"),
        (json!({ "title": "x", "start_at": nine, "end_at": ten, "recurrence": {} }), "/recurrence"),
        (
            json!({ "title": "x", "start_at": nine, "end_at": ten, "recurrence": { "rule": "weekly" } }),
            "NAME=VALUE",
        ),
        (
            json!({ "title": "x", "start_date": "2026-04-02", "recurrence": { "add": [nine] } }),
            "date",
        ),
        (
            json!({ "title": "x", "start_at": nine, "end_at": ten, "recurrence": { "add": ["2026-04-02"] } }),
            "offset",
        ),
    ] {
        let error = world.fails("ann", "calendar.create", &input);
        assert_eq!(error["code"], "INVALID_ACTION_INPUT");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(word) || word == "offset" && message.contains("is a date"),
            "{input}: {message}"
        );
    }
    let zero = world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "x", "start_at": nine, "end_at": nine }),
    );
    assert_eq!(zero["startAt"], zero["endAt"]);
    assert_eq!(world.starts("ann", nine, ten).len(), 1);
}

#[test]
fn the_zone_is_the_users_where_the_offset_says_so() {
    let mut world = World::new();
    for (start, end, zone) in [
        ("2026-04-01T09:00:00+02:00", "2026-04-01T10:00:00+02:00", "Europe/Berlin"),
        ("2026-04-01T09:00:00+08:00", "2026-04-01T10:00:00+08:00", "+08:00"),
        ("2026-04-01T09:00:00Z", "2026-04-01T10:00:00Z", "UTC"),
    ] {
        let input = json!({ "title": "x", "start_at": start, "end_at": end });
        let event = world.ok("ann", "calendar.create", &input);
        assert_eq!(
            (&event["timeZone"], &event["endAt"]),
            (&json!(zone), &json!(end.replace('Z', "+00:00")))
        );
    }
}

#[test]
fn output_is_what_a_handler_prints() {
    let action = Action::MemoryRead;
    let data = json!({ "count": 0 });
    assert_eq!(
        action.output(&Ok(data.clone())),
        json!({ "ok": true, "module": "memory", "method": "read", "data": data })
    );
}
