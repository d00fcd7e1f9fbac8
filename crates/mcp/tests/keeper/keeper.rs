//! Stands in for the `remit` binary where tests start servers through a keeper.

use std::process::ExitCode;

fn main() -> ExitCode {
    remit_mcp::keeper::stage().unwrap_or(ExitCode::FAILURE)
}
