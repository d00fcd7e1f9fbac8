//! The XML inside documents, event by event.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::damaged;
use super::package::Limit;
use crate::contract::Failure;

/// Is what comes next in a part.
pub(super) enum Item {
    /// An element starts.
    Open(BytesStart<'static>),
    /// An element of that name, without its prefix, ends.
    Close(String),
    /// Some text; one text may come in pieces.
    Text(String),
}

/// Reads a part. Entities that a document declares itself are left out, so none can grow.
pub(super) struct Xml<'r> {
    reader: Reader<Box<dyn BufRead + 'r>>,
    buffer: Vec<u8>,
    what: &'static str,
}

impl<'r> Xml<'r> {
    /// Starts reading.
    pub(super) fn new(input: Box<dyn BufRead + 'r>, what: &'static str) -> Self {
        let mut reader = Reader::from_reader(input);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, buffer: Vec::new(), what }
    }

    /// Gives what comes next, or nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, Failure> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer);
            return Ok(Some(match event.map_err(|error| failure(&error, self.what))? {
                Event::Start(element) => Item::Open(element.into_owned()),
                Event::End(element) => Item::Close(element.local_name().into_inner().to_owned()),
                Event::Text(text) => Item::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Item::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(name) => {
                    let plain = name.resolve_char_ref().ok().flatten().map(String::from);
                    let known = || resolve_predefined_entity(&name).map(str::to_owned);
                    Item::Text(plain.or_else(known).unwrap_or_default())
                }
                Event::Eof => return Ok(None),
                _ => continue,
            }));
        }
    }
}

fn failure(error: &quick_xml::Error, what: &str) -> Failure {
    if let quick_xml::Error::Io(error) = error
        && let Some(limit) = error.get_ref().and_then(|inner| inner.downcast_ref::<Limit>())
    {
        return limit.failure(what);
    }
    damaged(what)
}

/// Gives an attribute by its name without prefix.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    // Checking for duplicates takes time squared in their number.
    attributes.with_checks(false);
    attributes
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.local_name().into_inner() == name)
        .and_then(|a| a.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned))
}
