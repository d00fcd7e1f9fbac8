//! JSON on its way out.
//!
//! JSON may hold any character, but a terminal that shows it must not be steered by a manifest, so
//! everything that is not plainly visible is written as an escape. The value stays the same.

use std::io;

use remit_manifest::diff::Changes;
use remit_model::{Dialect, Node, Severity, Value, text};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::CheckedFile;
use crate::paths;

/// Writes visible characters as they are and all others as escapes.
struct Visible<F>(F);

macro_rules! hand_on {
    ($($name:ident($($argument:ident: $kind:ty),*));* $(;)?) => {
        $(fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Visible<F> {
    hand_on! {
        begin_array(); end_array(); begin_array_value(first: bool); end_array_value();
        begin_object(); end_object(); begin_object_key(first: bool); end_object_key();
        begin_object_value(); end_object_value();
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| text::is_hidden(*c)) {
            writer.write_all(fragment.get(plain..at).unwrap_or_default().as_bytes())?;
            plain = at + c.len_utf8();
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        writer.write_all(fragment.get(plain..).unwrap_or_default().as_bytes())
    }
}

/// Writes a value on one line.
pub(crate) fn compact(value: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut *out, Visible(CompactFormatter));
    // Writing to memory cannot fail, and none of our types refuses to be serialised.
    let _ = value.serialize(&mut serializer);
    out.push(b'\n');
}

/// Writes a value over several lines.
pub(crate) fn pretty(value: &impl Serialize, out: &mut Vec<u8>) {
    let formatter = Visible(PrettyFormatter::new());
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, formatter));
    out.push(b'\n');
}

/// Gives a tree as JSON over several lines, in the order of the source.
pub(crate) fn tree(node: &Node) -> String {
    let mut out = Vec::new();
    pretty(&InOrder(node), &mut out);
    String::from_utf8(out).unwrap_or_default()
}

struct InOrder<'t>(&'t Node);

impl Serialize for InOrder<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Value::Array(items) => serializer.collect_seq(items.iter().map(InOrder)),
            Value::Object(object) => serializer
                .collect_map(object.members().iter().map(|m| (&*m.key, InOrder(&m.value)))),
            _ => self.0.to_json().serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct CheckReport<'a> {
    files: Vec<FileReport<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: String,
    dialect: Option<Dialect>,
    ok: bool,
    diagnostics: &'a [remit_model::Diagnostic],
}

/// Writes what `remit check --format json` promises.
pub(crate) fn check(files: &[CheckedFile], out: &mut Vec<u8>) {
    let report = CheckReport {
        files: files
            .iter()
            .map(|file| FileReport {
                path: paths::for_programs(&file.path),
                dialect: file.dialect,
                ok: file.count(Severity::Error) == 0,
                diagnostics: &file.diagnostics,
            })
            .collect(),
        errors: super::count(files, Severity::Error),
        warnings: super::count(files, Severity::Warning),
    };
    compact(&report, out);
}

#[derive(Serialize)]
struct DiffReport<'a> {
    dialect: Dialect,
    from_hash: &'a str,
    to_hash: &'a str,
    #[serde(flatten)]
    changes: &'a Changes,
}

/// Writes what `remit diff --format json` promises.
pub(crate) fn diff(
    dialect: Dialect,
    from_hash: &str,
    to_hash: &str,
    changes: &Changes,
    out: &mut Vec<u8>,
) {
    pretty(&DiffReport { dialect, from_hash, to_hash, changes }, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_leave_as_escapes_and_come_back_as_themselves() {
        let value = serde_json::json!({"a\u{202e}": "b\u{200b}\u{e0041}c\u{1b}"});
        for write in [compact, pretty] as [fn(&serde_json::Value, &mut Vec<u8>); 2] {
            let mut out = Vec::new();
            write(&value, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(!text.trim().replace('\n', "").contains(text::is_hidden), "{text:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
