//! What the operator and the user set: the only place that reads the environment and configuration.

mod authentication;
pub(crate) mod policy;
pub(crate) mod secrets;
pub(crate) mod settings;
pub(crate) mod telemetry;

use std::path::{Path, PathBuf};

use remit_manifest::Report;
use remit_manifest::read::{self, Format, Limits, Reading};
use remit_manifest::shape::{self, Manner, Shape};
use remit_model::{Diagnostic, Severity};

use crate::files;

/// Is a configuration file that was read and judged, with what is wrong with it.
pub(crate) struct Judged {
    pub(crate) reading: Reading,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Judged {
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }
}

/// Reads a configuration file and judges it by its table.
pub(crate) fn judge(path: &Path, table: &'static Shape) -> Result<Judged, String> {
    let bytes = files::read_ordinary(path, Limits::MANIFEST.most_bytes())?;
    let format = files::format_of(path).unwrap_or(Format::Yaml);
    let mut reading = read::read(bytes, Some(format), &Limits::MANIFEST);
    let mut diagnostics = std::mem::take(&mut reading.diagnostics);
    if let Some(root) = &reading.root {
        let mut report = Report::default();
        shape::check(root, table, Manner::default(), &mut report);
        diagnostics.extend(report.finish(root, &reading.source, false));
    }
    Ok(Judged { reading, diagnostics })
}

/// Says what is wrong with a file in one line, without repeating any of its values.
pub(crate) fn in_one_line(path: &Path, diagnostic: &Diagnostic) -> String {
    let (line, column) = (diagnostic.position.line, diagnostic.position.column);
    format!("{}:{line}:{column}: {}", crate::paths::for_people(path), diagnostic.message)
}

/// Gives the directory calls and their record are kept in. One that anybody may write is refused:
/// whoever replaces a file in it replaces the record.
pub(crate) fn data_directory(named: Option<&Path>) -> Result<PathBuf, String> {
    let directory = data_place(named)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        const ANYBODY_WRITES: u32 = 0o002;
        let mode = std::fs::metadata(&directory).map_or(0, |found| found.permissions().mode());
        if mode & ANYBODY_WRITES != 0 {
            let shown = crate::paths::for_people(&directory);
            return Err(format!(
                "anybody may write the data directory {shown}; say `chmod o-w` to it, or name another with --data"
            ));
        }
    }
    Ok(directory)
}

fn data_place(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let from = |variable: &str| std::env::var_os(variable).filter(|v| !v.is_empty());
    if let Some(data) = from("REMIT_DATA") {
        return Ok(PathBuf::from(data));
    }
    if let Some(home) = from("XDG_DATA_HOME") {
        return Ok(PathBuf::from(home).join("remit"));
    }
    match from("HOME") {
        Some(home) => Ok(PathBuf::from(home).join(".local/share/remit")),
        None => {
            Err("there is no home directory to keep the record in; name one with --data".to_owned())
        }
    }
}

/// Gives the operator's file: the one named, or `remit.yaml` here if there is one.
pub(crate) fn policy_file(named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    if let Some(named) = std::env::var_os("REMIT_CONFIG").filter(|v| !v.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let here = PathBuf::from("remit.yaml");
    here.exists().then_some(here)
}

/// Gives the tools directory: the one named, or `tools` here if there is one.
pub(crate) fn tools_directory(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(named) => Some(named.to_owned()),
        None => Some(PathBuf::from("tools")).filter(|here| here.is_dir()),
    }
}
