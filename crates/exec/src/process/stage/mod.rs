//! The two hidden stages between Remit and a tool's program.
//!
//! Confining a process means running code in it before the program. Doing that between `fork` and
//! `exec` of a server with many threads is neither safe nor quick, so Remit starts *itself* instead,
//! a small process with one thread, which confines itself and becomes the program:
//!
//! ```text
//! Remit ── outer ──(new namespaces)── inner, process 1 ──exec── program
//! ```
//!
//! Neither knows at first what is to run: *inner* reads that from its standard input, so that a start can
//! be made ahead (`spare`).
//!
//! *outer* stays as the program's keeper: it ends the namespace, and all that lives in it, as soon as
//! Remit asks, or dies, or closes the pipe of requests; and it reaps, so that when it is gone there is
//! nothing left. *inner* puts up the layers one by one, says so, and executes the program.

mod files;
mod groups;
mod inner;
mod limits;
mod modes;
mod mounts;
mod outer;
mod privileges;
mod probe;
mod root;
mod script;
mod syscalls;
mod table;

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;

use super::plan::Greeting;

/// Is the first argument of the keeper.
pub(super) const OUTER: &str = "remit-stage:outer";
/// Is the first argument of what becomes the program.
pub(super) const INNER: &str = "remit-stage:inner";
/// Is the first argument of a try of what the machine offers.
pub(super) const PROBE: &str = "remit-stage:probe";

/// Is the exit code of a start that was refused.
const REFUSED: u8 = 125;

pub use limits::without_cores;
pub(super) use probe::{Layer, Tried};

/// Runs a stage if this process was started as one, and gives its exit code.
///
/// The binary calls this before anything else: a stage must have one thread only, and no arguments of
/// its own to parse.
pub fn stage() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let word = args.next()?;
    let run: fn(&OsStr) -> ExitCode = match word.to_str()? {
        OUTER => outer::run,
        INNER => inner::run,
        PROBE => probe::run,
        _ => return None,
    };
    without_cores();
    Some(run(&args.next().unwrap_or_default()))
}

/// Tells whoever started this process that nothing was run, and why.
fn refuse(why: &str) -> ExitCode {
    greet(&Greeting::Refused(why.to_owned()));
    ExitCode::from(REFUSED)
}

fn greet(greeting: &Greeting) {
    if let Ok(mut line) = serde_json::to_string(greeting) {
        line.push('\n');
        let mut out = std::io::stdout().lock();
        // Nobody is left to be told if this fails: the reader is gone and we go too.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

/// Gives a mapping from an error to the sentence that says what could not be done.
fn while_<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}
