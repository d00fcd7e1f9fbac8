//! The sources that can be asked: how each is asked and what its answer means.

mod brave;
mod mediawiki;
mod searxng;
mod tavily;

use remit_model::text::quoted;
use serde_json::Value;
use url::{Host, Url};

use crate::contract::{Failure, Settings};
use crate::text::html;

/// Is one thing a source found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) title: String,
    pub(super) url: Url,
    pub(super) snippet: String,
    pub(super) date: Option<String>,
}

impl Found {
    /// Makes a finding of what a source said, if it leads to a page of the web.
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let (title, snippet) = (html::plain(title), html::plain(snippet));
        let title = if title.is_empty() { url.as_str().to_owned() } else { title };
        Some(Self { title, url, snippet, date: None })
    }
}

/// Is what a source is sent.
pub(super) struct Question {
    pub(super) url: Url,
    /// Is the header that carries the key, if there is a key.
    pub(super) header: Option<(&'static str, String)>,
    /// Is what is posted; without it the question is a GET.
    pub(super) body: Option<String>,
}

/// Is where a source's key is.
#[derive(Clone, Copy)]
struct Key {
    setting: &'static str,
    /// Tells whether the one key of an operator who has only one is of this source.
    owns: fn(&str) -> bool,
}

/// Is a kind of source.
struct Connector {
    name: &'static str,
    address: &'static str,
    key: Option<Key>,
    ask: fn(&Url, &str, &str, usize) -> Question,
    read: fn(&Value, &Url) -> Result<Vec<Found>, Failure>,
}

const CONNECTORS: &[Connector] = &[
    Connector {
        name: "searxng",
        address: "searxng_url",
        key: None,
        ask: searxng::ask,
        read: searxng::read,
    },
    Connector {
        name: "brave",
        address: "brave_url",
        key: Some(Key { setting: "brave_api_key", owns: |key| !tavily::owns(key) }),
        ask: brave::ask,
        read: brave::read,
    },
    Connector {
        name: "tavily",
        address: "tavily_url",
        key: Some(Key { setting: "tavily_api_key", owns: tavily::owns }),
        ask: tavily::ask,
        read: tavily::read,
    },
    Connector {
        name: "mediawiki",
        address: "mediawiki_url",
        key: None,
        ask: mediawiki::ask,
        read: mediawiki::read,
    },
];

/// Is a source that can be asked.
pub(super) struct Source {
    connector: &'static Connector,
    base: Url,
    key: String,
}

impl Source {
    /// Gives its name.
    pub(super) fn name(&self) -> &'static str {
        self.connector.name
    }

    /// Gives the address the operator configured.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Gives what to send it.
    pub(super) fn ask(&self, query: &str, most: usize) -> Question {
        (self.connector.ask)(&self.base, &self.key, query, most.clamp(1, 20))
    }

    /// Reads its answer.
    pub(super) fn read(&self, answer: &Value) -> Result<Vec<Found>, Failure> {
        (self.connector.read)(answer, &self.base)
    }
}

