//! Who has added which agent, and what they were told, as it is written.

use remit_engine::registry::{Looked, Relation, Seen};
use rusqlite::params;

use crate::sqlite::fault::Fault;
use crate::sqlite::ledger::Ledger;
use crate::sqlite::rows;

/// Does something to the notices about an agent that were not read.
macro_rules! unread {
    ($what:literal, $whose:literal) => {
        concat!($what, " FROM notices WHERE agent = ?1 AND read = 0 ", $whose)
    };
}

fn card(row: &rusqlite::Row<'_>) -> Result<i64, Fault> {
    Ok(row.get(0)?)
}

impl Ledger {
    /// Adds an agent for a user who saw its present version.
    pub(super) fn add_agent(&mut self, seen: &Seen) -> Result<Looked, Fault> {
        let Some(current) = self.agent_version(&seen.agent)? else {
            return Ok(Looked::UnknownAgent);
        };
        let known = super::find_relation(self.conn(), &seen.user, &seen.agent)?;
        if let Some(relation) = known.filter(Relation::stands) {
            return Ok(Looked::Counts(relation));
        }
        if current != seen.version || current == 0 {
            return Ok(Looked::Moved(current));
        }
        self.conn()
            .prepare_cached(
                "REPLACE INTO relations (user, agent, accepted, added_ms, ended_ms)
                 VALUES (?1, ?2, ?3, ?4, NULL)",
            )?
            .execute(params![seen.user, seen.agent, rows::stored(current), seen.at_ms])?;
        Ok(Looked::Counts(Relation {
            user: seen.user.clone(),
            agent: seen.agent.clone(),
            accepted_version: current,
            added_at_ms: seen.at_ms,
            ended_at_ms: None,
        }))
    }

    /// Moves what a user accepted to the version they saw.
    pub(super) fn accept_version(&mut self, seen: &Seen) -> Result<Looked, Fault> {
        let Some(current) = self.agent_version(&seen.agent)? else {
            return Ok(Looked::UnknownAgent);
        };
        let known = super::find_relation(self.conn(), &seen.user, &seen.agent)?;
        let Some(mut relation) = known.filter(Relation::stands) else {
            return Ok(Looked::NotAdded);
        };
        if current != seen.version {
            return Ok(Looked::Moved(current));
        }
        self.conn()
            .prepare_cached("UPDATE relations SET accepted = ?3 WHERE user = ?1 AND agent = ?2")?
            .execute(params![seen.user, seen.agent, rows::stored(current)])?;
        self.conn()
            .prepare_cached(
                "UPDATE notices SET read = 1 WHERE agent = ?2 AND user = ?1 AND read = 0",
            )?
            .execute(params![seen.user, seen.agent])?;
        relation.accepted_version = current;
        Ok(Looked::Counts(relation))
    }

    /// Ends a relation; gives it.
    pub(super) fn end_relation(
        &mut self,
        user: &str,
        agent: &str,
        at_ms: i64,
    ) -> Result<Option<Relation>, Fault> {
        let known = super::find_relation(self.conn(), user, agent)?;
        let Some(mut relation) = known else { return Ok(None) };
        if relation.stands() {
            self.conn()
                .prepare_cached(
                    "UPDATE relations SET ended_ms = ?3 WHERE user = ?1 AND agent = ?2",
                )?
                .execute(params![user, agent, at_ms])?;
            self.drop_unread(agent, Some(user))?;
            relation.ended_at_ms = Some(at_ms);
        }
        Ok(Some(relation))
    }

    /// Drops the notices about an agent that a user, or anybody, has not read, and the cards that
    /// nobody has any more.
    pub(super) fn drop_unread(&mut self, agent: &str, user: Option<&str>) -> Result<(), Fault> {
        let conn = self.conn();
        // Two pairs of statements, so that each finds its way through the index.
        let cards = match user {
            None => rows::all(
                &mut *conn.prepare_cached(unread!("SELECT DISTINCT card", ""))?,
                [agent],
                card,
            )?,
            Some(user) => {
                let sql = unread!("SELECT DISTINCT card", "AND user = ?2");
                rows::all(&mut *conn.prepare_cached(sql)?, [agent, user], card)?
            }
        };
        if cards.is_empty() {
            return Ok(());
        }
        match user {
            None => conn.prepare_cached(unread!("DELETE", ""))?.execute([agent])?,
            Some(user) => {
                conn.prepare_cached(unread!("DELETE", "AND user = ?2"))?.execute([agent, user])?
            }
        };
        let mut drop_card = conn.prepare_cached(
            "DELETE FROM cards
             WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM notices WHERE card = ?1)",
        )?;
        for card in cards {
            drop_card.execute([card])?;
        }
        Ok(())
    }

    /// Marks a notice as read; tells whether the user has one of that number.
    pub(super) fn read_notice(&mut self, user: &str, id: u64) -> Result<bool, Fault> {
        let mut update = self
            .conn()
            .prepare_cached("UPDATE notices SET read = 1 WHERE id = ?2 AND user = ?1")?;
        Ok(update.execute(params![user, rows::stored(id)])? > 0)
    }
}
