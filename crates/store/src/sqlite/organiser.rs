//! Calendars, contacts and memories.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use remit_engine::ports::StoreError;
use remit_organiser::{Answer, Applied, Change, Kind, Pending, Query, Row, Rows, Trouble};
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::fault::Fault;
use super::ledger::Ledger;
use super::rows;

/// Selects what [`row`] reads.
macro_rules! organiser {
    ($condition:literal) => {
        concat!(
            "SELECT owner, kind, id, revision, link, starts, ends, body FROM organiser ",
            $condition
        )
    };
}

/// Is a row as it is written: its text was made before the one who writes has it in hand.
struct Held {
    row: Row,
    body: String,
}

enum Write {
    Create(Held),
    Update(Held),
    Delete { owner: String, kind: Kind, id: String, revision: u64 },
}

impl Write {
    fn new(change: Change) -> Result<Self, StoreError> {
        let held = |row: Row| {
            let body = serde_json::to_string(&row.body)
                .map_err(|error| StoreError::new(format!("a row that is no JSON: {error}")))?;
            if rows::is_too_deep(&body) {
                return Err(StoreError::new("a row is nested too deep to be read back"));
            }
            Ok(Held { row, body })
        };
        Ok(match change {
            Change::Create(row) => Self::Create(held(row)?),
            Change::Update(row) => Self::Update(held(row)?),
            Change::Delete { owner, kind, id, revision } => {
                Self::Delete { owner, kind, id, revision }
            }
        })
    }

    fn key(&self) -> (&str, Kind, &str) {
        match self {
            Self::Create(Held { row, .. }) | Self::Update(Held { row, .. }) => {
                (&row.owner, row.kind, &row.id)
            }
            Self::Delete { owner, kind, id, .. } => (owner, *kind, id),
        }
    }

    /// Gives how much more its owner has after it, or nothing if it was made for another revision.
    fn more(&self, found: Option<(u64, bool)>) -> Option<i64> {
        match (self, found) {
            (Self::Create(new), None) if new.row.revision == 1 => Some(i64::from(new.row.counts())),
            (Self::Update(new), Some((revision, counts)))
                if revision.checked_add(1) == Some(new.row.revision) =>
            {
                Some(i64::from(new.row.counts()) - i64::from(counts))
            }
            (Self::Delete { revision: made_for, .. }, Some((revision, counts)))
                if revision == *made_for =>
            {
                Some(-i64::from(counts))
            }
            _ => None,
        }
    }
}

impl Ledger {
    /// Writes all or nothing: everything is looked at before anything is written, because what was
    /// written could only be taken back together with what others wrote.
    fn apply(&mut self, writes: &[Write]) -> Result<Applied, Fault> {
        let mut more: BTreeMap<(&str, Kind), i64> = BTreeMap::new();
        for write in writes {
            let (owner, kind, id) = write.key();
            let Some(by) = write.more(standing(self.conn(), owner, kind, id)?) else {
                return Ok(Applied::Moved);
            };
            *more.entry((owner, kind)).or_default() += by;
        }
        for ((owner, kind), by) in &more {
            let most = i64::try_from(kind.most()).unwrap_or(i64::MAX);
            // Whoever has too much already may still have less.
            if *by > 0 && count(self.conn(), owner, *kind)?.saturating_add(*by) > most {
                return Ok(Applied::Full { owner: (*owner).to_owned(), kind: *kind });
            }
        }
        for write in writes {
            put(self.conn(), write)?;
        }
        for ((owner, kind), by) in more.iter().filter(|(_, by)| **by != 0) {
            let kind = kind.name();
            let sql =
                "UPDATE organiser_counts SET count = count + ?3 WHERE owner = ?1 AND kind = ?2";
            let changed = self.conn().prepare_cached(sql)?.execute(params![owner, kind, by])?;
            if changed == 0 {
                let sql = "INSERT INTO organiser_counts (owner, kind, count) VALUES (?1, ?2, ?3)";
                self.conn().prepare_cached(sql)?.execute(params![owner, kind, by])?;
            }
        }
        Ok(Applied::Written)
    }
}

/// Finds the revision of a row, and whether it counts.
fn standing(
    conn: &Connection,
    owner: &str,
    kind: Kind,
    id: &str,
) -> Result<Option<(u64, bool)>, Fault> {
    let sql = "SELECT revision, counts FROM organiser WHERE owner = ?1 AND kind = ?2 AND id = ?3";
    rows::first(&mut *conn.prepare_cached(sql)?, [owner, kind.name(), id], |row| {
        Ok((rows::number(row.get(0)?)?, row.get(1)?))
    })
}

fn count(conn: &Connection, owner: &str, kind: Kind) -> Result<i64, Fault> {
    let sql = "SELECT count FROM organiser_counts WHERE owner = ?1 AND kind = ?2";
    let found =
        rows::first(&mut *conn.prepare_cached(sql)?, [owner, kind.name()], |row| Ok(row.get(0)?))?;
    Ok(found.unwrap_or(0))
}

