//! Calendars, contacts and memories: what the port [`Rows`] promises.

use std::sync::Arc;

use jiff::Timestamp;
use remit_organiser::limits::{CONTACTS, EVENTS, PENDING_INVITATIONS};
use remit_organiser::port::drive;
use remit_organiser::{
    Action, Answer, Applied, Change, Code, Context, Kind, Pending, Query, Row, Rows, Zone,
};
use serde_json::{Value, json};

/// Is somewhere rows are kept, empty at first.
pub trait RowsPlace: Send + Sync {
    /// Opens it. What was opened before may still be open.
    fn open(&self) -> Pending<'_, Arc<dyn Rows>>;
    /// Makes somebody a user.
    fn add_user<'a>(&'a self, id: &'a str) -> Pending<'a, ()>;
}

/// Makes a test of each case. The expression makes a new, empty [`RowsPlace`].
#[macro_export]
macro_rules! rows_conformance {
    ($place:expr) => {
        $crate::rows_conformance! { @each $place;
            a_row_is_kept_as_it_was_given,
            every_question_is_answered_as_it_was_asked,
            a_change_fits_one_revision,
            changes_are_written_together_or_not_at_all,
            everybody_has_so_much_and_no_more,
            an_answer_to_an_invitation_makes_room,
            two_changes_of_one_row_are_refused,
            many_change_one_row_and_nothing_is_lost,
            people_share_and_answer,
        }
    };
    (@each $place:expr; $($case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::organiser::$case(&$place).await;
            }
        )*
    };
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or_default()
}

fn row(owner: &str, kind: Kind, id: &str) -> Row {
    let body = json!({ "status": "pending", "text": "☃ '\"\0 \u{1f3e0}", "n": [1, 2.5, null] });
    let (owner, id) = (owner.to_owned(), id.to_owned());
    Row { owner, kind, id, revision: 1, link: None, starts: None, ends: None, body }
}

async fn ask(rows: &dyn Rows, query: Query) -> Vec<Row> {
    match rows.ask(vec![query]).await.expect("an answer").pop() {
        Some(Answer::Rows(rows)) => rows,
        other => panic!("{other:?}"),
    }
}

fn owned(owner: &str, kind: Kind, limit: usize) -> Query {
    Query::Owned { owner: owner.to_owned(), kind, limit }
}

async fn write(rows: &dyn Rows, changes: Vec<Change>) {
    assert_eq!(rows.apply(changes).await, Ok(Applied::Written));
}

/// Also by whoever opens the place later.
pub async fn a_row_is_kept_as_it_was_given(place: &dyn RowsPlace) {
    let rows = place.open().await;
    let full = Row {
        link: Some("link ☃".to_owned()),
        starts: Some("-009998-01-01T00:00:00.000001Z".parse().expect("a time")),
        ends: Some("9999-01-01T00:00:00Z".parse().expect("a time")),
        ..row("ann", Kind::Event, "e")
    };
    for kind in [Kind::Invitation, Kind::Contact, Kind::Memory] {
        write(&*rows, vec![Change::Create(row("ann", kind, "e"))]).await;
    }
    write(&*rows, vec![Change::Create(full.clone())]).await;
    drop(rows);
    let rows = place.open().await;
    assert_eq!(ask(&*rows, owned("ann", Kind::Event, 9)).await, std::slice::from_ref(&full));
    for kind in [Kind::Invitation, Kind::Contact, Kind::Memory] {
        assert_eq!(ask(&*rows, owned("ann", kind, 9)).await, [row("ann", kind, "e")]);
    }
    let next = Row { revision: 2, ends: None, body: json!({ "new": true }), ..full };
    write(&*rows, vec![Change::Update(next.clone())]).await;
    assert_eq!(ask(&*rows, owned("ann", Kind::Event, 9)).await, std::slice::from_ref(&next));
    write(&*rows, vec![Change::delete(&next)]).await;
    assert_eq!(ask(&*rows, owned("ann", Kind::Event, 9)).await, []);
}

