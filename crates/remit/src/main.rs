//! The `remit` binary. Everything it does is in the modules below; this file only starts it.

mod cli;
mod files;
mod paths;
mod render;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
