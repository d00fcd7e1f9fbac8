//! The servers that are measured: Remit's with a capability that does nothing, and what it is compared with.
//! Each says where it listens, and runs until its input is closed.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::directory::{Directory as _, TokenKind};
use remit_engine::policy::Policy;
use remit_engine::registry::Agents;
use remit_engine::{Engine, Parts as EngineParts};
use remit_server::{App, Doorway, Limits, Options, Parts, Server};
use remit_store::sqlite::SqliteStore;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::broadcast;

use crate::calls::catalog;
use crate::house::Nothing;

/// Runs one of them.
pub fn run(which: &[&str]) -> ! {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match which {
            ["remit", folder, capabilities] => {
                remit(Path::new(folder), capabilities.parse().expect("a number")).await;
            }
            ["echo"] => bare(Router::new().route("/mcp", post(echo))).await,
            ["broadcast"] => {
                let (sender, _) = broadcast::channel::<Bytes>(1024);
                let router = Router::new().route("/events", get(listen)).route("/say", post(say));
                bare(router.with_state(sender)).await;
            }
            ["rmcp", how] => {
                // As it comes; or what costs it least: no sessions, and answers that are no streams.
                let config = match *how {
                    "lean" => StreamableHttpServerConfig::default()
                        .with_json_response(true)
                        .with_legacy_session_mode(false),
                    _ => StreamableHttpServerConfig::default(),
                };
                let manager = Arc::new(LocalSessionManager::default());
                let service = StreamableHttpService::new(|| Ok(Peer), manager, config);
                bare(Router::new().route_service("/mcp", service)).await;
            }
            _ => panic!("remit DIR CAPABILITIES | echo | broadcast | rmcp plain|lean"),
        }
    });
    std::process::exit(0)
}

async fn remit(folder: &Path, capabilities: usize) {
    let store = Arc::new(SqliteStore::open(folder).expect("the store opens"));
    let (clock, desk) = (Arc::new(Nothing), Arc::new(Desk::default()));
    let policy = Arc::new(Policy::default());
    let agents = Arc::new(Agents::new(store.clone(), store.clone(), clock.clone(), policy));
    let engine = Engine::new(EngineParts {
        executor: clock.clone(),
        store: store.clone(),
        approver: Arc::new(DeskApprover(desk.clone())),
        clock: clock.clone(),
        probe: None,
        offers: Some(agents.clone()),
        confined: true,
    });
    engine.swap(catalog(capabilities));
    let token = remit_server::fresh_token("rmu_").expect("a token");
    let record = remit_server::token_record(&token, TokenKind::User, "ann", "bench", 0);
    store.add_token(record).await.expect("the token is kept");
    let doorway = Doorway::new(store.clone(), clock.clone());
    let (directory, rows) = (store.clone(), store.clone());
    let parts = Parts { engine, directory, desk, clock, agents, rows, doorway };
    // The rate is what is measured here, and must not be what stops it.
    let limits = Limits { requests_per_second: 1_000_000, ..Limits::default() };
    let app = App::new(parts, &Options { limits, ..Options::default() });
    let address = "127.0.0.1:0".parse().expect("an address");
    let server = Server::bind(address, app).await.expect("it listens");
    println!("listening on http://{} {token}", server.address().expect("an address"));
    remit_server::serve(server).await;
}

async fn bare(router: Router) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("it listens");
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        stream.set_nodelay(true).expect("a socket");
    });
    axum::serve(listener, router).await.expect("it serves");
}

async fn echo(body: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], body)
}

async fn say(State(sender): State<broadcast::Sender<Bytes>>, body: Bytes) {
    sender.send(body).expect("somebody listens");
}

async fn listen(State(sender): State<broadcast::Sender<Bytes>>) -> Response {
    let stream = futures_util::stream::unfold(sender.subscribe(), |mut heard| async move {
        let bytes = heard.recv().await.ok()?;
        Some((Ok::<_, Infallible>(bytes), heard))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
}

/// Is the smallest server of the official Rust SDK.
struct Peer;

impl rmcp::ServerHandler for Peer {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        rmcp::model::ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text("null")]).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(ListToolsResult::default())
    }
}
