//! `remit call`: one call through the whole pipeline.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use remit_engine::record::{CallRecord, CallState, Progress};
use remit_engine::stage::project::{self, ToolCallResponse};
use remit_engine::{Ended, Engine, Started};
use remit_manifest::read::{self, Format, Limits};
use remit_model::{Binding, Call, CallId, Execution, Outcome, Severity, ThreadId, text};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{Exit, Output, detach, verbose};
use crate::approve::{Answers, TerminalApprover};
use crate::files::{self, Patience};
use crate::house::{self, Place};

/// Call a capability: check, ask, run confined, record
///
/// The input is checked against the capability's schema. What is sensitive is asked about at the
/// terminal; a script says --approve or --deny beforehand. The call and its outcome are in
/// `remit log`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit call file_operator.read_file '{\"filePath\": \"/srv/docs/a.pdf\"}'\n  remit call web_fetch.fetch @request.json --approve --format json\n  echo '{\"n\": 1}' | remit call demo.echo - --tools ./tools\n  remit call report.build '{}' --detach\n\nExit codes: 0 it worked, 1 it was denied, refused or failed, 2 Remit could not try."
)]
pub(super) struct Arguments {
    /// The capability: `tool.command`; `remit tools` lists them
    #[arg(value_name = "NAME")]
    name: String,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    input: String,
    /// Answer yes if a person would be asked
    #[arg(long, conflicts_with = "deny")]
    approve: bool,
    /// Answer no if a person would be asked
    #[arg(long)]
    deny: bool,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t = super::PlainFormat::Human, value_name = "FORMAT")]
    format: super::PlainFormat,
    /// The call's id: the same id again gives the first outcome and runs nothing
    #[arg(long, value_name = "ID")]
    call_id: Option<String>,
    /// The conversation the call belongs to
    #[arg(long, value_name = "ID", default_value = "terminal")]
    thread: String,
    /// Stop the call after so many milliseconds, if that is sooner than its own timeout
    #[arg(long, value_name = "MS")]
    timeout: Option<u64>,
    /// Return as soon as the call runs, with the id of its execution; see `remit execution`
    #[arg(long)]
    detach: bool,
    /// Show what the tool writes to standard error, as it writes it
    #[arg(long, short, conflicts_with = "detach")]
    verbose: bool,
    /// Make a call that another process handed over
    #[arg(long, hide = true)]
    detached: bool,
    /// The agent on whose behalf the call is made
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    place: Place,
}

