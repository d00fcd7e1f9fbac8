//! The task that keeps one server up.

use std::hash::{BuildHasher as _, Hasher as _};
use std::net::{Ipv4Addr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpStream;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::{Client, Config, Now, Shared, Transport};
use crate::error::McpError;
use crate::http::{Remote, Web};
use crate::inbox::Inbox;
use crate::launch::Launch;
use crate::link::{Link, Request, Until};
use crate::pipe::Pipe;
use crate::process::{Ends, Process};
use crate::rpc::{Meta, Params};
use crate::shake::{First, Welcome, shake};
use crate::tail::Tail;

/// How long the last words of a process that ended are read.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How often it is looked whether a local server listens yet.
const LOOK: Duration = Duration::from_millis(50);
/// Is longer than anything lives.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Keeps a server up until it is stopped.
pub(super) async fn keep(shared: Arc<Shared>) {
    let (mut failures, mut first) = (0_u32, First::Probe);
    let times = shared.config.times.clone();
    while !shared.stop.is_cancelled() {
        shared.now.send_replace(Now::Starting);
        let mut life = Life { shared: &shared, failures, first, ready_at: None };
        let why = life.live().await;
        let ready_at = life.ready_at;
        if shared.stop.is_cancelled() {
            break;
        }
        if ready_at.is_none() && matches!(why, McpError::Ended { .. }) {
            // Some older servers die of what they do not know.
            first = if first == First::Probe { First::Hands } else { First::Probe };
        }
        let was_steady = ready_at.is_some_and(|at| at.elapsed() >= times.steady_after);
        failures = if was_steady { 1 } else { failures.saturating_add(1) };
        if matches!(why, McpError::SessionGone) && ready_at.is_some() && failures == 1 {
            // It is there, and only wants to be greeted again.
            continue;
        }
        let pause = pause(failures, times.first_pause, times.longest_pause);
        tracing::warn!(server = shared.config.name, failures, %why, "a server failed");
        life.shared.down(&why, failures, pause, ready_at.is_some());
        tokio::select! {
            () = shared.stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    shared.now.send_replace(Now::Stopped);
}

/// Gives a pause: twice as long each time, and never quite the same, so that servers that failed
/// together do not come back together.
fn pause(failures: u32, first: Duration, longest: Duration) -> Duration {
    let doublings = failures.saturating_sub(1).min(20);
    let whole = first.saturating_mul(1 << doublings).min(longest);
    // A hasher with random keys is randomness enough.
    let random = std::hash::RandomState::new().build_hasher().finish() % 1_000;
    let part = u32::try_from(random).unwrap_or_default();
    whole.mul_f64(0.8 + f64::from(part) / 2_500.0)
}

impl Shared {
    /// Tells everybody that it is down. Those whose calls fail hear of that after this.
    fn down(&self, why: &McpError, failures: u32, pause: Duration, was_ready: bool) {
        let until = Instant::now() + pause;
        // The first failure of one that worked is soon over.
        let soon = was_ready && failures == 1;
        let why = Arc::new(why.clone());
        self.now.send_if_modified(|now| {
            let is_known = matches!(now, Now::BackingOff { .. });
            if !is_known {
                *now = Now::BackingOff { why, failures, pause, until, soon };
            }
            !is_known
        });
    }
}

/// Is one life of a server, from its start to its failure.
struct Life<'s> {
    shared: &'s Arc<Shared>,
    failures: u32,
    first: First,
    ready_at: Option<Instant>,
}

impl Life<'_> {
    async fn live(&mut self) -> McpError {
        let config = &self.shared.config;
        let inbox = Arc::new(Inbox::new(&config.name, Arc::clone(&config.host), &config.limits));
        let lived = match &config.transport {
            Transport::Stdio(launch) => self.on_pipes(launch, inbox).await,
            Transport::Http(remote) => self.on_web(remote, inbox).await,
            Transport::LocalHttp(launch) => self.on_own_web(launch, inbox).await,
        };
        lived.unwrap_or_else(|error| error)
    }

    fn process(&self, launch: &Launch) -> Result<(Process, Ends), McpError> {
        let config = &self.shared.config;
        let tail = Tail::new(config.limits.tail_bytes, config.redactor.clone());
        Process::start(launch, &config.around, config.keeper.as_ref(), tail)
    }

    /// Lives on the standard streams of a process.
    async fn on_pipes(&mut self, launch: &Launch, inbox: Arc<Inbox>) -> Result<McpError, McpError> {
        let shared = Arc::clone(self.shared);
        let Config { limits, times, .. } = &shared.config;
        let (mut process, ends) = self.process(launch)?;
        let broken = |error: std::io::Error| McpError::NotStarted { why: error.to_string() };
        let input = ends.input.into_owned_fd().and_then(pipe::Sender::from_owned_fd);
        let pipe = Pipe::new(input.map_err(broken)?, inbox, limits);
        let tail = process.tail.clone();
        let why = {
            let mut reading = pin!(pipe.read(ends.output, limits, &tail));
            let mut over = pin!(async {
                tokio::select! {
                    why = &mut reading => return why,
                    () = pipe.writer().broken.cancelled() => {}
                    () = process.ended() => {}
                }
                // What it said last may still be in the pipe.
                let last = tokio::time::timeout(LAST_WORDS, &mut reading).await;
                last.unwrap_or_else(|_| McpError::Ended { how: String::new(), said: "".into() })
            });
            let link = Link::Pipe(Arc::clone(&pipe));
            let shaken = tokio::select! {
                biased;
                () = shared.stop.cancelled() => Err(McpError::Stopped),
                why = &mut over => Err(why),
                shaken = shake(&link, self.first, times) => shaken,
            };
            match shaken {
                Err(why) => why,
                Ok(welcome) => {
                    let client = self.is_ready(link, welcome);
                    let subscribing = subscribe(&client);
                    tokio::select! {
                        biased;
                        () = shared.stop.cancelled() => McpError::Stopped,
                        why = &mut over => why,
                        // It never ends by itself.
                        () = subscribing => McpError::Stopped,
                    }
                }
            }
        };
        pipe.writer().close();
        let how = process.end(times).await;
        let why = match why {
            McpError::Ended { .. } => McpError::Ended { how, said: "".into() },
            other => other,
        };
        let why = why.saying(&tail.text());
        self.before_the_end(&why);
        pipe.close(&why);
        Ok(why)
    }

    /// Lives on the web.
    async fn on_web(&mut self, remote: &Remote, inbox: Arc<Inbox>) -> Result<McpError, McpError> {
        let shared = Arc::clone(self.shared);
        let Config { limits, times, .. } = &shared.config;
        let web = Web::new(remote, inbox, limits, times)?;
        let link = Link::Web(Arc::clone(&web));
        let shaken = tokio::select! {
            biased;
            () = shared.stop.cancelled() => Err(McpError::Stopped),
            shaken = shake(&link, self.first, times) => shaken,
        };
        let why = match shaken {
            Err(why) => why,
            Ok(welcome) => {
                // A server with sessions also asks its questions on that stream.
                let has_session = !welcome.revision.is_modern();
                let changes = welcome.changes().or(has_session.then(|| json!({})));
                let _client = self.is_ready(link, welcome);
                if let Some(changes) = changes {
                    tokio::spawn(Arc::clone(&web).listen(changes));
                }
                tokio::select! {
                    () = shared.stop.cancelled() => McpError::Stopped,
                    () = web.closed.cancelled() => web.why_closed(),
                }
            }
        };
        self.before_the_end(&why);
        web.close(why.clone());
        if !matches!(why, McpError::SessionGone | McpError::Unreachable { .. }) {
            web.leave().await;
        }
        Ok(why)
    }

    /// Lives on the web, as served by a process of its own.
    async fn on_own_web(
        &mut self,
        launch: &Launch,
        inbox: Arc<Inbox>,
    ) -> Result<McpError, McpError> {
        let shared = Arc::clone(self.shared);
        let times = &shared.config.times;
        let port = free_port()?;
        let mut launch = launch.clone();
        // The names that the usual ways to write a server listen to.
        for (name, value) in [("PORT", port.to_string()), ("HOST", Ipv4Addr::LOCALHOST.to_string())]
        {
            launch.env.entry(name.to_owned()).or_insert_with(|| value.clone());
            launch.env.entry(format!("FASTMCP_{name}")).or_insert(value);
        }
        let (mut process, mut ends) = self.process(&launch)?;
        let tail = process.tail.clone();
        let why = {
            let over = pin!(async {
                let words = tail.clone();
                tokio::select! {
                    () = process.ended() => {}
                    // What it prints is kept beside what it complains of.
                    () = async { words.fill(&mut ends.output).await; std::future::pending().await } => {}
                }
            });
            let remote =
                Remote { url: format!("http://127.0.0.1:{port}/mcp"), ..Remote::default() };
            let living = async {
                listens(port, times.connect, &shared.stop).await?;
                self.on_web(&remote, inbox).await
            };
            tokio::select! {
                biased;
                lived = living => lived.unwrap_or_else(|error| error),
                () = over => McpError::Ended { how: String::new(), said: "".into() },
            }
        };
        drop(ends.input);
        let how = process.end(times).await;
        let why = match why {
            McpError::Ended { .. } => McpError::Ended { how, said: "".into() },
            other => other,
        };
        Ok(why.saying(&tail.text()))
    }

    fn is_ready(&mut self, link: Link, welcome: Welcome) -> Arc<Client> {
        let shared = self.shared;
        let client = Arc::new(Client::new(link, welcome, &shared.config.limits));
        let (mut heard, events) = (client.events(), shared.events.clone());
        let (closed, is_over) = (client.link.closed().clone(), shared.stop.clone());
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = heard.recv() => event,
                    () = closed.cancelled() => return,
                    () = is_over.cancelled() => return,
                };
                match event {
                    Ok(event) => drop(events.send(event)),
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
                }
            }
        });
        self.ready_at = Some(Instant::now());
        shared.now.send_replace(Now::Ready(Arc::clone(&client)));
        client
    }

    /// Lets nobody begin something new with a server that is on its way out.
    fn before_the_end(&self, why: &McpError) {
        if self.shared.stop.is_cancelled() || self.ready_at.is_none() {
            return;
        }
        let times = &self.shared.config.times;
        if matches!(why, McpError::SessionGone) {
            self.shared.now.send_replace(Now::Starting);
            return;
        }
        let was_steady = self.ready_at.is_some_and(|at| at.elapsed() >= times.steady_after);
        let failures = if was_steady { 1 } else { self.failures.saturating_add(1) };
        let pause = pause(failures, times.first_pause, times.longest_pause);
        self.shared.down(why, failures, pause, true);
    }
}

