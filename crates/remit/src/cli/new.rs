//! `remit new`: a manifest to start from.

use std::path::PathBuf;

use remit_manifest::dialect;
use remit_manifest::read::{self, Format, Limits};
use remit_model::{Dialect, name};

use super::{DialectArgument, Exit, Output};
use crate::{files, paths, render};

/// Write a manifest to start from, with comments that teach
///
/// An existing file is never touched.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit new tool weather          # writes weather.yaml\n  remit new agent reviewer --json # writes reviewer.json, without comments\n  remit new capability -o -       # prints it"
)]
pub(super) struct Arguments {
    /// Which kind of manifest
    #[arg(value_enum)]
    dialect: DialectArgument,
    /// Name of the file, and of the tool, skill or agent in it
    name: Option<String>,
    /// Where to write it; `-` prints it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write JSON, which has no comments
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let dialect = Dialect::from(arguments.dialect);
    let Some(scaffold) = dialect::scaffold(dialect) else {
        output
            .error("a tools/list result is what an MCP server answers; there is nothing to write");
        return Exit::Failed;
    };
    let placeholder = dialect::scaffold_name(dialect);
    if let Some(wanted) = &arguments.name
        && !is_good_name(dialect, wanted)
    {
        output.error(&format!("`{wanted}` cannot be its name"));
        let form = match dialect {
            Dialect::Agent => "ASCII letters, digits and -, at most 64, starting with a letter",
            Dialect::Skill => "ASCII letters, digits, `.`, _ and -, starting with a letter",
            Dialect::Capability | Dialect::Tool | Dialect::McpTools => {
                "ASCII letters, digits, _ and -, starting with a letter"
            }
        };
        output.help(&format!("use {form}, such as {placeholder}; the ending is added"));
        return Exit::Failed;
    }
    let wanted = arguments.name.as_deref().unwrap_or(placeholder);
    let mut text = scaffold.replace(placeholder, wanted);
    if arguments.json {
        let reading = read::read(text.as_bytes(), Some(Format::Yaml), &Limits::MANIFEST);
        let Some(tree) = reading.accepted() else {
            output.error("the scaffold does not read back; this is a mistake in Remit");
            return Exit::Failed;
        };
        text = render::json::tree(tree);
    }
    let ending = if arguments.json { "json" } else { "yaml" };
    let path =
        arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{wanted}.{ending}")));
    if path.as_os_str() == "-" {
        output.out = text.into_bytes();
        return Exit::Fine;
    }
    if let Err(reason) = files::create(&path, &text) {
        output.error(&format!("cannot write {}: {reason}", paths::for_people(&path)));
        return Exit::Failed;
    }
    output.line(&format!("wrote {}", paths::for_people(&path)));
    output.line(&format!("next: remit check {}", paths::for_people(&path)));
    Exit::Fine
}

/// The name becomes part of a file name and of the manifest, so it is held to the stricter of both.
fn is_good_name(dialect: Dialect, wanted: &str) -> bool {
    match dialect {
        Dialect::Agent => {
            wanted.len() <= 64 && name::is_identifier(wanted) && !wanted.contains('_')
        }
        Dialect::Skill => {
            name::is_identifier(wanted.split('.').next().unwrap_or_default())
                && wanted.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        }
        Dialect::Capability | Dialect::Tool | Dialect::McpTools => name::is_identifier(wanted),
    }
}
