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
        for (owner, kind, _) in touched {
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
