//! `remit call --detach`: the call runs in a process of its own and goes on when this one has left.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use remit_engine::ports::Store;
use remit_engine::record::{CallRecord, CallState};
use remit_model::{Call, CallKey};

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
    if may_ask && std::io::stderr().is_terminal() {
        // It stays with this terminal until the question is answered.
        command.stderr(Stdio::inherit());
    } else {
        command.stderr(Stdio::null()).process_group(0);
    }
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

/// Lets go of the terminal as soon as the call runs: nobody has to be asked any more, and nothing
/// that happens to the terminal concerns it.
pub(super) async fn let_go(store: &dyn Store, key: &CallKey) {
    loop {
        let record = store.call(key.clone()).await;
        if matches!(record, Ok(Some(record)) if matches!(record.state, CallState::Running)) {
            // It may lead a group of its own already; then the terminal has no hold on it.
            let _ = rustix::process::setsid();
            return std::future::pending().await;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
