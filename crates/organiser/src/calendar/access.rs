//! Who may see and do what with an event.
//!
//! The owner may do everything. Who is invited sees the event and its owner, but not who else is
//! invited; with `edit` they may change it once they have accepted. Sharing and deleting are the
//! owner's. To everybody else the event does not exist.

use crate::context::Context;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::invitation::{Invitation, Permission, Status};
use crate::row::{Kind, Loaded, Query, Row, Stop};

/// Is an event as the caller may know it.
pub(super) struct Access<'l> {
    pub event: Event,
    pub row: &'l Row,
    /// The caller's invitation; none for the owner.
    pub invitation: Option<Invitation>,
}

impl Access<'_> {
    /// Gives the word for what the caller may do.
    pub(super) fn name(&self) -> &'static str {
        self.invitation.as_ref().map_or("owner", |invitation| invitation.permission.name())
    }

    /// Refuses whoever may not change the event.
    pub(super) fn may_edit(&self) -> Result<(), Failure> {
        match &self.invitation {
            None => Ok(()),
            Some(own) if own.permission == Permission::View => {
                let message = "you may only view this event; ask its owner for `edit`";
                Err(Failure::new(Code::Forbidden, message))
            }
            Some(own) if own.status != Status::Accepted => {
                let message =
                    "accept the invitation with calendar.accept_invite before changing the event";
                Err(Failure::new(Code::Forbidden, message).with("invitationId", own.id.clone()))
            }
            Some(_) => Ok(()),
        }
    }

    /// Refuses everybody but the owner.
    pub(super) fn must_own(&self, doing: &str, instead: &str) -> Result<(), Failure> {
        match &self.invitation {
            None => Ok(()),
            Some(_) => Err(Failure::new(
                Code::Forbidden,
                format!("only the owner of an event can {doing}; {instead}"),
            )),
        }
    }

    /// Refuses a call that was made for another revision.
    pub(super) fn at_revision(&self, expected: Option<u64>) -> Result<(), Failure> {
        match expected {
            Some(expected) if expected != self.row.revision => {
                let message =
                    "the event has changed since it was read; read it again and decide anew";
                Err(Failure::new(Code::Conflict, message).with("revision", self.row.revision))
            }
            _ => Ok(()),
        }
    }
}

/// Finds an event that the caller owns or is invited to.
///
/// Both questions are always asked, so that a hidden event and a missing one take the same way.
pub(super) fn find<'l>(
    context: &Context,
    id: &str,
    loaded: &'l Loaded,
) -> Result<Access<'l>, Stop> {
    let event = Query::Ids { kind: Kind::Event, ids: vec![id.to_owned()] };
    let invited = Query::Links {
        owner: Some(context.user.clone()),
        kind: Kind::Invitation,
        links: vec![id.to_owned()],
    };
    loaded.need(&[event.clone(), invited.clone()])?;
    let row = loaded.rows(event)?.first().ok_or_else(|| Failure::not_found("event", id))?;
    let invitation = if row.owner == context.user {
        None
    } else {
        let own = loaded.rows(invited)?.first();
        Some(Invitation::from_row(own.ok_or_else(|| Failure::not_found("event", id))?)?)
    };
    Ok(Access { event: Event::from_row(row)?, row, invitation })
}

/// Gives the invitations to an event with their rows, in the order they were made.
pub(super) fn invitations<'l>(
    event: &str,
    loaded: &'l Loaded,
) -> Result<Vec<(Invitation, &'l Row)>, Stop> {
    let query = Query::Links { owner: None, kind: Kind::Invitation, links: vec![event.to_owned()] };
    let mut list = Vec::new();
    for row in loaded.rows(query)? {
        list.push((Invitation::from_row(row)?, row));
    }
    list.sort_by(|(a, _), (b, _)| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    Ok(list)
}