/// Is a source by name, and why it cannot be asked.
pub(super) type Unusable = (&'static str, Failure);

/// Gives the sources to ask: those that are named, or all that are configured.
pub(super) fn chosen(
    settings: &Settings,
    wanted: &[&str],
) -> Result<(Vec<Source>, Vec<Unusable>), Failure> {
    let known: Vec<_> = CONNECTORS.iter().map(|connector| connector.name).collect();
    if let Some(odd) = wanted.iter().find(|name| !known.contains(name)) {
        let message = format!("there is no source {}; there are {}", quoted(odd), known.join(", "));
        return Err(Failure::new("INVALID_PARAMETER", message));
    }
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    for connector in CONNECTORS {
        let named = wanted.contains(&connector.name);
        if !wanted.is_empty() && !named {
            continue;
        }
        match configured(connector, settings)? {
            Ok(Some(source)) => usable.push(source),
            Ok(None) if named => {
                let missing = connector.key.map_or(connector.address, |key| key.setting);
                let message = format!("it is not configured; the operator can set `{missing}`");
                unusable.push((connector.name, Failure::new("NOT_CONFIGURED", message)));
            }
            Ok(None) => {}
            Err(failure) => unusable.push((connector.name, failure)),
        }
    }
    if usable.is_empty() && unusable.is_empty() {
        let message = "no source is configured; the operator can set `searxng_url`, `brave_api_key`, `tavily_api_key` or `mediawiki_url`";
        return Err(Failure::new("NOT_CONFIGURED", message));
    }
    Ok((usable, unusable))
}

/// Gives a source if it is configured, and why not if it is configured wrongly.
fn configured(
    connector: &'static Connector,
    settings: &Settings,
) -> Result<Result<Option<Source>, Failure>, Failure> {
    let address = settings.text(connector.address)?;
    let mut key = "";
    if let Some(Key { setting, owns }) = connector.key {
        key = settings.text(setting)?;
        if key.is_empty() {
            key = Some(settings.text("api_key")?).filter(|key| owns(key)).unwrap_or_default();
        }
        if key.is_empty() {
            return Ok(Ok(None));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let what = "has characters that a key cannot have";
            return Ok(Err(Failure::setting(setting, what)));
        }
    }
    if address.is_empty() {
        return Ok(Ok(None));
    }
    let Ok(base) = Url::parse(address) else {
        return Ok(Err(Failure::setting(
            connector.address,
            "is no address; write it with https://",
        )));
    };
    if !key.is_empty() && base.scheme() != "https" && !is_loopback(&base) {
        let what = "would send the key in the open; write it with https://";
        return Ok(Err(Failure::setting(connector.address, what)));
    }
    Ok(Ok(Some(Source { connector, base, key: key.to_owned() })))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Gives the address of an endpoint below a base, which may already name it.
fn endpoint(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_fragment(None);
    let before = base.path().trim_end_matches('/');
    if !before.ends_with(path) {
        url.set_path(&format!("{before}{path}"));
    }
    url
}

/// Reads a list of findings by the names a source gives their parts.
fn listed(list: Option<&Value>, snippet: &str, date: &str) -> Result<Vec<Found>, Failure> {
    let Some(list) = list.and_then(Value::as_array) else {
        return Err(Failure::new("BAD_RESPONSE", "its answer has no list of results"));
    };
    let text = |item: &Value, name: &str| {
        item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found = list.iter().filter_map(|item| {
        let found = Found::new(&text(item, "title"), &text(item, "url"), &text(item, snippet))?;
        let date = Some(text(item, date)).filter(|date| !date.is_empty());
        Some(Found { date, ..found })
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(settings: &Value, wanted: &[&str]) -> (Vec<&'static str>, Vec<&'static str>) {
        let settings = Settings(settings.as_object().unwrap().clone());
        let (usable, unusable) = chosen(&settings, wanted).unwrap();
        (
            usable.iter().map(Source::name).collect(),
            unusable.iter().map(|(_, failure)| failure.code).collect(),
        )
    }

    #[test]
    fn a_source_is_on_when_it_is_configured() {
        let all = json!({
            "searxng_url": "https://s.example", "brave_url": "https://b.example",
            "brave_api_key": "kkkkkkkk", "tavily_url": "https://t.example",
            "tavily_api_key": "tvly-kkkk", "mediawiki_url": "https://w.example/w/api.php",
        });
        assert_eq!(names(&all, &[]).0, ["searxng", "brave", "tavily", "mediawiki"]);
        assert_eq!(names(&all, &["tavily"]).0, ["tavily"]);
        let one = json!({"mediawiki_url": "https://w.example"});
        assert_eq!(names(&one, &[]), (vec!["mediawiki"], vec![]));
        assert_eq!(names(&one, &["brave"]), (vec![], vec!["NOT_CONFIGURED"]));
    }

    #[test]
    fn one_key_goes_to_the_source_it_belongs_to() {
        let with = |key: &str| {
            let urls = json!({"brave_url": "https://b.example", "tavily_url": "https://t.example", "api_key": key});
            names(&urls, &[]).0
        };
        assert_eq!(with("tvly-abcdef"), ["tavily"]);
        assert_eq!(with("BSAabcdef"), ["brave"]);
    }

    #[test]
    fn a_key_is_not_sent_in_the_open() {
        let with = |url: &str| names(&json!({"brave_url": url, "brave_api_key": "kkkkkkkk"}), &[]);
        assert_eq!(with("http://b.example"), (vec![], vec!["BAD_SETTING"]));
        assert_eq!(with("http://127.0.0.1:8080"), (vec!["brave"], vec![]));
        assert_eq!(with("not an address"), (vec![], vec!["BAD_SETTING"]));
    }

    #[test]
    fn an_endpoint_is_added_once() {
        let at = |base: &str| endpoint(&Url::parse(base).unwrap(), "/search").to_string();
        assert_eq!(at("https://s.example"), "https://s.example/search");
        assert_eq!(at("https://s.example/x/"), "https://s.example/x/search");
        assert_eq!(at("https://s.example/search"), "https://s.example/search");
    }

    #[test]
    fn what_is_no_page_is_no_finding() {
        let list = json!([
            {"title": "a", "url": "https://a.example/"}, {"title": "b", "url": "javascript:1"},
            {"title": "c"}, 7,
        ]);
        assert_eq!(listed(Some(&list), "content", "date").unwrap().len(), 1);
        assert_eq!(listed(None, "content", "date").unwrap_err().code, "BAD_RESPONSE");
    }
}
