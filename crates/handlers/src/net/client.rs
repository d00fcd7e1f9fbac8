//! The one HTTP client: bounded in time, size and redirects, and guarded.
//!
//! It keeps no connection, no cookie and nothing else of one request for the next, and takes no
//! proxy from the environment: a proxy would connect where the guard did not look. The certificates it
//! trusts are compiled in, so that a confined process needs no files of the system for them.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Method, Request};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::{Connector, RustlsConnector, TcpConnector};
use ureq::{Agent, AsSendBody, Body, Error};
use url::Url;

use super::guard::{Guard, shown};
use super::resolver::{Guarded, Lookup, Refused, system};
use crate::contract::{Failure, Settings};

/// Is what the client says it is when the operator says nothing else.
const USER_AGENT: &str = concat!("Remit/", env!("CARGO_PKG_VERSION"), " (tool for AI agents)");

/// Is the longest header of an answer.
const HEADER_BYTES: usize = 64 << 10;

/// Bounds one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
    pub(crate) redirects: u64,
}

/// Is what came back.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Is the address that answered, after redirects.
    pub(crate) url: Url,
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
    /// Tells whether there was more than may be fetched.
    pub(crate) cut: bool,
}

/// Is an HTTP client for one call.
pub(crate) struct Client {
    agent: Agent,
    guard: Guard,
}

impl Client {
    /// Makes a client that goes where the guard lets it.
    pub(crate) fn new(guard: Guard, settings: &Settings) -> Result<Self, Failure> {
        Self::with_lookup(guard, settings, system)
    }

    fn with_lookup(guard: Guard, settings: &Settings, lookup: Lookup) -> Result<Self, Failure> {
        let agent = settings.text("user_agent")?;
        if !agent.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(Failure::setting("user_agent", "may only have plain ASCII characters"));
        }
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .max_response_header_size(HEADER_BYTES)
            .user_agent(if agent.is_empty() { USER_AGENT } else { agent })
            .tls_config(trust(settings.text("ca_certificates")?)?)
            .build();
        let connector = ().chain(TcpConnector::default()).chain(RustlsConnector::default());
        let agent = Agent::with_parts(config, connector, Guarded::new(guard.clone(), lookup));
        Ok(Self { agent, guard })
    }

    /// Fetches a page, following redirects that pass the guard.
    pub(crate) fn get(&self, url: &Url, accept: &str, limits: Limits) -> Result<Reply, Failure> {
        let deadline = Instant::now() + limits.time;
        let mut url = url.clone();
        for hop in 0..=limits.redirects {
            let request = Request::builder().method(Method::GET).uri(url.as_str());
            let request = request.header("accept", accept).body(());
            let (headers, reply) = self.send(&url, request, limits.bytes, deadline)?;
            let Some(next) = redirect(&reply, &headers)? else { return Ok(reply) };
            // Also after the last hop, so that the reason given is the true one.
            self.guard.check(&next)?;
            if hop < limits.redirects {
                url = next;
            }
        }
        let message = format!("{} redirects more than {} times", shown(&url), limits.redirects);
        Err(Failure::new("TOO_MANY_REDIRECTS", message))
    }

    /// Calls a service. Redirects are not followed: what is sent may be a secret.
    pub(crate) fn call(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        body: Option<&str>,
        limits: Limits,
    ) -> Result<Reply, Failure> {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut request = Request::builder().method(method).uri(url.as_str());
        request = request.header("accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let deadline = Instant::now() + limits.time;
        let (headers, reply) = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json").body(body);
                self.send(url, request, limits.bytes, deadline)?
            }
            None => self.send(url, request.body(()), limits.bytes, deadline)?,
        };
        match redirect(&reply, &headers)? {
            None => Ok(reply),
            Some(next) => {
                let message =
                    format!("{} redirects to {}; configure that address", shown(url), shown(&next));
                Err(Failure::new("REDIRECTED", message))
            }
        }
    }

    fn send<B: AsSendBody>(
        &self,
        url: &Url,
        request: Result<Request<B>, ureq::http::Error>,
        most: u64,
        deadline: Instant,
    ) -> Result<(HeaderMap, Reply), Failure> {
        self.guard.check(url)?;
        let request = request.map_err(|_| {
            Failure::new(
                "INVALID_REQUEST",
                format!("{} or a header for it cannot be sent", shown(url)),
            )
        })?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(timeout(url));
        }
        let request = self.agent.configure_request(request).timeout_global(Some(left)).build();
        let response = self.agent.run(request).map_err(|error| failure(error, url))?;
        let (parts, body) = response.into_parts();
        let content_type = parts.headers.get("content-type").and_then(|v| v.to_str().ok());
        let (content_type, status) =
            (content_type.unwrap_or_default().to_owned(), parts.status.as_u16());
        let (body, cut) = read(body, most, url)?;
        let reply = Reply { url: url.clone(), status, content_type, body, cut };
        Ok((parts.headers, reply))
    }
}

