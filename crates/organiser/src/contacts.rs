//! The people a user knows.

mod edit;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::Context;
use crate::cursor;
use crate::failure::{Code, Failure};
use crate::input::Input;
use crate::limits::{CONTACTS, PAGE};
use crate::row::{Kind, Loaded, Query, Row, Stop, Success};

pub use edit::{Draft, delete, save};

/// Is a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Their id.
    pub id: String,
    /// Their name.
    pub name: String,
    /// Their mail addresses.
    #[serde(default)]
    pub emails: Vec<String>,
    /// Their numbers.
    #[serde(default)]
    pub phones: Vec<String>,
    /// Where they work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organisation: Option<String>,
    /// What there is to say about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Which user of this server they are, if they are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

impl Contact {
    /// Reads a contact from its row.
    pub fn from_row(row: &Row) -> Result<Self, Failure> {
        serde_json::from_value(row.body.clone())
            .map_err(|_| Failure::new(Code::Internal, "a stored contact cannot be read"))
    }

    /// Makes the row that keeps this contact.
    pub fn to_row(&self, owner: &str, revision: u64) -> Row {
        Row {
            owner: owner.to_owned(),
            kind: Kind::Contact,
            id: self.id.clone(),
            revision,
            link: self.user_id.clone(),
            starts: None,
            ends: None,
            body: serde_json::to_value(self).unwrap_or_default(),
        }
    }

    /// Tells whether all words, in small letters, occur somewhere.
    fn matches(&self, words: &[String]) -> bool {
        let mut all = self.name.to_lowercase();
        let more = self.emails.iter().chain(&self.phones).chain(&self.organisation);
        for text in more.chain(&self.user_id) {
            all.push('\n');
            all.push_str(&text.to_lowercase());
        }
        words.iter().all(|word| all.contains(word.as_str()))
    }

    fn place(&self) -> (String, String) {
        (self.name.to_lowercase(), self.id.clone())
    }

    fn json(&self) -> Value {
        let mut data = json!({
            "id": self.id,
            "name": self.name,
            "emails": self.emails,
            "phones": self.phones,
        });
        if let Some(object) = data.as_object_mut() {
            let more = [
                ("organisation", &self.organisation),
                ("notes", &self.notes),
                ("userId", &self.user_id),
            ];
            for (name, value) in more {
                if let Some(value) = value {
                    object.insert(name.to_owned(), json!(value));
                }
            }
        }
        data
    }
}

/// Finds a contact of the caller by id.
pub(crate) fn find(context: &Context, id: &str, loaded: &Loaded) -> Result<Contact, Stop> {
    let query = Query::Ids { kind: Kind::Contact, ids: vec![id.to_owned()] };
    let row = loaded.rows(query)?.iter().find(|row| row.owner == context.user);
    Ok(Contact::from_row(row.ok_or_else(|| Failure::not_found("contact", id))?)?)
}

/// Runs `contacts.read`.
pub(crate) fn read(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let input = Input(input);
    if let Some(id) = input.text("contact_id") {
        let contact = find(context, id, loaded)?;
        return Ok(Success::read(
            json!({ "items": [contact.json()], "count": 1, "total": 1, "truncated": false }),
        ));
    }
    let words: Vec<String> =
        input.text("query").unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let after: Option<(String, String)> = input.text("cursor").map(cursor::read).transpose()?;
    let limit = input.number("limit").and_then(|n| usize::try_from(n).ok()).unwrap_or(PAGE);
    let query =
        Query::Owned { owner: context.user.clone(), kind: Kind::Contact, limit: CONTACTS + 1 };
    let mut found = Vec::new();
    let rows = loaded.rows(query)?;
    let all_loaded = rows.len() <= CONTACTS;
    for row in rows.iter().take(CONTACTS) {
        let contact = Contact::from_row(row)?;
        if contact.matches(&words) {
            found.push(contact);
        }
    }
    found.sort_by_cached_key(Contact::place);
    let total = found.len();
    let mut rest =
        found.iter().filter(|contact| after.as_ref().is_none_or(|after| contact.place() > *after));
    let page: Vec<&Contact> = rest.by_ref().take(limit).collect();
    let more = rest.next().is_some();
    let mut data = json!({
        "count": page.len(),
        "items": page.iter().map(|contact| contact.json()).collect::<Vec<_>>(),
        "total": total,
        "truncated": more || !all_loaded,
    });
    if let Some(object) = data.as_object_mut() {
        if let (true, Some(last)) = (more, page.last()) {
            object.insert("nextCursor".to_owned(), json!(cursor::write(&last.place())));
        }
        if !all_loaded {
            let note = format!("only {CONTACTS} contacts were looked at; there are more");
            object.insert("note".to_owned(), json!(note));
        }
    }
    Ok(Success::read(data))
}
