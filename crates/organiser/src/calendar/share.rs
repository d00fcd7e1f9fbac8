//! Shares events with other users.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::access;
use crate::contacts;
use crate::context::Context;
use crate::failure::{Code, Failure};
use crate::input::Input;
use crate::invitation::{Invitation, Permission, Status};
use crate::limits::INVITATIONS;
use crate::row::{Change, Loaded, Query, Row, Stop, Success};

/// Runs `calendar.share`.
///
/// The event's own row is written too, so that two calls cannot pass the limit together.
pub(crate) fn share(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let input = Input(input);
    let id = input.text("event_id").unwrap_or_default();
    let found = access::find(context, id, loaded)?;
    found.must_own("share it", "ask the owner to invite others")?;
    let wishes = wishes(context, input, loaded)?;
    known(&wishes, loaded)?;
    let invited = access::invitations(id, loaded)?;
    let mut by_user: BTreeMap<&str, (&Invitation, &Row)> =
        invited.iter().map(|(one, row)| (one.to.as_str(), (one, *row))).collect();
    let mut changes = Vec::new();
    let mut list = Vec::new();
    let mut total = invited.len();
    for (nth, (user, permission)) in wishes.iter().enumerate() {
        let old = by_user.remove(user.as_str());
        let (outcome, invitation) = match (old, permission) {
            (None, None) => {
                list.push(json!({ "to": user, "outcome": "absent" }));
                continue;
            }
            (Some((old, row)), None) => {
                changes.push(Change::delete(row));
                total -= 1;
                ("withdrawn", old.clone())
            }
            (Some((old, _)), Some(wish))
                if old.permission == *wish && old.status != Status::Rejected =>
            {
                ("unchanged", old.clone())
            }
            (Some((old, row)), Some(wish)) => {
                let mut next = Invitation { permission: *wish, ..old.clone() };
                let outcome = if old.status == Status::Rejected { "invited" } else { "updated" };
                if old.status == Status::Rejected {
                    next.status = Status::Pending;
                    next.answered_at = None;
                }
                changes.push(Change::Update(next.to_row(&found.event, row.revision + 1)));
                (outcome, next)
            }
            (None, Some(wish)) => {
                let next = Invitation {
                    id: context.id("inv", nth),
                    event: id.to_owned(),
                    from: context.user.clone(),
                    to: user.clone(),
                    permission: *wish,
                    status: Status::Pending,
                    created_at: context.now,
                    answered_at: None,
                };
                changes.push(Change::Create(next.to_row(&found.event, 1)));
                total += 1;
                ("invited", next)
            }
        };
        let mut item = invitation.json();
        if let Some(map) = item.as_object_mut() {
            map.insert("outcome".to_owned(), json!(outcome));
        }
        list.push(item);
    }
    if total > INVITATIONS {
        let message = format!("an event has at most {INVITATIONS} invitations");
        return Err(Failure::limit(message).with("total", invited.len()).into());
    }
    let mut revision = found.row.revision;
    if !changes.is_empty() {
        revision += 1;
        changes.push(Change::Update(found.event.to_row(revision)));
    }
    let data = json!({
        "eventId": id,
        "title": found.event.title,
        "status": "shared",
        "invitations": list,
        "count": list.len(),
        "total": total,
        "revision": revision,
    });
    Ok(Success { data, changes })
}

type Wish = (String, Option<Permission>);

/// Reads with whom an event is to be shared, and how; no permission withdraws.
fn wishes(context: &Context, input: Input<'_>, loaded: &Loaded) -> Result<Vec<Wish>, Stop> {
    let mut list: Vec<Wish> = Vec::new();
    for (at, entry) in input.list("with").iter().enumerate() {
        let entry = Input(entry);
        let pointer = format!("/with/{at}");
        let user = match (entry.text("user_id"), entry.text("contact_id")) {
            (Some(user), _) => user.to_owned(),
            (None, contact) => {
                let contact = contacts::find(context, contact.unwrap_or_default(), loaded)?;
                contact.user_id.ok_or_else(|| {
                    Failure::input(
                        pointer.clone(),
                        "this contact is no user of this server; name another contact or a `user_id`",
                    )
                })?
            }
        };
        if user == context.user {
            return Err(Failure::input(pointer, "an event cannot be shared with its owner").into());
        }
        if list.iter().any(|(other, _)| *other == user) {
            return Err(Failure::input(pointer, "this user is named twice; name each once").into());
        }
        let permission = match entry.text("permission") {
            Some("none") => None,
            Some("edit") => Some(Permission::Edit),
            _ => Some(Permission::View),
        };
        list.push((user, permission));
    }
    Ok(list)
}

/// Refuses to invite somebody who is no user.
fn known(wishes: &[Wish], loaded: &Loaded) -> Result<(), Stop> {
    let ids: Vec<String> =
        wishes.iter().filter(|(_, wish)| wish.is_some()).map(|(user, _)| user.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let users = loaded.users(Query::Users { ids: ids.clone() })?;
    let missing: Vec<&String> = ids.iter().filter(|id| !users.contains(id)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message =
        "some are no users of this server; see `unknown`, and find people with contacts.read";
    Err(Failure::new(Code::NotFound, message).with("unknown", json!(missing)).into())
}
