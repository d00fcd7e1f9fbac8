//! Tokens that an issuer signed (RFC 7519), and whom they speak for.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::{Header, Validation, decode, decode_header};
use remit_engine::directory::{Directory, User};
use remit_engine::ports::{Clock, StoreError};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::issuer::{Issuer, Issuers};
use super::jwks::Keys;

/// How long a token may be. Those of large issuers, with groups in them, have two or three kilobytes.
const LONGEST: usize = 8 * 1024;
/// How far the clocks of an issuer and of this machine may be apart.
const LEEWAY_MS: f64 = 60_000.0;
/// How many users are remembered as added, before that is looked up again.
const MANY: usize = 10_000;
/// How long a name for people may be, in characters.
const LONGEST_NAME: usize = 200;

/// Is an issuer with its keys.
struct Trusted {
    issuer: Issuer,
    keys: Arc<Keys>,
}

/// Knows the issuers whose tokens are taken.
pub(crate) struct Trust {
    settings: Issuers,
    issuers: Vec<Trusted>,
    /// Users who are known to be there. Nobody is ever removed.
    seen: Mutex<HashSet<String>>,
}

/// Is what a token proved.
pub(crate) struct Proved {
    /// The user's name here.
    pub(crate) user: String,
    /// The user's name for people.
    name: String,
    /// What the token gives.
    pub(crate) scopes: Vec<String>,
    /// When the token ends, in milliseconds since 1970.
    pub(crate) until_ms: i64,
    known_only: bool,
}

/// Is the claim that is read before anything is proved, to know whose keys to prove it with.
#[derive(Deserialize)]
struct Claimed {
    iss: String,
}

/// Tells whether a token can be one of an issuer's: three parts with dots between them, which no token
/// of Remit's own has.
pub(crate) fn is_jwt(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl Trust {
    pub(crate) fn new(settings: &Issuers) -> Self {
        let trusted = |issuer: &Issuer| Trusted { keys: Keys::of(issuer), issuer: issuer.clone() };
        Self {
            issuers: settings.0.iter().map(trusted).collect(),
            settings: settings.clone(),
            seen: Mutex::default(),
        }
    }

    /// Tells whether it trusts just these.
    pub(crate) fn is_in(&self, settings: &Issuers) -> bool {
        self.settings == *settings
    }

    /// Tells whether any tokens but Remit's own are taken.
    pub(crate) fn is_any(&self) -> bool {
        !self.issuers.is_empty()
    }

    /// Proves a token; says for the operator's log why it is refused.
    pub(crate) async fn prove(
        &self,
        token: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<Proved, &'static str> {
        if token.len() > LONGEST {
            return Err("it is too long");
        }
        let header = decode_header(token).map_err(|_| "its header cannot be read")?;
        let kid = judge_header(&header)?;
        let claimed: Claimed =
            insecure_decode_claims(token).map_err(|_| "its claims cannot be read")?;
        let trusted = self.issuers.iter().find(|one| one.issuer.issuer == claimed.iss);
        let Trusted { issuer, keys } = trusted.ok_or("its issuer is not trusted")?;
        if !issuer.algorithms.contains(&header.alg) {
            return Err("its algorithm is not taken");
        }
        let key = keys.find(kid, header.alg, clock).await.ok_or("its key is not known")?;
        let mut signature = Validation::new(header.alg);
        // The claims are judged below, by this server's clock.
        signature.required_spec_claims.clear();
        signature.validate_exp = false;
        signature.validate_aud = false;
        let proved = decode::<Map<String, Value>>(token, &key, &signature);
        let claims = proved.map_err(|_| "its signature is wrong")?.claims;
        let until_ms = judge_claims(issuer, &claims, clock.now().wall_ms)?;
        let subject = subject(issuer, &claims)?;
        Ok(Proved {
            user: issuer.user(subject),
            name: subject.chars().take(LONGEST_NAME).collect(),
            scopes: issuer.scopes(&claims),
            until_ms,
            known_only: issuer.known_only,
        })
    }

    /// Sees to it that the user is there; tells whether they are.
    pub(crate) async fn provision(
        &self,
        proved: &Proved,
        directory: &dyn Directory,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let is_seen =
            |user: &str| self.seen.lock().unwrap_or_else(PoisonError::into_inner).contains(user);
        if is_seen(&proved.user) {
            return Ok(true);
        }
        if directory.user(&proved.user).await?.is_none() {
            if proved.known_only {
                return Ok(false);
            }
            let (id, name) = (proved.user.clone(), proved.name.clone());
            // If it was taken meanwhile, the same user came in by another request.
            directory.add_user(User { id, name, created_ms: now_ms }).await?;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MANY {
            seen.clear();
        }
        seen.insert(proved.user.clone());
        Ok(true)
    }
}

/// Judges what a header says, and gives the key that it names.
fn judge_header(header: &Header) -> Result<&str, &'static str> {
    if header.crit.is_some() {
        return Err("its header has what must be understood and is not");
    }
    // Tokens that an issuer signs for other ends, such as to log somebody out, say so here.
    let is_meant = header.typ.as_deref().is_none_or(|typ| {
        ["jwt", "at+jwt", "application/at+jwt"].iter().any(|one| typ.eq_ignore_ascii_case(one))
    });
    if !is_meant {
        return Err("it is not a token for access");
    }
    header.kid.as_deref().ok_or("its header names no key")
}

/// Judges what was proved; gives when it ends, in milliseconds since 1970.
fn judge_claims(
    issuer: &Issuer,
    claims: &Map<String, Value>,
    now_ms: i64,
) -> Result<i64, &'static str> {
    if claims.get("iss").and_then(Value::as_str) != Some(issuer.issuer.as_str()) {
        return Err("its issuer is not the one it is proved by");
    }
    let is_meant = |audience: &Value| {
        audience.as_str().is_some_and(|one| issuer.audiences.iter().any(|own| own == one))
    };
    let is_for_us = match claims.get("aud") {
        Some(Value::Array(list)) => list.iter().any(is_meant),
        Some(one) => is_meant(one),
        None => false,
    };
    if !is_for_us {
        return Err("it is for another audience");
    }
    #[expect(clippy::cast_precision_loss, reason = "a moment of this age fits to the millisecond")]
    let now = now_ms as f64;
    let moment = |claim: &Value| claim.as_f64().map(|seconds| seconds * 1000.0);
    let end = match claims.get("exp").map(moment) {
        Some(Some(end)) if now < end + LEEWAY_MS => end + LEEWAY_MS,
        Some(Some(_)) => return Err("it has ended"),
        Some(None) | None => return Err("it does not say when it ends"),
    };
    #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest")]
    let end = end as i64;
    match claims.get("nbf").map(moment) {
        None => Ok(end),
        Some(Some(start)) if now >= start - LEEWAY_MS => Ok(end),
        Some(Some(_)) => Err("it does not hold yet"),
        Some(None) => Err("it does not say when it begins to hold"),
    }
}

/// Gives what the issuer calls the user.
fn subject<'c>(issuer: &Issuer, claims: &'c Map<String, Value>) -> Result<&'c str, &'static str> {
    // Who may write any address into their profile would be whoever they like.
    let is_unproved = claims.get("email_verified").and_then(Value::as_bool) != Some(true);
    if issuer.user_claim == "email" && is_unproved {
        return Err("its address is not verified");
    }
    let named = claims.get(&issuer.user_claim).and_then(Value::as_str);
    named.filter(|name| !name.is_empty()).ok_or("it names no user")
}
