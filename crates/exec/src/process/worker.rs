//! One process that serves one call at a time.

use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::launch::{Launcher, Process, StartError};
use super::lines::NoLine;
use super::plan::Plan;
use super::protocol::{Answer, Progress, Request, Says, read_line, write_request};
use super::tail::CUT;

/// Is how much memory for requests a worker keeps between calls.
const MOST_KEPT: usize = 64 << 10;
/// Is how much of a line that is no answer is told.
const MOST_LINE_SHOWN: usize = 1 << 10;

/// Takes what a tool says about its progress.
pub type Sink<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Says until when a call may run.
#[derive(Clone, Copy, Debug)]
pub struct Until<'a> {
    /// The moment its time is up.
    pub deadline: Instant,
    /// Stops it before that.
    pub cancel: &'a CancellationToken,
}

/// Says why there is no answer. The worker is gone, with all it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerError {
    /// It could not be started within its confinement.
    NotStarted(String),
    /// It took too long.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// It wrote something that is not an answer.
    BadAnswer {
        /// What is wrong with it.
        why: String,
        /// The start of it.
        line: String,
        /// The last it wrote to standard error.
        said: String,
    },
    /// It wrote more than it may.
    TooMuchOutput {
        /// How much it may.
        most: u64,
    },
    /// It ended without an answer.
    Ended {
        /// How it ended.
        how: String,
        /// The last it wrote to standard error.
        said: String,
    },
}

impl WorkerError {
    /// Gives the code a caller sees.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "TOOL_NOT_STARTED",
            Self::TimedOut => "TIMED_OUT",
            Self::Cancelled => "CANCELLED",
            Self::BadAnswer { .. } => "BAD_ANSWER",
            Self::TooMuchOutput { .. } => "OUTPUT_TOO_LARGE",
            Self::Ended { .. } => "TOOL_ENDED",
        }
    }
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(why) => write!(f, "the tool cannot be started confined: {why}"),
            Self::TimedOut => f.write_str("the tool took too long and was stopped"),
            Self::Cancelled => f.write_str("the call was cancelled and the tool stopped"),
            Self::BadAnswer { why, .. } => write!(f, "a line of the tool {why}; it was stopped"),
            Self::TooMuchOutput { most } => {
                write!(f, "the tool wrote more than {most} bytes and was stopped; ask it for less")
            }
            Self::Ended { how, .. } => write!(f, "the tool ended without an answer ({how})"),
        }
    }
}

impl std::error::Error for WorkerError {}

impl From<StartError> for WorkerError {
    fn from(error: StartError) -> Self {
        Self::NotStarted(error.0)
    }
}

/// Is a process that answers requests, one after the other.
#[derive(Debug)]
pub struct Worker {
    process: Process,
    line: Vec<u8>,
    calls: u64,
    busy: Duration,
    most_line: u64,
    most_busy: Duration,
    usable: bool,
}

impl Worker {
    /// Starts a worker.
    pub async fn start(launcher: &Launcher, plan: &Plan) -> Result<Self, WorkerError> {
        let process = launcher.start(plan).await?;
        let limits = &plan.confinement.limits;
        Ok(Self {
            process,
            line: Vec::new(),
            calls: 0,
            busy: Duration::ZERO,
            most_line: limits.output_bytes,
            most_busy: busy_budget(limits.cpu_seconds),
            usable: true,
        })
    }

    /// Makes one call. After an error the worker is gone and nothing it started is left.
    pub async fn call(
        &mut self,
        request: &Request<'_>,
        until: Until<'_>,
        progress: Sink<'_>,
    ) -> Result<Answer, WorkerError> {
        self.usable = false;
        self.calls += 1;
        self.process.forget_said();
        let started = Instant::now();
        let deadline = until.deadline.into();
        let outcome = tokio::select! {
            biased;
            () = until.cancel.cancelled() => Err(Broken::Cancelled),
            outcome = tokio::time::timeout_at(deadline, self.converse(request, progress)) => {
                outcome.unwrap_or(Err(Broken::TimedOut))
            }
        };
        self.busy += started.elapsed();
        match outcome {
            Ok(answer) => {
                self.usable = true;
                Ok(answer)
            }
            Err(broken) => Err(self.bury(broken).await),
        }
    }