/// Reads a body, one byte past what may be fetched: then there is more.
fn read(body: Body, most: u64, url: &Url) -> Result<(Vec<u8>, bool), Failure> {
    let mut bytes = Vec::new();
    // What was sent before a server broke off is worth having; what came too slowly is not.
    let broken = match body.into_reader().take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) => false,
        Err(error) => match failure(Error::from(error), url) {
            failure if failure.code == "TIMEOUT" || bytes.is_empty() => return Err(failure),
            _ => true,
        },
    };
    let cut = bytes.len() as u64 > most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((bytes, cut || broken))
}

/// Gives where a reply sends the client, if it does.
fn redirect(reply: &Reply, headers: &HeaderMap) -> Result<Option<Url>, Failure> {
    if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get("location") else { return Ok(None) };
    let target = std::str::from_utf8(location.as_bytes()).ok();
    let target = target.and_then(|text| reply.url.join(text).ok());
    target.map(Some).ok_or_else(|| {
        let message = format!("{} redirects to what is no address", shown(&reply.url));
        Failure::new("BAD_RESPONSE", message)
    })
}

/// Gives the certificates to trust: the public ones and those the operator adds.
fn trust(pem: &str) -> Result<TlsConfig, Failure> {
    let public = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
    let mut roots: Vec<Certificate<'static>> =
        public.iter().map(|der| Certificate::from_der(der.as_ref())).collect();
    let before = roots.len();
    for item in parse_pem(pem.as_bytes()) {
        if let Ok(PemItem::Certificate(certificate)) = item {
            roots.push(certificate);
        }
    }
    if !pem.is_empty() && roots.len() == before {
        return Err(Failure::setting("ca_certificates", "has no certificate in PEM in it"));
    }
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(provider))
        .build())
}

fn timeout(url: &Url) -> Failure {
    Failure::timeout(&shown(url))
}

/// Says what went wrong in words of our own: those of a library may hold what was sent.
fn failure(error: Error, url: &Url) -> Failure {
    let shown = shown(url);
    match error {
        Error::Other(inner) => match inner.downcast::<Refused>() {
            Ok(refused) => refused.0,
            Err(_) => Failure::new("NETWORK", format!("{shown} could not be reached")),
        },
        Error::Timeout(_) => timeout(url),
        Error::HostNotFound => Failure::new(
            "HOST_NOT_FOUND",
            format!("the host of {shown} was not found; check its spelling"),
        ),
        Error::Rustls(_) | Error::Tls(_) | Error::Pem(_) => Failure::new(
            "TLS_FAILED",
            format!("{shown} has no certificate that is trusted, or speaks no TLS that is known"),
        ),
        Error::Io(error) => match error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
            Some(_) => {
                Failure::new("TLS_FAILED", format!("{shown} has no certificate that is trusted"))
            }
            None if error.kind() == std::io::ErrorKind::TimedOut => timeout(url),
            None => {
                let kind = error.kind();
                Failure::new("NETWORK", format!("{shown} could not be reached: {kind}"))
            }
        },
        Error::LargeResponseHeader(..) => {
            Failure::new("BAD_RESPONSE", format!("{shown} answers with headers that are too long"))
        }
        Error::ConnectionFailed => Failure::new("NETWORK", format!("{shown} could not be reached")),
        _ => Failure::new(
            "BAD_RESPONSE",
            format!("{shown} gives an answer that cannot be understood"),
        ),
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
