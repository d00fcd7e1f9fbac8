//! Keeps workers warm, so that a call does not pay for starting an interpreter.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::launch::Launcher;
use super::plan::Plan;
use super::protocol::{Answer, Request};
use super::worker::{Sink, Until, Worker, WorkerError};

/// Is what two calls must have in common to be served by the same worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The program and its confinement.
    pub plan: Plan,
    /// A hash of the tool's settings: a worker that saw old ones is not used with new ones.
    pub settings: String,
    /// Whose calls they are: what one person's call left in a worker is not for another.
    pub user: String,
}

impl Hash for Key {
    /// Takes what differs most: a plan is long, and is compared anyway.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.user, &self.settings, &self.plan.program.args).hash(state);
    }
}

/// Is how many workers there may be, and for how long.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Calls that run at the same time; more of them wait.
    pub most_busy: usize,
    /// Workers that wait for a call.
    pub most_idle: usize,
    /// Workers of one kind that wait for a call.
    pub most_idle_of_a_kind: usize,
    /// How long a worker waits before it is ended.
    pub idle_for: Duration,
    /// How many calls a worker serves before it is replaced.
    pub most_calls: u64,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            most_busy: 32,
            most_idle: 16,
            most_idle_of_a_kind: 16,
            idle_for: Duration::from_secs(300),
            most_calls: 1_000,
        }
    }
}

/// Is what a pool has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// Workers that wait for a call.
    pub idle: usize,
    /// Workers started since the beginning.
    pub started: u64,
    /// Calls that found a warm worker.
    pub reused: u64,
}

/// Is a set of workers, warm or busy. Clones are the same pool.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    launcher: Launcher,
    options: PoolOptions,
    busy: Arc<Semaphore>,
    closing: CancellationToken,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    workers: HashMap<Arc<Key>, Vec<Waiting>>,
    count: usize,
    started: u64,
    reused: u64,
}

struct Waiting {
    worker: Worker,
    since: Instant,
}

impl Pool {
    /// Makes an empty pool. Must be called inside a runtime, which ends idle workers in time.
    pub fn new(launcher: Launcher, options: PoolOptions) -> Self {
        let pool = Self(Arc::new(Shared {
            launcher,
            busy: Arc::new(Semaphore::new(options.most_busy)),
            closing: CancellationToken::new(),
            idle: Mutex::default(),
            options,
        }));
        pool.retire_in_time();
        pool
    }

    /// Makes one call, with a warm worker if there is one.
    pub async fn call(
        &self,
        key: &Arc<Key>,
        request: &Request<'_>,
        until: Until<'_>,
        progress: Sink<'_>,
    ) -> Result<Answer, WorkerError> {
        let turn = self.turn(until).await?;
        let worker = match self.warm(key).await {
            Some(worker) => worker,
            None => within(until, &self.0.closing, self.start(key)).await??,
        };
        self.ask(key, (worker, turn), request, until, progress).await
    }

    /// Makes one call if there is a warm worker for it.
    pub async fn call_warm(
        &self,
        key: &Arc<Key>,
        request: &Request<'_>,
        until: Until<'_>,
        progress: Sink<'_>,
    ) -> Option<Result<Answer, WorkerError>> {
        let turn = match self.turn(until).await {
            Ok(turn) => turn,
            Err(error) => return Some(Err(error)),
        };
        let worker = self.warm(key).await?;
        Some(self.ask(key, (worker, turn), request, until, progress).await)
    }

    async fn turn(&self, until: Until<'_>) -> Result<OwnedSemaphorePermit, WorkerError> {
        let Shared { busy, closing, .. } = &*self.0;
        if let Ok(turn) = Arc::clone(busy).try_acquire_owned()
            && !closing.is_cancelled()
            && !until.cancel.is_cancelled()
        {
            return Ok(turn);
        }
        let turn = within(until, closing, Arc::clone(busy).acquire_owned()).await?;
        turn.map_err(|_| WorkerError::Cancelled)
    }

    async fn ask(
        &self,
        key: &Arc<Key>,
        (mut worker, turn): (Worker, OwnedSemaphorePermit),
        request: &Request<'_>,
        until: Until<'_>,
        progress: Sink<'_>,
    ) -> Result<Answer, WorkerError> {
        let outcome = tokio::select! {
            biased;
            outcome = worker.call(request, until, progress) => outcome,
            () = self.0.closing.cancelled() => {
                worker.end().await;
                Err(WorkerError::Cancelled)
            }
        };
        if outcome.is_ok()
            && let Some(mut out) = self.keep(key, worker)
        {
            // Whoever asked has the answer. The turn is given back when the process is gone.
            tokio::spawn(async move {
                out.end().await;
                drop(turn);
            });
        }
        outcome
    }

