//! Walk A to its end: a manifest becomes the next version of an agent's.

use std::sync::Arc;

use remit_manifest::dialect::capability::MOST_BYTES;
use remit_manifest::diff::{Changes, diff};
use remit_manifest::read::Format;
use remit_model::{Diagnostic, Dialect, canonical};

use super::card::{card, matters};
use super::draft::{Draft, Kept, aside};
use super::error::RegistryError;
use super::port::{Card, Notices, Publication, Retry, Written};
use super::record::{Agent, ChangeTexts};
use super::service::Agents;
use crate::ports::StoreError;

/// How long an idempotency key may be.
const LONGEST_KEY: usize = 255;
/// How often to begin anew because somebody else published.
const MOST_TRIES: usize = 200;
/// With how many versions that users accepted a new one is compared, the latest first. Whoever
/// accepted an older one is told to look without being told why: a card too many does no harm.
const MOST_COMPARED: usize = 8;

/// Is a manifest that is to become an agent's next version.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// The agent.
    pub agent: String,
    /// The manifest, as received.
    pub body: Vec<u8>,
    /// How it is written, if that is not to be told from the content.
    pub format: Option<Format>,
    /// The version the sender knows; with any other nothing is published.
    pub if_match: Option<u64>,
    /// What makes a retry safe: with the same key and body the first answer is given again.
    pub key: Option<String>,
}

/// Is what came of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The agent.
    pub agent: String,
    /// The number of the version.
    pub version: u64,
    /// Its hash.
    pub hash: String,
    /// What changed since the version before it.
    pub changes: ChangeTexts,
}

impl Published {
    /// Gives S0's answer, to the letter; consent changes stand beside it where there are any.
    #[must_use]
    pub fn to_json(&self) -> String {
        let id = serde_json::Value::from(self.agent.as_str());
        let consent = match self.changes.asks_consent() {
            true => format!(r#","consent_changes":{}"#, self.changes.consent),
            false => String::new(),
        };
        format!(
            r#"{{"agent_id":{id},"capability_manifest_version":{},"capability_manifest_hash":"{}","breaking_changes":{}{consent}}}"#,
            self.version, self.hash, self.changes.breaking
        )
    }
}

/// Is what publishing would come to.
#[derive(Debug)]
pub struct Preview {
    /// The present version, which the difference is from; 0 before the first.
    pub base: u64,
    /// The hash it would have.
    pub hash: String,
    /// Its size.
    pub bytes: usize,
    /// What there is to say although it is good.
    pub diagnostics: Vec<Diagnostic>,
    /// What would change.
    pub changes: Changes,
}

/// Is a draft beside what it was compared with.
struct Compared {
    changes: ChangeTexts,
    notices: Notices,
}

impl Agents {
    /// Publishes a manifest. The number goes up by one with each that is accepted, whatever races;
    /// what is refused uses up none.
    pub async fn publish(&self, patch: Patch) -> Result<Published, RegistryError> {
        let Patch { agent, body, format, if_match, key } = patch;
        if !key.as_deref().is_none_or(is_key) {
            return Err(RegistryError::BadKey);
        }
        if body.len() > MOST_BYTES {
            return Err(RegistryError::TooLarge { bytes: body.len(), most: MOST_BYTES });
        }
        // Whoever may not be answered costs no more than this.
        self.agent(&agent).await?;
        let (body, retry) = match key {
            None => (body, None),
            Some(key) => {
                let (body, request) = aside(move || {
                    let request = canonical::hash_bytes(&body);
                    (body, request)
                })
                .await?;
                (body, Some(Retry { key, request }))
            }
        };
        if let Some(before) = self.repeated(&agent, retry.as_ref()).await? {
            return Ok(before);
        }
        let draft = Arc::new(aside(move || Draft::read(&body, format)).await??);
        let slot = self.slots.of(&agent);
        let mut last = slot.lock().await;
        for _ in 0..MOST_TRIES {
            let known = self.agent(&agent).await?;
            if if_match.is_some_and(|wanted| wanted != known.version) {
                // It may be this very request that moved it, sent twice at once.
                let before = self.repeated(&agent, retry.as_ref()).await?;
                return before.ok_or(RegistryError::Conflict { current: known.version });
            }
            let base = self.base(&known, &mut last).await?;
            let compared = self.compared(&known, base, Arc::clone(&draft)).await?;
            let publication = Publication {
                agent: agent.clone(),
                base: known.version,
                hash: draft.hash.clone(),
                canonical: draft.canonical.clone(),
                bytes: u64::try_from(draft.bytes).unwrap_or(u64::MAX),
                changes: compared.changes.clone(),
                retry: retry.clone(),
                notices: compared.notices,
                at: self.clock.now(),
            };
            match self.registry.publish(publication).await? {
                Written::As(version) => {
                    let hash = draft.hash.clone();
                    let tree = Arc::into_inner(draft).map(|draft| draft.tree);
                    *last = tree.map(|tree| Arc::new(Kept { version, hash: hash.clone(), tree }));
                    return Ok(Published { agent, version, hash, changes: compared.changes });
                }
                Written::Before(version) => return self.answered(&agent, version).await,
                Written::KeyTaken => return Err(RegistryError::KeyTaken),
                Written::UnknownAgent => return Err(RegistryError::UnknownAgent),
                Written::Moved(_) => *last = None,
            }
        }
        let message = "others publish for this agent faster than it can be done: try again";
        Err(StoreError::new(message).into())
    }

