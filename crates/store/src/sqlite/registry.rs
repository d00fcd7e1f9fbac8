//! The registry of agents. What is written is in [`publish`] and [`relations`].

mod publish;
mod relations;

use remit_engine::ports::{Pending, StoreError};
use remit_engine::registry::{
    Agent, AgentQuery, AgentVersion, ChangeTexts, Looked, Notice, NoticeKind, NoticeQuery, Page,
    Publication, Registry, Relation, Seen, Standing, VersionHead, Written,
};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::fault::Fault;
use super::rows;

/// Selects what [`agent`] reads.
macro_rules! agents {
    ($condition:literal) => {
        concat!("SELECT id, name, owner, created_ms, version, hash, bytes FROM agents ", $condition)
    };
}

fn agent(row: &Row<'_>) -> Result<Agent, Fault> {
    Ok(Agent {
        id: row.get(0)?,
        name: row.get(1)?,
        owner: row.get(2)?,
        created_at_ms: row.get(3)?,
        version: rows::number(row.get(4)?)?,
        hash: row.get(5)?,
        bytes: rows::number(row.get(6)?)?,
    })
}

fn find_agent(conn: &Connection, id: &str) -> Result<Option<Agent>, Fault> {
    rows::first(&mut *conn.prepare_cached(agents!("WHERE id = ?1"))?, [id], agent)
}

fn find_relation(conn: &Connection, user: &str, agent: &str) -> Result<Option<Relation>, Fault> {
    let sql = "SELECT user, agent, accepted, added_ms, ended_ms FROM relations
               WHERE user = ?1 AND agent = ?2";
    rows::first(&mut *conn.prepare_cached(sql)?, [user, agent], relation)
}

fn relation(row: &Row<'_>) -> Result<Relation, Fault> {
    Ok(Relation {
        user: row.get(0)?,
        agent: row.get(1)?,
        accepted_version: rows::number(row.get(2)?)?,
        added_at_ms: row.get(3)?,
        ended_at_ms: row.get(4)?,
    })
}

fn find_version(
    conn: &Connection,
    agent: &str,
    version: u64,
) -> Result<Option<AgentVersion>, Fault> {
    let sql = "SELECT hash, bytes, at_ms, breaking, non_breaking, consent, canonical
               FROM agent_versions WHERE agent = ?1 AND version = ?2";
    let mut find = conn.prepare_cached(sql)?;
    rows::first(&mut find, params![agent, rows::stored(version)], |row| {
        Ok(AgentVersion {
            agent: agent.to_owned(),
            version,
            hash: row.get(0)?,
            canonical: row.get(6)?,
            bytes: rows::number(row.get(1)?)?,
            at_ms: row.get(2)?,
            changes: ChangeTexts {
                breaking: row.get(3)?,
                non_breaking: row.get(4)?,
                consent: row.get(5)?,
            },
        })
    })
}

fn head(row: &Row<'_>) -> Result<VersionHead, Fault> {
    Ok(VersionHead {
        version: rows::number(row.get(0)?)?,
        hash: row.get(1)?,
        bytes: rows::number(row.get(2)?)?,
        at_ms: row.get(3)?,
        is_breaking: row.get(4)?,
        asks_consent: row.get(5)?,
    })
}

fn notice(row: &Row<'_>) -> Result<Notice, Fault> {
    let kind = rows::text(row, 3)?;
    Ok(Notice {
        id: rows::number(row.get(0)?)?,
        user: row.get(1)?,
        agent: row.get(2)?,
        kind: NoticeKind::parse(kind)
            .ok_or_else(|| Fault::Damaged(format!("a notice of the kind `{kind}`")))?,
        body: rows::json(rows::text(row, 4)?)?,
        at_ms: row.get(5)?,
        read: row.get(6)?,
    })
}

/// Finds a request that was kept: its hash and its version.
fn find_retry(conn: &Connection, agent: &str, key: &str) -> Result<Option<(String, u64)>, Fault> {
    let sql = "SELECT request, version FROM agent_retries WHERE agent = ?1 AND key = ?2";
    rows::first(&mut *conn.prepare_cached(sql)?, [agent, key], |row| {
        Ok((row.get(0)?, rows::number(row.get(1)?)?))
    })
}

/// Lists the versions that were accepted. It steps from one to the next in the index, so that it
/// costs what there are versions and not what there are users.
fn accepted(conn: &Connection, agent: &str) -> Result<Vec<u64>, Fault> {
    let sql = "
        WITH RECURSIVE steps (version) AS (
            SELECT max(accepted) FROM relations WHERE agent = ?1 AND ended_ms IS NULL
            UNION ALL
            SELECT (
                SELECT max(accepted) FROM relations
                WHERE agent = ?1 AND ended_ms IS NULL AND accepted < steps.version
            )
            FROM steps WHERE steps.version IS NOT NULL
        )
        SELECT version FROM steps WHERE version IS NOT NULL";
    rows::all(&mut *conn.prepare_cached(sql)?, [agent], |row| rows::number(row.get(0)?))
}

