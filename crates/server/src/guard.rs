//! Which names the server answers to. A page somewhere on the web can make a browser send requests to
//! this machine, under a name of its own; such requests are refused before anything looks at them.

use std::sync::OnceLock;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::error::ApiError;

/// Knows the names.
pub(crate) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
    own: OnceLock<String>,
}

impl Names {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Self {
        let lower = |names: &[String]| names.iter().map(|n| n.to_ascii_lowercase()).collect();
        Self { hosts: lower(hosts), origins: lower(origins), own: OnceLock::new() }
    }

    /// Takes the address that the server listens on.
    pub(crate) fn listening(&self, address: std::net::SocketAddr) {
        let _ = self.own.set(address.ip().to_string());
    }

    /// Tells whether a `Host` header names this server. The port does not matter: it may be
    /// forwarded.
    fn is_host(&self, written: &str) -> bool {
        let name = without_port(written).to_ascii_lowercase();
        matches!(name.as_str(), "localhost" | "127.0.0.1" | "[::1]")
            || self.hosts.contains(&name)
            || self.own.get().is_some_and(|own| *own == name || format!("[{own}]") == name)
    }

    /// Tells whether a page from there may call this server.
    fn is_origin(&self, written: &str, host: &str) -> bool {
        let origin = written.to_ascii_lowercase();
        let same = origin.split_once("://").is_some_and(|(scheme, rest)| {
            matches!(scheme, "http" | "https") && rest == host.to_ascii_lowercase()
        });
        same || self.origins.contains(&origin)
    }

    fn judge(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let misdirected = |message: &str| {
            Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "WRONG_HOST", message))
        };
        let Some(host) = text(header::HOST) else {
            return misdirected("the request has no `Host`");
        };
        if headers.get_all(header::HOST).iter().count() != 1 || !self.is_host(host) {
            return misdirected("this server is not known under that name; see --host");
        }
        match headers.get(header::ORIGIN) {
            None => Ok(()),
            Some(origin) if origin.to_str().is_ok_and(|o| self.is_origin(o, host)) => Ok(()),
            Some(_) => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "WRONG_ORIGIN",
                "pages from there may not call this server; see --origin",
            )),
        }
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => {
            name
        }
        _ => host,
    }
}

/// Judges whether a request was meant for this server.
pub(crate) fn judge(app: &App, request: &Request) -> Result<(), ApiError> {
    app.names.judge(request.headers())
}

/// Refuses requests that were meant for another name.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    match judge(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(headers: &[(&str, &str)]) -> bool {
        let names =
            Names::new(&["remit.example".to_owned()], &["https://console.example".to_owned()]);
        names.listening("192.0.2.7:80".parse().unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        names.judge(&map).is_ok()
    }

    #[test]
    fn only_its_own_names_are_answered() {
        for host in [
            "localhost:1",
            "LOCALHOST",
            "127.0.0.1:8080",
            "[::1]:80",
            "[::1]",
            "remit.example",
            "192.0.2.7:80",
        ] {
            assert!(judged(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "localhost@evil",
            "192.0.2.8",
            "::1",
        ] {
            assert!(!judged(&[("host", host)]), "{host}");
        }
        assert!(!judged(&[]));
        assert!(!judged(&[("host", "localhost"), ("host", "evil.example")]));
    }

    #[test]
    fn pages_from_elsewhere_are_refused() {
        for origin in ["http://localhost:1", "https://LOCALHOST:1", "https://console.example"] {
            assert!(judged(&[("host", "localhost:1"), ("origin", origin)]), "{origin}");
        }
        for origin in [
            "null",
            "http://localhost",
            "http://localhost:2",
            "https://evil.example",
            "file://",
            "http://localhost:1.evil.example",
        ] {
            assert!(!judged(&[("host", "localhost:1"), ("origin", origin)]), "{origin}");
        }
    }
}
