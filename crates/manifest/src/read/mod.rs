//! Bytes to a tree: the first stage, and the only one that sees text.
//!
//! What SPEC §2 refuses is refused here, each refusal an ordinary diagnostic with a place. A refusal
//! that leaves the tree readable (a duplicate key, say) does not stop the reading, so that a file's
//! problems come in one pass; but [`Reading::accepted`] gives no tree when there was any.

mod json;
mod scalar;
mod simple;
mod wording;
mod yaml;

use std::borrow::Cow;

use remit_model::{Diagnostic, Node, Position, Source, Span, Unit};

use crate::rules::{self, Rule};

/// Is how deep values may be nested. The outermost container is level 1.
pub const DEPTH: usize = 64;

/// Is how many problems of one text are reported; a text with more is not a manifest.
const MOST_PROBLEMS: usize = 100;

/// Says how a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 8259, and `${name}` in place of a value.
    Json,
    /// YAML 1.2, core schema.
    Yaml,
}

impl Format {
    /// Tells the format from a file's ending.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Bounds what a reader takes on before it gives up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest JSON document, in bytes.
    pub json_bytes: usize,
    /// The largest YAML document, in bytes; smaller, because YAML takes longer to read.
    pub yaml_bytes: usize,
    /// The most values a document may hold, aliases expanded.
    pub values: usize,
}

impl Limits {
    /// For manifests.
    pub const MANIFEST: Self = Self { json_bytes: 1 << 19, yaml_bytes: 1 << 19, values: 200_000 };
    /// For any JSON document that is to be hashed.
    pub const DOCUMENT: Self = Self { json_bytes: 8 << 20, yaml_bytes: 1 << 19, values: 250_000 };

    /// The most bytes any format may have: nobody needs to load more of a file than one past this.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        self.json_bytes.max(self.yaml_bytes)
    }

    fn bytes(&self, format: Format) -> usize {
        match format {
            Format::Json => self.json_bytes,
            Format::Yaml => self.yaml_bytes,
        }
    }
}

/// Is what came of reading a document.
#[derive(Debug)]
pub struct Reading {
    /// The text, for the places in diagnostics.
    pub source: Source,
    /// How it was written.
    pub format: Format,
    /// How many bytes it had as received.
    pub bytes: usize,
    /// The tree, unless the text was too broken to have one.
    pub root: Option<Node>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Where `${name}` stands bare in JSON; only agent manifests may.
    pub bare_templates: Vec<Span>,
}

impl Reading {
    /// Gives the tree if nothing was refused.
    #[must_use]
    pub fn accepted(&self) -> Option<&Node> {
        let refused = self.diagnostics.iter().any(|d| d.severity == remit_model::Severity::Error);
        self.root.as_ref().filter(|_| !refused)
    }
}

/// Is one problem found while reading, before lines are counted.
struct Problem {
    rule: &'static Rule,
    message: String,
    help: Option<String>,
    pointer: String,
    span: Span,
}

/// Is what a reader for one format gives back.
struct Parsed {
    root: Option<Node>,
    problems: Vec<Problem>,
    bare_templates: Vec<Span>,
    /// What its spans count.
    unit: Unit,
}

/// Reads a document. Without a format it is JSON if it parses as JSON or looks like it, else YAML.
/// Bytes that are handed over are kept as the text; borrowed ones are copied.
#[must_use]
pub fn read<'b>(
    bytes: impl Into<Cow<'b, [u8]>>,
    format: Option<Format>,
    limits: &Limits,
) -> Reading {
    read_with(bytes.into(), format, limits, yaml::parse)
}

/// Reads like [`read`] but leaves all YAML to the full parser: the measure of the fast reader.
#[must_use]
pub fn read_with_full_parser(bytes: &[u8], format: Option<Format>, limits: &Limits) -> Reading {
    read_with(bytes.into(), format, limits, yaml::parse_fully)
}

