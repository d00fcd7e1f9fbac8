//! How answers look: for a person, for a program, for a code host.

pub(crate) mod diff;
pub(crate) mod github;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod sarif;

use std::path::PathBuf;

use remit_manifest::compile::Checked;
use remit_model::{Diagnostic, Dialect, Severity, Source};

/// Is one file that was checked, ready to be shown.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    /// The path as the user knows it; `-` is standard input.
    pub(crate) path: PathBuf,
    /// The dialect, if one was found.
    pub(crate) dialect: Option<Dialect>,
    /// All there is to say about it.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The text, kept only where lines of it will be shown.
    pub(crate) source: Option<Source>,
}

impl CheckedFile {
    /// Takes over what a check found.
    pub(crate) fn new(path: PathBuf, checked: Checked) -> Self {
        let Checked { reading, dialect, diagnostics } = checked;
        let source = (!diagnostics.is_empty()).then_some(reading.source);
        Self { path, dialect, diagnostics, source }
    }

    /// Counts the diagnostics of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }
}

/// Counts the diagnostics of a severity in all files.
pub(crate) fn count(files: &[CheckedFile], severity: Severity) -> usize {
    files.iter().map(|file| file.count(severity)).sum()
}
