//! The way out: how keys of issuers are fetched. Bounded in time and size; nothing is followed
//! elsewhere, and no proxy of the environment is asked.

use std::io::Read as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long an issuer may take to answer.
const TIME: Duration = Duration::from_secs(5);
/// How much of an answer is read: keys take a few kilobytes.
pub(super) const MOST_BYTES: u64 = 256 * 1024;
/// How long the head of an answer may be.
const HEADER_BYTES: usize = 32 * 1024;

/// Makes a client that follows no redirect and trusts the public certificates that are compiled in.
#[must_use]
pub fn client(time: Duration) -> Agent {
    let public = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
    let roots: Vec<Certificate<'static>> =
        public.iter().map(|der| Certificate::from_der(der.as_ref())).collect();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(provider))
        .build();
    Agent::config_builder()
        .timeout_global(Some(time))
        .max_redirects(0)
        .max_response_header_size(HEADER_BYTES)
        .http_status_as_error(false)
        .proxy(None)
        .tls_config(tls)
        .build()
        .into()
}

/// Fetches a JSON document.
pub(super) async fn json(address: &str) -> Result<serde_json::Value, String> {
    let address = address.to_owned();
    let bytes = tokio::task::spawn_blocking(move || bytes(&address));
    let bytes = bytes.await.map_err(|_| "the fetch broke off".to_owned())??;
    serde_json::from_slice(&bytes).map_err(|_| "the answer is not JSON".to_owned())
}

fn bytes(address: &str) -> Result<Vec<u8>, String> {
    static CLIENT: OnceLock<Agent> = OnceLock::new();
    let client = CLIENT.get_or_init(|| client(TIME));
    let response = client.get(address).header("accept", "application/json").call();
    let response = response.map_err(|error| error.to_string())?;
    if response.status() != 200 {
        return Err(format!("the answer has the status {}", response.status().as_u16()));
    }
    let mut bytes = Vec::new();
    let body = response.into_body().into_reader();
    body.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("the answer has more than {MOST_BYTES} bytes"));
    }
    Ok(bytes)
}
