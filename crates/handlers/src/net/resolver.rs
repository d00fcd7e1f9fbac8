//! Names into addresses, each judged before it is connected to.
//!
//! The client connects to the addresses given here and to no others, so the address that was judged
//! is the address that is connected to, whatever a name leads to a moment later.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::guard::Guard;
use crate::contract::Failure;

/// Is the most addresses of a host that are tried.
const ADDRESSES: usize = 8;

/// Looks a name up.
pub(super) type Lookup = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// Looks a name up as the system does.
pub(super) fn system(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Resolves names for the client.
#[derive(Debug)]
pub(super) struct Guarded {
    guard: Guard,
    lookup: Lookup,
}

impl Guarded {
    /// Makes a resolver that judges by the guard.
    pub(super) fn new(guard: Guard, lookup: Lookup) -> Self {
        Self { guard, lookup }
    }

    fn addresses(
        &self,
        host: &str,
        port: u16,
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, Error> {
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = literal.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        // The system's lookup cannot be told to hurry, so it is waited for from outside.
        let (sender, receiver) = mpsc::sync_channel(1);
        let (name, lookup) = (host.to_owned(), self.lookup);
        let started = thread::Builder::new().spawn(move || sender.send(lookup(&name, port)));
        started.map_err(Error::Io)?;
        match receiver.recv_timeout(timeout) {
            Ok(Ok(found)) if !found.is_empty() => Ok(found),
            Ok(_) => Err(Error::HostNotFound),
            Err(_) => Err(Error::Timeout(ureq::Timeout::Resolve)),
        }
    }
}

impl Resolver for Guarded {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?;
        let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default);
        let mut allowed = self.empty();
        let mut refused = None;
        for address in self.addresses(host, port, *timeout.after)?.into_iter().take(ADDRESSES) {
            match self.guard.address(host, port, address.ip()) {
                Ok(()) => allowed.push(address),
                Err(failure) => refused = Some(failure),
            }
        }
        match refused {
            Some(failure) if allowed.is_empty() => Err(Error::Other(Box::new(Refused(failure)))),
            _ if allowed.is_empty() => Err(Error::HostNotFound),
            _ => Ok(allowed),
        }
    }
}

/// Carries a refusal through the client.
#[derive(Debug)]
pub(super) struct Refused(pub(super) Failure);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Refused {}
