//! Which addresses of the web may be asked for.

use std::net::IpAddr;

use remit_model::text;
use url::{Host, Url};

use super::address::{Reach, reach};
use crate::contract::{Failure, Settings};

/// Judges addresses, by what they say and by where they lead.
#[derive(Debug, Default, Clone)]
pub(crate) struct Guard {
    allow_private: bool,
    allowed: Vec<Allowed>,
}

/// Is a host that may be reached wherever it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Allowed {
    host: String,
    /// Is the only port that is meant, or any.
    port: Option<u16>,
}

impl Guard {
    /// Reads what the operator allows.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let mut allowed = Vec::new();
        for entry in settings.list("allowed_hosts")? {
            allowed.push(parse_host(&entry).ok_or_else(|| {
                let what = format!("has {}, which is no host", text::quoted(&entry));
                Failure::setting("allowed_hosts", &what)
            })?);
        }
        Ok(Self { allow_private: settings.flag("allow_private"), allowed })
    }

    /// Allows one host and port, and no private one beside it: where the operator put a service.
    pub(crate) fn service(url: &Url) -> Self {
        let allowed = url
            .host()
            .map(|host| Allowed { host: host_name(&host), port: url.port_or_known_default() });
        Self { allow_private: false, allowed: allowed.into_iter().collect() }
    }

    /// Judges what an address says. Where it leads is judged when it is connected to.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Failure> {
        let refuse = |why: &str| {
            Err(Failure::new("NOT_ALLOWED", format!("the address {} {why}", shown(url))))
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("begins with neither http:// nor https://; only these are fetched");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("has a user name or password in it; leave them out");
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let (literal, host) = match url.host() {
            Some(Host::Ipv4(address)) => (IpAddr::V4(address), address.to_string()),
            Some(Host::Ipv6(address)) => (IpAddr::V6(address), format!("[{address}]")),
            Some(Host::Domain(_)) => return Ok(()),
            None => return refuse("names no host"),
        };
        self.address(&host, port, literal)
    }

    /// Judges where a host leads.
    pub(crate) fn address(&self, host: &str, port: u16, address: IpAddr) -> Result<(), Failure> {
        let named = host.trim_end_matches('.').to_ascii_lowercase();
        let meant = |allowed: &Allowed| {
            allowed.host == named && allowed.port.is_none_or(|only| only == port)
        };
        if self.allowed.iter().any(meant) {
            return Ok(());
        }
        let what = match reach(address) {
            Reach::Public => return Ok(()),
            Reach::Private if self.allow_private => return Ok(()),
            Reach::Private => "a private address",
            Reach::Never => "an address that is not of the public internet",
        };
        let host = text::quoted(host);
        Err(Failure::new(
            "NOT_ALLOWED",
            format!(
                "{host} leads to {what}; the operator can allow it with `egress: allowed_hosts` in remit.yaml"
            ),
        ))
    }
}

/// Reads a host with or without a port.
fn parse_host(entry: &str) -> Option<Allowed> {
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, Some(port.parse().ok()?))
        }
        _ => (entry, None),
    };
    let bare = host.contains(':') && !host.starts_with('[');
    let host = if bare { format!("[{host}]") } else { host.to_owned() };
    Some(Allowed { host: host_name(&Host::parse(&host).ok()?), port })
}

fn host_name<S: AsRef<str>>(host: &Host<S>) -> String {
    match host {
        Host::Domain(name) => name.as_ref().trim_end_matches('.').to_ascii_lowercase(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => format!("[{address}]"),
    }
}

/// Gives an address in backticks, without what may be secret in it.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses that cannot have them.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    text::quoted(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn guard(settings: &serde_json::Value) -> Guard {
        Guard::new(&Settings(settings.as_object().unwrap().clone())).unwrap()
    }

    fn passes(guard: &Guard, url: &str) -> bool {
        guard.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn only_the_web_is_fetched() {
        let guard = Guard::default();
        assert!(passes(&guard, "https://example.org/"));
        for url in [
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://example.org/",
            "data:,x",
            "javascript:1",
            "https://user@example.org/",
            "https://user:pw@example.org/",
            "https://:pw@example.org/",
        ] {
            assert!(!passes(&guard, url), "{url}");
        }
    }

    #[test]
    fn a_private_literal_is_refused_in_every_spelling() {
        let guard = Guard::default();
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://169.254.169.254/latest",
            "http://10.1.2.3/",
            "http://192.168.0.1:8080/",
            "http://100.64.0.1/",
            "http://１２７.0.0.1/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://224.0.0.1/",
            "http://127。0。0。1/",
        ] {
            assert!(!passes(&guard, url), "{url}");
        }
    }

    #[test]
    fn what_the_operator_allows_is_allowed_and_nothing_beside_it() {
        let private = guard(&json!({"allow_private": true}));
        assert!(passes(&private, "http://10.0.0.1/"));
        assert!(passes(&private, "http://[::1]/"));
        assert!(!passes(&private, "http://169.254.169.254/"));
        assert!(!passes(&private, "http://0.0.0.0/"));
        let hosts = guard(&json!({"allowed_hosts": "10.0.0.5:8080, [fd00::1], wiki.corp"}));
        assert!(passes(&hosts, "http://10.0.0.5:8080/"));
        assert!(!passes(&hosts, "http://10.0.0.5/"));
        assert!(passes(&hosts, "http://[fd00::1]:99/"));
        assert!(!passes(&hosts, "http://[fd00::2]/"));
        let ten = "10.0.0.9".parse().unwrap();
        assert!(hosts.address("WIKI.corp.", 443, ten).is_ok());
        assert!(hosts.address("x.wiki.corp", 443, ten).is_err());
        assert!(hosts.address("wiki.corp.evil.example", 443, ten).is_err());
        let metadata = guard(&json!({"allowed_hosts": ["169.254.169.254"]}));
        assert!(passes(&metadata, "http://169.254.169.254/"));
        let colon = guard(&json!({"allowed_hosts": ["::1"]}));
        assert!(passes(&colon, "http://[::1]:7/"));
    }

    #[test]
    fn a_host_that_is_none_is_a_fault_of_the_settings() {
        for entry in ["a b", "host:port", "http://x/", "x/y", "x:99999"] {
            assert_eq!(parse_host(entry), None, "{entry}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let url = Url::parse("https://user:pw@example.org/a?token=canary#f").unwrap();
        assert_eq!(shown(&url), "`https://example.org/a`");
    }
}
