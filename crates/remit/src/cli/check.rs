//! `remit check`: everything that can be said about manifests without running anything.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use remit_manifest::check::set::{self, Entry, Facts};
use remit_manifest::compile::{self, Options};
use remit_manifest::read::{self, Limits};
use remit_manifest::{detect, rules};
use remit_model::{Diagnostic, Position, Severity, Span};

use super::{DialectArgument, Exit, Output};
use crate::files::{self, Found, Patience, Unreadable};
use crate::paths;
use crate::render::human::Width;
use crate::render::{self, CheckedFile};

/// Check manifests: every problem of every file, in one pass
///
/// A directory is walked; files in it that are not manifests are passed over. The dialect is told
/// from the content unless it is named.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit check                        # this directory and all below\n  remit check tools/ agent.json\n  remit check --strict --notes .kiro/agents\n  remit check --format sarif . > remit.sarif\n  cat tool.yaml | remit check -\n\nExit codes: 0 no errors, 1 errors, 2 something could not be read."
)]
pub(super) struct Arguments {
    /// Files or directories; `-` is standard input
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Take all files to be in this dialect
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectArgument>,
    /// Treat warnings, and what older formats are forgiven, as errors
    #[arg(long)]
    strict: bool,
    /// Show notes too
    #[arg(long)]
    notes: bool,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a person
    Human,
    /// For programs; stable
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// Annotations in GitHub Actions
    Github,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let (found, unreadable) = files::find(&arguments.paths);
    let options = Options {
        dialect: arguments.dialect.map(Into::into),
        format: None,
        strict: arguments.strict,
    };
    let mut results = check_all(&found, options, arguments.format == Format::Human);
    results.extend(unreadable.iter().map(|u| Some(Outcome::unreadable(u))));
    let passed_over = results.iter().filter(|r| r.is_none()).count();
    let mut outcomes: Vec<Outcome> = results.into_iter().flatten().collect();
    together(&mut outcomes, options);
    let failed = outcomes.iter().any(|outcome| outcome.failed);
    let mut checked: Vec<CheckedFile> = outcomes.into_iter().map(|o| o.file).collect();
    match arguments.format {
        Format::Human => {
            restore_sources(&mut checked, arguments.notes);
            let width = Width::of(&io::stdout());
            output.human = render::human::check(&checked, passed_over, arguments.notes, width);
        }
        Format::Json => render::json::check(&checked, &mut output.out),
        Format::Sarif => render::json::pretty(&render::sarif::check(&checked), &mut output.out),
        Format::Github => output.out = render::github::check(&checked).into_bytes(),
    }
    if checked.is_empty() {
        output.human.clear();
        nothing_found(arguments, passed_over, output);
        return Exit::Failed;
    }
    if failed {
        Exit::Failed
    } else if render::count(&checked, Severity::Error) > 0 {
        Exit::Bad
    } else {
        Exit::Fine
    }
}

fn nothing_found(arguments: &Arguments, passed_over: usize, output: &mut Output) {
    let paths: Vec<_> = arguments.paths.iter().map(|p| paths::for_people(p)).collect();
    output.error(&format!("there are no manifests in {}", paths.join(", ")));
    let seen = match passed_over {
        0 => "manifests are .json, .yaml and .yml files".to_owned(),
        n => format!(
            "{} looked at; name a file or its --dialect to see why it is not one",
            render::human::plural(n, "file")
        ),
    };
    output.help(&seen);
    output.help("`remit new tool` writes one to start from");
}

/// Is what came of one file.
struct Outcome {
    file: CheckedFile,
    named: bool,
    facts: Option<Facts>,
    failed: bool,
}

impl Outcome {
    fn unreadable(unreadable: &Unreadable) -> Self {
        let diagnostic = Diagnostic {
            rule: rules::IO_ERROR.id,
            severity: rules::IO_ERROR.severity,
            message: format!("cannot read it: {}", unreadable.reason),
            pointer: String::new(),
            position: Position { line: 1, column: 1 },
            help: None,
            span: Span::default(),
        };
        let path = unreadable.path.clone();
        let file = CheckedFile { path, dialect: None, diagnostics: vec![diagnostic], source: None };
        Self { file, named: true, facts: None, failed: true }
    }
}

