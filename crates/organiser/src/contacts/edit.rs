//! Writes contacts. People do this in their address book; agents only read it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Contact;
use crate::context::Context;
use crate::failure::Failure;
use crate::limits::{NAME_CHARS, NOTES_CHARS, WAY_CHARS, WAYS};
use crate::row::{Change, Kind, Loaded, Query, Row, Step, Stop, Success};

/// Is what is to be kept of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Their name.
    pub name: String,
    /// Their mail addresses.
    #[serde(default)]
    pub emails: Vec<String>,
    /// Their numbers.
    #[serde(default)]
    pub phones: Vec<String>,
    /// Where they work.
    #[serde(default)]
    pub organisation: Option<String>,
    /// What there is to say about them.
    #[serde(default)]
    pub notes: Option<String>,
    /// Which user of this server they are.
    #[serde(default)]
    pub user_id: Option<String>,
}

impl Draft {
    /// Refuses what is empty or too long.
    fn check(&self) -> Result<(), Failure> {
        text("/name", &self.name, NAME_CHARS)?;
        for (pointer, list) in [("/emails", &self.emails), ("/phones", &self.phones)] {
            if list.len() > WAYS {
                return Err(Failure::input(pointer, format!("name at most {WAYS}")));
            }
            for (at, one) in list.iter().enumerate() {
                text(&format!("{pointer}/{at}"), one, WAY_CHARS)?;
            }
        }
        let more = [
            ("/organisation", &self.organisation, NAME_CHARS),
            ("/notes", &self.notes, NOTES_CHARS),
            ("/user_id", &self.user_id, NAME_CHARS),
        ];
        for (pointer, value, most) in more {
            value.as_ref().map_or(Ok(()), |value| text(pointer, value, most))?;
        }
        Ok(())
    }

    fn contact(&self, id: String) -> Contact {
        let Self { name, emails, phones, organisation, notes, user_id } = self.clone();
        Contact { id, name, emails, phones, organisation, notes, user_id }
    }
}

fn text(pointer: &str, text: &str, most: usize) -> Result<(), Failure> {
    let chars = text.chars().count();
    if text.trim().is_empty() || chars > most {
        return Err(Failure::input(pointer, format!("write 1 to {most} characters")));
    }
    Ok(())
}

/// Keeps a new contact, or writes over the one with an id: `{…, revision, status}`.
pub fn save(context: &Context, id: Option<&str>, draft: &Draft, loaded: &Loaded) -> Step {
    Step::from(try_save(context, id, draft, loaded))
}

fn try_save(
    context: &Context,
    id: Option<&str>,
    draft: &Draft,
    loaded: &Loaded,
) -> Result<Success, Stop> {
    draft.check()?;
    if let Some(user) = &draft.user_id {
        let known = loaded.users(Query::Users { ids: vec![user.clone()] })?;
        if known.is_empty() {
            let message = "there is no such user on this server; leave it out";
            return Err(Failure::input("/user_id", message).into());
        }
    }
    let old = id.map(|id| row(context, id, loaded)).transpose()?;
    let contact = draft.contact(old.map_or_else(|| context.id("con", 0), |old| old.id.clone()));
    let changed = old.is_none_or(|old| Contact::from_row(old).ok().as_ref() != Some(&contact));
    let revision = old.map_or(0, |old| old.revision) + u64::from(changed);
    let next = contact.to_row(&context.user, revision);
    let (change, status) = match (old.is_some(), changed) {
        (true, true) => (Some(Change::Update(next)), "updated"),
        (true, false) => (None, "unchanged"),
        (false, _) => (Some(Change::Create(next)), "created"),
    };
    let data = seen(contact.json(), &[("revision", json!(revision)), ("status", json!(status))]);
    Ok(Success { data, changes: change.into_iter().collect() })
}

/// Forgets a contact: `{id, status}`. What was shared with them stays shared.
pub fn delete(context: &Context, id: &str, loaded: &Loaded) -> Step {
    Step::from(row(context, id, loaded).map(|row| Success {
        data: json!({ "id": id, "status": "deleted" }),
        changes: vec![Change::delete(row)],
    }))
}

fn row<'l>(context: &Context, id: &str, loaded: &'l Loaded) -> Result<&'l Row, Stop> {
    let query = Query::Ids { kind: Kind::Contact, ids: vec![id.to_owned()] };
    let own = loaded.rows(query)?.iter().find(|row| row.owner == context.user);
    Ok(own.ok_or_else(|| Failure::not_found("contact", id))?)
}

fn seen(mut data: Value, more: &[(&str, Value)]) -> Value {
    if let Some(object) = data.as_object_mut() {
        for (name, value) in more {
            object.insert((*name).to_owned(), value.clone());
        }
    }
    data
}
