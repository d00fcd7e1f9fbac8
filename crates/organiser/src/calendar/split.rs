//! Cuts a series in two: what happens before an occurrence, and that occurrence with all that follow.

use jiff::civil::DateTime;

use super::fields::until_before;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::series;

/// Ends a series before an occurrence that is not its first.
pub(super) fn end_before(event: &mut Event, at: DateTime) {
    if let Some(mut rule) = event.parsed_rule() {
        rule.count = None;
        rule.until = until_before(at, event.zone.as_ref());
        event.rule = Some(rule.to_string());
    }
    event.added.retain(|local| *local < at);
    event.excluded.retain(|local| *local < at);
    event.overrides.retain(|own| own.at < at);
}

/// Gives the series that starts with an occurrence of another, with an id of its own.
pub(super) fn start_at(event: &Event, at: DateTime, id: String) -> Result<Event, Failure> {
    let mut next = event.clone();
    if let Some(mut rule) = event.parsed_rule() {
        let bare = Event { added: Vec::new(), ..event.clone() };
        if !series::strangers(&bare, &[at]).is_empty() {
            return Err(Failure::input(
                "/recurrence_id",
                "this occurrence was added beside the rule; change it alone, or cut at one that the rule gives",
            ));
        }
        if let Some(count) = rule.count {
            let before = series::count_before(event, at).ok_or_else(|| {
                Failure::new(
                    Code::LimitExceeded,
                    "the rule is too much work to be cut; replace it with scope `all`",
                )
            })?;
            rule.count = Some(count.saturating_sub(before).max(1));
        }
        next.rule = Some(rule.to_string());
    }
    next.start = at;
    next.added.retain(|local| *local > at);
    next.excluded.retain(|local| *local >= at);
    next.overrides.retain(|own| own.at >= at);
    next.uid.clone_from(&id);
    next.id = id;
    next.sequence = 0;
    Ok(next)
}
