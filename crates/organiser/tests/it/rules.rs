//! Rules that are refused, rules that are hostile, and a walk that may begin anywhere.

use jiff::civil::{DateTime, date};
use proptest::prelude::*;
use remit_organiser::limits::{RULE_CHARS, RULE_COUNT, STEPS_PER_EVENT};
use remit_organiser::rule::{Budget, Expansion, parse};
use serde_json::json;

use crate::world::World;

#[test]
fn what_means_nothing_is_refused_with_words() {
    for (rule, word) in [
        ("", "FREQ"),
        ("BYDAY=MO", "FREQ"),
        ("FREQ=FORTNIGHTLY", "frequency"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20260101", "COUNT and UNTIL"),
        ("FREQ=DAILY;COUNT=0", "COUNT"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL"),
        ("FREQ=DAILY;FREQ=DAILY", "twice"),
        ("FREQ=DAILY;UNTIL=2026-01-01", "UNTIL"),
        ("FREQ=DAILY;UNTIL=20260230", "UNTIL"),
        ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY"),
        ("FREQ=WEEKLY;BYMONTHDAY=3", "BYMONTHDAY"),
        ("FREQ=MONTHLY;BYYEARDAY=3", "BYYEARDAY"),
        ("FREQ=MONTHLY;BYWEEKNO=3", "BYWEEKNO"),
        ("FREQ=YEARLY;BYWEEKNO=3;BYDAY=1MO", "BYWEEKNO"),
        ("FREQ=YEARLY;BYSETPOS=1", "BYSETPOS"),
        ("FREQ=YEARLY;BYMONTH=13", "BYMONTH"),
        ("FREQ=YEARLY;BYMONTHDAY=0", "BYMONTHDAY"),
        ("FREQ=YEARLY;BYDAY=54MO", "BYDAY"),
        ("FREQ=YEARLY;BYDAY=XX", "BYDAY"),
        ("FREQ=YEARLY;BYDAY=日", "BYDAY"),
        ("FREQ=YEARLY;WKST=DAY", "WKST"),
        ("FREQ=YEARLY;BYEASTER=0", "BYEASTER"),
        ("FREQ", "NAME=VALUE"),
    ] {
        let reason = parse(rule).unwrap_err();
        assert!(reason.contains(word), "{rule}: {reason}");
    }
}

#[test]
fn the_limits_of_a_rule_hold_at_them_and_past_them() {
    assert!(parse(&format!("FREQ=DAILY;COUNT={RULE_COUNT}")).is_ok());
    assert!(parse(&format!("FREQ=DAILY;COUNT={}", RULE_COUNT + 1)).is_err());
    let padded = |length: usize| format!("FREQ=DAILY{}", ";".repeat(length - 10));
    assert!(parse(&padded(RULE_CHARS)).is_ok());
    assert!(parse(&padded(RULE_CHARS + 1)).is_err());
    let list = |most: i32| (0..most).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let (hours, minutes) = (list(24), list(60));
    assert!(parse(&format!("FREQ=DAILY;BYHOUR={hours};BYMINUTE={minutes}")).is_ok());
    assert!(parse(&format!("FREQ=DAILY;BYHOUR={hours};BYMINUTE={minutes};BYSECOND=0,1")).is_err());
}

/// Counts the steps until a walk ends or gives up.
fn steps(rule: &str) -> (usize, u32) {
    let rule = parse(rule).unwrap();
    let start = date(2000, 1, 1).at(0, 0, 0, 0);
    let mut budget = Budget::new(STEPS_PER_EVENT);
    let mut walk = Expansion::new(&rule, start, None, DateTime::MIN);
    let mut found = 0;
    while walk.next(&mut budget).is_some() {
        found += 1;
    }
    (found, budget.left())
}

#[test]
fn a_rule_that_never_happens_stops() {
    for rule in [
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28;BYSETPOS=366",
        "FREQ=SECONDLY;INTERVAL=60;BYSECOND=30",
    ] {
        // Only the start, which counts in any case.
        assert_eq!(steps(rule).0, 1, "{rule}");
    }
    let (found, left) = steps("FREQ=SECONDLY");
    assert!(found > 10_000 && left == 0, "a rule without an end is cut off by the budget");
}

#[test]
fn a_hostile_series_does_not_hide_the_others() {
    let mut world = World::new();
    for rule in ["FREQ=SECONDLY", "FREQ=SECONDLY;COUNT=10000;BYMONTH=2;BYMONTHDAY=29,28;BYHOUR=3"] {
        world.ok(
            "ann",
            "calendar.create",
            &json!({
                "title": "hostile", "start_at": "2000-02-28T03:00:00Z", "end_at": "2000-02-28T03:00:01Z",
                "time_zone": "UTC", "recurrence": { "rule": rule },
            }),
        );
    }
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "good", "start_at": "2026-04-21T08:00:00Z", "end_at": "2026-04-21T09:00:00Z" }),
    );
    let data = world.ok(
        "ann",
        "calendar.read",
        &json!({ "mode": "range", "start_at": "2026-04-21T07:59:58Z", "end_at": "2026-04-21T08:00:02Z" }),
    );
    // The seconds of twenty-six years are stepped over, not walked through.
    assert_eq!(data["count"], 5, "{data}");
    assert_eq!(data["truncated"], false);
    let data = world.ok(
        "ann",
        "calendar.read",
        &json!({ "mode": "range", "start_at": "2026-01-01T00:00:00Z", "end_at": "2027-01-01T00:00:00Z", "limit": 500 }),
    );
    assert_eq!(data["count"], 500);
    assert_eq!(data["truncated"], true);
    assert!(data["nextCursor"].is_string());
}

