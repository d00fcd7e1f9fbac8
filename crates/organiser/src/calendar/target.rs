//! Which occurrences of an event a call is about.

use jiff::tz::Offset;

use super::view::recurrence_id;
use crate::context::Context;
use crate::event::Event;
use crate::failure::{Code, Failure, shown};
use crate::input::Input;
use crate::series::{self, Occurrence};
use crate::times;
use crate::zone::Zone;

/// Is what a call is about.
pub(super) enum Target {
    /// The whole event.
    All,
    /// One occurrence.
    This(Occurrence),
    /// One occurrence, which is not the first, and all that follow.
    Following(Occurrence),
}

impl Target {
    /// Gives the word for it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::This(_) => "this",
            Self::Following(_) => "following",
        }
    }
}

/// Reads `scope` and `recurrence_id`.
pub(super) fn target(
    context: &Context,
    event: &Event,
    input: Input<'_>,
) -> Result<Target, Failure> {
    let id = input.text("recurrence_id");
    let scope = input.text("scope").unwrap_or(if id.is_some() { "this" } else { "all" });
    if scope == "all" {
        return Ok(Target::All);
    }
    if !event.repeats() {
        return Err(Failure::input(
            if id.is_some() { "/recurrence_id" } else { "/scope" },
            "the event happens once; leave out `scope` and `recurrence_id`",
        ));
    }
    let Some(id) = id else {
        return Err(Failure::input(
            "/recurrence_id",
            format!(
                "scope `{scope}` needs the `recurrence_id` of an occurrence; calendar.read gives it"
            ),
        ));
    };
    let found = occurrence(context, event, id)?;
    Ok(match scope {
        "following" if series::first(event) == Some(found.at) => Target::All,
        "following" => Target::Following(found),
        _ => Target::This(found),
    })
}

/// Finds an occurrence by its name.
pub(super) fn occurrence(
    context: &Context,
    event: &Event,
    id: &str,
) -> Result<Occurrence, Failure> {
    let moment = match &event.zone {
        Some(_) => times::moment(id, "/recurrence_id", &context.zone)?.instant,
        None => {
            let date = times::date(id, "/recurrence_id")?;
            Offset::UTC
                .to_timestamp(date.at(0, 0, 0, 0))
                .map_err(|_| Failure::not_found("occurrence", id))?
        }
    };
    series::named(event, &Zone::utc(), moment).ok_or_else(|| {
        let hint = series::first(event).map(|at| recurrence_id(event, at));
        let message = format!(
            "the event has no occurrence `{}`; take a `recurrenceId` from calendar.read",
            shown(id)
        );
        Failure::new(Code::NotFound, message).with("first", hint)
    })
}
