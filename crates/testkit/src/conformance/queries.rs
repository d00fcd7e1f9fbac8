//! Calls, found again.

use remit_engine::ports::Store;
use remit_engine::record::{CallQuery, Next};
use remit_model::{CallId, Failure, Outcome};
use serde_json::json;

use super::Place;
use super::hands::{ask, begin, call, ending, success, thread};

async fn names(store: &dyn Store, query: CallQuery) -> Vec<String> {
    let records = store.calls(query).await.expect("calls");
    records.into_iter().map(|record| record.call.id.to_string()).collect()
}

async fn filled(place: &dyn Place) -> std::sync::Arc<dyn Store> {
    let store = place.open().await;
    begin(&*store, call("a", "t"), Next::Run).await;
    begin(&*store, call("b", "u"), ask()).await;
    let mut bobs = call("c", "t");
    bobs.caller.user = "bob".to_owned();
    begin(&*store, bobs, Next::Run).await;
    let mut other = call("d", "t");
    other.capability = "demo.other".to_owned();
    begin(&*store, other, Next::Run).await;
    store.finish(ending("d", success(json!(1)))).await.expect("an end");
    let refusal = Outcome::Failed(Failure::new("NO", "no"));
    begin(&*store, call("e", "u"), Next::Refuse(refusal)).await;
    store
}

/// Conditions add up; what none is set for does not matter. The latest comes first.
pub async fn a_query_finds_what_fits_it(place: &dyn Place) {
    let store = filled(place).await;
    let all = CallQuery::default();
    let user = |name: &str| CallQuery { user: Some(name.to_owned()), ..CallQuery::default() };
    let state = |name: &str| CallQuery { state: Some(name.to_owned()), ..CallQuery::default() };
    let capability = Some("demo.other".to_owned());
    for (query, found) in [
        (all.clone(), vec!["e", "d", "c", "b", "a"]),
        (user("ann"), vec!["e", "d", "b", "a"]),
        (user("bob"), vec!["c"]),
        (user("Ann"), vec![]),
        (CallQuery { thread: Some(thread("t")), ..all.clone() }, vec!["d", "c", "a"]),
        (CallQuery { thread: Some(thread("v")), ..all.clone() }, vec![]),
        (CallQuery { capability: capability.clone(), ..all.clone() }, vec!["d"]),
        (state("running"), vec!["c", "a"]),
        (state("asking"), vec!["b"]),
        (state("succeeded"), vec!["d"]),
        (state("failed"), vec!["e"]),
        (state("no such state"), vec![]),
        (CallQuery { thread: Some(thread("t")), ..user("ann") }, vec!["d", "a"]),
        (CallQuery { capability, ..user("bob") }, vec![]),
        (CallQuery { id_start: Some("d".to_owned()), ..all.clone() }, vec!["d"]),
        (CallQuery { id: CallId::parse("d"), ..all.clone() }, vec!["d"]),
        (CallQuery { id: CallId::parse("dd"), ..all.clone() }, vec![]),
        (CallQuery { id_start: Some("dd".to_owned()), ..all.clone() }, vec![]),
        (CallQuery { id_start: Some("%".to_owned()), ..all }, vec![]),
        (CallQuery { thread: Some(thread("t")), ..state("running") }, vec!["c", "a"]),
    ] {
        assert_eq!(names(&*store, query.clone()).await, found, "{query:?}");
    }
}

/// A limit keeps the latest, also under conditions.
pub async fn a_limit_cuts_off_the_oldest(place: &dyn Place) {
    let store = filled(place).await;
    for (limit, found) in [
        (0, vec![]),
        (1, vec!["e"]),
        (2, vec!["e", "d"]),
        (5, vec!["e", "d", "c", "b", "a"]),
        (usize::MAX, vec!["e", "d", "c", "b", "a"]),
    ] {
        let query = CallQuery { limit: Some(limit), ..CallQuery::default() };
        assert_eq!(names(&*store, query).await, found, "{limit}");
    }
    let query = CallQuery { user: Some("ann".to_owned()), limit: Some(2), ..CallQuery::default() };
    assert_eq!(names(&*store, query).await, ["e", "d"]);
}
