//! Writes lines whole and in order, without waiting unless the pipe is full.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::pipe::Sender;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Pipe;
use crate::error::McpError;

/// Is the end that is written to, and what did not fit yet.
pub(crate) struct Writer {
    state: Mutex<State>,
    wake: Notify,
    most: usize,
    /// Fires when the server takes no input any more.
    pub(crate) broken: CancellationToken,
}

struct State {
    /// None once closed; then the server reads the end of its input.
    out: Option<Arc<Sender>>,
    backlog: Vec<u8>,
    /// Where the backlog starts that is not written yet.
    start: usize,
}

impl State {
    fn waiting(&self) -> &[u8] {
        self.backlog.get(self.start..).unwrap_or_default()
    }
}

impl Writer {
    pub(crate) fn new(sender: Sender, most: usize) -> Self {
        let state = State { out: Some(Arc::new(sender)), backlog: Vec::new(), start: 0 };
        let broken = CancellationToken::new();
        Self { state: Mutex::new(state), wake: Notify::new(), most, broken }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a whole line, or sees to it that it is written. A line that is begun is never left half.
    /// Where the server takes no input any more, its end is near, and says why.
    pub(crate) fn send(&self, line: &[u8]) -> Result<(), McpError> {
        let mut state = self.lock();
        let Some(out) = state.out.clone() else { return Err(McpError::Stopped) };
        let mut rest = line;
        if state.waiting().is_empty() {
            while !rest.is_empty() {
                match out.try_write(rest) {
                    Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {
                        state.out = None;
                        self.broken.cancel();
                        return Err(McpError::Stopped);
                    }
                }
            }
        } else if state.waiting().len() + rest.len() > self.most {
            let why = format!("it has not read the last {} bytes", state.waiting().len());
            return Err(McpError::Busy { why });
        }
        if !rest.is_empty() {
            if state.waiting().is_empty() {
                state.backlog.clear();
                state.start = 0;
            }
            state.backlog.extend_from_slice(rest);
            drop(state);
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Ends the server's input. What was not written is not.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.out = None;
        state.backlog = Vec::new();
        state.start = 0;
        drop(state);
        self.wake.notify_one();
    }

    /// Writes some of what waits; tells whether there is more.
    fn write_some(&self) -> io::Result<bool> {
        let mut state = self.lock();
        let Some(out) = state.out.clone() else { return Ok(false) };
        let count = out.try_write(state.waiting())?;
        state.start += count;
        if state.waiting().is_empty() {
            // A long line is not kept for ever.
            state.backlog = Vec::new();
            state.start = 0;
            return Ok(false);
        }
        Ok(true)
    }
}

/// Writes what did not fit, as the server reads.
pub(super) async fn flush(pipe: Arc<Pipe>) {
    let writer = &pipe.writer;
    loop {
        tokio::select! {
            () = writer.wake.notified() => {}
            () = pipe.closed.cancelled() => return,
        }
        loop {
            let out = {
                let state = writer.lock();
                match &state.out {
                    None => return,
                    Some(_) if state.waiting().is_empty() => break,
                    Some(out) => Arc::clone(out),
                }
            };
            let is_writable = tokio::select! {
                ready = out.writable() => ready.is_ok(),
                () = pipe.closed.cancelled() => return,
                // It was closed, perhaps; that is looked at above.
                () = writer.wake.notified() => continue,
            };
            drop(out);
            match writer.write_some() {
                Ok(_) if is_writable => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => {
                    writer.close();
                    writer.broken.cancel();
                    return;
                }
            }
        }
    }
}
