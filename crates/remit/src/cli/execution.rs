//! `remit execution`: work that goes on, seen and stopped from any terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use remit_engine::ports::{Clock as _, Store};
use remit_engine::record::{CallQuery, CallRecord, CallState};
use remit_engine::stage::project;
use serde_json::json;

use super::call::{said, show_progress};
use super::log::{print_json, time};
use super::{Exit, Output, PlainFormat, find};
use crate::clock::SystemClock;
use crate::house::{self, Place};

/// How often the record is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// See, await and stop work that goes on
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit execution                     what is under way\n  remit execution status 0198c7d2     how far it has come, or what came of it\n  remit execution wait 0198c7d2       wait for it, and print the outcome as `remit call` does\n  remit execution cancel 0198c7d2     stop it"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// How to print
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT", global = true)]
    format: PlainFormat,
    #[command(flatten)]
    place: Place,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show how far it has come, or what came of it
    Status(Named),
    /// Wait for its end
    Wait(Named),
    /// Stop it, and wait until it has stopped
    Cancel(Named),
}

#[derive(clap::Args)]
struct Named {
    /// The execution's id, or enough of its start
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let done = arguments.place.existing_store().and_then(|store| {
        house::runtime()?.block_on(async {
            recover(store.as_ref()).await?;
            act(arguments, store.as_ref(), output).await
        })
    });
    done.unwrap_or_else(|message| {
        output.error(&message);
        Exit::Failed
    })
}

async fn recover(store: &dyn Store) -> Result<(), String> {
    let recovered = store.recover(SystemClock::new().now()).await;
    recovered.map(|_| ()).map_err(|error| error.to_string())
}

async fn act(
    arguments: &Arguments,
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, String> {
    let Some(
        Command::Status(Named { id }) | Command::Wait(Named { id }) | Command::Cancel(Named { id }),
    ) = &arguments.command
    else {
        return list(arguments, store, output).await;
    };
    let Some(mut record) = find::call(store, id, output).await? else { return Ok(Exit::Bad) };
    match &arguments.command {
        None | Some(Command::Status(_)) => return Ok(status(arguments, &record, output)),
        Some(Command::Wait(_)) => {}
        Some(Command::Cancel(_)) => {
            let by = house::caller(None, None).user;
            let now = SystemClock::new().now();
            let asked = store.ask_to_stop(record.call.key(), &by, now).await;
            if !asked.map_err(|error| error.to_string())? {
                output.error(&format!(
                    "`{}` has ended already: {}",
                    record.call.id,
                    record.state.as_str()
                ));
                return Ok(Exit::Bad);
            }
        }
    }
    record = ended(store, record).await?;
    let stopped = matches!(
        (&arguments.command, &record.state),
        (Some(Command::Cancel(_)), CallState::Ended(remit_model::Outcome::Cancelled { .. }))
    );
    if stopped && arguments.format == PlainFormat::Human {
        output.line(&format!("{} was stopped", record.call.id));
        return Ok(Exit::Fine);
    }
    let exit = status(arguments, &record, output);
    Ok(if stopped { Exit::Fine } else { exit })
}

/// Waits for the end, and shows a person what the work says meanwhile.
async fn ended(store: &dyn Store, mut record: CallRecord) -> Result<CallRecord, String> {
    let watched = std::io::stderr().is_terminal();
    let mut shown = None;
    while !matches!(record.state, CallState::Ended(_)) {
        if watched && record.progress.is_some() && record.progress != shown {
            show_progress(record.progress.as_ref());
            shown.clone_from(&record.progress);
        }
        tokio::time::sleep(LOOK_EVERY).await;
        recover(store).await?;
        let now = store.call(record.call.key()).await.map_err(|error| error.to_string())?;
        record = now.ok_or("the call is no longer in the record")?;
    }
    Ok(record)
}

async fn list(
    arguments: &Arguments,
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, String> {
    let mut under_way = Vec::new();
    for state in [CallState::Asking, CallState::Running] {
        let query = CallQuery { state: Some(state.as_str().to_owned()), ..CallQuery::default() };
        under_way.extend(store.calls(query).await.map_err(|error| error.to_string())?);
    }
    if arguments.format == PlainFormat::Json {
        let list: Vec<_> = under_way
            .iter()
            .map(|record| project::execution(record, time(record.begun_ms)))
            .collect();
        print_json(&json!({"executions": list}), output);
        return Ok(Exit::Fine);
    }
    for record in &under_way {
        let progress = said(record.progress.as_ref());
        output.line(&format!(
            "{}  {:<8}  {:<32}  {}  {progress}",
            time(record.begun_ms),
            record.state.as_str(),
            record.call.capability,
            record.call.id
        ));
    }
    if under_way.is_empty() {
        output
            .line("nothing is under way; `remit call --detach` starts work that goes on by itself");
    }
    Ok(Exit::Fine)
}

fn status(arguments: &Arguments, record: &CallRecord, output: &mut Output) -> Exit {
    let execution = project::execution(record, time(record.begun_ms));
    let bad = execution.status == "failed";
    match arguments.format {
        PlainFormat::Json => print_json(&json!(execution), output),
        PlainFormat::Human => match &execution.response {
            Some(response) => {
                let (state, ms) = (record.state.as_str(), response.duration_ms);
                output.err.push_str(&format!("{state} after {ms} ms\n"));
                super::call::human(response, output);
            }
            None => {
                output.line(&format!("{}  {}", execution.status, said(record.progress.as_ref())));
            }
        },
    }
    if bad { Exit::Bad } else { Exit::Fine }
}
