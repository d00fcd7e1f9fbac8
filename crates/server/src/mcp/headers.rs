//! What the head of a request says about its body. Whoever stands between may act on the head alone,
//! so the newest revision demands that both say the same.

use std::borrow::Cow;

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::dispatch;
use super::params::Params;
use super::revision::Revision;
use super::wire::{Fault, HEADER_MISMATCH, UNSUPPORTED_VERSION};

pub(crate) const VERSION: &str = "mcp-protocol-version";
pub(crate) const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Gives a header that stands there once and is text.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| value.trim_matches([' ', '\t']))
}

/// Says which kinds of answer a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    pub(crate) json: bool,
    pub(crate) streams: bool,
}

/// Reads `Accept`; nothing said means anything.
pub(crate) fn takes(headers: &HeaderMap) -> Takes {
    let mut found = Takes { json: false, streams: false };
    let mut is_said = false;
    for value in headers.get_all(header::ACCEPT) {
        is_said = true;
        for one in value.to_str().unwrap_or_default().split(',') {
            let mut parts = one.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            if parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000")) {
                continue;
            }
            found.json |= matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
            found.streams |= matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*");
        }
    }
    if is_said { found } else { Takes { json: true, streams: false } }
}

/// Reads a value that may be written in base64, because headers take only ASCII.
pub(crate) fn decoded(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(inner) => {
            let bytes = STANDARD.decode(inner).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => Some(Cow::Borrowed(value)),
    }
}

fn mismatch(message: &str) -> Fault {
    Fault::new(HEADER_MISMATCH, message)
}

/// Says that a revision is not spoken.
pub(crate) fn unsupported(requested: &str) -> Fault {
    let data = json!({"supported": dispatch::revisions(), "requested": requested});
    Fault::new(UNSUPPORTED_VERSION, "this revision of the protocol is not spoken here")
        .with_data(data)
}

/// Holds the head of a request of the newest revision against its body.
pub(crate) fn judge(headers: &HeaderMap, method: &str, params: &Params<'_>) -> Result<(), Fault> {
    judge_meta(params)?;
    let version = params.meta.as_ref().and_then(|meta| meta.version.as_deref());
    if text(headers, VERSION) != version {
        return Err(mismatch("the header MCP-Protocol-Version is not the version in `_meta`"));
    }
    if text(headers, METHOD) != Some(method) {
        return Err(mismatch("the header Mcp-Method is not the method"));
    }
    let name = match method {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        _ => None,
    };
    if let Some(name) = name {
        let written = text(headers, NAME).and_then(decoded);
        if written.as_deref() != Some(name) {
            return Err(mismatch("the header Mcp-Name is not what is called, picked or read"));
        }
    }
    judge_version(params)
}

/// Demands what every request of the newest revision must say.
pub(crate) fn judge_meta(params: &Params<'_>) -> Result<(), Fault> {
    let Some(meta) = &params.meta else {
        return Err(Fault::params(
            "`_meta` is missing, with io.modelcontextprotocol/protocolVersion and \
             io.modelcontextprotocol/clientCapabilities in it",
        ));
    };
    if meta.version.is_none() {
        return Err(Fault::params("io.modelcontextprotocol/protocolVersion is missing in `_meta`"));
    }
    if meta.capabilities.is_none() {
        let what = "io.modelcontextprotocol/clientCapabilities is missing in `_meta`";
        return Err(Fault::params(what));
    }
    Ok(())
}

/// Demands that the revision is the one whose requests stand alone.
pub(crate) fn judge_version(params: &Params<'_>) -> Result<(), Fault> {
    let version = params.meta.as_ref().and_then(|meta| meta.version.as_deref()).unwrap_or_default();
    match Revision::parse(version) {
        Some(revision) if revision.is_modern() => Ok(()),
        _ => Err(unsupported(version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(written: &str) -> (bool, bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, written.parse().unwrap());
        let found = takes(&headers);
        (found.json, found.streams)
    }

    #[test]
    fn what_a_client_takes_is_read() {
        assert_eq!(accept("application/json, text/event-stream"), (true, true));
        assert_eq!(accept("*/*"), (true, true));
        assert_eq!(accept("Application/JSON;q=0.9"), (true, false));
        assert_eq!(accept("text/html"), (false, false));
        assert_eq!(accept("application/json;q=0, text/*"), (false, true));
        assert_eq!(takes(&HeaderMap::new()), Takes { json: true, streams: false });
    }

    #[test]
    fn names_beyond_ascii_come_in_base64() {
        assert_eq!(decoded("=?base64?w6k=?=").as_deref(), Some("é"));
        assert_eq!(decoded("plain").as_deref(), Some("plain"));
        assert_eq!(decoded("=?base64?***?="), None);
    }
}
