//! Where questions wait for an answer that comes from anywhere: a browser, an API, another terminal.
//!
//! Questions that are alike are shown as one. A yes to a medium one answers all of them; a yes to a
//! high one lets exactly one call run, because each is to be asked about.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remit_model::{CallKey, Sensitivity, canonical};
use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use crate::ports::{Approver, Pending, Question, Reply, Said};

/// How many changes somebody who watches may be behind.
const BEHIND: usize = 256;
/// Over how long questions are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// Says how often one agent may have a person asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskLimits {
    /// How many questions a minute.
    pub per_minute: usize,
    /// How many may wait at the same time.
    pub waiting: usize,
}

impl Default for DeskLimits {
    fn default() -> Self {
        Self { per_minute: 30, waiting: 20 }
    }
}

/// Is a question that waits.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its name.
    pub id: String,
    /// What is asked, of the call that has waited longest.
    pub question: Question,
    /// How many calls wait for it.
    pub calls: usize,
    /// How long there is to answer for the one that has waited longest.
    pub left: Duration,
}

/// Says what happened to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new, or one more call waits for it.
    Asked {
        /// The question.
        id: String,
        /// The call.
        call: CallKey,
    },
    /// A call waits no longer: answered, called off, or too late.
    Settled {
        /// The question.
        id: String,
        /// The call.
        call: CallKey,
    },
}

impl Change {
    /// Gives the call it is about.
    #[must_use]
    pub fn call(&self) -> &CallKey {
        match self {
            Self::Asked { call, .. } | Self::Settled { call, .. } => call,
        }
    }
}

/// Says why an answer was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// No such question waits, or it is another user's.
    Unknown,
}

/// Makes questions alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Likeness {
    user: String,
    agent: String,
    device: String,
    thread: String,
    capability: String,
    input: String,
}

impl Likeness {
    fn of(question: &Question) -> Self {
        let call = &question.call;
        Self {
            user: call.caller.user.clone(),
            agent: call.caller.agent.clone().unwrap_or_default(),
            device: call.caller.device.clone().unwrap_or_default(),
            thread: call.thread.as_str().to_owned(),
            capability: call.capability.clone(),
            input: canonical::hash_bytes(call.input.to_string().as_bytes()),
        }
    }
}

struct Waiting {
    number: u64,
    question: Question,
    until: Instant,
    reply: oneshot::Sender<Said>,
}

struct Group {
    likeness: Likeness,
    waiting: VecDeque<Waiting>,
}

#[derive(Default)]
struct State {
    numbers: u64,
    groups: BTreeMap<String, Group>,
    alike: HashMap<Likeness, String>,
    /// When each agent of each user had somebody asked.
    recent: HashMap<(String, String), VecDeque<Instant>>,
}

/// Holds questions until they are answered.
pub struct Desk {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
    limits: DeskLimits,
}

impl Default for Desk {
    fn default() -> Self {
        Self::new(DeskLimits::default())
    }
}

