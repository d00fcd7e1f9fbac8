//! The calls a service has open, and the answers it owes.

use std::collections::HashMap;

use tokio::sync::{mpsc, oneshot};

use super::super::protocol::{Answer, Line, Progress, Says};
use super::super::worker::WorkerError;

/// Is a call that waits for its answer.
pub(super) struct Open {
    pub(super) answer: oneshot::Sender<Result<Answer, WorkerError>>,
    pub(super) steps: mpsc::Sender<Progress>,
    /// How many bytes of progress it may still have.
    pub(super) left: usize,
}

/// Says why a line ends the process that wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unwanted {
    /// It is wrong.
    Bad(String),
    /// One call had more progress than it may.
    TooMuch,
}

/// Is every call a service was given and has not answered.
#[derive(Default)]
pub(super) struct Calls {
    last: u64,
    open: HashMap<String, Open>,
    /// Calls whose callers gave up: their answers are thrown away when they come. With each the bytes
    /// of progress it may still have.
    owed: HashMap<String, usize>,
}

impl Calls {
    /// Adds a call and gives the id of its request.
    pub(super) fn open(&mut self, call: Open) -> String {
        self.last += 1;
        let id = self.last.to_string();
        self.open.insert(id.clone(), call);
        id
    }

    /// Notes that nobody waits for a call any more, and whether its request was sent.
    pub(super) fn give_up(&mut self, id: String, sent: bool) {
        if let Some(open) = self.open.remove(&id).filter(|_| sent) {
            self.owed.insert(id, open.left);
        }
    }

    /// Tells whether a request is still worth writing; if not, no answer is owed either.
    pub(super) fn is_wanted(&mut self, id: &str) -> bool {
        self.owed.remove(id);
        self.open.contains_key(id)
    }

    /// Gives how many answers are owed to callers that no longer wait.
    pub(super) fn owed(&self) -> usize {
        self.owed.len()
    }

    /// Hands a line of so many bytes to whoever waits for it, or says what is wrong with it.
    pub(super) fn hand(&mut self, line: Line, bytes: usize) -> Result<(), Unwanted> {
        let unasked = || Err(Unwanted::Bad("answers a request that was not asked".to_owned()));
        let spend = |left: &mut usize| {
            *left = left.checked_sub(bytes).ok_or(Unwanted::TooMuch)?;
            Ok(())
        };
        match line.says {
            Says::Answer(answer) => match self.open.remove(&line.id) {
                Some(open) => drop(open.answer.send(Ok(*answer))),
                None if self.owed.remove(&line.id).is_some() => {}
                None => return unasked(),
            },
            Says::Progress(step) => {
                match (self.open.get_mut(&line.id), self.owed.get_mut(&line.id)) {
                    (Some(open), _) => {
                        spend(&mut open.left)?;
                        drop(open.steps.try_send(step));
                    }
                    (None, Some(left)) => spend(left)?,
                    (None, None) => return unasked(),
                }
            }
            Says::Pong => {
                return Err(Unwanted::Bad("answers a ping that was not sent".to_owned()));
            }
        }
        Ok(())
    }

    /// Ends every call with an error: the process they were given to is gone.
    pub(super) fn fail(&mut self, error: &WorkerError) {
        self.owed.clear();
        for (_, open) in self.open.drain() {
            let _ = open.answer.send(Err(error.clone()));
        }
    }
}
