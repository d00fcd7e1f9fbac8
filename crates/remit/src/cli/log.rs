//! `remit log`: what was called, what came of it, and proof that nothing was changed since.

use remit_engine::ports::Store;
use remit_engine::record::{CallQuery, CallRecord, CallState, EventQuery};
use remit_model::{Event, ThreadId};
use serde_json::{Value, json};

use super::{Exit, Output, PlainFormat, find};
use crate::house::{self, Place};

/// Names the states a call can be in.
const STATES: [&str; 9] = [
    "asking",
    "running",
    "succeeded",
    "partial",
    "denied",
    "failed",
    "timed_out",
    "cancelled",
    "outcome_unknown",
];

/// Show what was called and what came of it
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit log\n  remit log --state failed --limit 5\n  remit log show 0198c7d2-…\n  remit log verify"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only calls of this capability
    #[arg(long, value_name = "NAME")]
    capability: Option<String>,
    /// Only calls in this state
    #[arg(long, value_name = "STATE", value_parser = STATES)]
    state: Option<String>,
    /// Only calls of this conversation
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT", global = true)]
    format: PlainFormat,
    #[command(flatten)]
    place: Place,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show one call whole: input, decision, events, outcome
    Show {
        /// The call's id, or enough of its start
        #[arg(value_name = "CALL")]
        call: String,
    },
    /// Prove that no event was altered or removed
    Verify {
        /// Also demand that the record still holds an event with this hash, as printed before
        #[arg(long, value_name = "HASH")]
        head: Vec<String>,
    },
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let done = arguments.place.existing_store().and_then(|store| {
        house::runtime()?.block_on(async {
            match &arguments.command {
                None => list(arguments, store.as_ref(), output).await,
                Some(Command::Show { call }) => show(arguments, call, store.as_ref(), output).await,
                Some(Command::Verify { head }) => {
                    verify(arguments, head, store.as_ref(), output).await
                }
            }
        })
    });
    done.unwrap_or_else(|message| {
        output.error(&message);
        Exit::Failed
    })
}

async fn list(
    arguments: &Arguments,
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, String> {
    let thread = arguments.thread.as_deref();
    let thread = thread.map(|t| ThreadId::parse(t).ok_or("the thread is not an id")).transpose()?;
    let query = CallQuery {
        user: None,
        thread,
        capability: arguments.capability.clone(),
        state: arguments.state.clone(),
        id: None,
        id_start: None,
        limit: Some(arguments.limit),
    };
    let records = store.calls(query).await.map_err(|error| error.to_string())?;
    if arguments.format == PlainFormat::Json {
        let list: Vec<Value> = records.iter().map(execution_log).collect();
        print_json(&json!({"calls": list}), output);
        return Ok(Exit::Fine);
    }
    for record in &records {
        let time = time(record.begun_ms);
        let took = record.duration_ms.map_or(String::new(), |ms| format!("{ms} ms"));
        let open = record.basis.as_ref().is_some_and(|basis| !basis.confined);
        let note = if open { "  sandbox off" } else { "" };
        output.line(&format!(
            "{time}  {:<15}  {:<32}  {took:>9}  {}{note}",
            record.state.as_str(),
            record.call.capability,
            record.call.id
        ));
    }
    if records.is_empty() {
        output.line("no calls; `remit call` makes one");
    }
    Ok(Exit::Fine)
}

/// Gives S2's ToolExecutionLog.
fn execution_log(record: &CallRecord) -> Value {
    let (tool, command) =
        record.call.capability.split_once('.').unwrap_or((record.call.capability.as_str(), ""));
    let error = match &record.state {
        CallState::Ended(outcome) if !outcome.is_success() => {
            Some(remit_engine::stage::project::error(outcome).1)
        }
        _ => None,
    };
    json!({
        "id": record.call.id,
        "tool_name": tool,
        "command": command,
        "parameters": record.call.input,
        "status": record.state.as_str(),
        "duration_ms": record.duration_ms.unwrap_or(0),
        "error": error,
        "user_id": record.call.caller.user,
        "agent_id": record.call.caller.agent,
        "created_at": time(record.begun_ms),
        "thread_id": record.call.thread,
        "rule": record.rule,
        "basis": record.basis,
    })
}

pub(super) fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |t| format!("{t:.3}"))
}

