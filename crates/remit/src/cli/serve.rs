//! `remit serve`: Remit's main job.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use remit_engine::TRACES;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use super::{Exit, Output};
use crate::config;
use crate::house::Place;
use crate::house::serve::token_file;
use crate::telemetry::{self, Exporting};

/// Serve agents, front ends and users over HTTP: REST, event streams, MCP
///
/// On the first start an operator's token is made; it is in `admin.token` in the data directory.
/// Changes of tools, settings and policy are taken up while it runs.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit serve\n  remit serve --listen 127.0.0.1:0 --data ./data --tools ./tools\n  curl -H \"Authorization: Bearer $(cat data/admin.token)\" http://127.0.0.1:7300/tools"
)]
pub(super) struct Arguments {
    /// The address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7300")]
    listen: SocketAddr,
    /// A name under which the server is reached, beside its address and localhost (repeatable)
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Where pages may come from that call it, as `https://name` (repeatable)
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
    /// How many requests a second one principal may make on average
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    rate: u32,
    /// The form of the log on standard error; REMIT_LOG says how much of it
    #[arg(long, value_enum, value_name = "FORM", default_value_t = LogForm::Human)]
    log: LogForm,
    #[command(flatten)]
    place: Place,
}

/// Says who reads the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogForm {
    /// For a person
    Human,
    /// One JSON object a line
    Json,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let exporting = start_log(arguments);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let done = runtime
        .map_err(|error| format!("cannot start: {error}"))
        .and_then(|runtime| runtime.block_on(serve(arguments, exporting.is_some())));
    if let Some(exporting) = exporting {
        exporting.stop();
    }
    match done {
        Ok(()) => Exit::Fine,
        Err(message) => {
            message.lines().for_each(|line| output.error(line));
            Exit::Failed
        }
    }
}

/// Starts the log, and the traces if somebody said where to.
fn start_log(arguments: &Arguments) -> Option<Exporting> {
    let mut filter =
        EnvFilter::try_from_env("REMIT_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    // Spans for traces are not for the log; where there are no traces either, they cost nothing.
    if let Ok(none) = format!("{TRACES}=off").parse() {
        filter = filter.add_directive(none);
    }
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match arguments.log {
        LogForm::Human => {
            log.with_ansi(super::is_watched()).with_target(false).with_filter(filter).boxed()
        }
        LogForm::Json => log.json().flatten_event(true).with_filter(filter).boxed(),
    };
    // A file with an error is not read in part here; that it has one is said in a moment.
    let file = config::policy_file(arguments.place.config.as_deref());
    let operator = file.and_then(|file| config::policy::load(&file).ok());
    let settled = config::telemetry::settled(operator.and_then(|operator| operator.telemetry));
    let started = settled.and_then(|wanted| wanted.as_ref().map(Exporting::start).transpose());
    let layer = started.as_ref().ok().and_then(|one| one.as_ref()).map(Exporting::layer);
    // It fails only if there is a log already.
    let _ = tracing_subscriber::registry().with(log).with(layer).try_init();
    started.unwrap_or_else(|why| {
        tracing::warn!("{why}");
        None
    })
}

async fn serve(arguments: &Arguments, is_traced: bool) -> Result<(), String> {
    let mut options = remit_server::Options {
        hosts: arguments.host.clone(),
        origins: arguments.origin.clone(),
        adopt: is_traced.then_some(telemetry::adopt as remit_server::Adopt),
        ..remit_server::Options::default()
    };
    options.limits.requests_per_second = arguments.rate.max(1);
    let stop = signals()?;
    let serving = arguments.place.server(arguments.listen, &options).await?;
    for complaint in serving.complaints() {
        tracing::warn!("{complaint}");
    }
    let address = serving.address()?;
    let data: PathBuf = config::data_directory(arguments.place.data.as_deref())?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))?;
    tracing::info!(token = %crate::paths::for_people(&token_file(&data)), "the operator's token is in this file");
    serving.run(stop).await;
    Ok(())
}

/// Waits for the signal to stop.
fn signals() -> Result<impl Future<Output = ()>, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|error| format!("cannot listen for signals: {error}"));
    let (mut terminate, mut interrupt) =
        (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
