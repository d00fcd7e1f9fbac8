//! Calls: begun, answered, ended, and found again after a crash.

use std::sync::Arc;

use remit_engine::log::never_answered;
use remit_engine::record::{Answered, Begun, CallState, Ending, Intent, Next, Progress};
use remit_model::event::Draft;
use remit_model::{Call, CallKey, Denial, Instant, Outcome, ThreadId};
use rusqlite::params;

use crate::sqlite::fault::Fault;
use crate::sqlite::nodes::{Gone, Node};
use crate::sqlite::rows;

use super::{Ledger, head, is_known, keepable};

/// Is an intent, ready to be written.
pub(crate) struct Opening {
    call: Arc<Call>,
    /// The state after it, and whether the call goes on from there.
    state: &'static str,
    goes_on: bool,
    draft: Draft,
}

impl From<Intent> for Opening {
    fn from(intent: Intent) -> Self {
        let draft = intent.draft();
        let (state, goes_on) = match &intent.next {
            Next::Run => (CallState::Running.as_str(), true),
            Next::Ask { .. } => (CallState::Asking.as_str(), true),
            Next::Refuse(outcome) => (outcome.status(), false),
        };
        Self { call: intent.call, state, goes_on, draft }
    }
}

/// Is a call that has not ended.
pub(super) struct UnderWay {
    id: i64,
    thread: ThreadId,
    is_asking: bool,
    denial: Option<Denial>,
}

impl Ledger {
    /// Writes an intent, unless its key is known.
    pub(crate) fn begin(&mut self, opening: &Opening) -> Result<Begun, Fault> {
        keepable(&opening.draft)?;
        // A repetition must not leave a new thread behind.
        let thread = &opening.call.thread;
        if !is_known(&mut self.heads, &self.conn, thread)?
            && let Some(known) = self.known(&opening.call.key())?
        {
            return Ok(known);
        }
        if !self.enter(opening)? {
            return self
                .known(&opening.call.key())?
                .ok_or_else(|| Fault::Damaged("a call that is there and is not".to_owned()));
        }
        let id = self.conn.last_insert_rowid();
        head(&mut self.heads, &self.conn, thread)?.call = Some(id);
        self.append(thread, &opening.draft)?;
        if opening.state == CallState::Running.as_str() {
            let thread = thread.clone();
            let call = UnderWay { id, thread, is_asking: false, denial: None };
            self.running.insert(opening.call.key(), call);
        }
        Ok(Begun::Fresh)
    }