fn put(conn: &Connection, write: &Write) -> Result<(), Fault> {
    let (Held { row, body }, sql) = match write {
        Write::Create(held) => (
            held,
            "INSERT INTO organiser (owner, kind, id, revision, counts, link, starts, ends, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        ),
        Write::Update(held) => (
            held,
            "UPDATE organiser SET revision = ?4, counts = ?5, link = ?6, starts = ?7, ends = ?8,
                body = ?9
             WHERE owner = ?1 AND kind = ?2 AND id = ?3",
        ),
        Write::Delete { owner, kind, id, .. } => {
            let sql = "DELETE FROM organiser WHERE owner = ?1 AND kind = ?2 AND id = ?3";
            conn.prepare_cached(sql)?.execute([owner, kind.name(), id])?;
            return Ok(());
        }
    };
    conn.prepare_cached(sql)?.execute(params![
        row.owner,
        row.kind.name(),
        row.id,
        rows::stored(row.revision),
        row.counts(),
        row.link,
        row.starts.map(Timestamp::as_microsecond),
        row.ends.map(Timestamp::as_microsecond),
        body,
    ])?;
    Ok(())
}

fn row(row: &rusqlite::Row<'_>) -> Result<Row, Fault> {
    let word = rows::text(row, 1)?;
    let kind = [Kind::Event, Kind::Invitation, Kind::Contact, Kind::Memory]
        .into_iter()
        .find(|kind| kind.name() == word)
        .ok_or_else(|| Fault::Damaged(format!("a row of the kind `{word}`")))?;
    Ok(Row {
        owner: row.get(0)?,
        kind,
        id: row.get(2)?,
        revision: rows::number(row.get(3)?)?,
        link: row.get(4)?,
        starts: moment(row.get(5)?)?,
        ends: moment(row.get(6)?)?,
        body: rows::json(rows::text(row, 7)?)?,
    })
}

fn moment(micros: Option<i64>) -> Result<Option<Timestamp>, Fault> {
    let read = |micros| {
        Timestamp::from_microsecond(micros)
            .map_err(|_| Fault::Damaged("a time that is none".to_owned()))
    };
    micros.map(read).transpose()
}

fn answer(conn: &Connection, query: &Query) -> Result<Answer, Fault> {
    let found = match query {
        Query::Ids { kind, ids } => {
            let mut find = conn.prepare_cached(organiser!("WHERE kind = ?1 AND id = ?2"))?;
            let mut found = Vec::new();
            for id in ids.iter().collect::<BTreeSet<_>>() {
                found.extend(rows::all(&mut find, [kind.name(), id], row)?);
            }
            found
        }
        Query::Links { owner, kind, links } => {
            let mut find = conn.prepare_cached(organiser!(
                "WHERE kind = ?1 AND link = ?2 AND (?3 IS NULL OR owner = ?3) ORDER BY owner, id"
            ))?;
            let mut found = Vec::new();
            for link in links.iter().collect::<BTreeSet<_>>() {
                found.extend(rows::all(&mut find, params![kind.name(), link, owner], row)?);
            }
            found
        }
        Query::Between { owner, kind, from, until, limit } => {
            // In two parts, of which each is one stretch of the index.
            let mut find = conn.prepare_cached(concat!(
                organiser!("WHERE owner = ?1 AND kind = ?2 AND ends IS NULL AND starts < ?4"),
                " UNION ALL ",
                organiser!("WHERE owner = ?1 AND kind = ?2 AND ends >= ?3 AND starts < ?4"),
                " ORDER BY starts, id LIMIT ?5"
            ))?;
            let (from, until) = (from.as_microsecond(), until.as_microsecond());
            let limit = rows::limit(Some(*limit));
            rows::all(&mut find, params![owner, kind.name(), from, until, limit], row)?
        }
        Query::Owned { owner, kind, limit } => {
            let sql = organiser!("WHERE owner = ?1 AND kind = ?2 ORDER BY id LIMIT ?3");
            let asked = params![owner, kind.name(), rows::limit(Some(*limit))];
            rows::all(&mut *conn.prepare_cached(sql)?, asked, row)?
        }
        Query::Users { ids } => {
            let mut find = conn.prepare_cached("SELECT id FROM users WHERE id = ?1")?;
            let mut known = Vec::new();
            for id in ids.iter().collect::<BTreeSet<_>>() {
                known.extend(rows::first(&mut find, [id], |row| Ok(row.get::<_, String>(0)?))?);
            }
            return Ok(Answer::Users(known));
        }
    };
    Ok(Answer::Rows(found))
}

fn trouble(error: StoreError) -> Trouble {
    Trouble::new(error.message)
}

impl Rows for SqliteStore {
    fn ask(&self, queries: Vec<Query>) -> Pending<'_, Result<Vec<Answer>, Trouble>> {
        Box::pin(async move {
            let asked = self.readers.read(move |conn| {
                // All answers are of the moment of the first.
                let snapshot = conn.unchecked_transaction()?;
                queries.iter().map(|query| answer(&snapshot, query)).collect()
            });
            asked.await.map_err(trouble)
        })
    }

    fn apply(&self, changes: Vec<Change>) -> Pending<'_, Result<Applied, Trouble>> {
        Box::pin(async move {
            let writes: Result<Vec<Write>, StoreError> =
                changes.into_iter().map(Write::new).collect();
            let writes = writes.map_err(trouble)?;
            let keys: BTreeSet<_> = writes.iter().map(Write::key).collect();
            if keys.len() < writes.len() {
                return Err(Trouble::new("two changes are about the same row: please report this"));
            }
            drop(keys);
            self.writer.write(move |ledger| ledger.apply(&writes)).await.map_err(trouble)
        })
    }
}
