//! Standing permissions: given, renewed, taken back.

use remit_engine::log;
use remit_engine::stage::authorise::DAY_MS;
use remit_model::{CallId, Grant, Instant, ThreadId};
use rusqlite::params;

use crate::sqlite::fault::Fault;
use crate::sqlite::rows;

use super::Ledger;

/// Says what writing a grant down came to.
#[derive(PartialEq, Eq)]
enum Kept {
    New,
    Changed,
    Renewed,
}

impl Ledger {
    /// Writes down a grant that was given or used with a call, unless it was taken back meanwhile.
    pub(super) fn granted_with(
        &mut self,
        thread: &ThreadId,
        call: &CallId,
        grant: &Grant,
        at: &Instant,
    ) -> Result<(), Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT 1 FROM grants
             WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4 AND revoked = 1",
        )?;
        let is_revoked =
            find.exists(params![grant.user, grant.agent, grant.source, grant.scope])?;
        drop(find);
        if is_revoked {
            return Ok(());
        }
        let kept = self.keep(grant)?;
        if kept == Kept::New {
            self.forget_lapsed(grant, at)?;
        }
        if kept != Kept::Renewed {
            self.append(thread, &log::given(grant, Some(call)))?;
        }
        Ok(())
    }

    /// Gives or renews a grant.
    pub(crate) fn give(&mut self, grant: &Grant) -> Result<(), Fault> {
        if !grant.revoked {
            self.conn
                .prepare_cached(
                    "DELETE FROM grants
                     WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4 AND revoked = 1",
                )?
                .execute(params![grant.user, grant.agent, grant.source, grant.scope])?;
        }
        if self.keep(grant)? != Kept::Renewed
            && !grant.revoked
            && let Some(thread) = ThreadId::parse(&grant.thread)
        {
            self.append(&thread, &log::given(grant, None))?;
        }
        Ok(())
    }

    /// Takes back every grant of a user for a scope of a source; gives how many stood.
    pub(crate) fn revoke(
        &mut self,
        user: &str,
        source: &str,
        scope: &str,
        at: &Instant,
    ) -> Result<usize, Fault> {
        let standing = {
            let mut find = self.conn.prepare_cached(rows::GRANTS_STANDING)?;
            rows::all(&mut find, [user, source, scope], rows::grant)?
        };
        if standing.is_empty() {
            return Ok(0);
        }
        self.conn
            .prepare_cached(
                "UPDATE grants SET revoked = 1
                 WHERE user = ?1 AND source = ?2 AND scope = ?3 AND revoked = 0",
            )?
            .execute([user, source, scope])?;
        self.grants_changed()?;
        for grant in &standing {
            if let Some(thread) = ThreadId::parse(&grant.thread) {
                self.append(&thread, &log::revoked(grant, at))?;
            }
        }
        Ok(standing.len())
    }

    fn keep(&mut self, grant: &Grant) -> Result<Kept, Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT sensitivity = ?7 AND manifest_hash = ?8 AND revoked = ?9 FROM grants
             WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4 AND device = ?5
                AND thread = ?6",
        )?;
        let is_same = rows::first(
            &mut find,
            params![
                grant.user,
                grant.agent,
                grant.source,
                grant.scope,
                grant.device,
                grant.thread,
                grant.sensitivity.as_str(),
                grant.manifest_hash,
                grant.revoked,
            ],
            |row| Ok(row.get::<_, bool>(0)?),
        )?;
        drop(find);
        self.conn
            .prepare_cached(
                "REPLACE INTO grants (user, agent, source, scope, device, thread, sensitivity,
                    manifest_hash, revoked, used_wall_ms, used_boot_ms, used_boot)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                grant.user,
                grant.agent,
                grant.source,
                grant.scope,
                grant.device,
                grant.thread,
                grant.sensitivity.as_str(),
                grant.manifest_hash,
                grant.revoked,
                grant.used.wall_ms,
                grant.used.boot_ms,
                grant.used.boot,
            ])?;
        self.grants_changed()?;
        Ok(match is_same {
            None => Kept::New,
            Some(false) => Kept::Changed,
            Some(true) => Kept::Renewed,
        })
    }

    /// Removes what a user gave to an agent and has lapsed, so that what is read at each call does
    /// not grow with the years. It measures as the engine does.
    fn forget_lapsed(&mut self, grant: &Grant, at: &Instant) -> Result<(), Fault> {
        self.conn
            .prepare_cached(
                "DELETE FROM grants WHERE user = ?1 AND agent = ?2 AND revoked = 0
                    AND iif(used_boot = ?3, used_boot_ms < ?4, used_wall_ms < ?5)",
            )?
            .execute(params![
                grant.user,
                grant.agent,
                at.boot,
                at.boot_ms.saturating_sub(DAY_MS),
                at.wall_ms.saturating_sub(DAY_MS),
            ])?;
        Ok(())
    }

    fn grants_changed(&mut self) -> Result<(), Fault> {
        self.conn
            .prepare_cached("UPDATE changes SET grants = grants + 1 WHERE id = 1")?
            .execute([])?;
        Ok(())
    }
}
