//! The calls a service has open, and the answers it owes.

use std::collections::{HashMap, HashSet};

use tokio::sync::{mpsc, oneshot};

use super::super::protocol::{Answer, Line, Progress, Says};
use super::super::worker::WorkerError;

/// Is a call that waits for its answer.
pub(super) struct Open {
    pub(super) answer: oneshot::Sender<Result<Answer, WorkerError>>,
    pub(super) steps: mpsc::Sender<Progress>,
}

/// Is every call a service was given and has not answered.
#[derive(Default)]
pub(super) struct Calls {
    last: u64,
    open: HashMap<String, Open>,
    /// Calls whose callers gave up: their answers are thrown away when they come.
    owed: HashSet<String>,
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
        if self.open.remove(&id).is_some() && sent {
            self.owed.insert(id);
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

    /// Hands a line to whoever waits for it, or says what is wrong with it.
    pub(super) fn hand(&mut self, line: Line) -> Result<(), String> {
        let unasked = || Err("answers a request that was not asked".to_owned());
        match line.says {
            Says::Answer(answer) => match self.open.remove(&line.id) {
                Some(open) => drop(open.answer.send(Ok(*answer))),
                None if self.owed.remove(&line.id) => {}
                None => return unasked(),
            },
            Says::Progress(step) => match self.open.get(&line.id) {
                Some(open) => drop(open.steps.try_send(step)),
                None if self.owed.contains(&line.id) => {}
                None => return unasked(),
            },
            Says::Pong => return Err("answers a ping that was not sent".to_owned()),
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
