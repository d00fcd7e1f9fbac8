//! The wiring of `remit mcp`: one client at two pipes, with the person at this machine behind it.

use std::sync::Arc;

use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::ports::{Clock as _, Store as _};
use remit_engine::registry::Agents;
use remit_engine::{Engine, Parts};
use remit_server::{App, Doorway};

use super::{Place, stop};
use crate::clock::SystemClock;

/// Is what a client at two pipes speaks to.
pub(crate) struct Piped {
    pub(crate) app: App,
    pub(crate) engine: Engine,
    /// What of the files cannot be used.
    pub(crate) complaints: Vec<String>,
}

impl Place {
    /// Puts it together.
    pub(crate) async fn piped(&self) -> Result<Piped, String> {
        let offer = self.offer()?;
        let store = self.store()?;
        let clock = Arc::new(SystemClock::new());
        store.recover(clock.now()).await.map_err(|error| error.to_string())?;
        let doorway = Doorway::new(store.clone(), clock.clone());
        let executor = Arc::new(self.executor(&offer, &doorway)?);
        let policy = Arc::new(offer.operator.policy_with_defaults());
        let agents = Arc::new(Agents::new(store.clone(), store.clone(), clock.clone(), policy));
        let desk = Arc::new(Desk::default());
        let engine = Engine::new(Parts {
            executor,
            store: store.clone(),
            approver: Arc::new(DeskApprover(desk.clone())),
            clock: clock.clone(),
            probe: stop::probe(),
            offers: Some(agents.clone()),
            confined: !offer.operator.sandbox_off,
        });
        let rejected = offer.rejected.iter().map(|one| format!("{}: {}", one.origin, one.message));
        let complaints = rejected.chain(offer.warnings.iter().cloned()).collect();
        engine.swap(offer.catalog);
        let directory = store.clone();
        let parts = remit_server::Parts {
            engine: engine.clone(),
            directory,
            desk,
            clock,
            agents,
            rows: store,
            doorway,
        };
        let app = App::new(parts, &remit_server::Options::default());
        Ok(Piped { app, engine, complaints })
    }
}
