//! Figures for operators, in the form that Prometheus reads.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
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
}

impl Measures {
    pub(crate) fn new() -> Self {
        let builder = PrometheusBuilder::new();
        let builder = builder.set_buckets(&BOUNDS).unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            metrics::describe_counter!("remit_requests_total", "Requests by route and status");
            metrics::describe_histogram!("remit_request_seconds", "How long requests took");
            metrics::describe_counter!("remit_calls_total", "Calls by outcome");
            metrics::describe_gauge!("remit_connections", "Open connections");
        });
        Self { recorder: Arc::new(recorder), handle }
    }

    /// Gives the figures as text.
    pub(crate) fn text(&self) -> String {
        self.handle.run_upkeep();
        self.handle.render()
    }

    /// Counts a request that was answered.
    fn request(&self, route: &str, status: u16, took: Duration) {
        metrics::with_local_recorder(&*self.recorder, || {
            let route = route.to_owned();
            metrics::counter!("remit_requests_total", "route" => route.clone(), "status" => status.to_string())
                .increment(1);
            metrics::histogram!("remit_request_seconds", "route" => route).record(took);
        });
    }

    /// Counts a call that ended.
    pub(crate) fn call(&self, outcome: &'static str) {
        metrics::with_local_recorder(&*self.recorder, || {
            metrics::counter!("remit_calls_total", "outcome" => outcome).increment(1);
        });
    }

    /// Counts a connection that was opened or closed.
    pub(crate) fn connection(&self, change: f64) {
        metrics::with_local_recorder(&*self.recorder, || {
            metrics::gauge!("remit_connections").increment(change);
        });
    }
}

/// Measures requests by route.
pub(crate) async fn measure(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let began = std::time::Instant::now();
    let span = trace::request(&app, &request, route.as_ref());
    let response = next.run(request).instrument(span.clone()).await;
    trace::answered(&span, response.status());
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    app.measures.request(route, response.status().as_u16(), began.elapsed());
    response
}
