//! Is what the tests start in place of the `remit` binary: the stages, and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    remit_exec::process::stage().unwrap_or(ExitCode::FAILURE)
}
