//! What a client finds beside tools: resources to read and prompts to pick. They stand on shelves. One is
//! the server's own, with the skill documents on it; whoever puts a server together may add others.

pub(crate) mod skills;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use remit_engine::client::Contact;
use remit_engine::ports::Pending;
use remit_model::Caller;
use serde::Serialize;

/// Is something that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What kind of data it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// Is a family of resources whose names differ in what stands in the braces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    /// Where they are, as RFC 6570 writes it.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What kind of data they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// Is what was read of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// Where it is.
    pub uri: String,
    /// What kind of data it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The data.
    #[serde(flatten)]
    pub body: Body,
}

/// Is the data of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// Text.
    Text(String),
    /// Anything else, in base64.
    Blob(String),
}

/// Is a prompt that a person can pick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
}

/// Is an argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt cannot do without.
    pub required: bool,
}

/// Is a prompt with its arguments filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Script {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is said, in order.
    pub messages: Vec<Line>,
}

/// Is one thing that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Who says it.
    pub role: Role,
    /// What.
    pub content: Block,
}

/// Says who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Is a piece of what is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The picture, in base64.
        data: String,
        /// What kind of picture.
        mime_type: String,
    },
    /// A resource, with all that is in it.
    Resource {
        /// The resource.
        resource: Contents,
    },
}

/// Is a prompt that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its arguments. Those it cannot do without are there.
    pub arguments: BTreeMap<String, String>,
}

/// Is a blank that somebody begins to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// What it is a blank of.
    pub of: Of,
    /// Its name.
    pub name: String,
    /// What stands in it so far.
    pub begun: String,
    /// What stands in the others.
    pub others: BTreeMap<String, String>,
}

/// Says what has blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// A prompt, by its name.
    Prompt(String),
    /// A template of resources, as it is written.
    Template(String),
}

/// Says why a shelf has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amiss {
    /// The question does not fit; what about it, for whoever asked.
    Question(String),
    /// It cannot be told now; why, for whoever asked.
    Shelf(String),
}

/// Is what a shelf answers.
pub type Found<'a, T> = Pending<'a, Result<T, Amiss>>;

/// Is a shelf. What a caller may not see is not on it: nobody else looks. What is not said to be there is
/// not.
pub trait Shelf: Send + Sync {
    /// Gives a number that changes when something on the shelf does. It is asked for often.
    fn edition(&self) -> u64 {
        0
    }

    /// Lists the resources.
    fn resources<'a>(&'a self, _caller: &'a Caller) -> Found<'a, Vec<Resource>> {
        nothing()
    }

    /// Lists the families of resources.
    fn templates<'a>(&'a self, _caller: &'a Caller) -> Found<'a, Vec<Template>> {
        nothing()
    }

    /// Reads a resource; none if it is not on this shelf.
    fn read<'a>(&'a self, _caller: &'a Caller, _uri: &'a str) -> Found<'a, Option<Vec<Contents>>> {
        nothing()
    }

    /// Lists the prompts.
    fn prompts<'a>(&'a self, _caller: &'a Caller) -> Found<'a, Vec<Prompt>> {
        nothing()
    }

    /// Fills in a prompt of this shelf; the client can be asked for what is missing.
    fn prompt<'a>(
        &'a self,
        _caller: &'a Caller,
        _wanted: &'a Wanted,
        _contact: &'a Contact,
    ) -> Found<'a, Option<Script>> {
        nothing()
    }

    /// Gives what may stand in a blank, the likeliest first; none if it is no blank of this shelf.
    fn complete<'a>(
        &'a self,
        _caller: &'a Caller,
        _blank: &'a Blank,
    ) -> Found<'a, Option<Vec<String>>> {
        nothing()
    }
}

fn nothing<'a, T: Default + Send + 'a>() -> Found<'a, T> {
    Box::pin(std::future::ready(Ok(T::default())))
}

/// Is a row of shelves. Where two have the same, the first counts.
#[derive(Clone, Default)]
pub struct Shelves(Vec<Arc<dyn Shelf>>);

impl Shelves {
    /// Puts a shelf behind the others.
    #[must_use]
    pub fn with(mut self, shelf: Arc<dyn Shelf>) -> Self {
        self.0.push(shelf);
        self
    }

    /// Puts a shelf before the others.
    pub(crate) fn behind(mut self, shelf: Arc<dyn Shelf>) -> Self {
        self.0.insert(0, shelf);
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<dyn Shelf>> {
        self.0.iter()
    }

    /// Gives a number that changes when one of theirs does.
    pub(crate) fn edition(&self) -> u64 {
        self.iter().fold(0, |sum, shelf| sum.wrapping_mul(31).wrapping_add(shelf.edition()))
    }
}

impl fmt::Debug for Shelves {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Shelves({})", self.0.len())
    }
}

/// Gives what stands in the one blank of a template, `before{name}after`, in a URI; none if the URI is not
/// one of its family. A reserved character in it must be written as its number.
#[must_use]
pub fn filled<'u>(template: &str, uri: &'u str) -> Option<Cow<'u, str>> {
    let (before, rest) = template.split_once('{')?;
    let (_, after) = rest.split_once('}')?;
    let inner = uri.strip_prefix(before)?.strip_suffix(after)?;
    let read = unescaped(inner)?;
    // Only the one way of writing it counts: others would be second names for the same thing.
    (!read.is_empty() && escaped(&read) == inner).then_some(read)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Writes a text as a part of a URI.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let written = text.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    Cow::Owned(written.collect())
}

fn unescaped(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut parts = text.split('%');
    let mut out = Vec::from(parts.next()?.as_bytes());
    for part in parts {
        let (number, rest) = part.split_at_checked(2)?;
        out.push(u8::from_str_radix(number, 16).ok()?);
        out.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_is_read_as_it_is_written_and_no_other_way() {
        let template = "remit://skills/{module}";
        for module in ["calendar", "@server/tool", "skill:com", "#agent", "é", "a%b", "a b"] {
            let uri = format!("remit://skills/{}", escaped(module));
            assert_eq!(filled(template, &uri).as_deref(), Some(module), "{uri}");
        }
        assert_eq!(filled("t://x/{id}/data", "t://x/123/data").as_deref(), Some("123"));
        for other in [
            "remit://skills/",
            "remit://skills",
            "remit://skills/a/b",
            "remit://skills/%61",
            "remit://skills/%2f",
            "remit://skills/%2",
            "remit://skills/%zz",
            "remit://skills/%FF",
            "remit://other/a",
            "Remit://skills/a",
        ] {
            assert_eq!(filled(template, other), None, "{other}");
        }
        assert_eq!(filled("t://x/{id}/data", "t://x//data"), None);
        assert_eq!(filled("t://x/data", "t://x/data"), None, "there is no blank");
    }
}
