//! `remit new`: a manifest to start from, and for a tool a program that serves it.

use std::path::{Path, PathBuf};

use remit_manifest::dialect;
use remit_manifest::read::{self, Format, Limits};
use remit_model::{Dialect, name};

use super::{DialectArgument, Exit, Output};
use crate::{files, paths, render};

/// Write a manifest to start from, with comments that teach
///
/// A tool comes with a program that runs as it is. An existing file is never touched.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit new tool weather          # writes weather.yaml and weather.py, which runs\n  remit new tool weather --runtime javascript\n  remit new agent reviewer --json # writes reviewer.json, without comments\n  remit new capability -o -       # prints it"
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
    /// What the program of a new tool is written in
    #[arg(long, value_enum, value_name = "RUNTIME")]
    runtime: Option<RuntimeArgument>,
}

/// Names a runtime on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum RuntimeArgument {
    /// Python 3
    #[default]
    Python,
    /// Node
    Javascript,
    /// Any program that can be executed; written is one for the shell
    Native,
}

impl RuntimeArgument {
    /// Gives the word in the manifest, the ending of the file and a program that serves the manifest.
    fn program(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Python => ("python", "py", include_str!("new/tool.py")),
            Self::Javascript => ("javascript", "js", include_str!("new/tool.js")),
            Self::Native => ("native", "sh", include_str!("new/tool.sh")),
        }
    }
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
    if arguments.runtime.is_some() && dialect != Dialect::Tool {
        output.error("--runtime is for `remit new tool` only");
        return Exit::Failed;
    }
    let (word, program_ending, program) = arguments.runtime.unwrap_or_default().program();
    let mut text = scaffold.replace(placeholder, wanted);
    if dialect == Dialect::Tool {
        text = text
            .replace(&format!("entry: {wanted}.py"), &format!("entry: {wanted}.{program_ending}"))
            .replace("runtime: python ", &format!("runtime: {word} "));
    }
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
    if dialect == Dialect::Tool {
        let beside = path.with_file_name(format!("{wanted}.{program_ending}"));
        let shown = paths::for_people(&beside);
        if beside.exists() {
            output.line(&format!("left {shown} as it is"));
        } else {
            let written = files::create(&beside, &program.replace(placeholder, wanted))
                .and_then(|()| executable(&beside, arguments.runtime));
            if let Err(reason) = written {
                output.error(&format!("cannot write {shown}: {reason}"));
                return Exit::Failed;
            }
            output.line(&format!("wrote {shown}"));
        }
    }
    output.line(&format!("next: remit check {}", paths::for_people(&path)));
    if dialect == Dialect::Tool {
        let place = path.parent().filter(|place| !place.as_os_str().is_empty());
        let place = place.map_or(".".to_owned(), paths::for_people);
        output.line(&format!(
            "      remit call {wanted}.greet '{{\"who\": \"Ada\"}}' --tools {place}"
        ));
    }
    Exit::Fine
}

/// Lets a program that is run by itself be executed.
fn executable(path: &Path, runtime: Option<RuntimeArgument>) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    if runtime != Some(RuntimeArgument::Native) {
        return Ok(());
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|error| error.to_string())
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