/// Each in its order, with its limit, at its edges.
pub async fn every_question_is_answered_as_it_was_asked(place: &dyn RowsPlace) {
    let rows = place.open().await;
    for user in ["ann", "bob"] {
        place.add_user(user).await;
    }
    let event = |owner: &str, id: &str, starts: i64, ends: Option<i64>, link: &str| Row {
        link: Some(link.to_owned()),
        starts: Some(at(starts)),
        ends: ends.map(at),
        ..row(owner, Kind::Event, id)
    };
    let all = [
        event("ann", "b", 10, Some(20), "x"),
        event("ann", "a", 10, Some(30), "y"),
        event("ann", "c", 5, None, "x"),
        event("bob", "d", 10, Some(20), "x"),
        row("ann", Kind::Event, "never"),
        Row { link: Some("x".to_owned()), ..row("ann", Kind::Contact, "a") },
    ];
    write(&*rows, all.iter().cloned().map(Change::Create).collect()).await;
    let between = async |from: i64, until: i64, limit: usize| {
        let (owner, kind) = ("ann".to_owned(), Kind::Event);
        let query = Query::Between { owner, kind, from: at(from), until: at(until), limit };
        ask(&*rows, query).await.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(between(0, 11, 9).await, ["c", "a", "b"]);
    assert_eq!(between(0, 11, 2).await, ["c", "a"], "a limit cuts off the end");
    assert_eq!(between(20, 11, 9).await, ["c", "a", "b"], "an end belongs to it");
    assert_eq!(between(21, 11, 9).await, ["c", "a"]);
    assert_eq!(between(0, 10, 9).await, ["c"], "a start does not");
    assert_eq!(between(0, 5, 9).await, Vec::<String>::new());
    let ids = async |query: Query| {
        let mut found: Vec<_> =
            ask(&*rows, query).await.into_iter().map(|row| (row.owner, row.id)).collect();
        found.sort();
        found.into_iter().map(|(owner, id)| format!("{owner}/{id}")).collect::<Vec<_>>()
    };
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let kind = Kind::Event;
    let query = Query::Ids { kind, ids: words(&["d", "a", "a", "zz"]) };
    assert_eq!(ids(query).await, ["ann/a", "bob/d"]);
    let query = Query::Links { owner: None, kind, links: words(&["x", "x", "zz"]) };
    assert_eq!(ids(query).await, ["ann/b", "ann/c", "bob/d"]);
    let owner = Some("ann".to_owned());
    let query = Query::Links { owner, kind, links: words(&["x", "y"]) };
    assert_eq!(ids(query).await, ["ann/a", "ann/b", "ann/c"]);
    assert_eq!(ids(owned("ann", kind, 2)).await, ["ann/a", "ann/b"]);
    let users = Query::Users { ids: words(&["bob", "eve", "ann"]) };
    let answers = rows.ask(vec![owned("eve", kind, 1), users]).await;
    assert_eq!(
        answers,
        Ok(vec![Answer::Rows(Vec::new()), Answer::Users(words(&["ann", "bob"]))]),
        "in the order of the questions"
    );
}

/// Any other is refused, and changes nothing.
pub async fn a_change_fits_one_revision(place: &dyn RowsPlace) {
    let rows = place.open().await;
    let first = row("ann", Kind::Contact, "c");
    let at_revision = |revision: u64| Row { revision, ..first.clone() };
    for wrong in [Change::Update(at_revision(1)), Change::Create(at_revision(2))] {
        assert_eq!(rows.apply(vec![wrong]).await, Ok(Applied::Moved));
    }
    assert_eq!(rows.apply(vec![Change::delete(&first)]).await, Ok(Applied::Moved));
    write(&*rows, vec![Change::Create(first.clone())]).await;
    for wrong in [
        Change::Create(first.clone()),
        Change::Update(at_revision(1)),
        Change::Update(at_revision(3)),
        Change::delete(&at_revision(2)),
        Change::delete(&Row { owner: "bob".to_owned(), ..first.clone() }),
    ] {
        assert_eq!(rows.apply(vec![wrong]).await, Ok(Applied::Moved));
    }
    assert_eq!(ask(&*rows, owned("ann", Kind::Contact, 9)).await, std::slice::from_ref(&first));
    write(&*rows, vec![Change::Update(at_revision(2))]).await;
    write(&*rows, vec![Change::delete(&at_revision(2))]).await;
    write(&*rows, vec![Change::Create(first)]).await;
}

/// What does not fit keeps out what does.
pub async fn changes_are_written_together_or_not_at_all(place: &dyn RowsPlace) {
    let rows = place.open().await;
    let old = row("ann", Kind::Contact, "old");
    write(&*rows, vec![Change::Create(old.clone())]).await;
    let new = || Change::Create(row("bob", Kind::Contact, "new"));
    let stale = Change::Update(Row { revision: 9, ..old.clone() });
    for changes in [vec![new(), stale.clone()], vec![stale, new()]] {
        assert_eq!(rows.apply(changes).await, Ok(Applied::Moved));
        assert_eq!(ask(&*rows, owned("bob", Kind::Contact, 9)).await, []);
    }
    write(&*rows, vec![new(), Change::delete(&old)]).await;
    assert_eq!(ask(&*rows, owned("bob", Kind::Contact, 9)).await.len(), 1);
    assert_eq!(ask(&*rows, owned("ann", Kind::Contact, 9)).await, []);
}

/// At the limit, one past it, and after something went.
pub async fn everybody_has_so_much_and_no_more(place: &dyn RowsPlace) {
    let rows = place.open().await;
    for (kind, most) in [
        (Kind::Event, EVENTS),
        (Kind::Contact, CONTACTS),
        (Kind::Invitation, PENDING_INVITATIONS),
        (Kind::Memory, 1),
    ] {
        let new = |n: usize| Change::Create(row("ann", kind, &format!("{n:05}")));
        write(&*rows, (0..most - 1).map(new).collect()).await;
        let full = Ok(Applied::Full { owner: "ann".to_owned(), kind });
        assert_eq!(rows.apply(vec![new(most), new(most + 1)]).await, full, "both or none");
        write(&*rows, vec![new(most)]).await;
        assert_eq!(rows.apply(vec![new(most + 1)]).await, full, "one more");
        write(&*rows, vec![Change::Create(row("bob", kind, "own"))]).await;
        let last = row("ann", kind, &format!("{most:05}"));
        let changed = Row { revision: 2, ..last };
        write(&*rows, vec![Change::Update(changed.clone())]).await;
        write(&*rows, vec![Change::delete(&changed), new(most + 1)]).await;
        assert_eq!(rows.apply(vec![new(most + 2)]).await, full, "room for one was one");
        assert_eq!(ask(&*rows, owned("ann", kind, most + 9)).await.len(), most);
    }
}

/// Only what waits for an answer counts.
pub async fn an_answer_to_an_invitation_makes_room(place: &dyn RowsPlace) {
    let rows = place.open().await;
    let new = |n: usize| row("ann", Kind::Invitation, &format!("{n:05}"));
    write(&*rows, (0..PENDING_INVITATIONS).map(new).map(Change::Create).collect()).await;
    let another = Change::Create(new(PENDING_INVITATIONS));
    let full = Ok(Applied::Full { owner: "ann".to_owned(), kind: Kind::Invitation });
    assert_eq!(rows.apply(vec![another.clone()]).await, full);
    let answered = Row { revision: 2, body: json!({ "status": "accepted" }), ..new(0) };
    write(&*rows, vec![Change::Update(answered.clone())]).await;
    write(&*rows, vec![another]).await;
    let again = Row { revision: 3, ..new(0) };
    assert_eq!(rows.apply(vec![Change::Update(again)]).await, full, "to ask anew counts again");
    write(&*rows, vec![Change::delete(&answered)]).await;
    let more = Change::Create(new(PENDING_INVITATIONS + 1));
    assert_eq!(rows.apply(vec![more]).await, full, "what did not count leaves no room");
}

/// They would depend on their order.
pub async fn two_changes_of_one_row_are_refused(place: &dyn RowsPlace) {
    let rows = place.open().await;
    let first = row("ann", Kind::Contact, "c");
    let second = Row { revision: 2, ..first.clone() };
    assert!(rows.apply(vec![Change::Create(first), Change::Update(second)]).await.is_err());
    assert_eq!(ask(&*rows, owned("ann", Kind::Contact, 9)).await, []);
}

fn context(user: &str, fresh: &str) -> Context {
    let now = at(1_775_000_000);
    Context { user: user.to_owned(), now, zone: Zone::utc(), fresh: fresh.to_owned() }
}

async fn run(
    rows: &dyn Rows,
    who: &Context,
    name: (&str, &str),
    input: &Value,
) -> Result<Value, Code> {
    let action = Action::find(name.0, name.1).expect("a method");
    let outcome = drive(rows, |loaded| action.execute(who, input, loaded)).await;
    outcome.expect("a store").map_err(|failure| failure.code)
}

/// Whoever comes too late begins again.
pub async fn many_change_one_row_and_nothing_is_lost(place: &dyn RowsPlace) {
    let stores = [place.open().await, place.open().await];
    let mut writers = Vec::new();
    for n in 0..24_usize {
        let rows = Arc::clone(&stores[n % 2]);
        writers.push(tokio::spawn(async move {
            let who = context("ann", &format!("{n}"));
            let input =
                json!({ "operations": [{ "op": "append", "key": "k", "value": n.to_string() }] });
            run(&*rows, &who, ("memory", "update"), &input).await.expect("an update");
        }));
    }
    for writer in writers {
        writer.await.expect("a writer");
    }
    let memory = run(&*stores[0], &context("ann", "r"), ("memory", "read"), &json!({})).await;
    let memory = memory.expect("a memory");
    assert_eq!(memory["revision"], 24);
    let text = memory["items"][0]["value"].as_str().expect("a fact");
    let mut lines: Vec<usize> = text.lines().filter_map(|line| line.parse().ok()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..24).collect::<Vec<_>>());
}

