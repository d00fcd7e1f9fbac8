//! The task that keeps a service's process running.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::super::launch::{Launcher, Process};
use super::super::lines::NoLine;
use super::super::plan::Plan;
use super::super::protocol::{Line, Says, ping, read_line};
use super::super::worker::{WorkerError, start_of};
use super::calls::Unwanted;
use super::{Outgoing, ServiceOptions, ServiceState, Shared};

/// Is how many answers a service may owe to callers that no longer wait.
const MOST_OWED: usize = 1_000;

/// Is the requests on their way, taken by one process after the other.
type Queue = Arc<Mutex<mpsc::Receiver<Outgoing>>>;

pub(super) struct Keeper {
    pub(super) launcher: Launcher,
    pub(super) plan: Plan,
    pub(super) options: ServiceOptions,
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Queue,
    pub(super) tell: watch::Sender<ServiceState>,
    pub(super) stop: CancellationToken,
}

/// Is what is known about the health of a process.
#[derive(Default)]
struct Health {
    /// Pings so far, by all processes.
    pings: u64,
    /// When the ping was sent that is not answered yet.
    since: Option<Instant>,
}

enum Failed {
    Stopped,
    Ended,
    TooMuch(u64),
    Bad(String, String),
    Ill(&'static str),
}

impl Keeper {
    /// Starts the process again and again until it is told to stop.
    pub(super) async fn keep(self) {
        let mut failures = 0_u32;
        let mut health = Health::default();
        while !self.stop.is_cancelled() {
            self.tell.send_replace(ServiceState::Starting);
            let began = Instant::now();
            let error = match self.launcher.start(&self.plan).await {
                Ok(process) => self.run(process, &mut health).await,
                Err(error) => WorkerError::from(error),
            };
            failures = if began.elapsed() >= self.options.steady_after { 1 } else { failures + 1 };
            let pause = self.pause(failures);
            if !self.stop.is_cancelled() {
                let why = error.to_string();
                tracing::warn!(failures, why, "a service ended and is started again");
                // Before anybody learns that their call failed, so that they see that it is down.
                self.tell.send_replace(ServiceState::Waiting { why, failures, pause });
            }
            self.shared.calls().fail(&error);
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = sleep(pause) => {}
            }
        }
        self.tell.send_replace(ServiceState::Stopped);
        self.shared.calls().fail(&WorkerError::Cancelled);
    }

    fn pause(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(20);
        (self.options.first_pause * 2_u32.pow(doublings)).min(self.options.longest_pause)
    }

    /// Serves calls until the process fails or is stopped, and says why it ended.
    async fn run(&self, mut process: Process, health: &mut Health) -> WorkerError {
        let Some(stdin) = process.requests.take() else { return WorkerError::Cancelled };
        let writer = tokio::spawn(write(stdin, Arc::clone(&self.queue), Arc::clone(&self.shared)));
        health.since = None;
        self.tell.send_replace(ServiceState::Running { pid: process.pid() });
        let failed = self.serve(&mut process, health).await;
        writer.abort();
        let how = process.end().await;
        let said = process.said();
        match failed {
            Failed::Stopped => WorkerError::Cancelled,
            Failed::Ended => WorkerError::Ended { how: how.to_string(), said },
            Failed::TooMuch(most) => WorkerError::TooMuchOutput { most },
            Failed::Bad(why, line) => WorkerError::BadAnswer { why, line, said },
            Failed::Ill(why) => WorkerError::Ended { how: why.to_owned(), said },
        }
    }

    async fn serve(&self, process: &mut Process, health: &mut Health) -> Failed {
        let most_bytes = self.plan.confinement.limits.output_bytes;
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX);
        let mut check = interval(self.options.health_every);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        check.tick().await;
        loop {
            let overdue = health.since.map(|since| since + self.options.health_within);
            tokio::select! {
                () = self.stop.cancelled() => return Failed::Stopped,
                line = process.answers.next(most) => {
                    let (line, start, bytes) = match line {
                        Ok(line) => (read_line(line), start_of(line), line.len()),
                        Err(NoLine::TooLong) => return Failed::TooMuch(most_bytes),
                        Err(NoLine::End | NoLine::Broken(_)) => return Failed::Ended,
                    };
                    let done = line.map_err(Unwanted::Bad).and_then(|line| {
                        if health.is_answered_by(&line) { return Ok(()) }
                        self.shared.calls().hand(line, bytes)
                    });
                    match done {
                        Ok(()) => {}
                        Err(Unwanted::Bad(why)) => return Failed::Bad(why, start),
                        Err(Unwanted::TooMuch) => return Failed::TooMuch(most_bytes),
                    }
                }
                _ = check.tick() => {
                    if self.shared.calls().owed() > MOST_OWED {
                        return Failed::Ill("it owes too many answers");
                    }
                    if health.since.is_none() {
                        // A full queue is a process that does not read: the ping counts as sent.
                        let _ = self.shared.requests.try_send(health.next());
                    }
                }
                () = at(overdue) => return Failed::Ill("it did not answer a health check in time"),
            }
        }
    }
}

impl Health {
    fn next(&mut self) -> Outgoing {
        self.pings += 1;
        self.since = Some(Instant::now());
        Outgoing { id: None, line: ping(&format!("h{}", self.pings)).into_bytes() }
    }

    /// Tells whether a line answers a ping. One that was meant for an earlier process is no harm.
    fn is_answered_by(&mut self, line: &Line) -> bool {
        let number = line.id.strip_prefix('h').and_then(|number| number.parse::<u64>().ok());
        match (&line.says, number) {
            (Says::Pong, Some(number)) if (1..=self.pings).contains(&number) => {
                if number == self.pings {
                    self.since = None;
                }
                true
            }
            _ => false,
        }
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Writes requests in a task of its own: a process that does not read must not keep its answers from
/// being read.
async fn write(mut stdin: ChildStdin, queue: Queue, shared: Arc<Shared>) {
    let mut queue = queue.lock().await;
    while let Some(Outgoing { id, line }) = queue.recv().await {
        let wanted = id.is_none_or(|id| shared.calls().is_wanted(&id));
        if wanted && stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}
