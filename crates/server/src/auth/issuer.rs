//! Whose tokens are taken beside Remit's own: what the operator says of an issuer, judged once.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jsonwebtoken::Algorithm;
use url::{Host, Url};

use super::Area;

/// Begins the name of every user whom an issuer vouches for.
const PREFIX: &str = "oidc.";
/// How long the name of an issuer may be: with a hash behind it, it still makes a user's name.
const LONGEST_NAME: usize = 16;
/// How long a user's name may be.
const LONGEST_USER: usize = 64;
/// How many hexadecimal digits of a hash stand for a subject that does not fit: 160 bits.
const HASH_DIGITS: usize = 40;

/// Lists the algorithms that may be configured. None of them signs with a secret that Remit would
/// share with the issuer, so no public key can be taken for one.
const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("RS256", Algorithm::RS256),
    ("ES256", Algorithm::ES256),
    ("EdDSA", Algorithm::EdDSA),
    ("PS256", Algorithm::PS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
    ("ES384", Algorithm::ES384),
];
/// How many of them are taken if the operator names none: the first.
const USUAL: usize = 4;

/// Is what the operator says of an issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssuerSettings {
    /// The name for it here, which its users' names begin with.
    pub name: String,
    /// The `iss` of its tokens.
    pub issuer: String,
    /// The `aud` of tokens that are meant for this server: one of these.
    pub audiences: Vec<String>,
    /// Where its keys are; left out, its discovery document says.
    pub jwks_uri: Option<String>,
    /// Which claim names the user; left out, `sub`.
    pub user_claim: Option<String>,
    /// Which algorithms may sign; none means the usual ones.
    pub algorithms: Vec<String>,
    /// Whether users whom nobody has added are refused.
    pub known_only: bool,
    /// What its tokens give; left out, everything that a key may be given.
    pub areas: Option<AreaRules>,
}

/// Says what tokens give by one of their claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AreaRules {
    /// The claim: a list of words, or one text with spaces between them.
    pub claim: String,
    /// What each word gives.
    pub give: BTreeMap<String, Vec<String>>,
}

/// Says where an issuer's keys are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    /// There.
    At(String),
    /// Where the document there says.
    Discovered {
        /// The document.
        document: String,
        /// Whether plain HTTP is good enough: the issuer is on this machine.
        is_local: bool,
    },
}

/// Is an issuer whose tokens are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issuer {
    pub(crate) name: String,
    pub(crate) issuer: String,
    pub(crate) audiences: Vec<String>,
    pub(crate) keys: KeyPlace,
    pub(crate) user_claim: String,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) known_only: bool,
    areas: Option<AreaRules>,
}

/// Holds the issuers whose tokens are taken, each judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issuers(pub(super) Vec<Issuer>);

impl Issuers {
    /// Adds one; says what is wrong with it if something is.
    pub fn add(&mut self, settings: IssuerSettings) -> Result<(), String> {
        let issuer = Issuer::new(settings)?;
        if self.0.iter().any(|other| other.name == issuer.name) {
            return Err(format!("two issuers are named `{}`; give one another name", issuer.name));
        }
        if self.0.iter().any(|other| other.issuer == issuer.issuer) {
            return Err(format!(
                "two entries have the issuer `{}`; write one, with all its audiences",
                issuer.issuer
            ));
        }
        self.0.push(issuer);
        Ok(())
    }
}

