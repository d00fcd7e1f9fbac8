//! `read_file`: text in any charset, documents as text, anything else as bytes.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_8};
use remit_model::text::quoted;
use serde_json::{Map, Value};

use super::most_bytes;
use super::roots::{Place, Roots};
use crate::contract::{Call, Done, Failure};
use crate::extract::{self, Found, Kind};
use crate::text::charset;
use crate::text::fit::{self, TEXT_BYTES};

/// Is the largest file given as bytes: in base64 four bytes stand for three.
pub(super) const BINARY_BYTES: usize = TEXT_BYTES / 4 * 3;

/// Runs the command.
pub(super) fn run(call: &Call) -> Result<Done, Failure> {
    let label = call.text_or("encoding", "utf8")?;
    let wanted = match label.to_ascii_lowercase().as_str() {
        "base64" | "binary" => None,
        label => Some(charset::by_label(label).ok_or_else(|| {
            Failure::new(
                "INVALID_PARAMETER",
                format!(
                    "{} is no encoding; use utf8, gbk, big5, latin1, … or base64",
                    quoted(label)
                ),
            )
        })?),
    };
    let offset = call.count("offset")?.unwrap_or(0);
    let limit = call.count("limit")?.unwrap_or(usize::MAX);
    let roots = Roots::open(&call.settings)?;
    let place = roots.place(call.text("filePath")?)?;
    let bytes = contents(&place, most_bytes(call))?;
    let size = bytes.len();
    let Some(wanted) = wanted else { return binary(&place, &bytes) };
    let read = match extract::look(&bytes) {
        Found::Document(kind) => document(bytes, kind, call)?,
        Found::OldOffice => {
            let message = format!(
                "{} is an encrypted or an old Office document; save it as DOCX, XLSX or PDF, or read it with the encoding `base64`",
                place.quoted()
            );
            return Err(Failure::new("UNSUPPORTED_FORMAT", message));
        }
        Found::Other if is_binary(&bytes, wanted) => return binary(&place, &bytes),
        Found::Other => plain(&bytes, wanted),
    };
    Ok(answer(&place, size, &read, offset, limit))
}

fn contents(place: &Place<'_>, most: u64) -> Result<Vec<u8>, Failure> {
    let (file, size) = place.open_file()?;
    let too_large = |size: u64| {
        let shown = place.quoted();
        let message = format!("{shown} has {size} bytes; at most {most} are read (max_file_size)");
        Err(Failure::new("TOO_LARGE", message))
    };
    if size > most {
        return too_large(size);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // It may have grown since, so its size is not the last word.
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| {
        Failure::new("IO", format!("{} could not be read: {}", place.quoted(), e.kind()))
    })?;
    if bytes.len() as u64 > most {
        return too_large(bytes.len() as u64);
    }
    Ok(bytes)
}

/// Is a text that was read, and what is worth saying about it.
struct ReadText {
    kind: &'static str,
    text: String,
    charset: Option<&'static str>,
    parts: Option<(&'static str, usize)>,
    note: Option<String>,
    missing: Option<String>,
}

fn document(bytes: Vec<u8>, kind: Kind, call: &Call) -> Result<ReadText, Failure> {
    let extracted = extract::text(bytes, kind, call.deadline())?;
    let parts = match kind {
        Kind::Pdf => Some(("pages", extracted.parts)),
        Kind::Xlsx => Some(("sheets", extracted.parts)),
        Kind::Docx => None,
    };
    let (kind, text, missing) = (kind.name(), extracted.text, extracted.missing);
    Ok(ReadText { kind, text, charset: None, parts, note: None, missing })
}

fn plain(bytes: &[u8], wanted: &'static Encoding) -> ReadText {
    let mut decoded = charset::decode(bytes, wanted);
    let mut note = None;
    if decoded.broken && wanted == UTF_8 {
        decoded = charset::decode(bytes, charset::guess(bytes));
        note = Some(format!(
            "it is not UTF-8; it was read as {}, which is a guess: name the encoding if it looks wrong",
            decoded.charset
        ));
    } else if decoded.broken {
        note = Some(format!("some bytes are no text in {}; try another encoding", decoded.charset));
    }
    let (text, charset) = (decoded.text, Some(decoded.charset));
    ReadText { kind: "text", text, charset, parts: None, note, missing: None }
}

/// Tells bytes from text: text has no NUL, unless its charset uses two bytes for a character.
fn is_binary(bytes: &[u8], wanted: &'static Encoding) -> bool {
    let wide = wanted == encoding_rs::UTF_16LE || wanted == encoding_rs::UTF_16BE;
    if wide || Encoding::for_bom(bytes).is_some() {
        return false;
    }
    let odd = bytes.iter().filter(|b| matches!(b, 1..=8 | 14..=26 | 28..=31 | 127)).count();
    bytes.contains(&0) || odd * 20 > bytes.len()
}

fn binary(place: &Place<'_>, bytes: &[u8]) -> Result<Done, Failure> {
    if bytes.len() > BINARY_BYTES {
        let message = format!(
            "{} is not text and has {} bytes; at most {BINARY_BYTES} can be given as base64",
            place.quoted(),
            bytes.len()
        );
        return Err(Failure::new("TOO_LARGE", message));
    }
    let mut result = Map::new();
    result.insert("path".to_owned(), place.shown().into());
    result.insert("type".to_owned(), "binary".into());
    result.insert("size".to_owned(), bytes.len().into());
    let message = format!("{} is given as {} bytes of base64", place.quoted(), bytes.len());
    Ok(Done::new(Value::Object(result)).base64(STANDARD.encode(bytes)).message(message))
}

fn answer(place: &Place<'_>, size: usize, read: &ReadText, offset: usize, limit: usize) -> Done {
    let page = fit::page(&read.text, offset, limit, TEXT_BYTES);
    let mut result = Map::new();
    let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
    put("path", place.shown().into());
    put("type", read.kind.into());
    put("size", size.into());
    put("content", page.text.into());
    put("total_chars", page.total.into());
    if let Some(charset) = read.charset {
        put("encoding", charset.to_ascii_lowercase().into());
    }
    if let Some((name, count)) = read.parts {
        put(name, count.into());
    }
    if offset > 0 {
        put("offset", offset.into());
    }
    let mut notes: Vec<String> = read.note.iter().cloned().collect();
    if let Some(next) = page.next {
        put("next_offset", next.into());
        let last = next.saturating_sub(1);
        let first = offset.min(last);
        notes.push(format!(
            "these are characters {first} to {last} of {}; read on with offset {next}",
            page.total
        ));
    }
    let cut = page.next.is_some_and(|next| next.saturating_sub(offset) < limit);
    notes.extend(read.missing.iter().cloned());
    let done = Done::new(Value::Object(result));
    let message = notes.join("; ");
    match (message.is_empty(), cut || read.missing.is_some()) {
        (true, _) => done,
        (false, true) => done.partial(message),
        (false, false) => done.message(message),
    }
}