#[test]
fn many_hostile_series_together_leave_single_events_alone() {
    let mut world = World::new();
    let hostile = json!({
        "title": "hostile", "start_at": "2026-04-01T00:00:00Z", "end_at": "2026-04-01T00:00:01Z",
        "time_zone": "UTC", "recurrence": { "rule": "FREQ=SECONDLY;COUNT=10000" },
    });
    for _ in 0..100 {
        world.ok("ann", "calendar.create", &hostile);
    }
    world.ok(
        "ann",
        "calendar.create",
        &json!({ "title": "zz good", "start_date": "2026-03-31", "end_date": "2026-08-20" }),
    );
    let data = world.ok("ann", "calendar.read", &json!({ "mode": "day", "date": "2026-08-20" }));
    assert_eq!(data["truncated"], true);
    assert_eq!(data["items"][0]["title"], "zz good");
    // Each has to be counted through, and the work of one answer does not suffice for all.
    assert!(!data["incomplete"].as_array().unwrap().is_empty());
}

fn any_rule() -> impl Strategy<Value = String> {
    let frequency = prop::sample::select(vec![
        "SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY",
    ]);
    let parts = prop::collection::vec(
        prop::sample::select(vec![
            "BYMONTH=1,2,11",
            "BYMONTHDAY=1,15,-1",
            "BYDAY=MO,FR",
            "BYDAY=1TU,-1SU",
            "BYYEARDAY=1,60,-1",
            "BYWEEKNO=1,20,53",
            "BYHOUR=8,17",
            "BYMINUTE=0,30",
            "BYSECOND=0,30",
            "BYSETPOS=1,-1",
            "WKST=SU",
        ]),
        0..4,
    );
    (frequency, 1..9u32, parts).prop_map(|(frequency, interval, parts)| {
        format!("FREQ={frequency};INTERVAL={interval};{}", parts.join(";"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A walk that begins later gives what the whole walk gives from there.
    #[test]
    fn beginning_later_changes_nothing(rule in any_rule(), days in 0..4000i64, seconds in 0..86_400i64) {
        let Ok(rule) = parse(&rule) else { return Ok(()) };
        let start = date(2019, 12, 30).at(8, 30, 0, 0);
        let from = start
            .checked_add(jiff::SignedDuration::from_secs(days * 86_400 + seconds)).unwrap();
        let mut budget = Budget::new(400_000);
        let mut whole = Expansion::new(&rule, start, None, DateTime::MIN);
        let mut expected = Vec::new();
        while expected.len() < 5 && let Some(local) = whole.next(&mut budget) {
            if local >= from {
                expected.push(local);
            }
        }
        prop_assume!(!budget.is_spent());
        let mut budget = Budget::new(400_000);
        let mut walk = Expansion::new(&rule, start, None, from);
        let mut found = Vec::new();
        while found.len() < 5 && let Some(local) = walk.next(&mut budget) {
            found.push(local);
        }
        prop_assert_eq!(found, expected);
    }

    /// Occurrences come in order, each once, and no text makes the reader stop.
    #[test]
    fn occurrences_are_in_order(rule in any_rule()) {
        let Ok(rule) = parse(&rule) else { return Ok(()) };
        prop_assert_eq!(&parse(&rule.to_string()).unwrap(), &rule);
        let mut budget = Budget::new(20_000);
        let mut walk = Expansion::new(&rule, date(2020, 2, 29).at(8, 0, 0, 0), None, DateTime::MIN);
        let mut last = None;
        while let Some(local) = walk.next(&mut budget) {
            prop_assert!(last.is_none_or(|last| local > last));
            last = Some(local);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,60}", tail in "[A-Z=;,0-9+-]{0,60}") {
        let _ = parse(&text);
        let _ = parse(&format!("FREQ=YEARLY;{tail}"));
    }
}