    /// Says what publishing would come to. Nothing is kept.
    pub async fn preview(
        &self,
        agent: &str,
        body: Vec<u8>,
        format: Option<Format>,
    ) -> Result<Preview, RegistryError> {
        let known = self.agent(agent).await?;
        let draft = aside(move || Draft::read(&body, format)).await??;
        let base = match known.version {
            0 => None,
            version => Some(self.kept(agent, version).await?),
        };
        let preview = aside(move || {
            let Draft { tree, hash, bytes, diagnostics, .. } = draft;
            let changes = base.map(|base| diff(Dialect::Capability, &base.tree, &tree));
            let changes = changes.unwrap_or_default();
            Preview { base: known.version, hash, bytes, diagnostics, changes }
        });
        Ok(preview.await?)
    }

    /// Finds the answer to the same request, if it was given before.
    async fn repeated(
        &self,
        agent: &str,
        retry: Option<&Retry>,
    ) -> Result<Option<Published>, RegistryError> {
        let Some(retry) = retry else { return Ok(None) };
        match self.registry.retried(agent, &retry.key).await? {
            None => Ok(None),
            Some((request, _)) if request != retry.request => Err(RegistryError::KeyTaken),
            Some((_, version)) => self.answered(agent, version).await.map(Some),
        }
    }

    /// Gives the answer that was given when a version was published.
    async fn answered(&self, agent: &str, version: u64) -> Result<Published, RegistryError> {
        let kept = self.version(agent, Some(version)).await?;
        Ok(Published { agent: kept.agent, version, hash: kept.hash, changes: kept.changes })
    }

    /// Gives the present version, from memory if that is the one.
    async fn base(
        &self,
        agent: &Agent,
        last: &mut Option<Arc<Kept>>,
    ) -> Result<Option<Arc<Kept>>, RegistryError> {
        if agent.version == 0 {
            return Ok(None);
        }
        match last {
            Some(known) if known.version == agent.version => Ok(Some(Arc::clone(known))),
            _ => {
                let read = Arc::new(self.kept(&agent.id, agent.version).await?);
                *last = Some(Arc::clone(&read));
                Ok(Some(read))
            }
        }
    }

    /// Compares a draft with the present version and with those that users accepted.
    async fn compared(
        &self,
        agent: &Agent,
        base: Option<Arc<Kept>>,
        draft: Arc<Draft>,
    ) -> Result<Compared, RegistryError> {
        // Without a version before it nobody has added the agent; with the same content nothing is
        // new to anybody.
        let Some(base) = base.filter(|base| base.hash != draft.hash) else {
            return Ok(Compared { changes: ChangeTexts::default(), notices: Notices::Leave });
        };
        let mut accepted = self.registry.accepted(&agent.id).await?;
        accepted.retain(|version| *version != base.version);
        let unseen = accepted.split_off(accepted.len().min(MOST_COMPARED));
        let mut older = Vec::with_capacity(accepted.len());
        for version in accepted {
            let found = self.registry.version(&agent.id, version).await?;
            older.push(found.ok_or(RegistryError::UnknownVersion { version })?);
        }
        let agent = agent.clone();
        let compared = aside(move || {
            let changes = diff(Dialect::Capability, &base.tree, &draft.tree);
            let version = base.version + 1;
            let mut cards = Vec::new();
            let mut tell = |accepted: u64, changes: Option<&Changes>| {
                if changes.is_none_or(matters) {
                    let body = card(&agent, accepted, version, changes).to_string();
                    cards.push(Card { accepted, body });
                }
            };
            // Also if nobody accepted it yet: somebody may while this is written.
            tell(base.version, Some(&changes));
            for older in older.into_iter().filter(|older| older.hash != draft.hash) {
                if older.hash == base.hash {
                    tell(older.version, Some(&changes));
                } else {
                    let older = Kept::read(older)?;
                    let changes = diff(Dialect::Capability, &older.tree, &draft.tree);
                    tell(older.version, Some(&changes));
                }
            }
            unseen.iter().for_each(|version| tell(*version, None));
            let changes = ChangeTexts::of(&changes)
                .map_err(|error| StoreError::new(format!("a change is no JSON: {error}")))?;
            Ok::<_, StoreError>(Compared { changes, notices: Notices::Replace(cards) })
        });
        Ok(compared.await??)
    }
}

/// Tells whether a text can be an idempotency key.
fn is_key(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}
