//! Traces, as a collector gets them from `remit serve`.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Held};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};

use crate::calls::house;
use crate::listener::Listener;
use crate::serving::Serving;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";
const CANARY: &str = "canary-5d1f0c";

fn exported(collector: &Listener) -> Vec<ExportTraceServiceRequest> {
    let sent = collector.sent();
    sent.iter().map(|one| ExportTraceServiceRequest::decode(one.body.as_slice()).unwrap()).collect()
}

fn spans(collector: &Listener) -> Vec<Span> {
    let resources = exported(collector).into_iter().flat_map(|one| one.resource_spans);
    let scopes = resources.flat_map(|one| one.scope_spans);
    scopes.flat_map(|one| one.spans).collect()
}

fn service(collector: &Listener) -> Option<String> {
    let first = exported(collector).into_iter().next()?;
    let resource = first.resource_spans.first()?.resource.clone()?;
    text(&resource.attributes, "service.name")
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|one| one.key == key)?;
    match found.value.clone()?.value? {
        Held::StringValue(text) => Some(text),
        Held::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

fn keys(span: &Span) -> BTreeSet<&str> {
    span.attributes.iter().map(|one| one.key.as_str()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a call that a person is asked about, in somebody's trace.
fn traced_call(server: &Serving) -> Value {
    let body = json!({
        "capability": "demo.echo", "input": {"text": CANARY}, "thread_id": "t", "call_id": "c1",
    });
    let head = format!(
        "traceparent: 00-{TRACE}-{PARENT}-01\r\ntracestate: x={CANARY}\r\nX-Canary: {CANARY}\r\n"
    );
    std::thread::scope(|scope| {
        let call =
            scope.spawn(|| server.request_as(&server.token, &head, "POST", "/calls", &body).1);
        server.approve();
        call.join().unwrap()
    })
}

#[test]
fn a_call_is_traced_in_its_makers_trace_and_nothing_of_it_is_told() {
    let place = house();
    let collector = Listener::new();
    let endpoint = format!("http://{}", collector.address);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_SERVICE_NAME", "remit-under-test"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=for-the-collector"),
    ];
    let server = Serving::start_with(place.path(), &[], &variables);
    let token = server.token.clone();
    assert_eq!(traced_call(&server)["outcome"], "succeeded");
    let (status, _) = server.request("GET", &format!("/calls?limit=5&user={CANARY}"), &Value::Null);
    assert_eq!(status, 200);
    let said = server.stop();
    assert!(!said.contains("traces"), "all is well: {said}");

    let all = spans(&collector);
    let ours: Vec<&Span> = all.iter().filter(|span| hex(&span.trace_id) == TRACE).collect();
    let one = |name: &str| {
        let mut found = ours.iter().filter(|span| span.name == name);
        let span = found.next().unwrap_or_else(|| panic!("no {name} in {all:#?}"));
        assert!(found.next().is_none(), "{name} twice");
        *span
    };
    let (request, call) = (one("POST /calls"), one("call"));
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(request.kind, 2, "a server's");
    let told = ["http.request.method", "http.response.status_code", "http.route"];
    assert_eq!(keys(request), BTreeSet::from(told));
    assert_eq!(text(&request.attributes, "http.response.status_code").unwrap(), "200");
    assert_eq!(text(&request.attributes, "http.route").unwrap(), "/calls");
    assert_eq!(call.parent_span_id, request.span_id);
    for (key, value) in [
        ("remit.capability", "demo.echo"),
        ("remit.call_id", "c1"),
        ("remit.sensitivity", "medium"),
        ("remit.status", "succeeded"),
    ] {
        assert_eq!(text(&call.attributes, key).as_deref(), Some(value), "{key}");
    }
    assert!(text(&call.attributes, "remit.rule").is_some_and(|rule| !rule.is_empty()));
    assert_eq!(keys(call).len(), 5, "{:?}", keys(call));
    for stage in ["intent", "approval", "execution", "outcome"] {
        let span = one(stage);
        assert_eq!(span.parent_span_id, call.span_id, "{stage}");
        assert!(span.attributes.is_empty() && span.events.is_empty(), "{span:?}");
        assert!(span.start_time_unix_nano >= call.start_time_unix_nano);
        assert!(span.end_time_unix_nano <= call.end_time_unix_nano);
    }
    assert_eq!(ours.len(), 6);
    let elsewhere = all.iter().find(|span| span.name == "GET /calls").unwrap();
    assert!(elsewhere.parent_span_id.is_empty(), "nobody's trace but its own");

    assert_eq!(service(&collector).as_deref(), Some("remit-under-test"));
    for sent in collector.sent() {
        assert!(sent.head.starts_with("POST /v1/traces "), "{}", sent.head);
        assert!(sent.head.to_ascii_lowercase().contains("x-api-key: for-the-collector"));
        let bytes = String::from_utf8_lossy(&sent.body).into_owned() + &sent.head;
        assert!(!bytes.contains(CANARY) && !bytes.contains(&token), "{bytes}");
    }
}

#[test]
fn nothing_is_sent_unless_somebody_says_where_to() {
    let place = house();
    let collector = Listener::new();
    let endpoint = format!("http://{}", collector.address);
    let off = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_SDK_DISABLED", "true")];
    let server = Serving::start_with(place.path(), &[], &off);
    traced_call(&server);
    server.stop();
    assert!(collector.sent().is_empty());
    let file = format!("telemetry: {{endpoint: \"{endpoint}/\", service_name: from-the-file}}\n");
    std::fs::write(place.path().join("remit.yaml"), file).unwrap();
    let server = Serving::start(place.path(), &[]);
    server.request("GET", "/calls", &Value::Null);
    server.stop();
    assert_eq!(service(&collector).as_deref(), Some("from-the-file"));
    assert!(spans(&collector).iter().any(|span| span.name == "GET /calls"));
    std::fs::write(place.path().join("remit.yaml"), "telemetry: {service_name: x}\n").unwrap();
    let run = crate::support::remit(place.path(), &["config", "check", "--data", "data"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stderr.contains("endpoint"), "{}", run.stderr);
}

#[test]
fn a_collector_that_is_away_is_said_once_and_nothing_else_suffers() {
    let place = house();
    let collector = Listener::new();
    collector.answer(400, "");
    let endpoint = format!("http://{}", collector.address);
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "10")];
    let server = Serving::start_with(place.path(), &[], &variables);
    for round in 1..=3 {
        assert_eq!(server.request("GET", "/calls", &Value::Null).0, 200);
        collector.wait_for(round);
    }
    collector.answer(200, "");
    server.request("GET", "/calls", &Value::Null);
    collector.wait_for(4);
    let said = server.stop();
    assert_eq!(said.matches("the collector of traces cannot be reached").count(), 1, "{said}");
    assert_eq!(said.matches("the collector of traces is there again").count(), 1, "{said}");

    let gone = Listener::new().address.clone();
    let endpoint = format!("http://{gone}");
    let server = Serving::start_with(
        place.path(),
        &[],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "10")],
    );
    assert_eq!(traced_call(&server)["outcome"], "succeeded");
    let said = server.stop();
    assert_eq!(said.matches("the collector of traces cannot be reached").count(), 1, "{said}");
}
