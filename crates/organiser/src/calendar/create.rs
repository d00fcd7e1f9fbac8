//! Creates events.

use serde_json::{Value, json};

use super::access::Access;
use super::fields::{Recurrence, new_times, recurrence};
use super::view;
use crate::context::Context;
use crate::event::Event;
use crate::failure::Failure;
use crate::input::Input;
use crate::row::{Change, Stop, Success};
use crate::series;

/// Runs `calendar.create`.
pub(crate) fn create(context: &Context, input: &Value) -> Result<Success, Stop> {
    let input = Input(input);
    let times = new_times(context, input)?;
    let recurrence = match input.0.get("recurrence") {
        Some(value) => recurrence(context, value, &times)?,
        None => Recurrence::default(),
    };
    let id = context.id("evt", 0);
    let event = Event {
        uid: id.clone(),
        id,
        owner: context.user.clone(),
        title: input.text("title").unwrap_or_default().to_owned(),
        notes: input.text("notes").map(str::to_owned),
        location: input.text("location").map(str::to_owned),
        start: times.start,
        zone: times.zone,
        seconds: times.seconds,
        rule: recurrence.rule,
        added: recurrence.added,
        excluded: recurrence.excluded,
        overrides: Vec::new(),
        attendees: Vec::new(),
        organizer: None,
        sequence: 0,
        created_at: context.now,
        updated_at: context.now,
    };
    judge(&event)?;
    let row = event.to_row(1);
    let access = Access { event, row: &row, invitation: None };
    let mut data = view::full(&access, None);
    if let Some(map) = data.as_object_mut() {
        map.insert("status".to_owned(), json!("created"));
        map.insert("warnings".to_owned(), json!(warnings(&access.event)));
    }
    Ok(Success { data, changes: vec![Change::Create(row)] })
}

/// Refuses a series that excludes what it does not have, or of which nothing is left.
pub(super) fn judge(event: &Event) -> Result<(), Failure> {
    if let Some(stranger) = series::strangers(event, &event.excluded).first() {
        let name = view::recurrence_id(event, *stranger);
        return Err(Failure::input(
            "/recurrence/exclude",
            format!("`{name}` is no occurrence of the series; leave it out"),
        ));
    }
    if event.repeats() && series::first(event).is_none() {
        return Err(Failure::input(
            "/recurrence",
            "the event would never happen; look at UNTIL and at what is excluded",
        ));
    }
    Ok(())
}

/// Says what is allowed but perhaps not meant.
pub(super) fn warnings(event: &Event) -> Vec<String> {
    let mut list = Vec::new();
    if !series::is_in_step(event) {
        let first = view::recurrence_id(event, event.start);
        list.push(format!(
            "the start {first} is not a time the rule gives; it is an occurrence beside those of the rule"
        ));
    }
    list
}
