//! What a URL says about where a call goes, for every dialect that has one.

use url::{Host, Url};

/// Tells whether a URL leads to the machine it is used on, so that nobody can listen on the way.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        let is = |host: &str| is_loopback(&Url::parse(&format!("http://{host}/a")).unwrap());
        for host in ["localhost", "LOCALHOST:1", "localhost.", "a.localhost", "127.3.2.1", "[::1]"]
        {
            assert!(is(host), "{host}");
        }
        assert!(is("[::ffff:127.0.0.1]"));
        for host in ["a.example", "localhost.example", "xlocalhost", "10.0.0.1", "0.0.0.0", "[::2]"]
        {
            assert!(!is(host), "{host}");
        }
    }
}