impl Registry for SqliteStore {
    fn create(&self, agent: Agent) -> Pending<'_, Result<bool, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.create_agent(&agent)))
    }

    fn agent(&self, id: &str) -> Pending<'_, Result<Option<Agent>, StoreError>> {
        let id = id.to_owned();
        Box::pin(self.readers.read(move |conn| find_agent(conn, &id)))
    }

    fn agents(&self, query: AgentQuery) -> Pending<'_, Result<Vec<Agent>, StoreError>> {
        Box::pin(self.readers.read(move |conn| {
            let (after, limit) = (query.after.unwrap_or_default(), rows::limit(query.limit));
            match query.owner {
                Some(owner) => {
                    let sql = agents!("WHERE owner = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
                    let mut find = conn.prepare_cached(sql)?;
                    rows::all(&mut find, params![owner, after, limit], agent)
                }
                None => {
                    let sql = agents!("WHERE id > ?1 ORDER BY id LIMIT ?2");
                    rows::all(&mut *conn.prepare_cached(sql)?, params![after, limit], agent)
                }
            }
        }))
    }

    fn publish(&self, publication: Publication) -> Pending<'_, Result<Written, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.publish_agent(&publication)))
    }

    fn version(
        &self,
        agent: &str,
        version: u64,
    ) -> Pending<'_, Result<Option<AgentVersion>, StoreError>> {
        let agent = agent.to_owned();
        Box::pin(self.readers.read(move |conn| find_version(conn, &agent, version)))
    }

    fn versions(
        &self,
        agent: &str,
        page: Page,
    ) -> Pending<'_, Result<Vec<VersionHead>, StoreError>> {
        let agent = agent.to_owned();
        Box::pin(self.readers.read(move |conn| {
            let sql = "SELECT version, hash, bytes, at_ms, is_breaking, asks_consent
                       FROM agent_versions
                       WHERE agent = ?1 AND version > ?2 ORDER BY version LIMIT ?3";
            let asked = params![agent, rows::stored(page.after), rows::limit(page.limit)];
            rows::all(&mut *conn.prepare_cached(sql)?, asked, head)
        }))
    }

    fn retried(
        &self,
        agent: &str,
        key: &str,
    ) -> Pending<'_, Result<Option<(String, u64)>, StoreError>> {
        let (agent, key) = (agent.to_owned(), key.to_owned());
        Box::pin(self.readers.read(move |conn| find_retry(conn, &agent, &key)))
    }

    fn accepted(&self, agent: &str) -> Pending<'_, Result<Vec<u64>, StoreError>> {
        let agent = agent.to_owned();
        Box::pin(self.readers.read(move |conn| accepted(conn, &agent)))
    }

    fn add(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.add_agent(&seen)))
    }

    fn accept(&self, seen: Seen) -> Pending<'_, Result<Looked, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.accept_version(&seen)))
    }

    fn end(
        &self,
        user: &str,
        agent: &str,
        at_ms: i64,
    ) -> Pending<'_, Result<Option<Relation>, StoreError>> {
        let (user, agent) = (user.to_owned(), agent.to_owned());
        Box::pin(self.writer.write(move |ledger| ledger.end_relation(&user, &agent, at_ms)))
    }

    fn standing(
        &self,
        user: &str,
        agent: &str,
    ) -> Pending<'_, Result<Option<Standing>, StoreError>> {
        let (user, agent) = (user.to_owned(), agent.to_owned());
        Box::pin(self.readers.read(move |conn| {
            // The relation first: what was accepted is never newer than the agent that is read after.
            let relation = find_relation(conn, &user, &agent)?;
            Ok(find_agent(conn, &agent)?.map(|agent| Standing { agent, relation }))
        }))
    }

    fn relations(&self, user: &str) -> Pending<'_, Result<Vec<Relation>, StoreError>> {
        let user = user.to_owned();
        Box::pin(self.readers.read(move |conn| {
            let sql = "SELECT user, agent, accepted, added_ms, ended_ms FROM relations
                       WHERE user = ?1 ORDER BY agent";
            rows::all(&mut *conn.prepare_cached(sql)?, [&user], relation)
        }))
    }

    fn notices(&self, query: NoticeQuery) -> Pending<'_, Result<Vec<Notice>, StoreError>> {
        Box::pin(self.readers.read(move |conn| {
            let sql = "SELECT n.id, n.user, n.agent, n.kind, c.body, n.at_ms, n.read
                       FROM notices n JOIN cards c ON c.id = n.card
                       WHERE n.user = ?1 AND n.id > ?2 AND n.read <= ?3
                       ORDER BY n.id LIMIT ?4";
            let NoticeQuery { user, unread, page } = query;
            let asked = params![user, rows::stored(page.after), !unread, rows::limit(page.limit)];
            rows::all(&mut *conn.prepare_cached(sql)?, asked, notice)
        }))
    }

    fn read_notice(&self, user: &str, id: u64) -> Pending<'_, Result<bool, StoreError>> {
        let user = user.to_owned();
        Box::pin(self.writer.write(move |ledger| ledger.read_notice(&user, id)))
    }
}
