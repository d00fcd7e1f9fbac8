//! The `remit` binary. Everything it does is in the modules below; this file only starts it.

mod approve;
mod cli;
mod clock;
mod config;
mod files;
mod house;
mod paths;
mod render;
mod sources;
mod telemetry;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A process that becomes a tool is started before anything else of Remit is.
    if let Some(code) = remit_exec::process::stage() {
        return code;
    }
    if let Some(code) = house::serve_built_in_tool() {
        return code;
    }
    remit_exec::process::without_cores();
    cli::run()
}
