//! `remit call --detach`: the call runs in a process of its own and goes on when this one has left.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use remit_engine::Engine;
use remit_engine::ports::Store;
use remit_engine::record::{CallRecord, CallState};
use remit_model::{Call, CallKey};

use crate::approve::leave_terminal;

/// How often the record is looked at until the call runs.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Starts a process that makes the call. `flags` name the place and whoever answers for a person.
pub(super) fn start(call: &Call, flags: Vec<OsString>, may_ask: bool) -> Result<Child, String> {
    let binary = std::env::current_exe()
        .map_err(|error| format!("cannot find the binary to start: {error}"))?;
    let mut command = Command::new(binary);
    command.args(["call", &call.capability, "-", "--detached", "--call-id", call.id.as_str()]);
    command.args(["--thread", call.thread.as_str()]).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    // It stays with this terminal until a question is answered, and leaves it by itself. For that it
    // must not lead a process group.
    let asks = may_ask && std::io::stderr().is_terminal();
    command.stderr(if asks { Stdio::inherit() } else { Stdio::null() });
    let mut child = command.spawn().map_err(|error| format!("cannot start the call: {error}"))?;
    let input = call.input.to_string();
    let mut stdin = child.stdin.take().ok_or("the call cannot be given its input")?;
    stdin
        .write_all(input.as_bytes())
        .map_err(|error| format!("the call cannot be given its input: {error}"))?;
    Ok(child)
}

/// Waits until the call runs, or has ended already.
pub(super) async fn begun(
    store: &dyn Store,
    key: &CallKey,
    child: &mut Child,
) -> Result<CallRecord, String> {
    loop {
        // In this order: what a process that has ended left behind is in the record.
        let gone = child.try_wait().map_err(|error| format!("cannot watch the call: {error}"))?;
        let record = store.call(key.clone()).await.map_err(|error| error.to_string())?;
        match record {
            Some(record) if !matches!(record.state, CallState::Asking) => return Ok(record),
            None | Some(_) if gone.is_some() => {
                return Err("the call could not be started; try it without --detach".to_owned());
            }
            None | Some(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// Leaves the terminal before anything is started for the call, if nobody has to be asked there.
/// Otherwise whoever asks leaves it with the answer.
pub(super) async fn leave_unless_asked(engine: &Engine, call: &Call, may_ask: bool) {
    let asks = may_ask
        && matches!(engine.explain(call.clone(), true).await, Ok(told) if told.verdict == "ask");
    if !asks {
        leave_terminal();
    }
}