    async fn converse(
        &mut self,
        request: &Request<'_>,
        progress: Sink<'_>,
    ) -> Result<Answer, Broken> {
        let id = self.calls.to_string();
        write_request(&mut self.line, &id, request)
            .map_err(|why| Broken::Bad(why, String::new()))?;
        let requests = self.process.requests.as_mut().ok_or(Broken::Ended)?;
        requests.write_all(&self.line).await.map_err(|_| Broken::Ended)?;
        if self.line.capacity() > MOST_KEPT {
            self.line = Vec::new();
        }
        let most = usize::try_from(self.most_line).unwrap_or(usize::MAX);
        let mut left = most;
        loop {
            let line = match self.process.answers.next(most).await {
                Ok(line) => line,
                Err(NoLine::TooLong) => return Err(Broken::TooMuch),
                Err(NoLine::End | NoLine::Broken(_)) => return Err(Broken::Ended),
            };
            let length = line.len();
            let bad = |why: String| Broken::Bad(why, start_of(line));
            let read = read_line(line).map_err(bad)?;
            if read.id != id {
                return Err(bad("answers a request that was not asked".to_owned()));
            }
            match read.says {
                Says::Answer(answer) => return Ok(*answer),
                Says::Progress(step) => {
                    left = left.checked_sub(length).ok_or(Broken::TooMuch)?;
                    progress(step);
                }
                Says::Pong => {
                    return Err(bad("answers a ping that was not sent".to_owned()));
                }
            }
        }
    }

    /// Ends the process and says why.
    async fn bury(&mut self, broken: Broken) -> WorkerError {
        let how = match broken {
            // It goes by itself; wait for the reason.
            Broken::Ended => self.process.finish().await,
            _ => self.process.end().await,
        };
        let said = self.process.said();
        match broken {
            Broken::Cancelled => WorkerError::Cancelled,
            Broken::TimedOut => WorkerError::TimedOut,
            Broken::TooMuch => WorkerError::TooMuchOutput { most: self.most_line },
            Broken::Bad(why, line) => WorkerError::BadAnswer { why, line, said },
            Broken::Ended => WorkerError::Ended { how: how.to_string(), said },
        }
    }

    /// Tells whether it can take another call: it lives, is silent, and has processor time left.
    pub fn is_fit(&self) -> bool {
        self.usable && self.busy < self.most_busy && self.process.is_silent()
    }

    /// Gives how many calls it was given.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Gives its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Ends it and returns when nothing is left of it.
    pub async fn end(&mut self) {
        self.usable = false;
        self.process.end().await;
    }
}

enum Broken {
    Cancelled,
    TimedOut,
    TooMuch,
    /// What is wrong with a line, and its start.
    Bad(String, String),
    Ended,
}

/// Gives the start of a line for whoever debugs the tool; where more follows, it ends with [`CUT`].
pub(super) fn start_of(line: &[u8]) -> String {
    match line.get(..MOST_LINE_SHOWN) {
        Some(start) if line.len() > MOST_LINE_SHOWN => {
            format!("{}{CUT}", String::from_utf8_lossy(start))
        }
        _ => String::from_utf8_lossy(line).into_owned(),
    }
}

/// Gives how long a worker may have been busy before it is replaced.
///
/// The kernel counts processor time over a process's whole life. A worker that may have used half
/// of it, on all processors at once, is too old for another call.
fn busy_budget(cpu_seconds: u64) -> Duration {
    static PROCESSORS: LazyLock<u32> = LazyLock::new(|| {
        std::thread::available_parallelism()
            .map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
    });
    Duration::from_secs(cpu_seconds) / 2 / *PROCESSORS
}
