//! Deletes events, or occurrences of them.

use serde_json::{Value, json};

use super::target::{Target, target};
use super::update::save;
use super::{access, split};
use crate::context::Context;
use crate::failure::Failure;
use crate::input::Input;
use crate::limits::SINGLE_DATES;
use crate::row::{Change, Loaded, Stop, Success};
use crate::series;

/// Runs `calendar.delete`.
pub(crate) fn delete(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let input = Input(input);
    let id = input.text("event_id").unwrap_or_default();
    let found = access::find(context, id, loaded)?;
    found.must_own("delete it", "use calendar.reject_invite to take it off your calendar")?;
    found.at_revision(input.number("revision"))?;
    let target = target(context, &found.event, input)?;
    let invited = access::invitations(id, loaded)?;
    let scope = target.name();
    let mut event = found.event.clone();
    event.updated_at = context.now;
    event.sequence = event.sequence.saturating_add(1);
    let left = match &target {
        Target::All => false,
        Target::This(occurrence) => {
            event.overrides.retain(|own| own.at != occurrence.at);
            event.excluded.push(occurrence.at);
            event.excluded.sort_unstable();
            if event.excluded.len() > SINGLE_DATES {
                return Err(Failure::limit(format!(
                    "an event leaves out at most {SINGLE_DATES} occurrences; delete this and the following ones, or change the rule"
                ))
                .into());
            }
            series::first(&event).is_some()
        }
        Target::Following(occurrence) => {
            split::end_before(&mut event, occurrence.at);
            series::first(&event).is_some()
        }
    };
    let mut data = json!({
        "id": id,
        "title": found.event.title,
        "status": "deleted",
        "scope": scope,
        "eventLeft": left,
        "invitationsWithdrawn": if left { 0 } else { invited.len() },
    });
    if let (Some(text), Some(map)) = (input.text("recurrence_id"), data.as_object_mut()) {
        map.insert("recurrenceId".to_owned(), json!(text));
    }
    let changes = if left {
        if let Some(map) = data.as_object_mut() {
            map.insert("revision".to_owned(), json!(found.row.revision + 1));
        }
        save(&event, found.row, &invited)
    } else {
        let mut changes = vec![Change::delete(found.row)];
        changes.extend(invited.iter().map(|(_, row)| Change::delete(row)));
        changes
    };
    Ok(Success { data, changes })
}
