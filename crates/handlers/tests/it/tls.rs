//! HTTPS, with certificates of our own.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::worker::Worker;

/// Is a server with a certificate for some names, and the authority that signed it, in PEM.
struct Secure {
    port: u16,
    authority: String,
    stop: Arc<AtomicBool>,
}

impl Secure {
    fn start(names: &[&str]) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let root = authority.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let issuer = Issuer::new(authority, authority_key);
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), config) = (stream, Arc::clone(&config)) else { continue };
                let connection = ServerConnection::new(config).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nsecure");
                let _ = stream.flush();
            }
        });
        Self { port, authority: root.pem(), stop }
    }

    fn fetch(&self, host: &str, certificates: &str) -> crate::worker::Answer {
        let settings = json!({"allow_private": true, "ca_certificates": certificates});
        let url = format!("https://{host}:{}/", self.port);
        Worker::start("web_fetch").ask("fetch", json!({"url": url}), settings)
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = std::net::TcpStream::connect(("127.0.0.1", self.port));
    }
}

#[test]
fn a_certificate_is_trusted_when_its_authority_is() {
    let server = Secure::start(&["localhost", "127.0.0.1"]);
    for host in ["localhost", "127.0.0.1"] {
        let answer = server.fetch(host, &server.authority);
        assert_eq!(answer.result()["content"], "secure");
        assert_eq!(server.fetch(host, "").code(), "TLS_FAILED");
    }
}

#[test]
fn a_certificate_for_another_name_is_not_trusted() {
    let server = Secure::start(&["example.org"]);
    assert_eq!(server.fetch("localhost", &server.authority).code(), "TLS_FAILED");
}

#[test]
fn a_server_that_speaks_no_tls_is_an_error() {
    let plain = crate::server::Server::start(|_| crate::server::Reply::html("x"));
    let url = format!("https://127.0.0.1:{}/", plain.port);
    let answer = Worker::start("web_fetch").ask(
        "fetch",
        json!({"url": url}),
        json!({"allow_private": true}),
    );
    assert!(["TLS_FAILED", "NETWORK"].contains(&answer.code()), "{}", answer.value);
}
