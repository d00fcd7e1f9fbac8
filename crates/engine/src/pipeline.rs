//! The one way through: `resolve → validate → authorise → execute → project → record`.
//!
//! [`Engine::start`] is the outer part: it gives each call a place, sees to it that one key runs
//! once, and goes on when whoever asked has left. The inner part is in `walk.rs`: it takes the stages
//! in order and stops at the first that refuses.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use remit_model::{Call, CallKey, Grant, Outcome};
use tracing::Instrument as _;

use crate::attended::Attended;
use crate::catalog::{Catalog, Entry};
use crate::client::Client;
use crate::inflight::{Ended, Entered, Inflight, Started};
use crate::ports::{Approver, Clock, Executor, Point, Probe, Store, StoreError};
use crate::registry::{Offer, Offers, agent_of};
use crate::stage::authorise::{self, Decision, Facts, Verdict};
use crate::stage::{self, Refused, Valid};
use crate::stop;
use crate::trace;
use crate::walk::{self, Walk};

/// Is what an engine is made of.
pub struct Parts {
    /// Runs calls.
    pub executor: Arc<dyn Executor>,
    /// Keeps the record.
    pub store: Arc<dyn Store>,
    /// Asks people.
    pub approver: Arc<dyn Approver>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Watches the points where a crash matters.
    pub probe: Option<Arc<dyn Probe>>,
    /// What agents offer to a user, laid over the catalog.
    pub offers: Option<Arc<dyn Offers>>,
    /// Whether work is confined; false is the operator's choice and is said with every call.
    pub confined: bool,
}

/// Runs calls.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) parts: Parts,
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) inflight: Inflight,
    pub(crate) is_watched: AtomicBool,
}

/// Says what would happen to a call.
#[derive(Debug)]
pub struct Explanation {
    /// The rule that decides.
    pub rule: String,
    /// Why, for a person.
    pub because: String,
    /// What would be done: `allow`, `ask` or `refuse`.
    pub verdict: &'static str,
    /// The refusal, if it is one.
    pub outcome: Option<Outcome>,
    /// What is called, if it was found.
    pub entry: Option<Arc<Entry>>,
}

impl Engine {
    /// Makes an engine that can call nothing yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let shared = Shared {
            parts,
            catalog: ArcSwap::default(),
            inflight: Inflight::default(),
            is_watched: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Swaps in a new snapshot. Calls under way go on with the one they started with.
    pub fn swap(&self, catalog: Catalog) {
        self.shared.catalog.store(Arc::new(catalog));
    }