fn read_with(
    bytes: Cow<'_, [u8]>,
    format: Option<Format>,
    limits: &Limits,
    parse_yaml: fn(&str, usize) -> Parsed,
) -> Reading {
    let guess = format.unwrap_or_else(|| guess_format(&bytes, limits));
    let (cap, length) = (limits.bytes(guess), bytes.len());
    if length > cap {
        return too_large(&bytes, guess, cap);
    }
    let mut text = match String::from_utf8(bytes.into_owned()) {
        Ok(text) => text,
        Err(error) => {
            return not_utf8(error.as_bytes(), guess, error.utf8_error().valid_up_to());
        }
    };
    let marked = text.starts_with('\u{feff}');
    if marked {
        text.remove(0);
    }
    let mut parsed = if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        let message = "the document is empty".to_owned();
        let help = Some("`remit new` writes a manifest to start from".to_owned());
        problem_only(&rules::EMPTY_DOCUMENT, message, help, Span::new(0, 0))
    } else {
        match guess {
            Format::Json => json::parse(&text, limits.values),
            Format::Yaml => parse_yaml(&text, limits.values),
        }
    };
    if marked {
        parsed.problems.insert(
            0,
            Problem {
                rule: &rules::BYTE_ORDER_MARK,
                message: "the file starts with a byte order mark, which is passed over".to_owned(),
                help: Some("save it as UTF-8 without a mark".to_owned()),
                pointer: String::new(),
                span: Span::new(0, 0),
            },
        );
    }
    finish(Source::new(text, parsed.unit), guess, length, parsed)
}

fn finish(source: Source, format: Format, bytes: usize, parsed: Parsed) -> Reading {
    let diagnostics = parsed
        .problems
        .into_iter()
        .map(|problem| Diagnostic {
            rule: problem.rule.id,
            severity: problem.rule.severity,
            message: problem.message,
            pointer: problem.pointer,
            position: source.position(problem.span),
            help: problem.help,
            span: problem.span,
        })
        .collect();
    let (root, bare_templates) = (parsed.root, parsed.bare_templates);
    Reading { source, format, bytes, root, diagnostics, bare_templates }
}

fn problem_only(rule: &'static Rule, message: String, help: Option<String>, span: Span) -> Parsed {
    let problem = Problem { rule, message, help, pointer: String::new(), span };
    Parsed { root: None, problems: vec![problem], bare_templates: Vec::new(), unit: Unit::Bytes }
}

fn too_large(bytes: &[u8], format: Format, cap: usize) -> Reading {
    let message = format!("the document is larger than {cap} bytes");
    let help = Some("split it, or move what is not a declaration out of it".to_owned());
    refused_at(bytes, format, cap, &rules::DOCUMENT_TOO_LARGE, message, help)
}

fn not_utf8(bytes: &[u8], format: Format, at: usize) -> Reading {
    let help = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16: save it as UTF-8",
        _ => "save it as UTF-8, or pass over it if it is not a text file",
    };
    let message = format!("byte {at} is not valid UTF-8");
    refused_at(bytes, format, at, &rules::INVALID_UTF8, message, Some(help.to_owned()))
}

/// Refuses bytes that never become a tree. Only the line around the place is kept for display, so
/// that a huge file costs nothing.
fn refused_at(
    bytes: &[u8],
    format: Format,
    at: usize,
    rule: &'static Rule,
    message: String,
    help: Option<String>,
) -> Reading {
    let before = bytes.get(..at).unwrap_or(bytes);
    let newlines = before.iter().filter(|&&b| b == b'\n').count();
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let column =
        before.get(line_start..).unwrap_or_default().iter().filter(|&&b| b & 0xc0 != 0x80).count();
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let diagnostic = Diagnostic {
        rule: rule.id,
        severity: rule.severity,
        message,
        pointer: String::new(),
        position: Position { line: clamp(newlines + 1), column: clamp(column + 1) },
        help,
        span: Span::new(0, 0),
    };
    Reading {
        source: Source::new(String::new(), Unit::Bytes),
        format,
        bytes: bytes.len(),
        root: None,
        diagnostics: vec![diagnostic],
        bare_templates: Vec::new(),
    }
}

fn guess_format(bytes: &[u8], limits: &Limits) -> Format {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = start.iter().copied().find(|b| !b.is_ascii_whitespace());
    match first {
        None | Some(b'{' | b'[') => Format::Json,
        _ if bytes.len() > limits.json_bytes => Format::Json,
        _ => match std::str::from_utf8(start) {
            Ok(text) if json::parse(text, limits.values).problems.is_empty() => Format::Json,
            _ => Format::Yaml,
        },
    }
}

/// Counts lines the slow way, for the rare message that names one.
fn line_of(source: &str, byte: usize) -> usize {
    source.bytes().take(byte).filter(|&b| b == b'\n').count() + 1
}
