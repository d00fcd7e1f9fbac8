//! The inputs of the calendar's methods.

use serde_json::{Value, json};

use super::{object, text};
use crate::limits::{
    ID_CHARS, LOCATION_CHARS, NOTES_CHARS, PAGE, PAGE_MOST, RANGE_DAYS, RULE_CHARS, SHARE_PER_CALL,
    SINGLE_DATES, TITLE_CHARS,
};

const MOMENT: &str = "RFC 3339 with an offset, such as 2026-04-21T10:00:00+08:00";

fn moment(what: &str) -> Value {
    json!({ "type": "string", "format": "date-time", "maxLength": 40, "description": format!("{what}; {MOMENT}") })
}

fn date(what: &str) -> Value {
    json!({ "type": "string", "format": "date", "maxLength": 10, "description": format!("{what}, such as 2026-04-21") })
}

fn zone(what: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "description": format!("{what}; an IANA name such as Europe/Berlin") })
}

fn event_id() -> Value {
    text("The `id` of an event", ID_CHARS)
}

fn occurrence() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 40,
        "description": "The `recurrenceId` of one occurrence of a recurring event, as calendar.read gives it"
    })
}

/// Writes the input of `calendar.read`.
pub(super) fn read() -> Value {
    let mut schema = object(
        "Reads the calendar: one `day`, a `range` of time, or one `event` in full",
        &json!({
            "mode": {
                "enum": ["day", "range", "event"],
                "description": "day needs `date`; range needs `start_at` and `end_at`; event needs `event_id`"
            },
            "date": date("The day to read, with mode day"),
            "start_at": moment("The start of the range, with mode range"),
            "end_at": moment(&format!("The end of the range, itself excluded, at most {RANGE_DAYS} days later")),
            "event_id": event_id(),
            "recurrence_id": occurrence(),
            "time_zone": zone("Where days begin and end; the user's own zone if left out"),
            "limit": {
                "type": "integer", "minimum": 1, "maximum": PAGE_MOST,
                "description": format!("How many items a page holds; {PAGE} if left out")
            },
            "cursor": {
                "type": "string", "maxLength": 2000,
                "description": "`nextCursor` of the page before; repeat the other fields as they were"
            },
        }),
        &["mode"],
    );
    let only = |mode: &str, required: &[&str], foreign: &[&str]| {
        let mut none = serde_json::Map::new();
        for name in foreign {
            none.insert((*name).to_owned(), json!(false));
        }
        json!({
            "if": { "properties": { "mode": { "const": mode } }, "required": ["mode"] },
            "then": { "required": required, "properties": none },
        })
    };
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "allOf".to_owned(),
            json!([
                only("day", &["date"], &["start_at", "end_at", "event_id", "recurrence_id"]),
                only("range", &["start_at", "end_at"], &["date", "event_id", "recurrence_id"]),
                only("event", &["event_id"], &["date", "start_at", "end_at", "limit", "cursor"]),
            ]),
        );
    }
    schema
}

fn recurrence() -> Value {
    json!({
        "type": "object",
        "description": "How the event repeats",
        "properties": {
            "rule": text("An RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10 or FREQ=MONTHLY;BYDAY=-1FR", RULE_CHARS),
            "add": {
                "type": "array", "maxItems": SINGLE_DATES, "items": { "type": "string", "maxLength": 40 },
                "description": "Further starts beside those of the rule: times with an offset, or dates for all-day events"
            },
            "exclude": {
                "type": "array", "maxItems": SINGLE_DATES, "items": { "type": "string", "maxLength": 40 },
                "description": "Starts that do not happen: times with an offset, or dates for all-day events"
            },
        },
        "anyOf": [{ "required": ["rule"] }, { "required": ["add"] }],
        "additionalProperties": false,
    })
}

