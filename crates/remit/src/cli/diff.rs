//! `remit diff`: what changed between two versions, and whom it hurts.

use std::io;
use std::path::{Path, PathBuf};

use remit_manifest::compile::{self, Checked, Options};
use remit_manifest::diff;
use remit_manifest::read::Limits;
use remit_model::{Dialect, Severity, canonical};

use super::{DialectArgument, Exit, Output, load};
use crate::render::human::Width;
use crate::{files, paths, render};

/// Compare two versions of a manifest: what breaks, what needs consent, what does not matter
///
/// For a changed schema it shows an example input that one version accepts and the other refuses.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit diff old.json new.json\n  remit diff <(git show HEAD:tool.yaml) tool.yaml\n  remit diff --format markdown pinned.json tools-list.json >> $GITHUB_STEP_SUMMARY\n\nExit codes: 0 nothing breaks, 1 there are breaking changes (or consent changes, with --fail-on consent), 2 the files cannot be compared."
)]
pub(super) struct Arguments {
    /// The version before; `-` is standard input
    old: PathBuf,
    /// The version after; `-` is standard input
    new: PathBuf,
    /// Take both to be in this dialect
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectArgument>,
    /// What makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "WHAT")]
    fail_on: FailOn,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Breaking changes
    Breaking,
    /// Consent changes too: what a user must see first
    Consent,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a person
    Human,
    /// For programs; stable
    Json,
    /// For a pull request
    Markdown,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    if arguments.old == Path::new("-") && arguments.new == Path::new("-") {
        output.error("only one of the two versions can come from standard input");
        return Exit::Failed;
    }
    let wanted = arguments.dialect.map(Dialect::from);
    let old = version(&arguments.old, wanted, output);
    let new = version(&arguments.new, wanted, output);
    let (Some((old, old_dialect)), Some((new, new_dialect))) = (old, new) else {
        return Exit::Failed;
    };
    if old_dialect != new_dialect {
        output.error(&format!(
            "the versions cannot be compared: {} is in the dialect {}, {} in {}",
            paths::for_people(&arguments.old),
            old_dialect.as_str(),
            paths::for_people(&arguments.new),
            new_dialect.as_str()
        ));
        output.help("name the dialect with --dialect if one was taken for another");
        return Exit::Failed;
    }
    let (Some(before), Some(after)) = (old.tree(), new.tree()) else { return Exit::Failed };
    let changes = diff::diff(new_dialect, before, after);
    let (from_hash, to_hash) = (canonical::hash(before), canonical::hash(after));
    let compared = render::diff::Compared {
        dialect: new_dialect,
        old: &paths::for_people(&arguments.old),
        new: &paths::for_people(&arguments.new),
        from_hash: &from_hash,
        to_hash: &to_hash,
        changes: &changes,
    };
    match arguments.format {
        Format::Human => output.human = render::diff::human(&compared),
        Format::Json => {
            render::json::diff(new_dialect, &from_hash, &to_hash, &changes, &mut output.out);
        }
        Format::Markdown => output.out = render::diff::markdown(&compared).into_bytes(),
    }
    let consent = arguments.fail_on == FailOn::Consent && !changes.consent.is_empty();
    if changes.breaking.is_empty() && !consent { Exit::Fine } else { Exit::Bad }
}

/// Reads one version. A version that breaks rules is still compared, with a word about it; one
/// that cannot be read, or is in no dialect, cannot be.
fn version(
    path: &Path,
    wanted: Option<Dialect>,
    output: &mut Output,
) -> Option<(Checked, Dialect)> {
    let bytes = load::bytes(path, Limits::MANIFEST.most_bytes(), output).ok()?;
    let options = Options { dialect: wanted, format: files::format_of(path), strict: false };
    let checked = compile::check(&bytes, options);
    let name = paths::for_people(path);
    let dialect =
        checked.dialect.filter(|_| checked.tree().is_some_and(|t| t.as_object().is_some()));
    let Some(dialect) = dialect else {
        for found in checked.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
            let (source, width) = (&checked.reading.source, Width::of(&io::stderr()));
            output.err.push_str(&render::human::diagnostic(&name, source, found, width));
        }
        output.error(&format!("{name} cannot be compared"));
        return None;
    };
    let errors = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if errors > 0 {
        output.warning(&format!(
            "{name} has {}; see `remit check {name}`",
            render::human::plural(errors, "error")
        ));
    }
    Some((checked, dialect))
}
