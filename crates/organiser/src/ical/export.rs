//! Gives a user's calendar as a file.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::json;

use super::write::{Written, write};
use crate::context::Context;
use crate::event::Event;
use crate::invitation::Invitation;
use crate::limits::IMPORT_EVENTS;
use crate::row::{Kind, Loaded, Query, Step, Stop, Success};
use crate::series::Window;

/// Gives the caller's own events, all or those of a window: `{text, count, truncated}`.
///
/// At most as many as an import takes.
pub fn export(context: &Context, window: Option<Window>, loaded: &Loaded) -> Step {
    Step::from(run(context, window, loaded))
}

fn run(context: &Context, window: Option<Window>, loaded: &Loaded) -> Result<Success, Stop> {
    let whole = Window { from: Timestamp::MIN, until: Timestamp::MAX };
    let window = window.unwrap_or(whole);
    let rows = loaded.rows(Query::Between {
        owner: context.user.clone(),
        kind: Kind::Event,
        from: window.from,
        until: window.until,
        limit: IMPORT_EVENTS + 1,
    })?;
    let truncated = rows.len() > IMPORT_EVENTS;
    let mut events = Vec::new();
    for row in rows.iter().take(IMPORT_EVENTS) {
        events.push(Written { event: Event::from_row(row)?, invitations: Vec::new() });
    }
    let links: Vec<String> = events.iter().map(|written| written.event.id.clone()).collect();
    if !links.is_empty() {
        let mut by_event: BTreeMap<String, Vec<Invitation>> = BTreeMap::new();
        for row in loaded.rows(Query::Links { owner: None, kind: Kind::Invitation, links })? {
            let invitation = Invitation::from_row(row)?;
            by_event.entry(invitation.event.clone()).or_default().push(invitation);
        }
        for written in &mut events {
            written.invitations = by_event.remove(&written.event.id).unwrap_or_default();
        }
    }
    let text = write(&events);
    Ok(Success::read(json!({ "text": text, "count": events.len(), "truncated": truncated })))
}