fn fields() -> Value {
    json!({
        "title": text("What the event is called", TITLE_CHARS),
        "notes": text("What there is to say about it", NOTES_CHARS),
        "location": text("Where it is", LOCATION_CHARS),
        "start_at": moment("When it starts"),
        "end_at": moment("When it ends"),
        "start_date": date("The first day of an all-day event"),
        "end_date": date("The last day of an all-day event, itself included; the first day if left out"),
        "time_zone": zone("Whose clock a recurring event follows; if left out, the user's zone where the offset is that zone's"),
        "recurrence": recurrence(),
    })
}

/// Writes the input of `calendar.create`.
pub(super) fn create() -> Value {
    let mut schema = object(
        "Creates an event: timed (`start_at`, `end_at`) or all-day (`start_date`, `end_date`)",
        &fields(),
        &["title"],
    );
    if let Some(object) = schema.as_object_mut() {
        object.insert(
            "oneOf".to_owned(),
            json!([
                { "required": ["start_at", "end_at"], "properties": { "start_date": false, "end_date": false } },
                { "required": ["start_date"], "properties": { "start_at": false, "end_at": false, "time_zone": false } },
            ]),
        );
    }
    schema
}

fn scope() -> Value {
    json!({
        "enum": ["this", "following", "all"],
        "description": "For recurring events: only `this` occurrence, this and all `following` ones (both need `recurrence_id`), or `all`; if left out, this where `recurrence_id` is given and all otherwise"
    })
}

fn revision() -> Value {
    json!({
        "type": "integer", "minimum": 1,
        "description": "The `revision` that was read; the call fails with CONFLICT if the event has changed since"
    })
}

/// Writes the input of `calendar.update`.
pub(super) fn update() -> Value {
    let mut properties = fields();
    if let Some(object) = properties.as_object_mut() {
        for name in ["notes", "location", "recurrence"] {
            if let Some(field) = object.get_mut(name) {
                *field = json!({ "anyOf": [field.clone(), { "type": "null", "description": "Takes it away" }] });
            }
        }
        object.insert("event_id".to_owned(), event_id());
        object.insert("recurrence_id".to_owned(), occurrence());
        object.insert("scope".to_owned(), scope());
        object.insert("revision".to_owned(), revision());
    }
    object("Changes the given fields of an event and leaves the others", &properties, &["event_id"])
}

/// Writes the input of `calendar.delete`.
pub(super) fn delete() -> Value {
    object(
        "Deletes an event, or some occurrences of a recurring one, and withdraws its invitations",
        &json!({
            "event_id": event_id(),
            "recurrence_id": occurrence(),
            "scope": scope(),
            "revision": revision(),
        }),
        &["event_id"],
    )
}

/// Writes the input of `calendar.share`.
pub(super) fn share() -> Value {
    object(
        "Invites other users to an event, changes what they may do, or withdraws their invitations",
        &json!({
            "event_id": event_id(),
            "with": {
                "type": "array", "minItems": 1, "maxItems": SHARE_PER_CALL,
                "description": "Whom to share with",
                "items": {
                    "type": "object",
                    "properties": {
                        "user_id": text("A user of this server", ID_CHARS),
                        "contact_id": text("The `id` of a contact who is a user of this server", ID_CHARS),
                        "permission": {
                            "enum": ["view", "edit", "none"],
                            "description": "view (if left out), edit (may change the event once accepted), or none (withdraws the invitation)"
                        },
                    },
                    "oneOf": [{ "required": ["user_id"] }, { "required": ["contact_id"] }],
                    "additionalProperties": false,
                },
            },
        }),
        &["event_id", "with"],
    )
}

/// Writes the input of `calendar.accept_invite` and `calendar.reject_invite`.
pub(super) fn answer(verb: &str) -> Value {
    let mut schema = object(
        &format!("{verb} an invitation to another user's event; doing so again changes nothing"),
        &json!({
            "invitation_id": text("The `id` of the invitation", ID_CHARS),
            "event_id": event_id(),
        }),
        &[],
    );
    if let Some(object) = schema.as_object_mut() {
        object.insert(
            "oneOf".to_owned(),
            json!([{ "required": ["invitation_id"] }, { "required": ["event_id"] }]),
        );
    }
    schema
}
