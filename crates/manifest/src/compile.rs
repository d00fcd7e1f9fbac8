//! One manifest from bytes to verdict: `read → detect → check → lower`.

use remit_model::{Diagnostic, Dialect, Manifest, Node, Severity};

use crate::read::{self, Format, Limits, Reading};
use crate::report::Report;
use crate::rules;
use crate::{detect, dialect};

/// Says how to judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The dialect, if it is not to be told from the content.
    pub dialect: Option<Dialect>,
    /// The format, if it is not to be told from the content.
    pub format: Option<Format>,
    /// Whether warnings, and what older formats are forgiven, are errors.
    pub strict: bool,
}

/// Is a manifest that was read and judged.
#[derive(Debug)]
pub struct Checked {
    /// What was read.
    pub reading: Reading,
    /// Which dialect it is in, if any.
    pub dialect: Option<Dialect>,
    /// All there is to say, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Tells whether the manifest can be used.
    #[must_use]
    pub fn ok(&self) -> bool {
        !self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Gives the tree, if nothing in the text itself was refused.
    #[must_use]
    pub fn tree(&self) -> Option<&Node> {
        self.reading.accepted()
    }

    /// Lowers it into the model, if it can be used.
    #[must_use]
    pub fn manifest(&self) -> Option<Manifest> {
        let dialect = self.dialect.filter(|_| self.ok())?;
        self.reading.root.as_ref().map(|root| dialect::lower(dialect, root))
    }
}

/// Reads and judges one manifest.
#[must_use]
pub fn check(bytes: &[u8], options: Options) -> Checked {
    let reading = read::read(bytes, options.format, &Limits::MANIFEST);
    judge(reading, options)
}

/// Judges a document that was read already.
#[must_use]
pub fn judge(mut reading: Reading, options: Options) -> Checked {
    let mut diagnostics = std::mem::take(&mut reading.diagnostics);
    let dialect = options.dialect.or_else(|| detect::detect(reading.root.as_ref()?));
    if let Some(root) = &reading.root {
        let mut report = Report::default();
        match dialect {
            Some(Dialect::Capability)
                if !dialect::capability::check_size(reading.bytes, root, &mut report) => {}
            Some(dialect) => {
                crate::check::document(&reading, dialect, root, &mut report);
                dialect::check(dialect, root, &mut report);
            }
            None => unknown_dialect(root, &mut report),
        }
        if report.too_many_patterns() {
            // A pattern that was not looked at must not count as good.
            let message = "the patterns in this file are more than can be looked at";
            report.at(&rules::BAD_PATTERN, root, message).help("use fewer or shorter patterns");
        }
        let found = report.finish(root, &reading.source, options.strict);
        diagnostics.extend(found);
        diagnostics.sort_by_key(|d| d.position);
    }
    // The reading keeps a copy of what was refused, so that `tree` stays honest.
    reading.diagnostics.extend(diagnostics.iter().filter(|d| is_refusal(d)).cloned());
    Checked { reading, dialect, diagnostics }
}

/// Tells whether a diagnostic comes from reading rather than from judging.
fn is_refusal(diagnostic: &Diagnostic) -> bool {
    let reading = rules::ALL.iter().take_while(|rule| rule.id != rules::UNKNOWN_DIALECT.id);
    diagnostic.severity == Severity::Error
        && reading.into_iter().any(|rule| rule.id == diagnostic.rule)
}

fn unknown_dialect<'t>(root: &'t Node, report: &mut Report<'t>) {
    report
        .at(&rules::UNKNOWN_DIALECT, root, "no field here tells which dialect this manifest is in")
        .help("name it with --dialect capability, tool, skill, agent or mcp-tools");
}
