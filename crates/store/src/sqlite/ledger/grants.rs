//! Standing permissions: given, renewed, taken back.

use remit_engine::log;
use remit_engine::stage::authorise::DAY_MS;
use remit_model::{CallId, Grant, Instant, Permit, ThreadId};
use rusqlite::params;

use crate::sqlite::fault::Fault;
use crate::sqlite::rows;

use super::{Ledger, Remembered};

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
            self.forget_revoked(&grant.permit())?;
        }
        if self.keep(grant)? != Kept::Renewed
            && !grant.revoked
            && let Some(thread) = ThreadId::parse(&grant.thread)
        {
            self.append(&thread, &log::given(grant, None))?;
        }
        Ok(())
    }

    /// Takes a permission back; gives how many grants stood. One that was never given leaves a mark.
    pub(crate) fn revoke(&mut self, permit: &Permit, at: &Instant) -> Result<usize, Fault> {
        let mut standing = {
            let mut find = self.conn.prepare_cached(rows::GRANTS_FOR)?;
            rows::all(&mut find, names(permit), rows::grant)?
        };
        if standing.is_empty() {
            let mark = permit.revoked(at);
            self.keep(&mark)?;
            self.append(&log::permissions(), &log::revoked(&mark, at))?;
            return Ok(0);
        }
        standing.retain(|grant| !grant.revoked);
        if standing.is_empty() {
            return Ok(0);
        }
        self.conn
            .prepare_cached(
                "UPDATE grants SET revoked = 1
                 WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4 AND revoked = 0",
            )?
            .execute(names(permit))?;
        self.count_change(Remembered::Grants)?;
        for grant in &standing {
            if let Some(thread) = ThreadId::parse(&grant.thread) {
                self.append(&thread, &log::revoked(grant, at))?;
            }
        }
        Ok(standing.len())
    }

    /// Lets a permission be asked for again; tells whether it was taken back.
    pub(crate) fn lift(&mut self, permit: &Permit, at: &Instant) -> Result<bool, Fault> {
        let is_lifted = self.forget_revoked(permit)?;
        if is_lifted {
            self.count_change(Remembered::Grants)?;
            self.append(&log::permissions(), &log::lifted(permit, at))?;
        }
        Ok(is_lifted)
    }

    fn forget_revoked(&mut self, permit: &Permit) -> Result<bool, Fault> {
        let mut delete = self.conn.prepare_cached(
            "DELETE FROM grants
             WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4 AND revoked = 1",
        )?;
        Ok(delete.execute(names(permit))? > 0)
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
        self.count_change(Remembered::Grants)?;
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
}

fn names(permit: &Permit) -> [&str; 4] {
    [&permit.user, &permit.agent, &permit.source, &permit.scope]
}