pub(super) fn print_json(value: &Value, output: &mut Output) {
    output.out = serde_json::to_vec_pretty(value).unwrap_or_default();
    output.out.push(b'\n');
}

async fn events_of(store: &dyn Store, thread: &ThreadId) -> Result<Vec<Event>, String> {
    let query = EventQuery { thread: thread.clone(), after: 0, limit: None };
    store.events(query).await.map_err(|error| error.to_string())
}

async fn show(
    arguments: &Arguments,
    wanted: &str,
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, String> {
    let Some(record) = find::call(store, wanted, output).await? else { return Ok(Exit::Bad) };
    let record = &record;
    let events = events_of(store, &record.call.thread).await?;
    let own: Vec<&Event> =
        events.iter().filter(|e| e.call.as_ref() == Some(&record.call.id)).collect();
    let body = |event: &Event| serde_json::from_str(&event.body).unwrap_or(Value::Null);
    if arguments.format == PlainFormat::Json {
        let mut whole = execution_log(record);
        let list: Vec<Value> = own
            .iter()
            .map(|event| json!({"sequence": event.sequence, "at": time(event.at_ms), "kind": event.kind, "body": body(event), "hash": event.hash}))
            .collect();
        if let Some(map) = whole.as_object_mut() {
            map.insert("events".to_owned(), Value::Array(list));
        }
        print_json(&whole, output);
        return Ok(Exit::Fine);
    }
    output.line(&format!("call        {}", record.call.id));
    output.line(&format!("capability  {}", record.call.capability));
    output.line(&format!("state       {}", record.state.as_str()));
    if let Some(progress) = &record.progress {
        let percent = progress.fraction.map_or(String::new(), |f| format!("{:.0} % ", f * 100.0));
        let words = progress.message.as_deref().unwrap_or_default();
        output.line(&format!("progress    {percent}{words}"));
    }
    if record.basis.as_ref().is_some_and(|basis| !basis.confined) {
        output.line("sandbox     off");
    }
    output.line(&format!("decided by  {}", record.rule));
    output.line(&format!("thread      {}", record.call.thread));
    for event in own {
        output.line("");
        output.line(&format!("{}  {}", time(event.at_ms), event.kind.as_str()));
        let pretty = serde_json::to_string_pretty(&body(event)).unwrap_or_default();
        pretty.lines().for_each(|line| output.line(&format!("  {line}")));
    }
    Ok(Exit::Fine)
}

async fn verify(
    arguments: &Arguments,
    heads: &[String],
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, String> {
    let mut missing: Vec<&String> = heads.iter().collect();
    let see = |event: &Event| missing.retain(|hash| **hash != event.hash);
    let reports = remit_store::verify_with(store, see).await.map_err(|error| error.to_string())?;
    let whole = missing.is_empty() && reports.iter().all(|report| report.trouble.is_none());
    if arguments.format == PlainFormat::Json {
        let list: Vec<Value> = reports
            .iter()
            .map(|report| {
                let problem = report.trouble.as_ref().map(ToString::to_string);
                json!({"thread": report.thread, "events": report.events, "hash": report.hash, "ok": problem.is_none(), "problem": problem})
            })
            .collect();
        print_json(&json!({"ok": whole, "threads": list, "missing_heads": missing}), output);
    } else {
        for report in &reports {
            match &report.trouble {
                None => output.line(&format!(
                    "ok      {}  {} events, the last is {}",
                    report.thread, report.events, report.hash
                )),
                Some(problem) => output.line(&format!("BROKEN  {}  {problem}", report.thread)),
            }
        }
        for hash in &missing {
            output.line(&format!("MISSING the event {hash} is no longer in the record"));
        }
        if whole {
            output.line("nothing was altered or removed; keep the last hashes to prove that later");
        }
    }
    Ok(if whole { Exit::Fine } else { Exit::Bad })
}