impl Issuer {
    fn new(settings: IssuerSettings) -> Result<Self, String> {
        let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let name = settings.name;
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_name) {
            return Err(format!(
                "the name `{name}` must be 1 to {LONGEST_NAME} small letters, digits and `-`"
            ));
        }
        if settings.issuer.is_empty() {
            return Err("`issuer` is empty; write the `iss` of its tokens".to_owned());
        }
        if settings.audiences.is_empty() || settings.audiences.iter().any(String::is_empty) {
            return Err("`audience` is empty; write what the `aud` of its tokens must name".into());
        }
        let keys = match settings.jwks_uri {
            Some(uri) => {
                reachable(&uri).map_err(|why| format!("`jwks_uri` {why}"))?;
                KeyPlace::At(uri)
            }
            None => discovered(&settings.issuer)?,
        };
        let areas = settings.areas.map(judged).transpose()?;
        Ok(Self {
            name,
            issuer: settings.issuer,
            audiences: settings.audiences,
            keys,
            user_claim: settings.user_claim.unwrap_or_else(|| "sub".to_owned()),
            algorithms: algorithms(&settings.algorithms)?,
            known_only: settings.known_only,
            areas,
        })
    }

    /// Gives the name that a user has here whom this issuer calls something. Two issuers never give
    /// the same, nor do two subjects: what cannot stand in a name is written as `_` and two
    /// hexadecimal digits, and what becomes too long as `__` and a hash.
    pub(crate) fn user(&self, subject: &str) -> String {
        let mut name = format!("{PREFIX}{}.", self.name);
        let start = name.len();
        for byte in subject.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' => name.push(char::from(byte)),
                _ => name.push_str(&format!("_{byte:02x}")),
            }
        }
        if name.len() > LONGEST_USER {
            name.truncate(start);
            name.push_str("__");
            let hash = remit_model::canonical::hash_bytes(subject.as_bytes());
            name.extend(hash.chars().take(HASH_DIGITS));
        }
        name
    }

    /// Gives what a token gives, by its claims.
    pub(crate) fn scopes(
        &self,
        claims: &serde_json::Map<String, serde_json::Value>,
    ) -> Vec<String> {
        let Some(rules) = &self.areas else {
            return Area::GIVEN.iter().map(|area| area.as_str().to_owned()).collect();
        };
        let words: Vec<&str> = match claims.get(&rules.claim) {
            Some(serde_json::Value::String(text)) => text.split(' ').collect(),
            Some(serde_json::Value::Array(list)) => {
                list.iter().filter_map(|w| w.as_str()).collect()
            }
            _ => Vec::new(),
        };
        let mut given: Vec<String> =
            words.iter().filter_map(|word| rules.give.get(*word)).flatten().cloned().collect();
        given.sort();
        given.dedup();
        given
    }
}

fn discovered(issuer: &str) -> Result<KeyPlace, String> {
    let why = "`issuer` must be an address when `jwks_uri` is left out, and it";
    let url = reachable(issuer).map_err(|wrong| format!("{why} {wrong}"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{why} must have no `?` and no `#`"));
    }
    let document = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    Ok(KeyPlace::Discovered { document, is_local: url.scheme() == "http" })
}

fn judged(rules: AreaRules) -> Result<AreaRules, String> {
    let words = Area::GIVEN.map(Area::as_str);
    let bad = rules.give.values().flatten().find(|area| !words.contains(&area.as_str()));
    match bad {
        Some(bad) => {
            Err(format!("`areas` gives `{bad}`, which is no area; use {}", words.join(", ")))
        }
        None => Ok(rules),
    }
}

fn algorithms(named: &[String]) -> Result<Vec<Algorithm>, String> {
    if named.is_empty() {
        return Ok(ALGORITHMS.iter().take(USUAL).map(|(_, algorithm)| *algorithm).collect());
    }
    let find = |name: &String| {
        ALGORITHMS.iter().find(|(known, _)| known == name).map(|(_, algorithm)| *algorithm)
    };
    named
        .iter()
        .map(|name| {
            find(name).ok_or_else(|| {
                let known = ALGORITHMS.map(|(known, _)| known).join(", ");
                format!("`algorithms` has `{name}`, which is not taken; use some of {known}")
            })
        })
        .collect()
}

/// Reads an address that keys may be fetched from: HTTPS, or plain HTTP on this machine, where nobody
/// is in between. Otherwise says what is wrong.
pub(crate) fn reachable(address: &str) -> Result<Url, String> {
    let wrong = || format!("is `{address}`; use an https address, or http on this machine");
    let url = Url::parse(address).map_err(|_| wrong())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    };
    let has_password = !url.username().is_empty() || url.password().is_some();
    match url.scheme() {
        _ if has_password => Err("has a user or a password in it; leave them out".to_owned()),
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
#[path = "issuer_tests.rs"]
mod tests;