/// Asks a server of the newest revision to tell of changes, for as long as it lives.
async fn subscribe(client: &Arc<Client>) {
    let welcome = client.welcome();
    if let Some(changes) = welcome.changes().filter(|_| welcome.revision.is_modern()) {
        let meta = Meta::modern(client.link.inbox().capabilities());
        let params = Params { notifications: Some(&changes), meta, ..Params::default() };
        let until = Until::cancelled_by(FOREVER, CancellationToken::new());
        let request = Request::new("subscriptions/listen", params);
        let _ = client.link.request(request, &until, None).await;
    }
    std::future::pending::<()>().await;
}

fn free_port() -> Result<u16, McpError> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|found| found.local_addr());
    port.map(|address| address.port())
        .map_err(|error| McpError::NotStarted { why: format!("there is no free port: {error}") })
}

/// Waits until somebody listens on a port of this machine.
async fn listens(port: u16, within: Duration, stop: &CancellationToken) -> Result<(), McpError> {
    let until = Instant::now() + within;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
        if Instant::now() > until {
            let waiting_for = "a connection to the port it was given in `PORT`";
            return Err(McpError::NotReady { after: within, waiting_for, said: "".into() });
        }
        tokio::select! {
            () = stop.cancelled() => return Err(McpError::Stopped),
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_and_differ() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(2));
        let between = |failures, low, high| {
            let ms = pause(failures, first, longest).as_millis();
            assert!((low..=high).contains(&ms), "{failures}: {ms}");
        };
        between(1, 80, 120);
        between(2, 160, 240);
        between(3, 320, 480);
        between(9, 1_600, 2_400);
        between(u32::MAX, 1_600, 2_400);
        let all: std::collections::BTreeSet<_> =
            (0..32).map(|_| pause(5, first, longest)).collect();
        assert!(all.len() > 4, "{all:?}");
    }
}
