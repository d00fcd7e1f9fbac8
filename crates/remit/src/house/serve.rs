//! The wiring of a server: everything `remit serve` puts together, and what it does while it runs.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::directory::{Directory as _, TokenKind};
use remit_engine::ports::{Clock as _, Executor, Pending, Running, Store as _};
use remit_engine::registry::Agents;
use remit_engine::stage::Authorised;
use remit_engine::{Engine, Parts};
use remit_exec::process::ProcessExecutor;
use remit_model::{Binding, Failure, Outcome};
use remit_server::{App, Doorway, Server};
use remit_store::sqlite::SqliteStore;

use super::reload::Fingerprint;
use super::{Offer, Place, stop};
use crate::clock::SystemClock;
use crate::config;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Is a server that is ready to run.
pub(crate) struct Serving {
    server: Server,
    app: App,
    engine: Engine,
    watching: Watching,
}

/// Is what is needed to take up what changed in the files.
struct Watching {
    place: Place,
    offer: Offer,
    seen: Fingerprint,
    engine: Engine,
    executor: Arc<ProcessExecutor>,
    agents: Arc<Agents>,
    app: App,
}

/// Runs each call by what its capability is bound to.
struct ByBinding {
    processes: Arc<ProcessExecutor>,
}

impl Executor for ByBinding {
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        let nobody = |code: &'static str, message: &'static str| -> Pending<'a, Outcome> {
            Box::pin(std::future::ready(Outcome::Failed(Failure::new(code, message))))
        };
        match &call.entry().capability.binding {
            Binding::Device => nobody(
                "DEVICE_NOT_CONNECTED",
                "no device of the user's is connected that could run this",
            ),
            _ => self.processes.execute(call, running),
        }
    }

    fn shut_down(&self) -> Pending<'_, ()> {
        self.processes.shut_down()
    }
}

impl Place {
    /// Puts a server together and takes its address; nothing is answered yet.
    pub(crate) async fn server(
        &self,
        address: SocketAddr,
        options: &remit_server::Options,
    ) -> Result<Serving, String> {
        let seen = Fingerprint::of(self);
        let mut offer = self.offer()?;
        let store = self.store()?;
        let clock = Arc::new(SystemClock::new());
        store.recover(clock.now()).await.map_err(|error| error.to_string())?;
        admin_token(&store, &config::data_directory(self.data.as_deref())?, clock.now().wall_ms)
            .await?;
        let doorway = Doorway::new(store.clone(), clock.clone());
        let executor = Arc::new(self.executor(&offer, &doorway)?);
        let agents = Arc::new(Agents::new(
            store.clone(),
            store.clone(),
            clock.clone(),
            Arc::new(offer.operator.policy_with_defaults()),
        ));
        let desk = Arc::new(Desk::default());
        let engine = Engine::new(Parts {
            executor: Arc::new(ByBinding { processes: executor.clone() }),
            store: store.clone(),
            approver: Arc::new(DeskApprover(desk.clone())),
            clock: clock.clone(),
            probe: stop::probe(),
            offers: Some(agents.clone()),
            confined: !offer.operator.sandbox_off,
        });
        engine.swap(std::mem::take(&mut offer.catalog));
        let parts = remit_server::Parts {
            engine: engine.clone(),
            directory: store.clone(),
            desk,
            clock,
            agents: agents.clone(),
            rows: store,
            doorway,
        };
        let app = App::new(parts, options);
        app.take_issuers(&offer.operator.issuers);
        let server = Server::bind(address, app.clone()).await?;
        let watching = Watching {
            place: self.clone(),
            offer,
            seen,
            engine: engine.clone(),
            executor,
            agents,
            app: app.clone(),
        };
        Ok(Serving { server, app, engine, watching })
    }
}

impl Serving {
    /// Gives the address it listens on.
    pub(crate) fn address(&self) -> Result<SocketAddr, String> {
        self.server.address()
    }

    /// Says what of the files cannot be used.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let rejected = self.watching.offer.rejected.iter();
        let rejected = rejected.map(|one| format!("{}: {}", one.origin, one.message));
        rejected.chain(self.watching.offer.warnings.iter().cloned()).collect()
    }

    /// Serves until it is told to stop, and then until everything has stopped and is recorded.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) {
        let Self { server, app, engine, watching } = self;
        let watcher = tokio::spawn(watching.run());
        let serving = remit_server::serve(server);
        tokio::pin!(serving);
        tokio::select! {
            () = &mut serving => {}
            () = stop => {
                tracing::info!("stopping");
                app.stop().cancel();
                serving.await;
            }
        }
        watcher.abort();
        engine.shut_down().await;
    }
}

impl Watching {
    /// Takes up what changed, for as long as the server runs.
    async fn run(mut self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let place = self.place.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || Fingerprint::of(&place)).await else {
                return;
            };
            if now == self.seen {
                continue;
            }
            self.seen = now;
            let reloaded = tokio::task::spawn_blocking(move || {
                let said = self.offer.reload(&self.place);
                (self, said)
            });
            let Ok((again, said)) = reloaded.await else { return };
            self = again;
            self.take_up(&said);
        }
    }

    fn take_up(&mut self, said: &[String]) {
        for message in said.iter().chain(&self.offer.warnings) {
            tracing::warn!("{message}");
        }
        for rejected in &self.offer.rejected {
            tracing::warn!("{}: {}", rejected.origin, rejected.message);
        }
        self.executor.lend(self.offer.lent());
        self.agents.under(Arc::new(self.offer.operator.policy_with_defaults()));
        self.app.take_issuers(&self.offer.operator.issuers);
        self.engine.swap(std::mem::take(&mut self.offer.catalog));
        tracing::info!("took up what changed in the tools, their settings or the policy");
    }
}

/// Gives the file of the operator's token.
pub(crate) fn token_file(data: &Path) -> PathBuf {
    data.join("admin.token")
}

/// Sees to it that there is an operator's token: on the first start one is made, and its file can be
/// read by nobody else.
async fn admin_token(store: &SqliteStore, data: &Path, now_ms: i64) -> Result<(), String> {
    let file = token_file(data);
    let cannot = |what: &str, error: &io::Error| {
        format!("cannot {what} {}: {error}", crate::paths::for_people(&file))
    };
    let token = match fs::read_to_string(&file) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = remit_server::fresh_token(remit_server::ADMIN_PREFIX)?;
            // Whole or not at all: a process that dies here leaves no half token behind.
            let part = data.join("admin.token.part");
            let _ = fs::remove_file(&part);
            let mut out = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&part)
                .map_err(|error| cannot("write", &error))?;
            out.write_all(format!("{token}\n").as_bytes())
                .and_then(|()| out.sync_all())
                .and_then(|()| fs::rename(&part, &file))
                .map_err(|error| cannot("write", &error))?;
            token
        }
        Err(error) => return Err(cannot("read", &error)),
    };
    if !token.starts_with(remit_server::ADMIN_PREFIX) {
        return Err(format!(
            "{} does not hold an operator's token; remove it and start again for a new one",
            crate::paths::for_people(&file)
        ));
    }
    let record = remit_server::token_record(
        &token,
        TokenKind::Admin,
        "admin",
        "made at the first start",
        now_ms,
    );
    match store.token(&record.digest).map_err(|error| error.to_string())? {
        Some(_) => Ok(()),
        None => store.add_token(record).await.map_err(|error| error.to_string()),
    }
}
