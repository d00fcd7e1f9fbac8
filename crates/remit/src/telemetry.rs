//! Traces for operators: the spans of requests and calls go to a collector by OTLP over HTTP, from a
//! thread of their own. Nothing of this is made where nobody asked for it.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, ready};
use std::io::Read as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use remit_engine::TRACES;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::config::telemetry::Telemetry;

/// How long a collector may take to answer.
const TIME: Duration = Duration::from_secs(10);
/// How long the last spans may take when the server stops.
const LAST_TIME: Duration = Duration::from_secs(5);
/// How much of a collector's answer is read.
const MOST_BYTES: u64 = 64 * 1024;

/// Sends spans until it is told to stop.
pub(crate) struct Exporting(SdkTracerProvider);

impl Exporting {
    /// Starts.
    pub(crate) fn start(telemetry: &Telemetry) -> Result<Self, String> {
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(Collector::new());
        if let Some(endpoint) = &telemetry.endpoint {
            exporter = exporter.with_endpoint(endpoint);
        }
        let exporter = exporter.build().map_err(|why| format!("no traces are sent: {why}"))?;
        let mut resource = Resource::builder();
        if let Some(name) = &telemetry.service_name {
            resource = resource.with_service_name(name.clone());
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        Ok(Self(provider))
    }

    /// Gives what hears of spans. It takes those that are meant for traces and no event: what a log
    /// says may be more than a collector should know.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("remit"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|meta| meta.is_span() && meta.target() == TRACES))
    }

    /// Sends what is left and stops.
    pub(crate) fn stop(&self) {
        if let Err(why) = self.0.shutdown_with_timeout(LAST_TIME) {
            tracing::warn!(%why, "the last traces may not have been sent");
        }
    }
}

/// Makes a span the child of the one that a `traceparent` names; what is none is passed over.
pub(crate) fn adopt(span: &Span, traceparent: &str) {
    let carrier = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let parent = TraceContextPropagator::new().extract(&carrier);
    // It fails only for a span that began before, and this one is new.
    let _ = span.set_parent(parent);
}

/// Is the way to the collector. The exporter's own thread waits in it, nobody else does.
struct Collector {
    client: ureq::Agent,
    is_away: AtomicBool,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

impl Collector {
    fn new() -> Self {
        Self { client: remit_server::client(TIME), is_away: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let sent = self.client.run(Request::from_parts(head, body.as_ref()));
        let (head, body) = sent?.into_parts();
        let mut bytes = Vec::new();
        body.into_reader().take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(Response::from_parts(head, bytes.into()))
    }

    /// Says once that the collector is away, and once that it is back.
    fn tell(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let why = match sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answers {}", response.status().as_u16())),
            Err(error) => Some(error.to_string()),
        };
        let was_away = self.is_away.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_away => {
                tracing::warn!(%why, "the collector of traces cannot be reached; traces are lost until it can");
            }
            None if was_away => tracing::info!("the collector of traces is there again"),
            _ => {}
        }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'own, 'done>(
        &'own self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'done>>
    where
        'own: 'done,
        Self: 'done,
    {
        let sent = self.send(request);
        self.tell(&sent);
        Box::pin(ready(sent))
    }
}
