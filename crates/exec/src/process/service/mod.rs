//! Keeps one process of a tool running and gives it many calls at a time.

mod calls;
mod keeper;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::launch::Launcher;
use super::plan::Plan;
use super::protocol::{Answer, Request, write_request};
use super::worker::{Sink, Until, WorkerError};
use calls::{Calls, Open};
use keeper::Keeper;

/// Is how many requests may wait to be written. More of them wait with their callers.
const QUEUE: usize = 64;
/// Is how many progress lines of a call may wait for its caller. More of them are dropped.
const STEPS: usize = 16;
/// Is how a service is watched and restarted.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// How often it is asked whether it is well.
    pub health_every: Duration,
    /// How long it may take to answer that.
    pub health_within: Duration,
    /// The pause before the first restart; each further one doubles it.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// How long it must run for its failures to be forgotten.
    pub steady_after: Duration,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            health_every: Duration::from_secs(10),
            health_within: Duration::from_secs(5),
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(30),
            steady_after: Duration::from_secs(60),
        }
    }
}

/// Says how a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// Its process is being started.
    Starting,
    /// It takes calls.
    Running {
        /// Its process.
        pid: u32,
    },
    /// It failed and is started again after a pause.
    Waiting {
        /// What happened.
        why: String,
        /// How often in a row.
        failures: u32,
        /// For how long.
        pause: Duration,
    },
    /// It was stopped.
    Stopped,
}

/// Is a process that is kept running. Dropping it stops it.
pub struct Service {
    shared: Arc<Shared>,
    state: watch::Receiver<ServiceState>,
    stop: CancellationToken,
    most_progress: usize,
}

struct Shared {
    requests: mpsc::Sender<Outgoing>,
    calls: Mutex<Calls>,
}

/// Is a line on its way to the process, and the call it is for.
struct Outgoing {
    id: Option<String>,
    line: Vec<u8>,
}

impl Shared {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Starts a service and goes on restarting it until it is stopped.
    pub fn start(launcher: Launcher, plan: Plan, options: ServiceOptions) -> Self {
        let (requests, queue) = mpsc::channel(QUEUE);
        let (tell, state) = watch::channel(ServiceState::Starting);
        let shared = Arc::new(Shared { requests, calls: Mutex::default() });
        let stop = CancellationToken::new();
        let most_progress =
            usize::try_from(plan.confinement.limits.output_bytes).unwrap_or(usize::MAX);
        let keeper = Keeper {
            launcher,
            plan,
            options,
            shared: Arc::clone(&shared),
            queue: Arc::new(tokio::sync::Mutex::new(queue)),
            tell,
            stop: stop.clone(),
        };
        tokio::spawn(keeper.keep());
        Self { shared, state, stop, most_progress }
    }

    /// Tells how it is.
    pub fn state(&self) -> ServiceState {
        self.state.borrow().clone()
    }

    /// Gives something that tells whenever it changes.
    pub fn watch(&self) -> watch::Receiver<ServiceState> {
        self.state.clone()
    }

    /// Makes one call, beside others. A call that is given up leaves the process running.
    pub async fn call(
        &self,
        request: &Request<'_>,
        until: Until<'_>,
        progress: Sink<'_>,
    ) -> Result<Answer, WorkerError> {
        let (answer, answered) = oneshot::channel();
        let (steps, mut told) = mpsc::channel(STEPS);
        let mut guard = GiveUp { shared: &self.shared, id: None, sent: false };
        let work = async {
            self.running().await?;
            let id = self.shared.calls().open(Open { answer, steps, left: self.most_progress });
            guard.id = Some(id.clone());
            let mut line = Vec::new();
            write_request(&mut line, &id, request).map_err(WorkerError::NotStarted)?;
            let outgoing = Outgoing { id: Some(id), line };
            self.shared.requests.send(outgoing).await.map_err(|_| WorkerError::Cancelled)?;
            guard.sent = true;
            let mut answered = answered;
            loop {
                tokio::select! {
                    biased;
                    Some(step) = told.recv() => progress(step),
                    answer = &mut answered => return answer.unwrap_or(Err(WorkerError::Cancelled)),
                }
            }
        };
        tokio::select! {
            biased;
            () = until.cancel.cancelled() => Err(WorkerError::Cancelled),
            () = self.stop.cancelled() => Err(WorkerError::Cancelled),
            outcome = tokio::time::timeout_at(until.deadline.into(), work) => {
                outcome.unwrap_or(Err(WorkerError::TimedOut))
            }
        }
    }

    /// Waits while it is being started, and gives up while it is down.
    async fn running(&self) -> Result<(), WorkerError> {
        let mut state = self.state.clone();
        loop {
            match &*state.borrow_and_update() {
                ServiceState::Running { .. } => return Ok(()),
                ServiceState::Starting => {}
                ServiceState::Stopped => return Err(WorkerError::Cancelled),
                ServiceState::Waiting { why, pause, .. } => {
                    let after = pause.as_millis();
                    return Err(WorkerError::NotStarted(format!(
                        "the service is down ({why}) and is started again within {after} ms; try later"
                    )));
                }
            }
            state.changed().await.map_err(|_| WorkerError::Cancelled)?;
        }
    }

    /// Stops it and returns when its process is gone.
    pub async fn stop(&self) {
        self.stop.cancel();
        let _ = self.state.clone().wait_for(|state| *state == ServiceState::Stopped).await;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Takes a call off the list when its caller stops waiting, however that happens.
struct GiveUp<'a> {
    shared: &'a Shared,
    id: Option<String>,
    sent: bool,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.shared.calls().give_up(id, self.sent);
        }
    }
}
