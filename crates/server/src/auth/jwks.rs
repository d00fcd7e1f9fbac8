//! The public keys of an issuer: fetched when they are first needed, kept, and fetched again when they
//! have become old or a token names one that is not among them. Whoever sends tokens cannot make this
//! server send many requests, and an issuer that is away does not lock its users out at once.

use std::sync::{Arc, PoisonError, RwLock};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use remit_engine::ports::Clock;
use remit_model::Instant;
use serde_json::Value;

use super::fetch;
use super::issuer::{Issuer, KeyPlace, reachable};

/// How long keys are used before they are fetched again: a key that the issuer takes back is refused
/// after this.
const FRESH_MS: i64 = 10 * 60 * 1000;
/// How long they are used if they cannot be fetched again.
const STALE_MS: i64 = 24 * 60 * 60 * 1000;
/// How long after a fetch there is none, whatever tokens come.
const PAUSE_MS: i64 = 30 * 1000;
/// How many keys of an issuer are kept.
const MOST_KEYS: usize = 100;

/// Is one key.
struct Key {
    id: String,
    /// What it verifies, where the issuer says.
    only: Option<Algorithm>,
    key: Arc<DecodingKey>,
}

impl Key {
    /// Reads a key; one that cannot verify a signature is none.
    fn read(written: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(written.clone()).ok()?;
        let common = &jwk.common;
        if common.public_key_use.as_ref().is_some_and(|usage| *usage != PublicKeyUse::Signature) {
            return None;
        }
        let operations = common.key_operations.as_ref();
        if operations.is_some_and(|list| !list.contains(&KeyOperations::Verify)) {
            return None;
        }
        match &jwk.algorithm {
            AlgorithmParameters::RSA(_) | AlgorithmParameters::EllipticCurve(_) => {}
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {}
            // A secret in a public place is none.
            _ => return None,
        }
        let only = match common.key_algorithm {
            Some(named) => Some(Algorithm::try_from(named).ok()?),
            None => None,
        };
        let key = Arc::new(DecodingKey::from_jwk(&jwk).ok()?);
        Some(Self { id: common.key_id.clone()?, only, key })
    }

    fn verifies(&self, id: &str, algorithm: Algorithm) -> bool {
        self.id == id
            && self.key.family() == algorithm.family()
            && self.only.is_none_or(|only| only == algorithm)
    }
}

#[derive(Default)]
struct Kept {
    keys: Vec<Key>,
    /// When they were fetched.
    fetched: Option<Instant>,
    /// When that was last tried.
    tried: Option<Instant>,
}

/// Says what is known of a key.
enum Found {
    Good(Arc<DecodingKey>),
    /// It is time to fetch the keys again.
    Old(Arc<DecodingKey>),
    Missing,
}

/// Keeps the keys of one issuer.
pub(super) struct Keys {
    name: String,
    issuer: String,
    place: KeyPlace,
    kept: RwLock<Kept>,
    /// Held by whoever fetches, so that there is one at a time.
    fetching: tokio::sync::Mutex<()>,
}

impl Keys {
    pub(super) fn of(issuer: &Issuer) -> Arc<Self> {
        Arc::new(Self {
            name: issuer.name.clone(),
            issuer: issuer.issuer.clone(),
            place: issuer.keys.clone(),
            kept: RwLock::default(),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// Finds the key that a token names.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: &str,
        algorithm: Algorithm,
        clock: &Arc<dyn Clock>,
    ) -> Option<Arc<DecodingKey>> {
        if let Found::Good(key) = self.look(id, algorithm, &clock.now()) {
            return Some(key);
        }
        let _one = self.fetching.lock().await;
        let now = clock.now();
        // Whoever waited may find that it was fetched meanwhile.
        if let Found::Good(key) = self.look(id, algorithm, &now) {
            return Some(key);
        }
        if self.may_try(&now) {
            self.fetch(now.clone()).await;
        }
        // An old one counts only if no newer ones could be had: it may have been taken back.
        match self.look(id, algorithm, &now) {
            Found::Good(key) | Found::Old(key) => Some(key),
            Found::Missing => None,
        }
    }

    fn look(&self, id: &str, algorithm: Algorithm, now: &Instant) -> Found {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let age = kept.fetched.as_ref().and_then(|at| now.since(at));
        let Some(age) = age.filter(|age| *age < STALE_MS) else { return Found::Missing };
        match kept.keys.iter().find(|key| key.verifies(id, algorithm)) {
            Some(key) if age < FRESH_MS => Found::Good(Arc::clone(&key.key)),
            Some(key) => Found::Old(Arc::clone(&key.key)),
            None => Found::Missing,
        }
    }

    fn may_try(&self, now: &Instant) -> bool {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let since = kept.tried.as_ref().and_then(|at| now.since(at));
        since.is_none_or(|ms| ms >= PAUSE_MS)
    }

    async fn fetch(&self, now: Instant) {
        self.kept.write().unwrap_or_else(PoisonError::into_inner).tried = Some(now.clone());
        match self.fetched().await {
            Ok(keys) => {
                tracing::debug!(issuer = %self.name, keys = keys.len(), "fetched the keys");
                let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
                kept.keys = keys;
                kept.fetched = Some(now);
            }
            Err(why) => {
                tracing::warn!(issuer = %self.name, %why, "the keys of an issuer cannot be fetched");
            }
        }
    }

    async fn fetched(&self) -> Result<Vec<Key>, String> {
        let address = match &self.place {
            KeyPlace::At(address) => address.clone(),
            KeyPlace::Discovered { document, is_local } => {
                let document = fetch::json(document).await?;
                if document.get("issuer").and_then(Value::as_str) != Some(self.issuer.as_str()) {
                    return Err("its discovery document names another issuer".to_owned());
                }
                let address = document.get("jwks_uri").and_then(Value::as_str).unwrap_or_default();
                let url = reachable(address).map_err(|why| format!("its `jwks_uri` {why}"))?;
                if url.scheme() == "http" && !is_local {
                    return Err("its `jwks_uri` is not an https address".to_owned());
                }
                address.to_owned()
            }
        };
        let set = fetch::json(&address).await?;
        let keys = set.get("keys").and_then(Value::as_array).ok_or("the answer has no `keys`")?;
        Ok(keys.iter().filter_map(Key::read).take(MOST_KEYS).collect())
    }
}
