//! PDF into text.
//!
//! The syntax and the fonts are read by a library. Which glyphs a page shows, and where, is worked
//! out here and not by that library's interpreter: text needs no colours, images or shadings, and
//! here the work can be counted and stopped. What cannot be stopped, unpacking a stream, is watched.

mod layout;
mod page;

use std::time::Instant;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use self::layout::Layout;
use self::page::Reader;
use super::{Bounded, Extracted, damaged};
use crate::contract::Failure;
use crate::watch::{self, MEMORY_BYTES, Stopped};

const WHAT: &str = "PDF document";

/// Turns a document into text.
pub(super) fn text(bytes: Vec<u8>, deadline: Instant) -> Result<Extracted, Failure> {
    match watch::run(deadline, MEMORY_BYTES, move || read(bytes, deadline)) {
        Ok(read) => read,
        Err(Stopped::Time) => Err(Failure::timeout("reading the PDF document")),
        Err(Stopped::Memory) => Err(Failure::new(
            "TOO_LARGE",
            format!("the {WHAT} unpacks to more than {MEMORY_BYTES} bytes; it is not read"),
        )),
        Err(Stopped::Crash) => Err(damaged(WHAT)),
    }
}

fn read(bytes: Vec<u8>, deadline: Instant) -> Result<Extracted, Failure> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Failure::new("ENCRYPTED", "the PDF document has a password; save it without one")
        }
        LoadPdfError::Decryption(_) => {
            Failure::new("ENCRYPTED", "the PDF document is encrypted in a way that cannot be read")
        }
        LoadPdfError::Invalid => damaged(WHAT),
    })?;
    let pages = pdf.pages();
    let mut reader = Reader::new(deadline);
    let mut out = Bounded::new();
    let mut done = 0;
    for page in pages.iter() {
        let mut layout = Layout::default();
        reader.page(page, &mut layout);
        let text = layout.finish();
        if pages.len() > 1 && !text.is_empty() {
            let gap = if out.text.is_empty() { "" } else { "\n\n" };
            out.push(&format!("{gap}[page {}]\n\n", done + 1));
        }
        out.push(&text);
        if out.cut || reader.exhausted() {
            break;
        }
        done += 1;
    }
    let missing = if done < pages.len() && !out.cut {
        Some(format!("only {done} of {} pages were read in the time there was", pages.len()))
    } else if out.text.is_empty() && !pages.is_empty() {
        Some("it has no text; its pages may be images".to_owned())
    } else if reader.mostly_unknown() {
        Some("its fonts do not say which characters most of it is made of".to_owned())
    } else {
        None
    };
    if done == 0 && !pages.is_empty() && out.text.is_empty() {
        return Err(Failure::timeout("reading the PDF document"));
    }
    Ok(out.finish(pages.len(), missing))
}
