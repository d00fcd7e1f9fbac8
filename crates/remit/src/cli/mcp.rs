//! `remit mcp`: the catalog as an MCP server on standard input and output.

use std::io::{Read as _, Write as _};

use remit_model::text;
use remit_server::mcp::{Tools, stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::{Exit, Output};
use crate::house::{self, Place};

/// How much is on its way between a pipe and the server.
const BUFFER: usize = 64 * 1024;

/// Serve the tools to an MCP client on standard input and output
///
/// What is sensitive is asked about through the client, where it can show a form; otherwise it is
/// denied when nobody answers.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit mcp --tools ./tools\n  remit mcp --project-cli\n\nA client's configuration: {\"command\": \"remit\", \"args\": [\"mcp\", \"--tools\", \"/srv/tools\"]}"
)]
pub(super) struct Arguments {
    /// Offer the one tool `project_cli`, through which all others are reached
    #[arg(long)]
    project_cli: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            output.error(&format!("cannot start: {error}"));
            return Exit::Failed;
        }
    };
    let done = runtime.block_on(serve(arguments));
    // A thread still reads what nobody sends.
    runtime.shutdown_background();
    match done {
        Ok(()) => Exit::Fine,
        Err(message) => {
            message.lines().for_each(|line| output.error(line));
            Exit::Failed
        }
    }
}

async fn serve(arguments: &Arguments) -> Result<(), String> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    let piped = arguments.place.piped().await?;
    for complaint in &piped.complaints {
        // Standard output is the client's.
        let _ = writeln!(std::io::stderr(), "warning: {}", text::visible(complaint));
    }
    let tools = if arguments.project_cli { Tools::ProjectCli } else { Tools::Catalog };
    let (reader, input) = tokio::io::duplex(BUFFER);
    let (writer, out) = tokio::io::duplex(BUFFER);
    let handle = tokio::runtime::Handle::current();
    std::thread::spawn(move || copy_in(input, &handle));
    let writing = tokio::spawn(copy_out(out));
    let user = house::caller(None, None).user;
    let serving = stdio::serve(&piped.app, &user, tools, reader, writer);
    let done = tokio::select! {
        done = serving => done,
        _ = terminate.recv() => {
            piped.app.stop().cancel();
            Ok(())
        }
    };
    piped.engine.shut_down().await;
    let _ = writing.await;
    done
}

/// Takes what the client sends, on a thread of its own: standard input may be anything.
fn copy_in(mut input: DuplexStream, handle: &tokio::runtime::Handle) {
    let (mut stdin, mut buffer) = (std::io::stdin().lock(), vec![0; BUFFER]);
    loop {
        let count = stdin.read(&mut buffer).unwrap_or(0);
        let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { return };
        if handle.block_on(input.write_all(read)).is_err() {
            return;
        }
    }
}

async fn copy_out(mut out: DuplexStream) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = out.read(&mut buffer).await.unwrap_or(0);
        let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { return };
        let mut stdout = std::io::stdout().lock();
        if stdout.write_all(read).and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}
