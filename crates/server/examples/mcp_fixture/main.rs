//! A server with the tools, resources and prompts that the protocol's public conformance suite calls. It stands here for the
//! suite alone; see `scripts/judges.sh`.
//!
//! The suite sends no token, so whoever sends none is the suite's user here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test server"
)]

mod asks;
mod shelf;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use remit_engine::catalog::{Catalog, Source};
use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::directory::{Directory as _, TokenKind};
use remit_engine::policy::Policy;
use remit_engine::ports::{Executor, Pending, Running};
use remit_engine::record::Progress;
use remit_engine::registry::Agents;
use remit_engine::stage::Authorised;
use remit_engine::{Engine, Parts as EngineParts};
use remit_model::{Answer, Binding, Failure, Outcome, Sensitivity};
use remit_server::mcp::shelf::Shelves;
use remit_server::{App, Doorway, Limits, Options, Parts};
use remit_store::sqlite::SqliteStore;
use remit_testkit::FakeClock;
use remit_testkit::samples::{catalog, source};
use serde_json::{Value, json};

use shelf::Suite;

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Lists the tools, with how much care they take.
const TOOLS: [(&str, Sensitivity); 28] = [
    ("test_simple_text", Sensitivity::Low),
    ("test_image_content", Sensitivity::Low),
    ("test_audio_content", Sensitivity::Low),
    ("test_embedded_resource", Sensitivity::Low),
    ("test_multiple_content_types", Sensitivity::Low),
    ("test_error_handling", Sensitivity::Low),
    ("test_tool_with_progress", Sensitivity::Low),
    ("test_logging_tool", Sensitivity::Low),
    ("test_trigger_tool_change", Sensitivity::Low),
    ("json_schema_2020_12_tool", Sensitivity::Low),
    ("test_custom_header", Sensitivity::Low),
    ("add", Sensitivity::Low),
    ("test_trigger_prompt_change", Sensitivity::Low),
    ("test_tool_with_logging", Sensitivity::Low),
    ("test_sampling", Sensitivity::Low),
    ("test_elicitation", Sensitivity::Low),
    ("test_elicitation_sep1034_defaults", Sensitivity::Low),
    ("test_elicitation_sep1330_enums", Sensitivity::Low),
    ("test_missing_capability", Sensitivity::Low),
    ("test_streaming_elicitation", Sensitivity::High),
    ("test_input_required_result_elicitation", Sensitivity::Low),
    ("test_input_required_result_sampling", Sensitivity::Low),
    ("test_input_required_result_list_roots", Sensitivity::Low),
    ("test_input_required_result_request_state", Sensitivity::Low),
    ("test_input_required_result_multiple_inputs", Sensitivity::Low),
    ("test_input_required_result_multi_round", Sensitivity::Low),
    ("test_input_required_result_capabilities", Sensitivity::Low),
    ("test_input_required_result_tampered_state", Sensitivity::High),
];

fn schema(name: &str) -> Value {
    match name {
        "add" => json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": false,
        }),
        "test_custom_header" => json!({
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }),
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }),
        "test_sampling" => texts(&["prompt"]),
        "test_elicitation" => texts(&["message"]),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// Describes an object of texts that must all be there.
fn texts(names: &[&str]) -> Value {
    let text = |name: &&str| ((*name).to_owned(), json!({"type": "string"}));
    let properties: serde_json::Map<_, _> = names.iter().map(text).collect();
    json!({"type": "object", "properties": properties, "required": names})
}

fn tools(extra: bool) -> Catalog {
    let changed = extra.then_some(("changed", Sensitivity::Low));
    let all: Vec<_> = TOOLS.into_iter().chain(changed).collect();
    let mut made: Source = source("fixture", &all);
    for (capability, (name, _)) in made.manifest.capabilities.iter_mut().zip(&all) {
        (*name).clone_into(&mut capability.name);
        capability.input_schema = schema(name);
        capability.timeout_ms = Some(30_000);
        capability.binding = Binding::Mcp;
    }
    catalog(vec![made])
}

