//! Rows of the organiser that are gone when the last handle goes: for tests of what uses them.

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_organiser::{Answer, Applied, Change, Kind, Pending, Query, Row, Rows, Trouble};

type Key = (String, Kind, String);

/// Keeps rows in memory. Clones share what they keep.
#[derive(Clone, Debug, Default)]
pub struct MemoryRows(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    rows: BTreeMap<Key, Row>,
    users: BTreeSet<String>,
}

impl MemoryRows {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes somebody a user.
    pub fn add_user(&self, id: &str) {
        self.state().users.insert(id.to_owned());
    }
}

impl State {
    fn answer(&self, query: &Query) -> Answer {
        let all = self.rows.values();
        Answer::Rows(match query {
            Query::Ids { kind, ids } => {
                all.filter(|row| row.kind == *kind && ids.contains(&row.id)).cloned().collect()
            }
            Query::Links { owner, kind, links } => all
                .filter(|row| row.kind == *kind)
                .filter(|row| owner.as_ref().is_none_or(|owner| *owner == row.owner))
                .filter(|row| row.link.as_ref().is_some_and(|link| links.contains(link)))
                .cloned()
                .collect(),
            Query::Between { owner, kind, from, until, limit } => {
                let mut list: Vec<Row> = all
                    .filter(|row| row.owner == *owner && row.kind == *kind)
                    .filter(|row| row.starts.is_some_and(|starts| starts < *until))
                    .filter(|row| row.ends.is_none_or(|ends| ends >= *from))
                    .cloned()
                    .collect();
                list.sort_by(|a, b| (a.starts, &a.id).cmp(&(b.starts, &b.id)));
                list.truncate(*limit);
                list
            }
            Query::Owned { owner, kind, limit } => {
                let own = all.filter(|row| row.owner == *owner && row.kind == *kind);
                own.take(*limit).cloned().collect()
            }
            Query::Users { ids } => {
                let known = self.users.iter().filter(|user| ids.contains(user));
                return Answer::Users(known.cloned().collect());
            }
        })
    }

    fn apply(&mut self, changes: Vec<Change>) -> Result<Applied, Trouble> {
        let mut rows = self.rows.clone();
        let mut touched = BTreeSet::new();
        for change in changes {
            let (key, fits) = match change {
                Change::Create(row) => {
                    let fits = row.revision == 1 && !rows.contains_key(&key(&row));
                    (key(&row), fits.then(|| rows.insert(key(&row), row)).is_some())
                }
                Change::Update(row) => {
                    let old = rows.get(&key(&row)).map(|old| old.revision + 1);
                    let fits = old == Some(row.revision);
                    (key(&row), fits.then(|| rows.insert(key(&row), row)).is_some())
                }
                Change::Delete { owner, kind, id, revision } => {
                    let key = (owner, kind, id);
                    let fits = rows.get(&key).is_some_and(|old| old.revision == revision);
                    (key.clone(), fits.then(|| rows.remove(&key)).is_some())
                }
            };
            if !fits {
                return Ok(Applied::Moved);
            }
            if !touched.insert(key) {
                return Err(Trouble::new("two changes are about the same row"));
            }
        }
        let owners: BTreeSet<_> =
            touched.into_iter().map(|(owner, kind, _)| (owner, kind)).collect();
        for (owner, kind) in owners {
            let (before, after) = (count(&self.rows, &owner, kind), count(&rows, &owner, kind));
            if after > before && after > kind.most() {
                return Ok(Applied::Full { owner, kind });
            }
        }
        self.rows = rows;
        Ok(Applied::Written)
    }
}

fn key(row: &Row) -> Key {
    (row.owner.clone(), row.kind, row.id.clone())
}

fn count(rows: &BTreeMap<Key, Row>, owner: &str, kind: Kind) -> usize {
    rows.values().filter(|row| row.owner == owner && row.kind == kind && row.counts()).count()
}

impl Rows for MemoryRows {
    fn ask(&self, queries: Vec<Query>) -> Pending<'_, Result<Vec<Answer>, Trouble>> {
        let state = self.state();
        let answers = queries.iter().map(|query| state.answer(query)).collect();
        Box::pin(ready(Ok(answers)))
    }

    fn apply(&self, changes: Vec<Change>) -> Pending<'_, Result<Applied, Trouble>> {
        let applied = self.state().apply(changes);
        Box::pin(ready(applied))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use remit_organiser::limits::PENDING_INVITATIONS;
    use remit_organiser::port::{TRIES, drive};
    use remit_organiser::{Action, Code, Context, Zone};
    use serde_json::json;

    use super::*;

    fn context(fresh: &str) -> Context {
        let (user, now) = ("ann".to_owned(), jiff::Timestamp::UNIX_EPOCH);
        Context { user, now, zone: Zone::utc(), fresh: fresh.to_owned() }
    }

    /// Is a place where somebody else is faster, so many times.
    #[derive(Default)]
    struct Busy {
        rows: MemoryRows,
        times: usize,
        tries: AtomicUsize,
    }

    impl Rows for Busy {
        fn ask(&self, queries: Vec<Query>) -> Pending<'_, Result<Vec<Answer>, Trouble>> {
            self.rows.ask(queries)
        }

        fn apply(&self, changes: Vec<Change>) -> Pending<'_, Result<Applied, Trouble>> {
            if self.tries.fetch_add(1, Ordering::SeqCst) < self.times {
                return Box::pin(ready(Ok(Applied::Moved)));
            }
            self.rows.apply(changes)
        }
    }

    #[tokio::test]
    async fn a_call_begins_again_so_often_and_then_says_so() {
        let input = json!({ "operations": [{ "op": "set", "key": "k", "value": "v" }] });
        for (times, code) in [(TRIES - 1, None), (TRIES, Some(Code::Conflict))] {
            let busy = Busy { times, ..Busy::default() };
            let step = |loaded: &_| Action::MemoryUpdate.execute(&context("1"), &input, loaded);
            let done = drive(&busy, step).await.unwrap();
            assert_eq!(done.err().map(|failure| failure.code), code, "{times}");
        }
    }

    #[tokio::test]
    async fn nobody_is_buried_in_invitations() {
        let rows = MemoryRows::default();
        rows.add_user("bob");
        let mut codes = Vec::new();
        for n in 0..=PENDING_INVITATIONS {
            let who = context(&n.to_string());
            let new = json!({ "title": "x", "start_date": "2026-04-01" });
            let made = drive(&rows, |loaded| Action::CalendarCreate.execute(&who, &new, loaded));
            let made = made.await.unwrap().unwrap();
            let id = made.get("id").cloned();
            let share = json!({ "event_id": id, "with": [{ "user_id": "bob" }] });
            let done = drive(&rows, |loaded| Action::CalendarShare.execute(&who, &share, loaded));
            codes.push(done.await.unwrap().map_err(|failure| failure.code).err());
        }
        assert_eq!(codes.iter().filter(|code| code.is_none()).count(), PENDING_INVITATIONS);
        assert_eq!(codes.last(), Some(&Some(Code::LimitExceeded)));
    }
}