    /// Gives the present snapshot.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.shared.catalog.load_full()
    }

    /// Gives the record.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.parts.store
    }

    /// Walks a call to its end. Dropping the future does not stop the call.
    pub async fn run(&self, call: Call) -> Ended {
        self.attend(call).await
    }

    /// Starts a call and gives what can be seen of it. The same key again sees the same call.
    pub fn start(&self, call: Call) -> Started {
        self.attend(call).started().clone()
    }

    /// Starts a call that is walked by whoever awaits its end; it goes on by itself when they leave.
    /// That saves a task for each of the many calls that somebody waits for. Whoever may stop looking
    /// while others depend on the call takes [`Engine::start`].
    pub fn attend(&self, call: Call) -> Attended {
        self.attend_for(call, None)
    }

    /// Starts a call of a client that can be told and asked things while it runs. Of the same key again,
    /// the client of the first counts.
    pub fn attend_for(&self, call: Call, client: Option<Arc<dyn Client>>) -> Attended {
        let (started, ticket) = match self.shared.inflight.enter(&call) {
            Entered::First(started, ticket) => (started, ticket),
            Entered::Again(started) => return Attended::watching(started),
            Entered::Other(key) => {
                let ended = walk::id_reused(&key);
                return Attended::watching(Started::ended_with(key, ended));
            }
        };
        let shared = Arc::clone(&self.shared);
        // Every line about a call that is not confined says so.
        let sandbox = if shared.parts.confined { "on" } else { "off" };
        let span = tracing::info_span!(
            "call",
            id = %call.id,
            // A name may be anything until it is found, also a secret.
            capability = %shared.catalog.load().screen().hide(&call.capability),
            sandbox
        );
        let traced = trace::call(&call);
        let own = traced.clone();
        let walk = async move {
            let walk = Walk { shared: &shared, flight: ticket.flight(), traced, client };
            let ended = walk.walk(call, &ticket).await;
            walk.traced.record("remit.status", ended.outcome.status());
            tracing::info!(outcome = ended.outcome.status(), ms = ended.duration_ms, "ended");
            ticket.end(ended);
        };
        stop::watch(&self.shared);
        match own.is_disabled() && span.is_disabled() {
            true => Attended::walking(started, walk),
            false => Attended::walking(started, walk.instrument(own).instrument(span)),
        }
    }

    /// Finds a call that is under way.
    #[must_use]
    pub fn under_way(&self, key: &CallKey) -> Option<Started> {
        self.shared.inflight.find(key)
    }

    /// Calls a call off; tells whether it was under way.
    pub fn cancel(&self, key: &CallKey) -> bool {
        self.shared.inflight.cancel(key)
    }

    /// Calls everything off and waits until it has stopped and is recorded.
    pub async fn shut_down(&self) {
        for started in self.shared.inflight.cancel_all() {
            started.ended().await;
        }
        self.shared.parts.executor.shut_down().await;
    }

    /// Says what would happen to a call, by the code that decides it. Nothing runs and nothing is
    /// recorded. Without an input only the name and the permission are judged.
    pub async fn explain(&self, call: Call, judge_input: bool) -> Result<Explanation, StoreError> {
        let catalog = self.catalog();
        let call = match stage::screen(call, &catalog) {
            Ok(call) => call,
            Err(refused) => return Ok(explained_refusal(*refused)),
        };
        let offer = self.shared.offer(&call).await?;
        let resolved = match stage::resolve(call, &catalog, offer.as_ref()) {
            Ok(resolved) => resolved,
            Err(refused) => return Ok(explained_refusal(*refused)),
        };
        let valid = if judge_input {
            match stage::validate(resolved) {
                Ok(valid) => valid,
                Err(refused) => return Ok(explained_refusal(*refused)),
            }
        } else {
            Valid { call: Arc::new(resolved.call), entry: resolved.entry }
        };
        let grants = self.shared.grants(&valid.call).await?;
        let decision = self.shared.decide(&valid, &grants, &catalog, offer.as_ref());
        let (verdict, outcome) = match decision.verdict {
            Verdict::Allow { .. } => ("allow", None),
            Verdict::Ask => ("ask", None),
            Verdict::Refuse(outcome) => ("refuse", Some(outcome)),
        };
        Ok(Explanation {
            rule: decision.rule.to_owned(),
            because: decision.because,
            verdict,
            outcome,
            entry: Some(valid.entry),
        })
    }
}

fn explained_refusal(refused: Refused) -> Explanation {
    let (_, because) = stage::project::error(&refused.outcome);
    Explanation {
        rule: refused.rule.to_owned(),
        because,
        verdict: "refuse",
        outcome: Some(refused.outcome),
        entry: refused.entry,
    }
}

impl Shared {
    /// Finds what an agent offers of what is called.
    pub(crate) async fn offer(&self, call: &Call) -> Result<Option<Offer>, StoreError> {
        match &self.parts.offers {
            Some(offers) if agent_of(&call.capability).is_some() => {
                offers.offer(&call.caller, &call.capability).await
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn decide(
        &self,
        valid: &Valid,
        grants: &[Grant],
        catalog: &Catalog,
        offer: Option<&Offer>,
    ) -> Decision {
        authorise::authorise(Facts {
            call: &valid.call,
            entry: &valid.entry,
            grants,
            policy: catalog.policy(),
            now: &self.parts.clock.now(),
            confined: self.parts.confined,
            offer,
        })
    }

    pub(crate) async fn grants(&self, call: &Call) -> Result<Vec<Grant>, StoreError> {
        let agent = call.caller.agent.as_deref().unwrap_or_default();
        self.parts.store.grants(&call.caller.user, agent).await
    }

    pub(crate) fn reach(&self, point: Point) {
        if let Some(probe) = &self.parts.probe {
            probe.reached(point);
        }
    }
}
