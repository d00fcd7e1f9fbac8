//! An issuer: keys, and a server on loopback that gives them out.

use std::sync::{Arc, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use remit_server::{IssuerSettings, Issuers, Limits, Options};
use serde_json::{Value, json};

use crate::house::House;

/// When the tests' clock begins, in seconds.
pub(crate) const NOW: i64 = 1_700_000_000;

enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

/// Is a key that signs.
pub(crate) struct Key {
    pub(crate) id: String,
    pair: Pair,
}

impl Key {
    pub(crate) fn rsa(id: &str) -> Self {
        let pair = Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap());
        Self { id: id.to_owned(), pair: Pair::Rsa(pair) }
    }

    pub(crate) fn ec(id: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        Self { id: id.to_owned(), pair: Pair::Ec(pair) }
    }

    pub(crate) fn ed(id: &str) -> Self {
        Self { id: id.to_owned(), pair: Pair::Ed(Ed25519KeyPair::generate().unwrap()) }
    }

    /// Gives the public half as it is published.
    pub(crate) fn public(&self) -> Value {
        match &self.pair {
            Pair::Rsa(pair) => {
                let parts = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                let (n, e) = (base64(&parts.n), base64(&parts.e));
                json!({"kty": "RSA", "use": "sig", "kid": self.id, "n": n, "e": e})
            }
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (base64(&point[1..33]), base64(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": self.id, "x": x, "y": y, "alg": "ES256"})
            }
            Pair::Ed(pair) => {
                let x = base64(pair.public_key().as_ref());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": x})
            }
        }
    }

    fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
        }
    }

    /// Signs claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({"typ": "JWT", "alg": self.algorithm(), "kid": self.id});
        self.sign_with(&header, claims)
    }

    /// Signs claims under a header.
    pub(crate) fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        let (message, random) = (text.as_bytes(), SystemRandom::new());
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let is_pss = header["alg"] == "PS256";
                let padding: &'static dyn aws_lc_rs::signature::RsaEncoding =
                    if is_pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        };
        format!("{text}.{}", base64(&signature))
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Gives what is signed.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", base64(header.to_string().as_bytes()), base64(claims.to_string().as_bytes()))
}

/// Says what the issuer answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Keys(Vec<Value>),
    Fault,
    Elsewhere,
    Never,
    /// Valid JSON with these keys, of this many bytes.
    Padded(Vec<Value>, usize),
}

struct Inner {
    url: String,
    answer: Mutex<Answer>,
    asked: Mutex<usize>,
}

/// Is an issuer's server. It goes when this does.
pub(crate) struct Issuer {
    inner: Arc<Inner>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Issuer {
    pub(crate) async fn new(keys: &[&Key]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = Mutex::new(Answer::Keys(keys.iter().map(|key| key.public()).collect()));
        let inner = Arc::new(Inner { url, answer, asked: Mutex::new(0) });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(document))
            .route("/keys", get(published))
            .route("/elsewhere", get(elsewhere))
            .with_state(inner.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { inner, task }
    }

    pub(crate) fn url(&self) -> &str {
        &self.inner.url
    }

    /// Changes what it answers.
    pub(crate) fn answer(&self, answer: Answer) {
        *self.inner.answer.lock().unwrap() = answer;
    }

    /// Publishes these keys instead.
    pub(crate) fn publish(&self, keys: &[&Key]) {
        self.answer(Answer::Keys(keys.iter().map(|key| key.public()).collect()));
    }

    /// Says how often it was asked for its keys.
    pub(crate) fn asked(&self) -> usize {
        *self.inner.asked.lock().unwrap()
    }

    /// Gives claims that open the door.
    pub(crate) fn claims(&self, subject: &str) -> Value {
        json!({"iss": self.url(), "aud": "remit", "sub": subject, "exp": NOW + 300, "iat": NOW})
    }

    /// Says how the operator trusts it.
    pub(crate) fn settings(&self, name: &str) -> IssuerSettings {
        IssuerSettings {
            name: name.to_owned(),
            issuer: self.url().to_owned(),
            audiences: vec!["remit".to_owned()],
            jwks_uri: Some(format!("{}/keys", self.url())),
            ..IssuerSettings::default()
        }
    }
}

async fn document(State(inner): State<Arc<Inner>>) -> axum::Json<Value> {
    axum::Json(json!({"issuer": inner.url, "jwks_uri": format!("{}/keys", inner.url)}))
}

async fn elsewhere(State(inner): State<Arc<Inner>>) -> Response {
    let Answer::Elsewhere = *inner.answer.lock().unwrap() else { panic!("nobody is sent here") };
    StatusCode::OK.into_response()
}

async fn published(State(inner): State<Arc<Inner>>) -> Response {
    *inner.asked.lock().unwrap() += 1;
    let answer = inner.answer.lock().unwrap().clone();
    match answer {
        Answer::Keys(keys) => axum::Json(json!({"keys": keys})).into_response(),
        Answer::Never => std::future::pending().await,
        Answer::Fault => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Answer::Elsewhere => {
            (StatusCode::FOUND, [(header::LOCATION, "/elsewhere")]).into_response()
        }
        Answer::Padded(keys, size) => {
            let bare = json!({"keys": keys, "pad": ""}).to_string();
            let pad = "x".repeat(size - bare.len());
            json!({"keys": keys, "pad": pad}).to_string().into_response()
        }
    }
}

/// Starts a server that trusts issuers.
pub(crate) async fn house(settings: Vec<IssuerSettings>) -> House {
    house_with(settings, Limits::default()).await
}

pub(crate) async fn house_with(settings: Vec<IssuerSettings>, limits: Limits) -> House {
    let mut issuers = Issuers::default();
    for one in settings {
        issuers.add(one).unwrap();
    }
    House::with(&Options { issuers, limits, ..Options::default() }).await
}
