//! `remit canonical`: the RFC 8785 bytes of a document.

use std::path::PathBuf;

use super::{Exit, Output, load};

/// Write the canonical form (RFC 8785) of a JSON or YAML document
///
/// Nothing else is written, not even a final newline: the bytes are what `remit hash` hashes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit canonical manifest.json\n  remit canonical tool.yaml | sha256sum\n  curl -s $URL | remit canonical -"
)]
pub(super) struct Arguments {
    /// The document; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let canonical = load::document(&arguments.file, output)
        .and_then(|reading| Ok(remit_model::canonical::canonical(load::tree(&reading)?)));
    match canonical {
        Ok(text) => {
            output.out = text.into_bytes();
            Exit::Fine
        }
        Err(exit) => exit,
    }
}
