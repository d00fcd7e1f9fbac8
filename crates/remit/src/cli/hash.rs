//! `remit hash`: the name of a manifest's content.

use std::path::PathBuf;

use super::{Exit, Output, load};

/// Print the SHA-256 of a document's canonical form
///
/// Two documents have the same hash when they hold the same JSON value, however it is written.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit hash manifest.json\n  remit hash tool.yaml\n  echo '{\"b\":1, \"a\":2}' | remit hash -"
)]
pub(super) struct Arguments {
    /// The document; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let hash = load::document(&arguments.file, output)
        .and_then(|reading| Ok(remit_model::canonical::hash(load::tree(&reading)?)));
    match hash {
        Ok(hash) => {
            output.line(&hash);
            Exit::Fine
        }
        Err(exit) => exit,
    }
}
