//! What Remit says about a manifest.

use serde::Serialize;

use crate::Span;

/// Says how bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The manifest cannot be used.
    Error,
    /// It can be used, but something in it is probably a mistake.
    Warning,
    /// Nothing is wrong; there is something to know.
    Note,
}

impl Severity {
    /// Gives the word the wire forms use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Is a place in a source file, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Is one thing to say about one place of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable id of the rule, in kebab-case.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without a final period.
    pub message: String,
    /// The JSON pointer of the value.
    pub pointer: String,
    /// Where it starts in the file.
    #[serde(flatten)]
    pub position: Position,
    /// What to do, where there is one thing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The stretch of source to underline.
    #[serde(skip)]
    pub span: Span,
}
