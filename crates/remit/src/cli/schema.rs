//! `remit schema`: a dialect as JSON Schema, for editors.

use remit_manifest::dialect;

use super::{DialectArgument, Exit, Output};
use crate::render;

/// Print the JSON Schema of a dialect, for editors
///
/// An editor that knows the schema completes fields and marks mistakes while you type. Remit knows
/// more rules than a schema can say, so run `remit check` as well.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit schema tool > tool.schema.json\n  # then, as the first line of a YAML manifest:\n  # yaml-language-server: $schema=./tool.schema.json"
)]
pub(super) struct Arguments {
    /// Which dialect
    #[arg(value_enum)]
    dialect: DialectArgument,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let schema = dialect::json_schema(arguments.dialect.into());
    render::json::pretty(&schema, &mut output.out);
    Exit::Fine
}
