//! `file_operator`: files below the directories the operator allows, and no others.

mod list;
mod paths;
mod read;
mod roots;
mod search;
mod write;

use remit_model::text;

use crate::contract::{Call, Done, Failure, Progress};

/// Is the largest file when the settings do not say.
const DEFAULT_FILE_BYTES: u64 = 10 << 20;

/// Is the largest file whatever the settings say: it is held in memory.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// Runs a command.
pub(crate) fn run(call: &Call, _: Progress<'_>) -> Result<Done, Failure> {
    match call.command.as_str() {
        "read_file" => read::run(call),
        "write_file" => write::run(call),
        "list_directory" => list::run(call),
        "search_files" => search::run(call),
        other => Err(Failure::new(
            "UNKNOWN_COMMAND",
            format!(
                "there is no command {}; use read_file, write_file, list_directory or search_files",
                text::quoted(other)
            ),
        )),
    }
}

fn most_bytes(call: &Call) -> u64 {
    call.settings.number("max_file_size", DEFAULT_FILE_BYTES, 0, MOST_FILE_BYTES)
}