impl Desk {
    /// Makes an empty one.
    #[must_use]
    pub fn new(limits: DeskLimits) -> Self {
        Self { state: Mutex::default(), changes: broadcast::channel(BEHIND).0, limits }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists what waits for a user, the oldest first.
    #[must_use]
    pub fn list(&self, user: &str) -> Vec<Asked> {
        let state = self.state();
        let mut found: Vec<(u64, Asked)> = state
            .groups
            .iter()
            .filter(|(_, group)| group.likeness.user == user)
            .filter_map(|(id, group)| Some((group.waiting.front()?.number, asked(id, group)?)))
            .collect();
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, asked)| asked).collect()
    }

    /// Finds the question that a call waits for.
    #[must_use]
    pub fn of_call(&self, key: &CallKey) -> Option<Asked> {
        let state = self.state();
        let waits = |group: &Group| group.waiting.iter().any(|one| one.question.call.key() == *key);
        state.groups.iter().find(|(_, group)| waits(group)).and_then(|(id, group)| asked(id, group))
    }

    /// Hears of what is asked and settled from now on, for all users.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Answers a question of a user. A yes to what takes great care is for the call that has waited
    /// longest; every other answer is for all that wait.
    pub fn answer(&self, id: &str, user: &str, reply: Reply, by: &str) -> Result<(), NotTaken> {
        let mut state = self.state();
        let group = state
            .groups
            .get_mut(id)
            .filter(|group| group.likeness.user == user)
            .ok_or(NotTaken::Unknown)?;
        let first = group.waiting.front().map(|one| one.question.sensitivity);
        let count = match (first, reply) {
            (Some(Sensitivity::High), Reply::Yes) => 1,
            _ => group.waiting.len(),
        };
        let answered: Vec<Waiting> = group.waiting.drain(..count).collect();
        state.drop_if_empty(id);
        drop(state);
        for one in answered {
            self.settled(id, one.question.call.key());
            // Who asked may have left.
            let _ = one.reply.send(Said { reply, by: Some(by.to_owned()) });
        }
        Ok(())
    }

    fn settled(&self, id: &str, call: CallKey) {
        let _ = self.changes.send(Change::Settled { id: id.to_owned(), call });
    }

    /// Puts a question where it can be answered; none if it is one too many.
    fn put(self: &Arc<Self>, question: &Question) -> Option<Seat> {
        let likeness = Likeness::of(question);
        let now = Instant::now();
        let mut state = self.state();
        if !state.admits(&likeness, now, self.limits) {
            return None;
        }
        state.numbers += 1;
        let number = state.numbers;
        let (reply, answer) = oneshot::channel();
        let waiting =
            Waiting { number, question: question.clone(), until: now + question.deadline, reply };
        let id = match state.alike.get(&likeness) {
            Some(id) => id.clone(),
            None => {
                let id = uuid::Uuid::now_v7().to_string();
                state.alike.insert(likeness.clone(), id.clone());
                state.groups.insert(id.clone(), Group { likeness, waiting: VecDeque::new() });
                id
            }
        };
        if let Some(group) = state.groups.get_mut(&id) {
            group.waiting.push_back(waiting);
        }
        drop(state);
        let call = question.call.key();
        let _ = self.changes.send(Change::Asked { id: id.clone(), call });
        Some(Seat { desk: Arc::clone(self), id, number, answer })
    }

    fn leave(&self, id: &str, number: u64) {
        let mut state = self.state();
        let Some(group) = state.groups.get_mut(id) else { return };
        let Some(at) = group.waiting.iter().position(|one| one.number == number) else { return };
        let gone = group.waiting.remove(at);
        state.drop_if_empty(id);
        drop(state);
        if let Some(gone) = gone {
            self.settled(id, gone.question.call.key());
        }
    }
}

impl State {
    fn drop_if_empty(&mut self, id: &str) {
        if self.groups.get(id).is_some_and(|group| group.waiting.is_empty())
            && let Some(group) = self.groups.remove(id)
        {
            self.alike.remove(&group.likeness);
        }
    }

    /// Tells whether one more question may be asked. One that is alike costs nobody's attention.
    fn admits(&mut self, likeness: &Likeness, now: Instant, limits: DeskLimits) -> bool {
        let asker = (likeness.user.clone(), likeness.agent.clone());
        let theirs =
            |group: &&Group| (&group.likeness.user, &group.likeness.agent) == (&asker.0, &asker.1);
        let waiting: usize =
            self.groups.values().filter(theirs).map(|group| group.waiting.len()).sum();
        if waiting >= limits.waiting {
            return false;
        }
        if self.alike.contains_key(likeness) {
            return true;
        }
        self.recent.retain(|_, times| times.back().is_some_and(|last| *last + WINDOW > now));
        let recent = self.recent.entry(asker).or_default();
        while recent.front().is_some_and(|first| *first + WINDOW <= now) {
            recent.pop_front();
        }
        let admitted = recent.len() < limits.per_minute;
        if admitted {
            recent.push_back(now);
        }
        admitted
    }
}

fn asked(id: &str, group: &Group) -> Option<Asked> {
    let first = group.waiting.front()?;
    Some(Asked {
        id: id.to_owned(),
        question: first.question.clone(),
        calls: group.waiting.len(),
        left: first.until.saturating_duration_since(Instant::now()),
    })
}

/// Is a call's place at the desk. Dropping it takes the call out.
struct Seat {
    desk: Arc<Desk>,
    id: String,
    number: u64,
    answer: oneshot::Receiver<Said>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.desk.leave(&self.id, self.number);
    }
}

/// Asks at a desk.
#[derive(Clone)]
pub struct DeskApprover(pub Arc<Desk>);

impl Approver for DeskApprover {
    fn ask<'a>(&'a self, question: &'a Question) -> Pending<'a, Said> {
        Box::pin(async move {
            let Some(mut seat) = self.0.put(question) else { return Reply::TooMany.into() };
            (&mut seat.answer).await.unwrap_or_else(|_| Reply::Silence.into())
        })
    }
}
