//! Prompts that are being filled in. Most are at once; one that asks its client waits here until the client
//! comes again with the answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use remit_engine::client::Contact;
use remit_model::Caller;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::call::{brought, wrong_state};
use super::exchange::asks::Given;
use super::line::{Asked, Can, Line, screened};
use super::params::Params;
use super::session::locked;
use super::shelf::{Amiss, Script, Shelf, Wanted};
use super::side::Side;
use super::wire::{Fault, INTERNAL};

/// How long filling in may take while nobody is asked.
const THINKING: Duration = Duration::from_secs(30);
/// How long the client may take to come again.
const WAITING: Duration = Duration::from_secs(300);
/// How many may wait; the oldest makes room.
const MOST: usize = 256;
/// How many of them may be one principal's.
const MOST_EACH: usize = 16;

/// Is a prompt under way.
struct Under {
    owner: String,
    caller: Caller,
    wanted: Wanted,
    line: Arc<Line>,
    ended: oneshot::Receiver<Result<Option<Script>, Amiss>>,
    since: Instant,
    _task: Task,
}

/// Stops the work that nobody waits for.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Holds prompts that wait for their client.
#[derive(Default)]
pub(crate) struct Prompting(Mutex<HashMap<String, Under>>);

impl Prompting {
    /// Takes out what a client comes back to, if it is theirs and the same.
    fn take(&self, id: &str, owner: &str, caller: &Caller, wanted: &Wanted) -> Option<Under> {
        let mut all = locked(&self.0);
        let is_same = all.get(id).is_some_and(|one| {
            one.owner == owner
                && one.caller == *caller
                && one.wanted == *wanted
                && one.since.elapsed() < WAITING
        });
        if is_same { all.remove(id) } else { None }
    }

    fn keep(&self, id: String, under: Under) {
        let mut all = locked(&self.0);
        all.retain(|_, one| one.since.elapsed() < WAITING);
        let theirs = all.values().filter(|one| one.owner == under.owner).count();
        let makes_room = match (theirs >= MOST_EACH, all.len() >= MOST) {
            (true, _) => oldest(&all, |one| one.owner == under.owner),
            (false, true) => oldest(&all, |_| true),
            (false, false) => None,
        };
        makes_room.and_then(|id| all.remove(&id));
        all.insert(id, under);
    }
}

fn oldest(all: &HashMap<String, Under>, of: impl Fn(&Under) -> bool) -> Option<String> {
    let some = all.iter().filter(|(_, one)| of(one));
    some.min_by_key(|(_, one)| one.since).map(|(id, _)| id.clone())
}

fn owner(side: &Side) -> String {
    format!("{} {}", side.principal.kind.as_str(), side.principal.subject)
}

fn begin(side: &Side, shelf: &Arc<dyn Shelf>, caller: Caller, wanted: Wanted, can: Can) -> Under {
    let line = Arc::new(Line::new(can));
    let contact = Contact::to(line.clone());
    let (sender, ended) = oneshot::channel();
    let (shelf, by, what) = (Arc::clone(shelf), caller.clone(), wanted.clone());
    let task = tokio::spawn(async move {
        // Whoever asked may be gone.
        let _ = sender.send(shelf.prompt(&by, &what, &contact).await);
    });
    let (owner, since) = (owner(side), Instant::now());
    Under { owner, caller, wanted, line, ended, since, _task: Task(task) }
}

enum Event {
    Ended(Result<Option<Script>, Amiss>),
    Asked(Arc<Asked>),
}

impl Under {
    async fn next(&mut self, seen: u64) -> Result<Event, Fault> {
        let mut asked = self.line.asked();
        let is_new = |now: &Option<Arc<Asked>>| now.as_ref().is_some_and(|now| now.round > seen);
        let asks = async {
            match asked.wait_for(is_new).await.ok().and_then(|now| now.clone()) {
                Some(asked) => asked,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            ended = &mut self.ended => {
                let broke = |_| Fault::new(INTERNAL, "the prompt could not be filled in");
                ended.map(Event::Ended).map_err(broke)
            }
            asked = asks => Ok(Event::Asked(asked)),
            () = tokio::time::sleep(THINKING) => {
                Err(Fault::new(INTERNAL, "the prompt took too long to be filled in"))
            }
        }
    }
}

/// Fills in a prompt, or says what its client is to answer first.
pub(crate) async fn get(
    side: &Side,
    shelf: &Arc<dyn Shelf>,
    caller: Caller,
    wanted: Wanted,
    params: Params<'_>,
) -> Result<Value, Fault> {
    let kept = &side.app.mcp.prompting;
    let mut given = Given { round: None, answers: brought(params.input_responses)? };
    let mut under = match &params.request_state {
        Some(state) => {
            let state = side.app.mcp.seal.open(&side.principal, state).ok_or_else(wrong_state)?;
            given.round = Some(state.round);
            let found = kept.take(&state.id, &owner(side), &caller, &wanted);
            found.ok_or_else(wrong_state)?
        }
        None => {
            let can = params.meta.and_then(|meta| meta.capabilities).map(|can| can.can());
            // Only who can come again with answers is asked.
            let can = can.filter(|_| side.revision.is_modern()).unwrap_or_default();
            begin(side, shelf, caller, wanted, side.reach(can))
        }
    };
    let mut seen = 0;
    loop {
        match under.next(seen).await? {
            Event::Ended(ended) => {
                let gone = || Fault::params("there is no such prompt any more");
                return ended?.map(|script| json!(script)).ok_or_else(gone);
            }
            Event::Asked(asked) => {
                seen = asked.round;
                if let Some(answers) = given.to(&asked) {
                    under.line.answer(asked.round, Ok(screened(&side.app, answers)));
                    continue;
                }
                let id = uuid::Uuid::now_v7().to_string();
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": asked.requests(),
                    "requestState": side.app.mcp.seal.give(&side.principal, &id, asked.round),
                });
                under.since = Instant::now();
                kept.keep(id, under);
                return Ok(result);
            }
        }
    }
}
