//! Figures for operators, in the form that Prometheus reads.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use metrics::{Counter, Gauge, Histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tracing::Instrument as _;

use crate::app::App;
use crate::trace;

/// Where the bounds of how long a request took lie, in seconds.
const BOUNDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0];

/// Counts. Each server has figures of its own, so that several in one process do not mix.
pub(crate) struct Measures {
    recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
    connections: Gauge,
    /// What was counted before: finding a figure by its name costs more than counting.
    routes: RwLock<HashMap<String, Route>>,
    outcomes: RwLock<HashMap<&'static str, Counter>>,
}

struct Route {
    took: Histogram,
    /// By status. There are few.
    answered: Vec<(u16, Counter)>,
}

impl Route {
    /// Counts an answer; tells whether its status was there before.
    fn count(&self, status: u16, took: Duration) -> bool {
        let Some((_, counter)) = self.answered.iter().find(|(known, _)| *known == status) else {
            return false;
        };
        counter.increment(1);
        self.took.record(took);
        true
    }
}

impl Measures {
    pub(crate) fn new() -> Self {
        let builder = PrometheusBuilder::new();
        let builder = builder.set_buckets(&BOUNDS).unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        let connections = metrics::with_local_recorder(&recorder, || {
            metrics::describe_counter!("remit_requests_total", "Requests by route and status");
            metrics::describe_histogram!("remit_request_seconds", "How long requests took");
            metrics::describe_counter!("remit_calls_total", "Calls by outcome");
            metrics::describe_gauge!("remit_connections", "Open connections");
            metrics::gauge!("remit_connections")
        });
        let (routes, outcomes) = (RwLock::default(), RwLock::default());
        Self { recorder: Arc::new(recorder), handle, connections, routes, outcomes }
    }

    /// Gives the figures as text.
    pub(crate) fn text(&self) -> String {
        self.handle.run_upkeep();
        self.handle.render()
    }

    /// Counts a request that was answered.
    fn request(&self, route: &str, status: u16, took: Duration) {
        let known = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        if known.get(route).is_some_and(|known| known.count(status, took)) {
            return;
        }
        drop(known);
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let (name, code) = (route.to_owned(), status.to_string());
        let (counter, histogram) = metrics::with_local_recorder(&*self.recorder, || {
            let labels = [("route", name.clone()), ("status", code)];
            let counter = metrics::counter!("remit_requests_total", &labels);
            (counter, metrics::histogram!("remit_request_seconds", "route" => name.clone()))
        });
        let known = routes.entry(name).or_insert(Route { took: histogram, answered: Vec::new() });
        if !known.count(status, took) {
            known.answered.push((status, counter));
            known.count(status, took);
        }
    }

    /// Counts a call that ended.
    pub(crate) fn call(&self, outcome: &'static str) {
        let known = self.outcomes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = known.get(outcome) {
            return counter.increment(1);
        }
        drop(known);
        let counter = metrics::with_local_recorder(
            &*self.recorder,
            || metrics::counter!("remit_calls_total", "outcome" => outcome),
        );
        counter.increment(1);
        self.outcomes.write().unwrap_or_else(PoisonError::into_inner).insert(outcome, counter);
    }

    /// Counts a connection that was opened or closed.
    pub(crate) fn connection(&self, change: f64) {
        self.connections.increment(change);
    }
}

/// Measures requests by route.
pub(crate) async fn measure(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    around(&app, route, request, async |request| next.run(request).await).await
}

/// Measures what answers a request.
pub(crate) async fn around(
    app: &App,
    route: &str,
    request: Request,
    answer: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let began = std::time::Instant::now();
    let span = trace::request(app, &request, route);
    let response = match span.is_disabled() {
        true => answer(request).await,
        false => answer(request).instrument(span.clone()).await,
    };
    trace::answered(&span, response.status());
    app.measures.request(route, response.status().as_u16(), began.elapsed());
    response
}
