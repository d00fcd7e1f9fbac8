//! The one thread that writes: it takes all that waits, writes it in one transaction, and answers
//! when the disk has it.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use remit_engine::ports::StoreError;
use tokio::sync::oneshot;

use super::connect;
use super::fault::Fault;
use super::ledger::Ledger;
use super::queue::Queue;

/// How much is written in one transaction at most.
const MOST_AT_ONCE: usize = 1_024;
/// How long those who come early wait for the rest of their batch at most.
const LONGEST_WAIT: Duration = Duration::from_millis(2);
/// How short a pause tells at least that the rest is not coming.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);

/// Hands work to the thread that writes. Dropping it waits until what was handed over is done.
pub(crate) struct Writer {
    queue: Arc<Queue<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// Is a piece of work that can be done again, if what it was done with had to be taken back.
trait Job: Send {
    /// Does it. A fault means that everything in its transaction must be taken back.
    fn run(&mut self, ledger: &mut Ledger) -> Result<(), Fault>;
    /// Answers whoever asked for it.
    fn answer(self: Box<Self>, failed: Option<&StoreError>);
}

struct Asked<T, W> {
    work: W,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, W: Send + FnMut(&mut Ledger) -> Result<T, Fault>> Job for Asked<T, W> {
    fn run(&mut self, ledger: &mut Ledger) -> Result<(), Fault> {
        // What an earlier try gave goes first: it may hold what this one needs.
        self.result = None;
        self.result = Some(match (self.work)(ledger) {
            Ok(done) => Ok(done),
            Err(Fault::Refused(error)) => Err(error),
            Err(fault) => return Err(fault),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<&StoreError>) {
        let answer = match (failed, self.result) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(result)) => result,
            (None, None) => Err(stopped()),
        };
        // Whoever asked may have left.
        let _ = self.reply.send(answer);
    }
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(ledger: Ledger, database: PathBuf) -> Result<Self, StoreError> {
        let queue = Arc::<Queue<Box<dyn Job>>>::default();
        let jobs = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("remit-writer".to_owned())
            .spawn(move || {
                let mut batch = Batch { ledger, database };
                write(&jobs, &mut batch);
                connect::close(batch.ledger.into_connection(), &batch.database);
            })
            .map_err(|error| StoreError::new(format!("cannot start a thread: {error}")))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Has work done and waits until it would survive a crash. It is done also if nobody waits.
    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Send + 'static + FnMut(&mut Ledger) -> Result<T, Fault>,
    {
        let (reply, answer) = oneshot::channel();
        self.queue.add(Box::new(Asked { work, result: None, reply }));
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn stopped() -> StoreError {
    StoreError::new("the thread that writes the database has stopped: start Remit again")
}

fn write(queue: &Queue<Box<dyn Job>>, batch: &mut Batch) {
    let (mut jobs, mut usual) = (Vec::new(), 0);
    while queue.take(&mut jobs, MOST_AT_ONCE) {
        let (began, count) = (Instant::now(), jobs.len());
        batch.write(&mut jobs);
        // Slowly less, at once more: as many as came together a moment ago come together again.
        usual = count.max(usual - usual / 8);
        // Those who were answered together come back together. Waiting for them a little costs less
        // than a transaction for the first of them alone.
        if usual > 1 {
            let took = began.elapsed();
            let pause = (took / 4).clamp(SHORTEST_PAUSE, LONGEST_WAIT);
            queue.gather(usual, pause, (took * 2).min(LONGEST_WAIT));
        }
    }
}

struct Batch {
    ledger: Ledger,
    database: PathBuf,
}

/// Says where a transaction failed.
enum Failed {
    /// Nothing was written yet, or all was written and the disk did not take it.
    Whole(Fault),
    /// While one of several was at work.
    One(Fault),
}

impl Batch {
    /// Writes everything in one transaction. If one of several cannot be written, each gets one of
    /// its own, so that it spoils nothing for the others. That costs less than a savepoint for each,
    /// which copies every page that the next one changes.
    fn write(&mut self, jobs: &mut Vec<Box<dyn Job>>) {
        match self.transaction(jobs) {
            Ok(()) => jobs.drain(..).for_each(|job| job.answer(None)),
            Err(Failed::One(_)) if jobs.len() > 1 => {
                for mut job in jobs.drain(..) {
                    let done = self.transaction(std::slice::from_mut(&mut job));
                    let failed = done.err().map(|failed| self.explain(failed));
                    job.answer(failed.as_ref());
                }
            }
            Err(failed) => {
                let error = self.explain(failed);
                jobs.drain(..).for_each(|job| job.answer(Some(&error)));
            }
        }
    }

    fn transaction(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), Failed> {
        let done = self.ledger.begin_batch().map_err(Failed::Whole).and_then(|()| {
            jobs.iter_mut().try_for_each(|job| job.run(&mut self.ledger)).map_err(Failed::One)?;
            self.ledger.commit().map_err(Failed::Whole)
        });
        if done.is_err() {
            self.ledger.roll_back();
        }
        done
    }

    fn explain(&self, failed: Failed) -> StoreError {
        let (Failed::Whole(fault) | Failed::One(fault)) = failed;
        let error = fault.explain(&self.database);
        tracing::error!(%error, "nothing was recorded");
        error
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use remit_engine::ports::Store;
    use remit_engine::record::Message;
    use remit_model::ThreadId;
    use serde_json::Value;

    use super::super::SqliteStore;
    use super::*;

    fn message(content: String) -> Message {
        let thread = ThreadId::parse("t").unwrap();
        let role = "user".to_owned();
        Message { thread, role, content, metadata: Value::Null, call: None, at_ms: 1 }
    }

    /// Holds the writer until all that is queued meanwhile makes one batch.
    async fn in_one_batch<T>(store: &SqliteStore, queue: impl AsyncFnOnce() -> T) -> T {
        let (let_go, held) = mpsc::channel::<()>();
        let (begun, has_begun) = oneshot::channel();
        let (held, mut begun) = (std::sync::Mutex::new(held), Some(begun));
        let hold = store.writer.write(move |_| {
            let _ = begun.take().map(|begun| begun.send(()));
            let _ = held.lock().unwrap().recv();
            Ok(())
        });
        let work = async {
            has_begun.await.unwrap();
            let release = async {
                // Everything that `queue` starts was polled once before this goes on.
                tokio::task::yield_now().await;
                drop(let_go);
            };
            tokio::join!(queue(), release).0
        };
        tokio::join!(hold, work).1
    }

    #[tokio::test]
    async fn what_cannot_be_written_spoils_nothing_for_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let runs = Arc::new(AtomicUsize::new(0));
        let good = async |n: usize| {
            let (message, runs) = (message(format!("good {n}")), Arc::clone(&runs));
            let work = move |ledger: &mut Ledger| {
                runs.fetch_add(1, Ordering::SeqCst);
                ledger.say(&message)
            };
            store.writer.write(work).await
        };
        let bad = async |fault: fn() -> Fault, is_written: bool| {
            let message = message("bad".to_owned());
            let work = move |ledger: &mut Ledger| {
                if is_written {
                    ledger.say(&message)?;
                }
                Err::<(), Fault>(fault())
            };
            store.writer.write(work).await
        };
        let refused = || Fault::refused("not allowed");
        let broken = || Fault::Sql(rusqlite::Error::InvalidQuery);
        let (one, no, other, fault, last) = in_one_batch(&store, async || {
            tokio::join!(good(1), bad(refused, false), good(2), bad(broken, true), good(3))
        })
        .await;
        assert_eq!((one, other, last), (Ok(()), Ok(()), Ok(())));
        assert_eq!(no, Err(StoreError::new("not allowed")));
        assert!(fault.unwrap_err().message.contains("remit.db"));
        assert_eq!(runs.load(Ordering::SeqCst), 5, "two before the fault, then each by itself");
        let said = store.messages(ThreadId::parse("t").unwrap()).await.unwrap();
        let said: Vec<&str> = said.iter().map(|message| &*message.content).collect();
        assert_eq!(said, ["good 1", "good 2", "good 3"]);
        assert_eq!(crate::verify(&*store).await.unwrap()[0].trouble, None);
    }

    #[tokio::test]
    async fn what_waits_together_is_committed_together() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        let path = directory.path().join("remit.db");
        let (seen, count) = mpsc::channel();
        let one = async || {
            let (path, seen) = (path.clone(), seen.clone());
            let work = move |ledger: &mut Ledger| {
                ledger.say(&message("hello".to_owned()))?;
                let other = connect::reader(&path, Duration::ZERO)?;
                let sql = "SELECT count(*) FROM events";
                let committed: i64 = other.query_row(sql, [], |row| row.get(0))?;
                let _ = seen.send(committed);
                Ok(())
            };
            store.writer.write(work).await.unwrap();
        };
        in_one_batch(&store, async || tokio::join!(one(), one(), one(), one())).await;
        one().await;
        drop(seen);
        assert_eq!(count.try_iter().collect::<Vec<_>>(), [0, 0, 0, 0, 4]);
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_done_before_the_store_is_closed() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        for n in 0..5 {
            let mut saying = store.say(message(format!("{n}")));
            let waker = std::task::Waker::noop();
            let _ = saying.as_mut().poll(&mut std::task::Context::from_waker(waker));
        }
        drop(store);
        let store = SqliteStore::open(directory.path()).unwrap();
        let said = store.messages(ThreadId::parse("t").unwrap()).await.unwrap();
        assert_eq!(said.len(), 5);
    }
}
