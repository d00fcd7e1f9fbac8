//! Serves one handler over standard input and output, as the `remit` binary does.

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match remit_handlers::serve(&name, std::io::stdin().lock(), std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{problem}\n"));
            ExitCode::from(2)
        }
    }
}
