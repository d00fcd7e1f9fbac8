//! The way back in: a credential counts for its call, on its connection, once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use remit_engine::desk::{Desk, DeskApprover};
use remit_engine::ports::{Executor, Pending, Running};
use remit_engine::stage::Authorised;
use remit_engine::visit::{Doorkeeper as _, Visit};
use remit_engine::{Engine, Parts};
use remit_model::{Answer, Outcome, Sensitivity};
use remit_server::Doorway;
use remit_store::sqlite::SqliteStore;
use remit_testkit::FakeClock;
use remit_testkit::samples::{call, catalog, source};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use crate::house::House;

/// Hands out the visits of the calls it is given, and ends them.
struct Visits {
    doorway: Doorway,
    made: Mutex<Vec<Visit>>,
}

impl Executor for Visits {
    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        self.made.lock().unwrap().push(self.doorway.admit(call, running.timeout).unwrap());
        let answer = Answer { result: json!({}), message: None, base64: None };
        Box::pin(std::future::ready(Outcome::Succeeded(answer)))
    }
}

struct Place {
    doorway: Doorway,
    clock: Arc<FakeClock>,
    engine: Engine,
    visits: Arc<Visits>,
    _directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let clock = Arc::new(FakeClock::default());
        let doorway = Doorway::new(store.clone(), clock.clone());
        let visits = Arc::new(Visits { doorway: doorway.clone(), made: Mutex::default() });
        let engine = Engine::new(Parts {
            executor: visits.clone(),
            store,
            approver: Arc::new(DeskApprover(Arc::new(Desk::default()))),
            clock: clock.clone(),
            probe: None,
            offers: None,
            confined: true,
        });
        let memory = source("memory", &[("read", Sensitivity::Low), ("update", Sensitivity::Low)]);
        engine.swap(catalog(vec![memory]));
        Self { doorway, clock, engine, visits, _directory: directory }
    }

    /// Makes a call of a method and gives its visit.
    async fn visit(&self, id: &str, capability: &str) -> Open {
        let ended = self.engine.run(call(id, capability, json!({}))).await;
        assert_eq!(ended.outcome.status(), "succeeded", "{ended:?}");
        let Visit { credential, serve, stay } = self.visits.made.lock().unwrap().pop().unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let served = tokio::spawn(serve(Box::new(theirs)));
        Open { credential, stay, connection: ours, served }
    }
}

struct Open {
    credential: String,
    stay: Box<dyn Send + Sync>,
    connection: DuplexStream,
    served: tokio::task::JoinHandle<()>,
}

impl Open {
    /// Asks once, as a process does.
    async fn ask(&mut self, credential: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: remit\r\nauthorization: Bearer {credential}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let talk = async {
            self.connection.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            self.connection.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let answer = tokio::time::timeout(Duration::from_secs(20), talk).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }
}

const READ: &str = "/organiser/memory/read";
const UPDATE: &str = "/organiser/memory/update";

fn set(value: &str) -> Value {
    json!({"operations": [{"op": "set", "key": "k", "value": value}]})
}

#[tokio::test]
async fn a_method_acts_for_the_user_of_its_call_and_nobody_else() {
    let place = Place::new();
    let mut open = place.visit("1", "memory.update").await;
    let credential = open.credential.clone();
    assert!(credential.starts_with("rmc_") && credential.len() == 44, "{credential}");
    let (status, told) = open.ask(&credential, UPDATE, &set("v")).await;
    assert_eq!((status, &told["ok"]), (200, &json!(true)), "{told}");
    open.served.await.unwrap();
    // An owner in the body is no field of the method; one in the address says nothing.
    let mut open = place.visit("2", "memory.update").await;
    let credential = open.credential.clone();
    let named = json!({"owner_id": "bob", "operations": []});
    let (status, told) = open.ask(&credential, UPDATE, &named).await;
    assert_eq!((status, &told["error"]["code"]), (400, &json!("INVALID_ACTION_INPUT")), "{told}");
    let mut open = place.visit("3", "memory.read").await;
    let credential = open.credential.clone();
    let (_, told) = open.ask(&credential, &format!("{READ}?owner_id=bob"), &json!({})).await;
    assert_eq!(told["data"]["items"][0]["value"], "v", "{told}");
}

#[tokio::test]
async fn a_credential_that_is_forged_foreign_used_or_over_is_refused() {
    let place = Place::new();
    let refused = |told: (u16, Value)| {
        assert_eq!(
            (told.0, &told.1["error"]["code"]),
            (401, &json!("INVALID_CREDENTIAL")),
            "{told:?}"
        );
    };
    let mut open = place.visit("1", "memory.read").await;
    refused(open.ask("", READ, &json!({})).await);
    let mut open = place.visit("2", "memory.read").await;
    refused(open.ask(&format!("rmc_{}", "a".repeat(40)), READ, &json!({})).await);

    // Of another call, on this one's connection.
    let (other, mut open) =
        (place.visit("3", "memory.read").await, place.visit("4", "memory.read").await);
    refused(open.ask(&other.credential, READ, &json!({})).await);

    // For another method.
    let mut open = place.visit("5", "memory.read").await;
    let credential = open.credential.clone();
    let (status, told) = open.ask(&credential, UPDATE, &set("v")).await;
    assert_eq!(status, 403, "{told}");

    // After its time.
    let mut open = place.visit("6", "memory.read").await;
    let credential = open.credential.clone();
    place.clock.pass(600_000);
    refused(open.ask(&credential, READ, &json!({})).await);

    // After its call.
    let mut open = place.visit("7", "memory.read").await;
    let credential = open.credential.clone();
    drop(std::mem::replace(&mut open.stay, Box::new(())));
    refused(open.ask(&credential, READ, &json!({})).await);

    // Nothing but methods is there.
    let mut open = place.visit("8", "memory.read").await;
    let credential = open.credential.clone();
    let (status, _) = open.ask(&credential, "/calls", &json!({})).await;
    assert_eq!(status, 404);
    drop(place.doorway);
}

#[tokio::test]
async fn a_credential_is_no_token_of_the_api() {
    let place = Place::new();
    let open = place.visit("1", "memory.read").await;
    let house = House::new().await;
    for path in ["/tools", "/calls", "/approvals"] {
        assert_eq!(house.get(path, &open.credential).await.status, 401, "{path}");
    }
    let asked = house.post(READ, &open.credential, "{}").await;
    assert_eq!(asked.status, 401, "{}", asked.text);
}
