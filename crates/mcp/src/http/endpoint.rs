//! Where a server is: its address, and how to get a connection to it.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::header::HeaderValue;
use remit_model::text::quoted;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Url;

use crate::error::McpError;

/// Is a server's address.
#[derive(Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    /// Path and query, as a request names them.
    pub(crate) target: hyper::Uri,
    pub(crate) host_header: HeaderValue,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Endpoint {
    /// Reads an address. `roots` are trusted beside the ones that everybody trusts.
    pub(crate) fn new(written: &str, roots: &[CertificateDer<'static>]) -> Result<Self, McpError> {
        let wrong = |why: &str| {
            McpError::unreachable(format!("{} is no address of a server: {why}", quoted(written)))
        };
        let url = Url::parse(written).map_err(|error| wrong(&error.to_string()))?;
        let is_secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("it must begin with http:// or https://")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("put what proves who you are into a header, not into the address"));
        }
        let host = url.host_str().ok_or_else(|| wrong("it has no host"))?.to_owned();
        let port = url.port_or_known_default().ok_or_else(|| wrong("it has no port"))?;
        let mut target = url.path().to_owned();
        if let Some(query) = url.query() {
            target.push('?');
            target.push_str(query);
        }
        let target = target.parse().map_err(|_| wrong("its path cannot be sent"))?;
        let header = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let host_header = HeaderValue::from_str(&header).map_err(|_| wrong("its host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match is_secure {
            false => None,
            true => {
                let name = ServerName::try_from(host.clone()).map_err(|_| wrong("its host"))?;
                Some((TlsConnector::from(config(roots)?), name))
            }
        };
        Ok(Self { host, port, target, host_header, tls })
    }

    /// Connects.
    pub(crate) async fn connect(&self) -> Result<Stream, McpError> {
        let place = (self.host.as_str(), self.port);
        let tcp = TcpStream::connect(place).await.map_err(|error| {
            McpError::unreachable(format!("{} at port {}: {error}", self.host, self.port))
        })?;
        // Small messages must not wait for each other.
        let _ = tcp.set_nodelay(true);
        match &self.tls {
            None => Ok(Stream::Plain(tcp)),
            Some((connector, name)) => {
                let tls = connector.connect(name.clone(), tcp).await.map_err(|error| {
                    McpError::unreachable(format!("no secure connection to {}: {error}", self.host))
                })?;
                Ok(Stream::Secure(Box::new(tls)))
            }
        }
    }
}

/// Gives what is trusted: the usual authorities, made ready once, or these beside them.
fn config(roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, McpError> {
    static USUAL: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(usual) = USUAL.get().filter(|_| roots.is_empty()) {
        return Ok(Arc::clone(usual));
    }
    let failed = |error: rustls::Error| McpError::unreachable(format!("TLS: {error}"));
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    for root in roots {
        store.add(root.clone()).map_err(failed)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = Arc::new(config);
    if roots.is_empty() {
        return Ok(Arc::clone(USUAL.get_or_init(|| config)));
    }
    Ok(config)
}

/// Is a connection, secured or not.
pub(crate) enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Self::Secure(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, from),
            Self::Secure(stream) => Pin::new(stream).poll_write(cx, from),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, from),
            Self::Secure(stream) => Pin::new(stream).poll_write_vectored(cx, from),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Secure(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused() {
        let read = |written: &str| Endpoint::new(written, &[]);
        let found = read("http://127.0.0.1:81/mcp?x=1").ok().unwrap();
        assert_eq!((found.port, found.target.to_string().as_str()), (81, "/mcp?x=1"));
        assert_eq!(found.host_header, "127.0.0.1:81");
        assert_eq!(read("https://example.com").ok().unwrap().host_header, "example.com");
        assert_eq!(read("http://[::1]:9/").ok().unwrap().host, "::1");
        for wrong in ["", "mcp", "ftp://a/", "http://", "http://u:p@h/", "stdio://x"] {
            assert!(matches!(read(wrong), Err(McpError::Unreachable { .. })), "{wrong}");
        }
    }
}
