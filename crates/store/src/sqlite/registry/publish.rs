//! Agents and their versions, as they are written.

use remit_engine::registry::{Agent, Card, NoticeKind, Notices, Publication, RETRY_MS, Written};
use remit_model::Instant;
use rusqlite::params;

use crate::sqlite::fault::Fault;
use crate::sqlite::ledger::Ledger;
use crate::sqlite::rows;

/// How many lapsed requests are forgotten with each that is remembered.
const FORGOTTEN_AT_ONCE: i64 = 4;

impl Ledger {
    /// Adds an agent; tells whether its id was free.
    pub(super) fn create_agent(&mut self, agent: &Agent) -> Result<bool, Fault> {
        let mut insert = self.conn().prepare_cached(
            "INSERT INTO agents (id, name, owner, created_ms, version, hash, bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        )?;
        let added = insert.execute(params![
            agent.id,
            agent.name,
            agent.owner,
            agent.created_at_ms,
            rows::stored(agent.version),
            agent.hash,
            rows::stored(agent.bytes),
        ])?;
        Ok(added > 0)
    }

    /// Keeps the next version of an agent, if nobody else did since it was compared.
    pub(super) fn publish_agent(&mut self, new: &Publication) -> Result<Written, Fault> {
        if let Some(retry) = &new.retry
            && let Some((request, version)) =
                super::find_retry(self.conn(), &new.agent, &retry.key)?
        {
            let is_same = request == retry.request;
            return Ok(if is_same { Written::Before(version) } else { Written::KeyTaken });
        }
        let Some(current) = self.agent_version(&new.agent)? else {
            return Ok(Written::UnknownAgent);
        };
        if current != new.base {
            return Ok(Written::Moved(current));
        }
        let version = current + 1;
        self.write_version(new, version)?;
        if let Some(retry) = &new.retry {
            self.remember(&new.agent, &retry.key, &retry.request, version, &new.at)?;
        }
        if let Notices::Replace(cards) = &new.notices {
            self.replace_notices(&new.agent, cards, new.at.wall_ms)?;
        }
        Ok(Written::As(version))
    }

    /// Finds the present version of an agent.
    pub(super) fn agent_version(&mut self, agent: &str) -> Result<Option<u64>, Fault> {
        let mut find = self.conn().prepare_cached("SELECT version FROM agents WHERE id = ?1")?;
        rows::first(&mut find, [agent], |row| rows::number(row.get(0)?))
    }

    fn write_version(&mut self, new: &Publication, version: u64) -> Result<(), Fault> {
        let (version, bytes) = (rows::stored(version), rows::stored(new.bytes));
        self.conn()
            .prepare_cached(
                "INSERT INTO agent_versions (agent, version, hash, bytes, at_ms, is_breaking,
                    asks_consent, breaking, non_breaking, consent, canonical)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                new.agent,
                version,
                new.hash,
                bytes,
                new.at.wall_ms,
                new.changes.is_breaking(),
                new.changes.asks_consent(),
                new.changes.breaking,
                new.changes.non_breaking,
                new.changes.consent,
                new.canonical,
            ])?;
        self.conn()
            .prepare_cached("UPDATE agents SET version = ?2, hash = ?3, bytes = ?4 WHERE id = ?1")?
            .execute(params![new.agent, version, new.hash, bytes])?;
        Ok(())
    }

    /// Remembers a request, and forgets some that nobody will repeat any more.
    fn remember(
        &mut self,
        agent: &str,
        key: &str,
        request: &str,
        version: u64,
        at: &Instant,
    ) -> Result<(), Fault> {
        self.conn()
            .prepare_cached(
                "DELETE FROM agent_retries
                 WHERE id IN (SELECT id FROM agent_retries ORDER BY id LIMIT ?1)
                    AND iif(at_boot = ?2, at_boot_ms < ?3, at_wall_ms < ?4)",
            )?
            .execute(params![
                FORGOTTEN_AT_ONCE,
                at.boot,
                at.boot_ms.saturating_sub(RETRY_MS),
                at.wall_ms.saturating_sub(RETRY_MS),
            ])?;
        self.conn()
            .prepare_cached(
                "INSERT INTO agent_retries
                    (agent, key, request, version, at_wall_ms, at_boot_ms, at_boot)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                agent,
                key,
                request,
                rows::stored(version),
                at.wall_ms,
                at.boot_ms,
                at.boot
            ])?;
        Ok(())
    }

    /// Puts new notices in the place of those that nobody has read.
    fn replace_notices(&mut self, agent: &str, cards: &[Card], at_ms: i64) -> Result<(), Fault> {
        self.drop_unread(agent, None)?;
        for card in cards {
            let mut find = self.conn().prepare_cached(
                "SELECT 1 FROM relations
                 WHERE agent = ?1 AND accepted = ?2 AND ended_ms IS NULL LIMIT 1",
            )?;
            let accepted = rows::stored(card.accepted);
            if !find.exists(params![agent, accepted])? {
                continue;
            }
            self.conn()
                .prepare_cached("INSERT INTO cards (agent, body) VALUES (?1, ?2)")?
                .execute(params![agent, card.body])?;
            let card = self.conn().last_insert_rowid();
            self.conn()
                .prepare_cached(
                    "INSERT INTO notices (user, agent, kind, card, at_ms, read)
                     SELECT user, agent, ?3, ?4, ?5, 0 FROM relations
                     WHERE agent = ?1 AND accepted = ?2 AND ended_ms IS NULL",
                )?
                .execute(params![agent, accepted, NoticeKind::Review.as_str(), card, at_ms])?;
        }
        Ok(())
    }
}
