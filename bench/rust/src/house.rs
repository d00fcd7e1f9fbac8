//! An engine over the product's own store, with as little around it as there can be.

use std::path::Path;
use std::sync::Arc;

use remit_engine::ports::{
    Approver, Clock, Executor, Pending, Question, Reply, Running, Said, Store,
};
use remit_engine::record::EventQuery;
use remit_engine::stage::Authorised;
use remit_engine::{Engine, Parts};
use remit_model::{Answer, Call, CallId, Caller, Outcome, ThreadId};
use remit_store::sqlite::SqliteStore;
use serde_json::Value;

use crate::bare::Bodies;

/// Does nothing, asks nobody and tells the time.
pub struct Nothing;

impl Executor for Nothing {
    fn execute<'a>(&'a self, _: &'a Authorised, _: Running) -> Pending<'a, Outcome> {
        Box::pin(async { Outcome::Succeeded(Answer::default()) })
    }
}

impl Approver for Nothing {
    fn ask<'a>(&'a self, _: &'a Question) -> Pending<'a, Said> {
        Box::pin(async { Reply::No.into() })
    }
}

impl Clock for Nothing {
    fn now(&self) -> remit_model::Instant {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ms = wall.map_or(0, |since| since.as_millis() as i64);
        remit_model::Instant { wall_ms: ms, boot_ms: ms, boot: "bench".to_owned() }
    }
}

/// Makes an engine that records in a folder.
pub fn engine(folder: &Path, executor: Arc<dyn Executor>) -> Engine {
    let store = SqliteStore::open(folder).expect("the store opens");
    Engine::new(Parts {
        executor,
        store: Arc::new(store),
        approver: Arc::new(Nothing),
        clock: Arc::new(Nothing),
        probe: None,
        offers: None,
        confined: true,
    })
}

/// Makes a call of a person.
pub fn call(number: u64, thread: &str, capability: String, input: Value) -> Call {
    Call {
        id: CallId::parse(&format!("call-{number:012}")).expect("an id"),
        caller: Caller::person("ann"),
        thread: ThreadId::parse(thread).expect("an id"),
        group: false,
        capability,
        input,
        timeout_ms: None,
    }
}

/// Makes a call and gives the bodies of the two events it left, for a contestant that writes the same.
pub async fn bodies(engine: &Engine, call: Call) -> Bodies {
    let thread = call.thread.clone();
    let ended = engine.run(call).await;
    assert!(ended.outcome.is_success(), "{ended:?}");
    let store: &dyn Store = &**engine.store();
    let events = store.events(EventQuery { thread, after: 0, limit: None }).await.expect("events");
    let [begin, end] = &events[..] else { panic!("a call is two events: {events:?}") };
    let text = |event: &remit_model::Event| event.body.clone();
    Bodies { begin: text(begin), end: text(end) }
}
