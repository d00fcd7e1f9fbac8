//! One call's way through the stages. The intent is durable before anything runs, the outcome before
//! anybody is told.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use remit_model::{Call, CallKey, Denial, Failure, Grant, Outcome, Sensitivity};
use tracing::Instrument as _;

use crate::catalog::Catalog;
use crate::client::{Client, Contact};
use crate::inflight::{Ended, Flight, Saying, Ticket};
use crate::pipeline::Shared;
use crate::ports::{Point, Question, Reply, Running, Said, StoreError};
use crate::record::{Answered, Begun, CallRecord, CallState, Ending, Intent, Next};
use crate::stage::authorise::{self, Allowed, Decision, Verdict};
use crate::stage::{self, Refused, Valid};
use crate::trace::{self, TRACES};

/// How long a person has for a call that takes great care (SPEC §3).
const HIGH_DEADLINE: Duration = Duration::from_secs(30);
/// How long they have otherwise, unless the operator says.
const MEDIUM_DEADLINE: Duration = Duration::from_secs(300);
/// How long a call may take that declares nothing.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// How long work may take to stop when it is told to.
const GRACE: Duration = Duration::from_secs(1);
/// How old the last use of a grant may be before a use is written down again. The day it holds is
/// counted from the last written use, so this only ever shortens it.
const RENEW_AFTER_MS: i64 = 60_000;
/// How often progress is written down at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// How often to look whether a call has ended that another process has.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Is one call on its way.
pub(crate) struct Walk<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) flight: &'s Flight,
    pub(crate) traced: tracing::Span,
    pub(crate) client: Option<Arc<dyn Client>>,
}

/// Ends the walk early; the outcome is what the caller gets.
struct Stop(Ended);

