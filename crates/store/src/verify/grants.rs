//! Holds the grants that stand against the events that tell of them.

use std::collections::{BTreeSet, HashMap};

use remit_engine::ports::{Store, StoreError};
use remit_model::{Event, EventKind, Grant, Permit, ThreadId};
use serde::Deserialize;

use super::Trouble;

/// Is what an event says of a permission.
#[derive(Deserialize)]
struct Said {
    user: String,
    agent: String,
    source: String,
    scope: String,
    #[serde(default)]
    device: String,
    #[serde(default)]
    manifest_hash: String,
}

/// Collects what the events tell of permissions.
#[derive(Default)]
pub(super) struct Told {
    users: BTreeSet<String>,
    /// The last that a thread tells of a permit at a device: whether it stands, and by what hash.
    last: HashMap<(Permit, String, ThreadId), (bool, String)>,
    /// When each permit was last taken back, and when it was last given or lifted.
    taken: HashMap<Permit, (i64, ThreadId)>,
    returned: HashMap<Permit, (i64, ThreadId)>,
}

impl Told {
    /// Takes somebody who may have granted something.
    pub(super) fn user(&mut self, user: &str) {
        if !self.users.contains(user) {
            self.users.insert(user.to_owned());
        }
    }

    /// Takes an event.
    pub(super) fn note(&mut self, event: &Event) {
        let given = match event.kind {
            EventKind::GrantGiven => true,
            EventKind::GrantRevoked | EventKind::GrantLifted => false,
            _ => return,
        };
        let Ok(said) = serde_json::from_str::<Said>(&event.body) else { return };
        self.user(&said.user);
        let Said { user, agent, source, scope, device, manifest_hash } = said;
        let permit = Permit { user, agent, source, scope };
        if event.kind == EventKind::GrantRevoked {
            // Within a thread the order counts, across threads only the time is known.
            if self.returned.get(&permit).is_some_and(|(_, thread)| *thread == event.thread) {
                self.returned.remove(&permit);
            }
            let taken =
                self.taken.entry(permit.clone()).or_insert((i64::MIN, event.thread.clone()));
            if taken.0 <= event.at_ms {
                *taken = (event.at_ms, event.thread.clone());
            }
        } else {
            let last = (i64::MIN, event.thread.clone());
            let returned = self.returned.entry(permit.clone()).or_insert(last);
            if returned.0 <= event.at_ms {
                *returned = (event.at_ms, event.thread.clone());
            }
        }
        if event.kind != EventKind::GrantLifted {
            let place = (permit, device, event.thread.clone());
            self.last.insert(place, (given, manifest_hash));
        }
    }

    /// Looks for grants that stand although no event tells so, and for what was taken back and is not
    /// marked so any more.
    pub(super) async fn miss(
        &self,
        store: &dyn Store,
    ) -> Result<Vec<(ThreadId, Trouble)>, StoreError> {
        let mut found = Vec::new();
        for user in &self.users {
            let grants = store.granted_by(user).await?;
            for grant in grants.iter().filter(|grant| !grant.revoked) {
                found.extend(self.untold(grant));
            }
            for (permit, (at, thread)) in self.taken.iter().filter(|(p, _)| p.user == *user) {
                let returned = self.returned.get(permit).is_some_and(|(later, _)| later >= at);
                if !returned && !grants.iter().any(|g| g.revoked && permit.covers(g)) {
                    let trouble = Trouble::Grant { permit: permit.clone(), stands: false };
                    found.push((thread.clone(), trouble));
                }
            }
        }
        Ok(found)
    }

    fn untold(&self, grant: &Grant) -> Option<(ThreadId, Trouble)> {
        // What was given outside of any conversation has no event.
        let thread = ThreadId::parse(&grant.thread)?;
        let place = (grant.permit(), grant.device.clone(), thread.clone());
        let told = self.last.get(&place);
        let stands = told.is_some_and(|(stands, hash)| *stands && *hash == grant.manifest_hash);
        (!stands).then(|| (thread, Trouble::Grant { permit: grant.permit(), stands: true }))
    }
}