impl Arguments {
    /// Tells whether a person may have to be asked at the terminal.
    fn may_ask(&self) -> bool {
        !self.approve && !self.deny
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    match house::runtime().and_then(|runtime| answered(arguments, runtime)) {
        Ok(response) => report(arguments, &response, output),
        Err(message) => {
            for line in message.lines() {
                output.error(line);
            }
            Exit::Failed
        }
    }
}

fn answered(arguments: &Arguments, runtime: Runtime) -> Result<ToolCallResponse, String> {
    let (engine, call) = {
        let _inside = runtime.enter();
        prepared(arguments)?
    };
    make(arguments, runtime, &engine, &call)
}

/// Reads all that the call depends on. Must be called inside a runtime.
fn prepared(arguments: &Arguments) -> Result<(Engine, Call), String> {
    let input = input(&arguments.input)?;
    let thread = ThreadId::parse(&arguments.thread)
        .ok_or("the thread is not an id: use letters, digits, `-`, `_`, `.` and `:`")?;
    let id = match &arguments.call_id {
        None => remit_engine::fresh_call_id(),
        Some(id) => CallId::parse(id).ok_or(
            "the call id is not one: use up to 128 letters, digits, `-`, `_`, `.` and `:`",
        )?,
    };
    let answers = match (arguments.approve, arguments.deny) {
        (true, _) => Answers::Approve,
        (_, true) => Answers::Deny,
        (false, false) => Answers::Terminal,
    };
    let offer = arguments.place.offer()?;
    // Whoever handed the call over has said so already.
    if offer.operator.sandbox_off && !arguments.detached {
        let mut stderr = anstream::AutoStream::auto(std::io::stderr());
        let _ = stderr.write_all(b"\x1b[1m\x1b[33mwarning\x1b[0m: the sandbox is off: the call runs with all your rights\n");
    }
    for warning in offer.warnings.iter().filter(|_| !arguments.detached) {
        let mut stderr = anstream::AutoStream::auto(std::io::stderr());
        let _ = writeln!(stderr, "\x1b[1m\x1b[33mwarning\x1b[0m: {}", text::visible(warning));
    }
    if offer.catalog.get(&arguments.name).is_none() && !arguments.detached {
        // What is missing may stand in a file that could not be used.
        for rejected in &offer.rejected {
            let said = format!("{}: {}", rejected.origin, rejected.message);
            let mut stderr = anstream::AutoStream::auto(std::io::stderr());
            let _ = writeln!(stderr, "\x1b[1m\x1b[33mwarning\x1b[0m: {}", text::visible(&said));
        }
    }
    let asking = TerminalApprover { answers, leaves: arguments.detached };
    let hear = arguments.verbose.then(|| verbose::hear(&offer.catalog, &arguments.name));
    let launcher = arguments.place.launcher(hear)?;
    // A process that leaves the terminal has started nothing before that.
    if !arguments.detach && !arguments.detached {
        offer.prepare(&launcher, &arguments.name);
    }
    let engine = arguments.place.engine(offer, asking, launcher)?;
    let call = Call {
        id,
        caller: house::caller(None, arguments.agent.as_deref()),
        thread,
        group: false,
        capability: arguments.name.clone(),
        input,
        timeout_ms: arguments.timeout,
    };
    Ok((engine, call))
}

/// Reads the input. It is held to the same rules as a manifest: no duplicate keys, no integer that
/// would change on the way.
pub(super) fn input(argument: &str) -> Result<Value, String> {
    let bytes = match argument.strip_prefix('@') {
        Some(file) => files::read(Path::new(file), Limits::DOCUMENT.most_bytes(), Patience::Wait)
            .map_err(|reason| format!("cannot read {file}: {reason}"))?,
        None if argument == "-" => {
            files::read(Path::new("-"), Limits::DOCUMENT.most_bytes(), Patience::Wait)
                .map_err(|reason| format!("cannot read standard input: {reason}"))?
        }
        None => argument.as_bytes().to_vec(),
    };
    let reading = read::read(bytes, Some(Format::Json), &Limits::DOCUMENT);
    if let Some(root) = reading.accepted().filter(|_| reading.bare_templates.is_empty()) {
        return Ok(root.to_json());
    }
    let first = reading.diagnostics.iter().find(|d| d.severity == Severity::Error);
    let why = first.map_or("a bare template stands in it".to_owned(), |d| {
        format!("line {}, column {}: {}", d.position.line, d.position.column, d.message)
    });
    Err(format!("the input is not JSON: {why}"))
}

fn make(
    arguments: &Arguments,
    runtime: Runtime,
    engine: &Engine,
    call: &Call,
) -> Result<ToolCallResponse, String> {
    if arguments.detach {
        return hand_over(arguments, &runtime, engine, call);
    }
    let (id, is_async) = (call.id.clone(), is_async(engine, &call.capability));
    let (ended, confined) = go(arguments, runtime, engine, call)?;
    let mut response =
        ended_response(&ended.outcome, id.as_str(), ended.duration_ms).with_confinement(confined);
    response.execution_id = is_async.then(|| id.as_str().to_owned());
    Ok(response)
}

fn ended_response(outcome: &Outcome, id: &str, duration_ms: u64) -> ToolCallResponse {
    project::tool_call_response(outcome, id, duration_ms, jiff::Timestamp::now().to_string())
}

fn is_async(engine: &Engine, name: &str) -> bool {
    let catalog = engine.catalog();
    let binding = catalog.get(name).map(|entry| &entry.capability.binding);
    matches!(binding, Some(Binding::Process { execution: Execution::Async, .. }))
}

/// Has another process make the call, and returns when it runs.
fn hand_over(
    arguments: &Arguments,
    runtime: &Runtime,
    engine: &Engine,
    call: &Call,
) -> Result<ToolCallResponse, String> {
    let mut flags = arguments.place.flags();
    for (name, is_said) in [("--approve", arguments.approve), ("--deny", arguments.deny)] {
        flags.extend(is_said.then(|| name.into()));
    }
    for (name, value) in [
        ("--timeout", arguments.timeout.map(|ms| ms.to_string())),
        ("--agent", arguments.agent.clone()),
    ] {
        flags.extend(value.into_iter().flat_map(|value| [name.into(), value.into()]));
    }
    let mut child = detach::start(call, flags, arguments.may_ask())?;
    let key = call.key();
    let begun = detach::begun(engine.store().as_ref(), &key, &mut child);
    let record = runtime.block_on(begun)?;
    let id = call.id.as_str();
    let response = match &record.state {
        CallState::Ended(outcome) => ended_response(outcome, id, record.duration_ms.unwrap_or(0)),
        _ => project::still_running(id, jiff::Timestamp::now().to_string()),
    };
    Ok(response.with_confinement(is_confined(&record)))
}

fn is_confined(record: &CallRecord) -> bool {
    record.basis.as_ref().is_none_or(|basis| basis.confined)
}

/// Makes the call and waits for its end; tells also whether it was confined.
fn go(
    arguments: &Arguments,
    runtime: Runtime,
    engine: &Engine,
    call: &Call,
) -> Result<(Ended, bool), String> {
    let watched = std::io::stderr().is_terminal()
        && arguments.format == super::PlainFormat::Human
        && !arguments.detached;
    let ended = runtime.block_on(async {
        let now = remit_engine::ports::Clock::now(&crate::clock::SystemClock::new());
        engine.store().recover(now).await.map_err(|error| error.to_string())?;
        if arguments.detached {
            detach::leave_unless_asked(engine, call, arguments.may_ask()).await;
        }
        let started = engine.start(call.clone());
        let interrupted = async {
            while tokio::signal::ctrl_c().await.is_ok() {
                engine.cancel(&call.key());
            }
        };
        let ended = tokio::select! {
            ended = watch(started, watched) => ended,
            () = interrupted => unknown(),
        };
        // The record tells: the outcome may be that of an earlier call with this id.
        let record = engine.store().call(call.key()).await.ok().flatten();
        engine.shut_down().await;
        Ok::<_, String>((ended, record.as_ref().is_none_or(is_confined)))
    });
    // Somebody may still be asked at the terminal; nobody waits for that answer any more.
    runtime.shutdown_background();
    ended
}

/// Is what is known if waiting ends before the call does.
fn unknown() -> Ended {
    Ended { outcome: Outcome::OutcomeUnknown, duration_ms: 0 }
}

/// Waits for the end, and shows a person what the work says meanwhile.
async fn watch(started: Started, watched: bool) -> Ended {
    let mut progress = started.progress();
    let end = started.ended();
    tokio::pin!(end);
    loop {
        tokio::select! {
            ended = &mut end => return ended,
            Some(latest) = progress.next(), if watched => {
                show_progress(Some(&latest));
            }
        }
    }
}

/// Shows a person how far the work has come.
pub(super) fn show_progress(progress: Option<&Progress>) {
    let mut stderr = anstream::AutoStream::auto(std::io::stderr());
    let _ = writeln!(stderr, "{}", text::visible(&said(progress)));
}

/// Puts what the work says of its progress into one line.
pub(super) fn said(progress: Option<&Progress>) -> String {
    let Some(progress) = progress else { return String::new() };
    let percent = progress.fraction.map_or(String::new(), |f| format!("{:>3.0} % ", f * 100.0));
    format!("{percent}{}", progress.message.as_deref().unwrap_or_default())
}

fn report(arguments: &Arguments, response: &ToolCallResponse, output: &mut Output) -> Exit {
    match arguments.format {
        super::PlainFormat::Json => {
            output.out = serde_json::to_vec_pretty(response).unwrap_or_default();
            output.out.push(b'\n');
        }
        super::PlainFormat::Human => human(response, output),
    }
    if response.status == "success" { Exit::Fine } else { Exit::Bad }
}

pub(super) fn human(response: &ToolCallResponse, output: &mut Output) {
    if let Some(error) = &response.error {
        return human_error(error, response, output);
    }
    match &response.result {
        Some(Value::String(text)) => text.lines().for_each(|line| output.line(line)),
        Some(value) => {
            let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
            pretty.lines().for_each(|line| output.line(line));
        }
        None => {}
    }
    if let Some(message) = &response.message {
        output.err.push_str(&format!("{}\n", text::visible(message)));
    }
    if let Some(data) = &response.base64 {
        output
            .err
            .push_str(&format!("{} characters of base64: --format json shows them\n", data.len()));
    }
}

/// Shows a person what went wrong, and what to do about it.
fn human_error(error: &str, response: &ToolCallResponse, output: &mut Output) {
    let code = response.code.as_deref().unwrap_or_default();
    let detail = |key: &str| response.details.as_ref().and_then(|details| details.get(key));
    if let Some(errors) = detail("errors").and_then(Value::as_array) {
        output.error(&format!("the input does not fit ({code})"));
        for error in errors {
            let part = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
            match part("path") {
                "" => output.err_line(part("message")),
                path => output.err_line(&format!("{path}: {}", part("message"))),
            }
        }
        if let Some(fits) = detail("input_schema").and_then(super::sample::input) {
            output.help(&format!("an input that fits: {fits}"));
        }
        return output.help("`remit tools NAME` shows all it takes");
    }
    let (words, help) = match (code, error) {
        ("DENIED", "user_rejected") => ("the call was not approved", None),
        ("DENIED", "user_timeout") => (
            "nobody approved the call in time",
            Some("answer at the terminal, or say --approve beforehand"),
        ),
        ("DENIED", "permission_revoked") => (
            "the permission it needs was taken back",
            Some(
                "`remit grants` shows which; `remit grants lift TOOL SCOPE` lets it be asked for again",
            ),
        ),
        ("POLICY_DENIED", _) => {
            (error, Some("`deny` in the operator's policy says so: remit.yaml, or --config"))
        }
        _ => (error, None),
    };
    output.error(&match code {
        "DENIED" => format!("{words} ({code}: {error})"),
        _ => format!("{words} ({code})"),
    });
    if let Some(help) = help {
        output.help(help);
    }
    if let Some(said) = detail("stderr").and_then(Value::as_str) {
        output.err_line("the last the tool wrote to standard error:");
        said.lines().for_each(|line| output.err_line(&format!("  {line}")));
    }
}