impl Walk<'_> {
    /// Takes the stages in order.
    pub(crate) async fn walk(&self, call: Call, ticket: &Ticket) -> Ended {
        match self.stages(call, ticket).await {
            Ok(ended) | Err(Stop(ended)) => ended,
        }
    }

    async fn stages(&self, call: Call, ticket: &Ticket) -> Result<Ended, Stop> {
        let catalog = self.shared.catalog.load_full();
        let call = match stage::screen(call, &catalog) {
            Ok(call) => call,
            Err(refused) => return self.refuse(*refused).await,
        };
        let offer = self.recorded(self.shared.offer(&call).await)?;
        let resolved = match stage::resolve(call, &catalog, offer.as_ref()) {
            Ok(resolved) => resolved,
            Err(refused) => return self.refuse(*refused).await,
        };
        let valid = match stage::validate(resolved) {
            Ok(valid) => valid,
            Err(refused) => return self.refuse(*refused).await,
        };
        // Also for what is silent: that it was taken back, the grants tell.
        let grants = self.recorded(self.shared.grants(&valid.call).await)?;
        let decision = self.shared.decide(&valid, &grants, &catalog, offer.as_ref());
        trace::decided(&self.traced, decision.rule, valid.entry.sensitivity);
        let (proof, grant) = match &decision.verdict {
            Verdict::Refuse(outcome) => {
                let (call, entry) = (valid.call, Some(valid.entry));
                let refused =
                    Refused { call, entry, rule: decision.rule, outcome: outcome.clone() };
                return self.refuse(refused).await;
            }
            Verdict::Allow { by } => {
                self.begin(&valid, decision.rule, Next::Run).await?;
                (decision.allowed(), self.renewed(by.as_ref(), &grants))
            }
            Verdict::Ask => {
                let why = decision.because.clone();
                self.begin(&valid, decision.rule, Next::Ask { why }).await?;
                (self.approval(&valid, &decision, &catalog).await?, None)
            }
        };
        match proof {
            Some(proof) => self.execute(valid, proof, grant, ticket).await,
            // No verdict gets here; if one did, nothing may run.
            None => self.finish(refused_by_person(Denial::UserRejected), None, 0).await,
        }
    }

    /// Records the intent; a key that is known ends the walk with what is known.
    #[tracing::instrument(target = TRACES, name = "intent", skip_all)]
    async fn begin(&self, valid: &Valid, rule: &'static str, next: Next) -> Result<(), Stop> {
        self.shared.reach(Point::BeforeIntent);
        let intent = Intent {
            call: Arc::clone(&valid.call),
            basis: Some(valid.basis(self.shared.parts.confined)),
            rule: rule.to_owned(),
            next,
            at: self.shared.parts.clock.now(),
        };
        match self.recorded(self.shared.parts.store.begin(intent).await)? {
            Begun::Fresh => {
                self.shared.reach(Point::AfterIntent);
                Ok(())
            }
            Begun::Known(record) => Err(Stop(self.known(&valid.call, *record).await?)),
        }
    }

    fn confined(&self) -> bool {
        self.shared.parts.confined
    }

    /// Gives the end of a call that was recorded before. If another process has it, waits for that:
    /// whoever repeats a call gets the first outcome.
    async fn known(&self, call: &Call, mut record: CallRecord) -> Result<Ended, Stop> {
        if !is_repetition(call, &record.call) {
            return Ok(id_reused(&self.flight.key));
        }
        let (store, mut is_passed_on) = (&self.shared.parts.store, false);
        loop {
            if let CallState::Ended(outcome) = record.state {
                let duration_ms = record.duration_ms.unwrap_or(0);
                return Ok(Ended { outcome, duration_ms });
            }
            tokio::select! {
                () = self.flight.cancel.cancelled(), if !is_passed_on => {
                    is_passed_on = true;
                    let (by, at) = (&self.flight.key.user, self.shared.parts.clock.now());
                    self.recorded(store.ask_to_stop(self.flight.key.clone(), by, at).await)?;
                }
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            // The process that has it may be gone.
            self.recorded(store.recover(self.shared.parts.clock.now()).await)?;
            match self.recorded(store.call(self.flight.key.clone()).await)? {
                Some(now) => record = now,
                None => return Ok(Ended { outcome: Outcome::OutcomeUnknown, duration_ms: 0 }),
            }
        }
    }

    async fn refuse(&self, refused: Refused) -> Result<Ended, Stop> {
        let confined = self.shared.parts.confined;
        let intent = Intent {
            basis: refused.entry.as_deref().map(|entry| stage::basis(entry, confined)),
            call: Arc::clone(&refused.call),
            rule: refused.rule.to_owned(),
            next: Next::Refuse(refused.outcome.clone()),
            at: self.shared.parts.clock.now(),
        };
        match self.recorded(self.shared.parts.store.begin(intent).await)? {
            Begun::Fresh => Ok(Ended { outcome: refused.outcome, duration_ms: 0 }),
            Begun::Known(record) => self.known(&refused.call, *record).await,
        }
    }

    /// Asks a person and records the answer.
    #[tracing::instrument(target = TRACES, name = "approval", skip_all)]
    async fn approval(
        &self,
        valid: &Valid,
        decision: &Decision,
        catalog: &Catalog,
    ) -> Result<Option<Allowed>, Stop> {
        let deadline = match valid.entry.sensitivity {
            Sensitivity::High => HIGH_DEADLINE,
            Sensitivity::Low | Sensitivity::Medium => {
                catalog.policy().approval_seconds.map_or(MEDIUM_DEADLINE, Duration::from_secs)
            }
        };
        let question = Question {
            call: valid.call.as_ref().clone(),
            source: valid.entry.source.name.clone(),
            description: valid.entry.capability.description.clone(),
            scope: valid.entry.scope.clone(),
            sensitivity: valid.entry.sensitivity,
            why: decision.because.clone(),
            deadline,
        };
        let asked = self.shared.parts.approver.ask(&question);
        // The runtime's timer does not follow the wall clock.
        let Said { reply, by } = tokio::select! {
            said = asked => said,
            () = tokio::time::sleep(deadline) => Reply::Silence.into(),
            () = self.flight.cancel.cancelled() => {
                let message = "the call was called off before it was approved".to_owned();
                return Err(Stop(self.finish(Outcome::Cancelled { message }, None, 0).await?));
            }
        };
        let denial = match reply {
            Reply::Yes | Reply::Once => None,
            Reply::No => Some(Denial::UserRejected),
            Reply::Silence => Some(Denial::UserTimeout),
            Reply::TooMany => {
                let message = "a person was asked too often on behalf of this agent; wait a minute";
                let failure = Failure::new("TOO_MANY_PROMPTS", message);
                return Err(Stop(self.finish(Outcome::Failed(failure), None, 0).await?));
            }
        };
        let now = self.shared.parts.clock.now();
        // With the answer, so that taking it back while the call runs finds it.
        let grant = match reply {
            Reply::Yes => authorise::granted(&valid.call, &valid.entry, &now, self.confined()),
            Reply::Once | Reply::No | Reply::Silence | Reply::TooMany => None,
        };
        let answered = Answered { key: self.flight.key.clone(), denial, at: now, by, grant };
        self.recorded(self.shared.parts.store.answer(answered).await)?;
        self.shared.reach(Point::AfterAnswer);
        if let Some(reason) = denial {
            return Err(Stop(self.finish(refused_by_person(reason), None, 0).await?));
        }
        Ok(decision.approved(matches!(reply, Reply::Yes | Reply::Once)))
    }

    /// Gives the grant to write down again, if its last written use is old enough to matter.
    fn renewed(&self, by: Option<&Grant>, grants: &[Grant]) -> Option<Grant> {
        let by = by?;
        let same = |g: &&Grant| Grant { used: by.used.clone(), ..(*g).clone() } == *by;
        let written = grants.iter().find(same)?;
        by.used.since(&written.used).is_none_or(|ms| ms >= RENEW_AFTER_MS).then(|| by.clone())
    }

    async fn execute(
        &self,
        valid: Valid,
        proof: Allowed,
        grant: Option<Grant>,
        ticket: &Ticket,
    ) -> Result<Ended, Stop> {
        let own = valid.entry.capability.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
        let timeout = Duration::from_millis(valid.call.timeout_ms.map_or(own, |ms| ms.min(own)));
        let authorised = valid.authorised(proof);
        let stop = self.flight.cancel.child_token();
        let flight = Arc::clone(ticket.flight());
        let running = Running {
            timeout,
            cancel: stop.clone(),
            progress: Arc::new(move |said| flight.say(said)),
            contact: Contact::of(self.client.as_ref(), &authorised.entry().source, &stop),
        };
        let began = std::time::Instant::now();
        let work = self.shared.parts.executor.execute(&authorised, running);
        let mut work = work.instrument(trace::execution());
        let outcome = tokio::select! {
            // In this order: work that ends because it was told to has not succeeded.
            biased;
            never = self.keep_progress(ticket.saying()) => match never {},
            () = self.flight.cancel.cancelled() => {
                stop.cancel();
                let _ = tokio::time::timeout(GRACE, &mut work).await;
                Outcome::Cancelled { message: "the call was called off".to_owned() }
            }
            outcome = &mut work => outcome,
            () = tokio::time::sleep(timeout) => {
                stop.cancel();
                let stopped = tokio::time::timeout(GRACE, &mut work).await.is_ok();
                timed_out(timeout, stopped)
            }
        };
        drop(work);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let outcome = match &authorised.entry().source.settings {
            Ok(settings) => settings.redactor.outcome(outcome),
            Err(_) => outcome,
        };
        self.shared.reach(Point::AfterExecution);
        self.finish(outcome, grant, duration_ms).await
    }

    /// Writes down how far the work says it has come, for those who ask elsewhere: not each word of
    /// it, and never in the way of the work.
    async fn keep_progress(&self, mut saying: Saying) -> Infallible {
        while let Some(latest) = saying.next().await {
            let key = self.flight.key.clone();
            if let Err(error) = self.shared.parts.store.progress(key, latest).await {
                let call = &self.flight.key.id;
                tracing::warn!(%call, %error, "progress could not be written down");
            }
            tokio::time::sleep(PROGRESS_EVERY).await;
        }
        std::future::pending().await
    }

    /// Records how it ended. What could not be recorded is unknown: that is what the record will
    /// say after a restart.
    #[tracing::instrument(target = TRACES, name = "outcome", skip_all)]
    async fn finish(
        &self,
        outcome: Outcome,
        grant: Option<Grant>,
        duration_ms: u64,
    ) -> Result<Ended, Stop> {
        let at = self.shared.parts.clock.now();
        let ending = Ending {
            key: self.flight.key.clone(),
            outcome: outcome.clone(),
            at,
            duration_ms,
            grant,
        };
        match self.shared.parts.store.finish(ending).await {
            Ok(()) => {
                self.shared.reach(Point::AfterOutcome);
                Ok(Ended { outcome, duration_ms })
            }
            Err(error) => {
                tracing::error!(call = %self.flight.key.id, %error, "the outcome could not be recorded");
                Err(Stop(Ended { outcome: Outcome::OutcomeUnknown, duration_ms }))
            }
        }
    }

    /// Stops the walk if the record cannot be kept: what is not recorded does not run.
    fn recorded<T>(&self, result: Result<T, StoreError>) -> Result<T, Stop> {
        result.map_err(|error| {
            tracing::error!(call = %self.flight.key.id, %error, "the call could not be recorded");
            let message =
                format!("the call did not run, because it could not be recorded: {error}");
            let outcome = Outcome::Failed(Failure::new("NOT_RECORDED", message));
            Stop(Ended { outcome, duration_ms: 0 })
        })
    }
}

/// Tells whether a call that came with a known id is the known call.
pub(crate) fn is_repetition(call: &Call, known: &Call) -> bool {
    call.capability == known.capability && call.input == known.input
}

/// Gives the end of a call that came with the id of another. Nothing of that other is told.
pub(crate) fn id_reused(key: &CallKey) -> Ended {
    let message = format!(
        "the id `{}` belongs to another call, of another capability or with another input; use a \
         new id for a new call",
        key.id
    );
    let outcome = Outcome::Failed(Failure::new("CALL_ID_REUSED", message));
    Ended { outcome, duration_ms: 0 }
}

fn timed_out(timeout: Duration, stopped: bool) -> Outcome {
    if !stopped {
        tracing::error!("work did not stop within a second of being told to");
    }
    Outcome::TimedOut { after_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX) }
}

fn refused_by_person(reason: Denial) -> Outcome {
    Outcome::Denied { reason }
}
