//! Documents into text: PDF, DOCX, XLSX.
//!
//! A document comes from anywhere, so nothing it says about its own size is believed: what is
//! unpacked, written and waited for is bounded here.

mod docx;
mod package;
mod pdf;
mod xlsx;
mod xml;

use std::time::{Duration, Instant};

use crate::contract::Failure;

/// Is the longest text taken out of a document.
pub(crate) const TEXT_BYTES: usize = 16 << 20;

/// Is the longest time a document may take, if its call leaves it that long.
const LONGEST: Duration = Duration::from_secs(20);

/// Is a kind of document that can be turned into text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Portable Document Format.
    Pdf,
    /// A text of Office Open XML.
    Docx,
    /// A workbook of Office Open XML.
    Xlsx,
}

impl Kind {
    /// Gives the name of the kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
        }
    }
}

/// Is what bytes turn out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A document that can be turned into text.
    Document(Kind),
    /// A document of Office that is too old or encrypted.
    OldOffice,
    /// Something else.
    Other,
}

/// Looks at bytes, not at the name of their file.
pub(crate) fn look(bytes: &[u8]) -> Found {
    // The mark may stand a little way in: many writers put something before it.
    let start = bytes.get(..1024).unwrap_or(bytes);
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Found::Document(Kind::Pdf);
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Found::OldOffice;
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return package::kind(bytes).map_or(Found::Other, Found::Document);
    }
    Found::Other
}

/// Is the text of a document.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub(crate) text: String,
    /// Says what is missing, if something is.
    pub(crate) missing: Option<String>,
    /// Is how many pages or sheets there are.
    pub(crate) parts: usize,
}

/// Turns a document into text.
pub(crate) fn text(bytes: Vec<u8>, kind: Kind, deadline: Instant) -> Result<Extracted, Failure> {
    let deadline = deadline.min(Instant::now() + LONGEST);
    match kind {
        Kind::Pdf => pdf::text(bytes, deadline),
        Kind::Docx => docx::text(bytes, deadline),
        Kind::Xlsx => xlsx::text(bytes, deadline),
    }
}

fn damaged(what: &str) -> Failure {
    Failure::new(
        "DAMAGED",
        format!(
            "the {what} is damaged and cannot be read; repair it or ask for its bytes with the encoding `base64`"
        ),
    )
}

/// Is a text that grows up to a bound.
struct Bounded {
    text: String,
    cut: bool,
}

impl Bounded {
    fn new() -> Self {
        Self { text: String::new(), cut: false }
    }

    /// Adds text; what does not fit is left out, and so is all that follows.
    fn push(&mut self, piece: &str) {
        if self.cut {
            return;
        }
        let room = TEXT_BYTES.saturating_sub(self.text.len());
        if piece.len() <= room {
            self.text.push_str(piece);
            return;
        }
        self.cut = true;
        let end = piece.floor_char_boundary(room);
        self.text.push_str(piece.get(..end).unwrap_or_default());
    }

    fn finish(mut self, parts: usize, missing: Option<String>) -> Extracted {
        self.text.truncate(self.text.trim_end().len());
        let cut =
            self.cut.then(|| format!("only the first {TEXT_BYTES} bytes of its text were read"));
        Extracted { text: self.text, missing: missing.or(cut), parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_grows_to_its_bound_and_not_past_it() {
        let mut text = Bounded::new();
        text.push(&"x".repeat(TEXT_BYTES - 2));
        text.push("é");
        assert!(!text.cut);
        text.push("");
        assert!(!text.cut);
        text.push("y");
        assert!(text.cut);
        assert_eq!(text.text.len(), TEXT_BYTES);
        let mut text = Bounded::new();
        text.push(&"x".repeat(TEXT_BYTES - 1));
        text.push("é");
        assert!(text.cut);
        assert_eq!(text.text.len(), TEXT_BYTES - 1);
    }

    #[test]
    fn bytes_decide_what_a_document_is() {
        assert_eq!(look(b"junk\n%PDF-1.7\n"), Found::Document(Kind::Pdf));
        assert_eq!(look(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest"), Found::OldOffice);
        assert_eq!(look(b"PK\x03\x04 but no archive"), Found::Other);
        assert_eq!(look(b"plain text"), Found::Other);
        assert_eq!(look(b""), Found::Other);
    }
}