/// Checks files on all cores. A file that turned out not to be a manifest leaves `None`.
fn check_all(found: &[Found], options: Options, keep_sources: bool) -> Vec<Option<Outcome>> {
    const CHUNK: usize = 16;
    let bar = progress(found.len());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(found.len().div_ceil(CHUNK));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) =
                found.get(start..found.len().min(start + CHUNK)).filter(|c| !c.is_empty())
            else {
                return done;
            };
            for (i, file) in chunk.iter().enumerate() {
                done.push((start + i, check_one(file, options, keep_sources)));
            }
            if let Some(bar) = &bar {
                bar.inc(chunk.len() as u64);
            }
        }
    };
    let mut results = if workers <= 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            let mut results = work();
            for other in others {
                results.extend(other.join().unwrap_or_default());
            }
            results
        })
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Shows progress to a person who would otherwise wonder.
fn progress(files: usize) -> Option<ProgressBar> {
    if files < 500 || !super::is_watched() {
        return None;
    }
    let bar = ProgressBar::new(files as u64);
    if let Ok(style) = ProgressStyle::with_template("checking {bar:32} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    Some(bar)
}

fn check_one(found: &Found, options: Options, keep_source: bool) -> Option<Outcome> {
    let patience = if found.named { Patience::Wait } else { Patience::GoOn };
    let bytes = match files::read(&found.path, Limits::MANIFEST.most_bytes(), patience) {
        Ok(bytes) => bytes,
        Err(reason) => {
            return Some(Outcome::unreadable(&Unreadable { path: found.path.clone(), reason }));
        }
    };
    let checked =
        compile::check(&bytes, Options { format: files::format_of(&found.path), ..options });
    if !found.named && options.dialect.is_none() && !concerns_us(&checked, &bytes) {
        return None;
    }
    let facts = Facts::of(&checked);
    let mut file = CheckedFile::new(found.path.clone(), checked);
    if !keep_source {
        file.source = None;
    }
    Some(Outcome { file, named: found.named, facts, failed: false })
}

/// A file found in a directory: is it a manifest, perhaps one that went wrong, or something else
/// altogether? Only the first is worth a word.
fn concerns_us(checked: &compile::Checked, bytes: &[u8]) -> bool {
    match (&checked.reading.root, std::str::from_utf8(bytes)) {
        (Some(root), _) => detect::is_surely_a_manifest(root),
        (None, Ok(text)) => {
            text.trim().is_empty() || text.contains('\0') || detect::mentions_a_manifest(text)
        }
        (None, Err(_)) => true,
    }
}

/// Judges the manifests as a set: those given, and those beside them that they depend on.
fn together(outcomes: &mut [Outcome], options: Options) {
    let context = context(outcomes, options);
    let places: Vec<(String, String)> = outcomes
        .iter()
        .map(|outcome| &outcome.file.path)
        .chain(context.iter().map(|(path, _)| path))
        .map(|path| {
            let directory = path.parent().map(paths::for_programs).unwrap_or_default();
            (paths::for_people(path), directory)
        })
        .collect();
    let mut numbers = Vec::new();
    let mut entries = Vec::new();
    for (i, (outcome, (label, directory))) in outcomes.iter().zip(&places).enumerate() {
        if let Some(facts) = &outcome.facts {
            numbers.push(i);
            entries.push(Entry { label, directory, facts });
        }
    }
    let beside = places.iter().skip(outcomes.len());
    for ((_, facts), (label, directory)) in context.iter().zip(beside) {
        entries.push(Entry { label, directory, facts });
    }
    let found = set::check(&entries);
    for (entry, mut diagnostic) in found {
        if options.strict && diagnostic.severity != Severity::Error {
            diagnostic.severity = Severity::Error;
        }
        if let Some(outcome) = numbers.get(entry).and_then(|i| outcomes.get_mut(*i)) {
            outcome.file.diagnostics.push(diagnostic);
            outcome.file.diagnostics.sort_by_key(|d| d.position);
        }
    }
}

/// Loads the manifests beside a named file that depends on others, so that one file can be checked
/// alone. They are only asked for their names.
fn context(outcomes: &[Outcome], options: Options) -> Vec<(PathBuf, Facts)> {
    let needy = |o: &&Outcome| o.named && o.facts.as_ref().is_some_and(Facts::has_dependencies);
    let mut seen: HashSet<PathBuf> = outcomes.iter().map(|o| o.file.path.clone()).collect();
    let mut context = Vec::new();
    for outcome in outcomes.iter().filter(needy).filter(|o| o.file.path != Path::new("-")) {
        for path in files::siblings(&outcome.file.path) {
            if !seen.insert(path.clone()) {
                continue;
            }
            let Ok(bytes) = files::read(&path, Limits::MANIFEST.most_bytes(), Patience::GoOn)
            else {
                continue;
            };
            let options = Options { format: files::format_of(&path), dialect: None, ..options };
            if let Some(facts) = Facts::of(&compile::check(&bytes, options)) {
                context.push((path, facts));
            }
        }
    }
    context
}

/// A file that only looked bad beside others has lost its text; it is read again to show a line.
fn restore_sources(files: &mut [CheckedFile], notes: bool) {
    for file in files {
        let shown = file.diagnostics.iter().any(|d| notes || d.severity != Severity::Note);
        if shown && file.source.is_none() && file.dialect.is_some() {
            let path = &file.path;
            if let Ok(bytes) = files::read(path, Limits::MANIFEST.most_bytes(), Patience::GoOn) {
                file.source =
                    Some(read::read(&bytes, files::format_of(path), &Limits::MANIFEST).source);
            }
        }
    }
}