    /// Enters a call into the index, as the one that the next event begins; tells whether it is new.
    fn enter(&mut self, opening: &Opening) -> Result<bool, Fault> {
        let begun = self.next_event()?;
        let call = &opening.call;
        let head = head(&mut self.heads, &self.conn, &call.thread)?;
        let ended = (!opening.goes_on).then_some(begun);
        let node = opening.goes_on.then_some(&*self.node);
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO calls
                (user, agent, name, thread, prior, capability, begun, ended, state, node)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (user, agent, name) DO NOTHING",
        )?;
        let new = insert.execute(params![
            call.caller.user,
            call.caller.agent.as_deref().unwrap_or_default(),
            call.id.as_str(),
            head.thread,
            head.call,
            call.capability,
            begun,
            ended,
            opening.state,
            node,
        ])?;
        Ok(new > 0)
    }

    fn known(&self, key: &CallKey) -> Result<Option<Begun>, Fault> {
        let mut find = self.conn.prepare_cached(rows::CALL)?;
        let key = params![key.user, key.agent, key.id.as_str()];
        let record = rows::first(&mut find, key, rows::call)?;
        Ok(record.map(|record| Begun::Known(Box::new(record))))
    }

    /// Writes what a person answered.
    pub(crate) fn answer(&mut self, answered: &Answered, draft: &Draft) -> Result<(), Fault> {
        let call = self.under_way(&answered.key)?;
        if !call.is_asking || call.denial.is_some() {
            let id = &answered.key.id;
            return Err(Fault::refused(format!("nobody is being asked about the call `{id}`")));
        }
        self.append(&call.thread, draft)?;
        if let Some(grant) = &answered.grant {
            self.granted_with(&call.thread, &answered.key.id, grant, &answered.at)?;
        }
        match answered.denial {
            None => self
                .conn
                .prepare_cached("UPDATE calls SET state = 'running' WHERE id = ?1")?
                .execute([call.id])?,
            Some(denial) => self
                .conn
                .prepare_cached("UPDATE calls SET denial = ?2 WHERE id = ?1")?
                .execute(params![call.id, denial.as_str()])?,
        };
        Ok(())
    }

    /// Writes how a call ended.
    pub(crate) fn finish(&mut self, ending: &Ending, draft: &Draft) -> Result<(), Fault> {
        keepable(draft)?;
        let call = match self.running.remove(&ending.key) {
            Some(call) => call,
            None => self.under_way(&ending.key)?,
        };
        if call.is_asking && ending.outcome.is_success() {
            let id = &ending.key.id;
            return Err(Fault::refused(format!(
                "the call `{id}` was not approved, so it cannot have succeeded"
            )));
        }
        if let Some(grant) = &ending.grant {
            self.granted_with(&call.thread, &ending.key.id, grant, &ending.at)?;
        }
        self.end(&call, &ending.outcome, draft)
    }

    fn end(&mut self, call: &UnderWay, outcome: &Outcome, draft: &Draft) -> Result<(), Fault> {
        let ended = self.append(&call.thread, draft)?.id;
        self.conn
            .prepare_cached(
                "UPDATE calls SET state = ?2, ended = ?3, node = NULL, denial = NULL WHERE id = ?1",
            )?
            .execute(params![call.id, outcome.status(), ended])?;
        Ok(())
    }

    /// Keeps how far a call has come.
    pub(crate) fn progress(&mut self, key: &CallKey, progress: &Progress) -> Result<(), Fault> {
        let text = serde_json::to_string(progress)
            .map_err(|error| Fault::refused(format!("progress that is none: {error}")))?;
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE calls SET progress = iif(node IS NULL, progress, ?4)
                 WHERE user = ?1 AND agent = ?2 AND name = ?3",
            )?
            .execute(params![key.user, key.agent, key.id.as_str(), text])?;
        if changed == 0 { Err(unknown(key)) } else { Ok(()) }
    }

    /// Marks a call as one that somebody wants stopped; tells whether it is under way.
    pub(crate) fn ask_to_stop(&mut self, key: &CallKey, wish: &Draft) -> Result<bool, Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT c.id, t.name, c.node IS NOT NULL, c.stop
             FROM calls c JOIN threads t ON t.id = c.thread
             WHERE c.user = ?1 AND c.agent = ?2 AND c.name = ?3",
        )?;
        let found = rows::first(&mut find, params![key.user, key.agent, key.id.as_str()], |row| {
            let thread = rows::thread_id(rows::text(row, 1)?)?;
            Ok((row.get::<_, i64>(0)?, thread, row.get::<_, bool>(2)?, row.get::<_, bool>(3)?))
        })?;
        drop(find);
        let (id, thread, is_under_way, is_marked) = found.ok_or_else(|| unknown(key))?;
        if is_under_way && !is_marked {
            self.append(&thread, wish)?;
            self.conn.prepare_cached("UPDATE calls SET stop = 1 WHERE id = ?1")?.execute([id])?;
        }
        Ok(is_under_way)
    }

    /// Ends the calls of stores that are gone. What proves that they are gone is given back, to be
    /// held until this is last.
    pub(crate) fn recover(
        &mut self,
        at: &Instant,
        node: &Node,
    ) -> Result<(Vec<CallKey>, Vec<Gone>), Fault> {
        let (mut keys, mut all_gone) = (Vec::new(), Vec::new());
        for name in self.nodes_with_calls()? {
            let Some(gone) = node.gone(&name) else { continue };
            for (key, call) in self.calls_of(&name)? {
                let outcome = match call.denial {
                    Some(reason) => Outcome::Denied { reason },
                    None if call.is_asking => never_answered(),
                    None => Outcome::OutcomeUnknown,
                };
                let at = at.clone();
                let ending = Ending { key, outcome, at, duration_ms: 0, grant: None };
                self.end(&call, &ending.outcome, &ending.draft())?;
                keys.push(ending.key);
            }
            all_gone.push(gone);
        }
        Ok((keys, all_gone))
    }

    fn nodes_with_calls(&self) -> Result<Vec<String>, Fault> {
        let mut find =
            self.conn.prepare_cached("SELECT DISTINCT node FROM calls WHERE node IS NOT NULL")?;
        rows::all(&mut find, [], |row| Ok(row.get(0)?))
    }

    fn calls_of(&self, node: &str) -> Result<Vec<(CallKey, UnderWay)>, Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT c.id, t.name, c.state, c.denial, c.user, c.agent, c.name
             FROM calls c JOIN threads t ON t.id = c.thread
             WHERE c.node = ?1 ORDER BY c.id",
        )?;
        rows::all(&mut find, [node], |row| {
            let id = rows::call_id(rows::text(row, 6)?)?;
            let key = CallKey { user: row.get(4)?, agent: row.get(5)?, id };
            Ok((key, under_way(row)?))
        })
    }

    fn under_way(&self, key: &CallKey) -> Result<UnderWay, Fault> {
        let mut find = self.conn.prepare_cached(
            "SELECT c.id, t.name, c.state, c.denial, c.node IS NULL
             FROM calls c JOIN threads t ON t.id = c.thread
             WHERE c.user = ?1 AND c.agent = ?2 AND c.name = ?3",
        )?;
        let found = rows::first(&mut find, params![key.user, key.agent, key.id.as_str()], |row| {
            let has_ended: bool = row.get(4)?;
            if has_ended {
                let id = &key.id;
                return Err(Fault::refused(format!("the call `{id}` has ended already")));
            }
            under_way(row)
        })?;
        found.ok_or_else(|| unknown(key))
    }
}

fn under_way(row: &rusqlite::Row<'_>) -> Result<UnderWay, Fault> {
    Ok(UnderWay {
        id: row.get(0)?,
        thread: rows::thread_id(rows::text(row, 1)?)?,
        is_asking: rows::text(row, 2)? == CallState::Asking.as_str(),
        denial: rows::optional_text(row, 3)?.map(rows::denial).transpose()?,
    })
}

fn unknown(key: &CallKey) -> Fault {
    Fault::refused(format!("there is no call `{}` of this caller", key.id))
}
