//! Loading one document for a command that needs it whole.

use std::io;
use std::path::Path;

use remit_manifest::read::{self, Limits, Reading};
use remit_model::{Dialect, Node, Severity};

use super::{Exit, Output};
use crate::render::human::Width;
use crate::{files, paths, render};

/// Reads any JSON or YAML document. What is wrong with it goes to standard error.
pub(super) fn document(path: &Path, output: &mut Output) -> Result<Reading, Exit> {
    let bytes = bytes(path, Limits::DOCUMENT.most_bytes(), output)?;
    let reading = read::read(bytes, files::format_of(path), &Limits::DOCUMENT);
    if reading.accepted().is_some() {
        let agent = || {
            reading.root.as_ref().and_then(remit_manifest::detect::detect) == Some(Dialect::Agent)
        };
        if reading.bare_templates.is_empty() || agent() {
            return Ok(reading);
        }
        output.error(&format!("{} is not JSON: it holds a bare template", paths::for_people(path)));
        output.help("put the template in double quotes");
        return Err(Exit::Bad);
    }
    for diagnostic in reading.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        output.err.push_str(&render::human::diagnostic(
            &paths::for_people(path),
            &reading.source,
            diagnostic,
            Width::of(&io::stderr()),
        ));
    }
    Err(Exit::Bad)
}

/// Reads the bytes of a file, up to one past a limit.
pub(super) fn bytes(path: &Path, most: usize, output: &mut Output) -> Result<Vec<u8>, Exit> {
    files::read(path, most, files::Patience::Wait).map_err(|reason| {
        output.error(&format!("cannot read {}: {reason}", paths::for_people(path)));
        Exit::Failed
    })
}

/// Gives the tree of a document that [`document`] accepted.
pub(super) fn tree(reading: &Reading) -> Result<&Node, Exit> {
    reading.accepted().ok_or(Exit::Bad)
}