    /// Starts workers before anybody asks for them.
    pub async fn prewarm(&self, key: &Arc<Key>, count: usize) -> Result<(), WorkerError> {
        for _ in 0..count {
            let worker = self.start(key).await?;
            if let Some(mut out) = self.keep(key, worker) {
                out.end().await;
            }
        }
        Ok(())
    }

    /// Tells what the pool has done and holds.
    pub fn state(&self) -> PoolState {
        let idle = self.0.idle();
        PoolState { idle: idle.count, started: idle.started, reused: idle.reused }
    }

    /// Ends every worker, busy ones too, and returns when they are gone. No call starts after this.
    pub async fn shutdown(&self) {
        self.0.closing.cancel();
        // Whoever holds a turn gives it back when its worker is gone.
        let all = u32::try_from(self.0.options.most_busy).unwrap_or(u32::MAX);
        if self.0.busy.acquire_many(all).await.is_ok() {
            self.0.busy.close();
        }
        let waiting = std::mem::take(&mut *self.0.idle()).workers;
        end_all(waiting.into_values().flatten().map(|waiting| waiting.worker).collect()).await;
    }

    async fn start(&self, key: &Arc<Key>) -> Result<Worker, WorkerError> {
        let worker = Worker::start(&self.0.launcher, &key.plan).await?;
        self.0.idle().started += 1;
        Ok(worker)
    }

    /// Takes a warm worker that is fit for a call. Those that are not are ended.
    async fn warm(&self, key: &Arc<Key>) -> Option<Worker> {
        loop {
            let mut worker = self.0.idle().take(key)?;
            if worker.is_fit() {
                self.0.idle().reused += 1;
                return Some(worker);
            }
            worker.end().await;
        }
    }

    /// Puts a worker back, unless it has served long enough, and gives the one that has to go.
    fn keep(&self, key: &Arc<Key>, worker: Worker) -> Option<Worker> {
        let fit = worker.calls() < self.0.options.most_calls && worker.is_fit();
        if fit && !self.0.closing.is_cancelled() {
            self.0.idle().put(key, worker, &self.0.options)
        } else {
            Some(worker)
        }
    }

    /// Ends workers that nobody has needed for long, for as long as the pool exists.
    fn retire_in_time(&self) {
        let weak = Arc::downgrade(&self.0);
        let every = (self.0.options.idle_for / 4).max(Duration::from_millis(10));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let Some(shared) = weak.upgrade() else { return };
                if shared.closing.is_cancelled() {
                    return;
                }
                let old = shared.idle().take_older_than(shared.options.idle_for);
                end_all(old).await;
            }
        });
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
    fn take(&mut self, key: &Arc<Key>) -> Option<Worker> {
        let waiting = self.workers.get_mut(key)?.pop()?;
        self.count -= 1;
        Some(waiting.worker)
    }

    /// Adds a worker and gives the one that has to go for it, if one has.
    fn put(&mut self, key: &Arc<Key>, worker: Worker, options: &PoolOptions) -> Option<Worker> {
        let of_a_kind = self.workers.entry(Arc::clone(key)).or_default();
        if of_a_kind.len() >= options.most_idle_of_a_kind {
            return Some(worker);
        }
        of_a_kind.push(Waiting { worker, since: Instant::now() });
        self.count += 1;
        if self.count > options.most_idle { self.take_oldest() } else { None }
    }

    fn take_oldest(&mut self) -> Option<Worker> {
        let oldest = self.workers.values_mut().filter(|list| !list.is_empty());
        let list = oldest.min_by_key(|list| list.first().map(|waiting| waiting.since))?;
        self.count -= 1;
        let waiting = list.remove(0);
        self.workers.retain(|_, list| !list.is_empty());
        Some(waiting.worker)
    }

    fn take_older_than(&mut self, age: Duration) -> Vec<Worker> {
        let mut old = Vec::new();
        for list in self.workers.values_mut() {
            old.extend(list.extract_if(.., |waiting| waiting.since.elapsed() >= age));
        }
        self.workers.retain(|_, list| !list.is_empty());
        self.count -= old.len();
        old.into_iter().map(|waiting| waiting.worker).collect()
    }
}

async fn end_all(workers: Vec<Worker>) {
    let mut tasks = tokio::task::JoinSet::new();
    for mut worker in workers {
        tasks.spawn(async move { worker.end().await });
    }
    tasks.join_all().await;
}

/// Waits for something only as long as the call may run and the pool is open.
async fn within<T>(
    until: Until<'_>,
    closing: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, WorkerError> {
    tokio::select! {
        biased;
        () = until.cancel.cancelled() => Err(WorkerError::Cancelled),
        () = closing.cancelled() => Err(WorkerError::Cancelled),
        done = tokio::time::timeout_at(until.deadline.into(), work) => done.map_err(|_| WorkerError::TimedOut),
    }
}