/// Does what the suite expects of each tool.
#[derive(Default)]
struct Fixture {
    engine: OnceLock<Engine>,
    shelf: Arc<Suite>,
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

fn gives(result: Value) -> Outcome {
    Outcome::Succeeded(Answer { result, ..Answer::default() })
}

fn binary(data: &str) -> Outcome {
    let base64 = Some(data.to_owned());
    Outcome::Succeeded(Answer { base64, ..Answer::default() })
}

async fn work(running: &Running) -> Outcome {
    for done in [0.0, 0.5, 1.0] {
        (running.progress)(Progress { fraction: Some(done), message: None });
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    gives(json!("done"))
}

impl Executor for Fixture {
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        let call = call.call();
        Box::pin(async move {
            match call.capability.as_str() {
                "test_image_content" => binary(PNG),
                "test_audio_content" => binary(WAV),
                "test_embedded_resource" => {
                    let text = "This is an embedded resource content.";
                    gives(
                        json!({"content": [resource("test://embedded-resource", "text/plain", text)]}),
                    )
                }
                "test_multiple_content_types" => gives(json!({"content": [
                    {"type": "text", "text": "Multiple content types test:"},
                    {"type": "image", "data": PNG, "mimeType": "image/png"},
                    resource("test://mixed-content-resource", "application/json", r#"{"test":"data"}"#),
                ]})),
                "test_error_handling" => Outcome::Failed(Failure::new(
                    "INTENDED",
                    "This tool intentionally returns an error for testing",
                )),
                "test_tool_with_progress" => work(&running).await,
                "test_tool_with_logging" | "test_logging_tool" => {
                    asks::speaks(&running.contact).await
                }
                "test_trigger_prompt_change" => {
                    self.shelf.change();
                    gives(json!("changed"))
                }
                "test_trigger_tool_change" => {
                    let engine = self.engine.get().unwrap();
                    engine.swap(tools(engine.catalog().get("changed").is_none()));
                    gives(json!("changed"))
                }
                "add" => {
                    let number = |name: &str| call.input[name].as_i64().unwrap();
                    gives(json!({"sum": number("a") + number("b")}))
                }
                "test_simple_text"
                | "test_custom_header"
                | "json_schema_2020_12_tool"
                | "changed" => gives(json!("This is a simple text response for testing.")),
                // Those that a person is asked about first ask nothing more.
                "test_streaming_elicitation" | "test_input_required_result_tampered_state" => {
                    gives(json!("It was approved."))
                }
                tool => asks::asks(tool, &call.input, &running.contact).await,
            }
        })
    }
}

#[tokio::main]
async fn main() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let (clock, desk) = (Arc::new(FakeClock::default()), Arc::new(Desk::default()));
    let fixture = Arc::new(Fixture::default());
    let shelf = fixture.shelf.clone();
    let policy = Arc::new(Policy::default());
    let agents = Agents::new(store.clone(), store.clone(), clock.clone(), policy);
    let engine = Engine::new(EngineParts {
        executor: fixture.clone(),
        store: store.clone(),
        approver: Arc::new(DeskApprover(desk.clone())),
        clock: clock.clone(),
        probe: None,
        offers: None,
        confined: true,
    });
    engine.swap(tools(false));
    fixture.engine.set(engine.clone()).ok().unwrap();
    let token = remit_server::fresh_token("rmu_").unwrap();
    let record = remit_server::token_record(&token, TokenKind::User, "suite", "", 0);
    store.add_token(record).await.unwrap();
    let doorway = Doorway::new(store.clone(), clock.clone());
    let (directory, rows) = (store.clone(), store);
    let agents = Arc::new(agents);
    let parts = Parts { engine, directory, desk, clock, agents, rows, doorway };
    let shelves = Shelves::default().with(shelf);
    let limits = Limits { requests_per_second: 100_000, ..Limits::default() };
    let app = App::new(parts, &Options { limits, shelves, ..Options::default() });
    let bearer: axum::http::HeaderValue = format!("Bearer {token}").parse().unwrap();
    let known = from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().entry(AUTHORIZATION).or_insert(bearer.clone());
        next.run(request)
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("listening on http://{}", listener.local_addr().unwrap());
    axum::serve(listener, remit_server::router(app).layer(known)).await.unwrap();
}