/// The methods themselves, over this store.
pub async fn people_share_and_answer(place: &dyn RowsPlace) {
    let rows = place.open().await;
    for user in ["ann", "bob"] {
        place.add_user(user).await;
    }
    let (ann, bob) = (context("ann", "1"), context("bob", "2"));
    let input = json!({
        "title": "Tea", "start_at": "2026-04-01T09:00:00Z", "end_at": "2026-04-01T10:00:00Z",
        "recurrence": { "rule": "FREQ=DAILY" },
    });
    let event = run(&*rows, &ann, ("calendar", "create"), &input).await.expect("an event");
    let day = json!({ "mode": "day", "date": "2026-05-01" });
    let read = ("calendar", "read");
    assert_eq!(run(&*rows, &bob, read, &day).await.expect("a day")["count"], 0);
    let with = |user: &str| json!({ "event_id": event["id"], "with": [{ "user_id": user }] });
    let share = ("calendar", "share");
    assert_eq!(run(&*rows, &ann, share, &with("eve")).await, Err(Code::NotFound));
    assert_eq!(run(&*rows, &bob, share, &with("ann")).await, Err(Code::NotFound), "not his");
    run(&*rows, &ann, share, &with("bob")).await.expect("an invitation");
    let answer = json!({ "event_id": event["id"] });
    let accept = ("calendar", "accept_invite");
    let accepted = run(&*rows, &bob, accept, &answer).await.expect("an answer");
    assert_eq!(accepted["status"], "accepted");
    assert_eq!(run(&*rows, &bob, read, &day).await.expect("a day")["count"], 1);
    run(&*rows, &ann, ("calendar", "delete"), &answer).await.expect("a deletion");
    assert_eq!(run(&*rows, &bob, read, &day).await.expect("a day")["count"], 0);
    assert_eq!(run(&*rows, &bob, accept, &answer).await, Err(Code::NotFound));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryRows;

    #[derive(Default)]
    struct Place(MemoryRows);

    impl RowsPlace for Place {
        fn open(&self) -> Pending<'_, Arc<dyn Rows>> {
            let rows: Arc<dyn Rows> = Arc::new(self.0.clone());
            Box::pin(std::future::ready(rows))
        }

        fn add_user<'a>(&'a self, id: &'a str) -> Pending<'a, ()> {
            self.0.add_user(id);
            Box::pin(std::future::ready(()))
        }
    }

    crate::rows_conformance!(Place::default());
}
