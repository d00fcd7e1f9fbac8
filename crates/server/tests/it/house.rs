//! A server with everything behind it, and a client that says what it sees.

use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::time::Duration;

use remit_engine::catalog::Source;
use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::directory::{Directory as _, TokenKind};
use remit_engine::registry::Agents;
use remit_engine::{Engine, Parts as EngineParts};
use remit_model::Sensitivity;
use remit_server::{App, Doorway, Limits, Options, Parts, Server};
use remit_store::sqlite::SqliteStore;
use remit_testkit::samples::{catalog, source};
use remit_testkit::{FakeClock, FakeExecutor};
use serde_json::Value;
use tempfile::TempDir;

/// Is a running server.
pub(crate) struct House {
    pub(crate) url: String,
    pub(crate) app: App,
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) executor: Arc<FakeExecutor>,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) admin: String,
    task: tokio::task::JoinHandle<()>,
    pub(crate) directory: TempDir,
}

/// Offers capabilities of every sensitivity.
pub(crate) fn demo() -> Source {
    let mut demo = source(
        "demo",
        &[
            ("echo", Sensitivity::Low),
            ("hang", Sensitivity::Low),
            ("fail", Sensitivity::Low),
            ("noop", Sensitivity::Medium),
            ("danger.echo", Sensitivity::High),
        ],
    );
    demo.manifest.capabilities.iter_mut().for_each(|one| one.timeout_ms = Some(30_000));
    demo
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(&Options::default()).await
    }

    pub(crate) async fn limited(limits: Limits) -> Self {
        Self::with(&Options { limits, ..Options::default() }).await
    }

    pub(crate) async fn with(options: &Options) -> Self {
        Self::on(tempfile::tempdir().unwrap(), options).await
    }

    /// Stops the server and starts another on what it kept.
    pub(crate) async fn restarted(self) -> Self {
        let Self { app, engine, executor, store, task, directory, .. } = self;
        app.stop().cancel();
        task.await.unwrap();
        drop((app, engine, executor, store));
        Self::on(directory, &Options::default()).await
    }

    async fn on(directory: TempDir, options: &Options) -> Self {
        let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let (clock, desk) = (Arc::new(FakeClock::default()), Arc::new(Desk::default()));
        let executor = Arc::new(FakeExecutor::default());
        let agents = Arc::new(Agents::new(
            store.clone(),
            store.clone(),
            clock.clone(),
            Arc::new(remit_engine::policy::Policy::default()),
        ));
        let engine = Engine::new(EngineParts {
            executor: executor.clone(),
            store: store.clone(),
            approver: Arc::new(DeskApprover(desk.clone())),
            clock: clock.clone(),
            probe: None,
            offers: Some(agents.clone()),
            confined: true,
        });
        engine.swap(catalog(vec![demo()]));
        let engine_port = engine.clone();
        let admin = remit_server::fresh_token(remit_server::ADMIN_PREFIX).unwrap();
        let record = remit_server::token_record(&admin, TokenKind::Admin, "admin", "first", 0);
        store.add_token(record).await.unwrap();
        let (directory_port, rows) = (store.clone(), store.clone());
        let doorway = Doorway::new(store.clone(), clock.clone());
        let clock_port = clock.clone();
        let parts = Parts {
            agents,
            engine: engine_port,
            directory: directory_port,
            desk,
            clock: clock_port,
            rows,
            doorway,
        };
        let app = App::new(parts, options);
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), app.clone()).await.unwrap();
        let url = format!("http://{}", server.address().unwrap());
        let task = tokio::spawn(remit_server::serve(server));
        Self { url, app, engine, clock, executor, store, admin, task, directory }
    }

    /// Adds a user and gives their token.
    pub(crate) async fn user(&self, name: &str) -> String {
        let added = self.post("/users", &self.admin, &format!(r#"{{"id": "{name}"}}"#)).await;
        assert_eq!(added.status, 201, "{}", added.text);
        added.json()["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Reply {
        self.send("GET", path, token, None).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: &str) -> Reply {
        self.send("POST", path, token, Some(body)).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<&str>,
    ) -> Reply {
        let headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
        self.send_with(method, path, headers, body).await
    }

    pub(crate) async fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: Vec<(String, String)>,
        body: Option<&str>,
    ) -> Reply {
        let (url, method) = (format!("{}{path}", self.url), method.to_owned());
        let body = body.map(str::to_owned);
        tokio::task::spawn_blocking(move || {
            let mut request = ureq::http::Request::builder().method(method.as_str()).uri(&url);
            for (name, value) in &headers {
                request = request.header(name, value);
            }
            let sent = match body {
                Some(body) => {
                    if !headers.iter().any(|(name, _)| name == "content-type") {
                        request = request.header("content-type", "application/json");
                    }
                    agent().run(request.body(body).unwrap())
                }
                None => agent().run(request.body(()).unwrap()),
            };
            let mut response = sent.unwrap();
            Reply {
                status: response.status().as_u16(),
                headers: response.headers().clone(),
                text: response.body_mut().read_to_string().unwrap(),
            }
        })
        .await
        .unwrap()
    }

    /// Opens a stream of events.
    pub(crate) async fn stream(&self, path: &str, token: &str, last: Option<u64>) -> Stream {
        let (url, token) = (format!("{}{path}", self.url), token.to_owned());
        tokio::task::spawn_blocking(move || {
            let mut request = ureq::http::Request::builder()
                .uri(&url)
                .header("authorization", format!("Bearer {token}"));
            if let Some(last) = last {
                request = request.header("last-event-id", last.to_string());
            }
            let response = agent().run(request.body(()).unwrap()).unwrap();
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let reader: Box<dyn std::io::Read + Send> =
                Box::new(response.into_body().into_reader());
            Stream(Some(BufReader::new(reader)))
        })
        .await
        .unwrap()
    }

    /// Opens a stream behind an event.
    pub(crate) async fn stream_from(&self, path: &str, token: &str, last: Option<&str>) -> Stream {
        let mut headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
        headers.extend(last.map(|last| ("last-event-id".to_owned(), last.to_owned())));
        self.open("GET", path, headers, None).await
    }

    /// Opens a stream that answers a body.
    pub(crate) async fn post_stream(&self, path: &str, token: &str, body: &str) -> Stream {
        let headers = vec![
            ("authorization".to_owned(), format!("Bearer {token}")),
            ("content-type".to_owned(), "application/json".to_owned()),
        ];
        self.open("POST", path, headers, Some(body.to_owned())).await
    }

    pub(crate) async fn open(
        &self,
        method: &'static str,
        path: &str,
        headers: Vec<(String, String)>,
        body: Option<String>,
    ) -> Stream {
        let url = format!("{}{path}", self.url);
        tokio::task::spawn_blocking(move || {
            let mut request = ureq::http::Request::builder().method(method).uri(&url);
            for (name, value) in &headers {
                request = request.header(name, value);
            }
            let sent = match body {
                Some(body) => agent().run(request.body(body).unwrap()),
                None => agent().run(request.body(()).unwrap()),
            };
            let mut response = sent.unwrap();
            if response.status() != 200 {
                panic!("{}: {}", response.status(), response.body_mut().read_to_string().unwrap());
            }
            let reader: Box<dyn std::io::Read + Send> =
                Box::new(response.into_body().into_reader());
            Stream(Some(BufReader::new(reader)))
        })
        .await
        .unwrap()
    }

    /// Stops the server and waits until it has stopped.
    pub(crate) async fn stop(self) {
        self.app.stop().cancel();
        self.task.await.unwrap();
    }

    /// Waits until something is so; the tests' own limit ends what never is.
    pub(crate) async fn until(&self, is_so: impl AsyncFn() -> bool) {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// Is an answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }

    /// Gives the code of an error.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        assert!(json["error"]["message"].is_string(), "{}", self.text);
        json["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// Is an event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// The number of the event.
    pub(crate) id: Option<u64>,
    /// The id as it was written.
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// Reads a stream.
pub(crate) struct Stream(Option<BufReader<Box<dyn std::io::Read + Send>>>);

impl Stream {
    /// Waits for the next event; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let mut reader = self.0.take().unwrap();
        let (event, reader) = tokio::task::spawn_blocking(move || {
            let mut event =
                Event { id: None, label: String::new(), name: String::new(), data: Value::Null };
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return (None, reader);
                }
                match line.trim_end().split_once(": ") {
                    Some(("id", id)) => {
                        event.id = id.parse().ok();
                        event.label = id.to_owned();
                    }
                    Some(("event", name)) => event.name = name.to_owned(),
                    Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                    None if !event.data.is_null() => return (Some(event), reader),
                    _ => {}
                }
            }
        })
        .await
        .unwrap();
        self.0 = Some(reader);
        event
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}
