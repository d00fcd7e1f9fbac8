//! Finding out what a server speaks: the newest revision is probed for, older ones shake hands.

use std::pin::pin;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::McpError;
use crate::limits::Times;
use crate::link::{Link, Request, Until};
use crate::revision::Revision;
use crate::rpc::{HEADER_MISMATCH, ME, MISSING_CAPABILITY, Meta, Params, UNSUPPORTED_VERSION};

/// Is what a server says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// What both sides speak.
    pub revision: Revision,
    /// What it can do, as the protocol writes it.
    pub capabilities: Value,
    /// What it calls itself.
    pub name: String,
    /// Which version of itself it is.
    pub version: String,
    /// What it wants a model to know.
    pub instructions: Option<String>,
}

impl Welcome {
    /// Tells whether it has something: `tools`, `resources`, `prompts`.
    #[must_use]
    pub fn has(&self, what: &str) -> bool {
        self.capabilities.get(what).is_some_and(Value::is_object)
    }

    /// Gives the changes that it tells of, as the newest revision asks for them.
    pub(crate) fn changes(&self) -> Option<Value> {
        let tells = |what: &str| {
            self.capabilities.get(what).and_then(|of| of.get("listChanged")) == Some(&true.into())
        };
        let names = [
            ("tools", "toolsListChanged"),
            ("resources", "resourcesListChanged"),
            ("prompts", "promptsListChanged"),
        ];
        let wanted: serde_json::Map<_, _> = names
            .into_iter()
            .filter(|(what, _)| tells(what))
            .map(|(_, name)| (name.to_owned(), Value::Bool(true)))
            .collect();
        (!wanted.is_empty()).then_some(Value::Object(wanted))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(default)]
    protocol_version: Option<String>,
    #[serde(default)]
    supported_versions: Option<Vec<String>>,
    #[serde(default)]
    capabilities: Value,
    #[serde(default)]
    server_info: Value,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

impl Told {
    fn read(raw: &RawValue, what: &str) -> Result<Self, McpError> {
        serde_json::from_str(raw.get())
            .map_err(|error| McpError::nonsense(format!("its answer to {what} is none: {error}")))
    }

    fn welcome(self, revision: Revision) -> Welcome {
        let in_meta = self.meta.get("io.modelcontextprotocol/serverInfo");
        let info = in_meta.unwrap_or(&self.server_info);
        let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, version) = (text("name").to_owned(), text("version").to_owned());
        let Self { capabilities, instructions, .. } = self;
        Welcome { revision, capabilities, name, version, instructions }
    }
}

/// Is what a probe found.
enum Probed {
    Modern(Welcome),
    /// It shakes hands; or it does not know the probe, which comes to the same.
    Older,
}

/// Says what a server hears first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The probe.
    Probe,
    /// The handshake: the probe was the end of it the last time.
    Hands,
}

/// Finds out what a server speaks, and leaves the link ready to be used.
pub(crate) async fn shake(link: &Link, first: First, times: &Times) -> Result<Welcome, McpError> {
    let until = Until::within(times.connect);
    let shaken = match first {
        First::Probe => shake_until(link, times, &until).await,
        First::Hands => hands(link, &until).await,
    };
    shaken.map_err(|error| match error {
        McpError::TimedOut { after } => {
            McpError::NotReady { after, waiting_for: "the first request", said: "".into() }
        }
        other => other,
    })
}

async fn shake_until(link: &Link, times: &Times, until: &Until) -> Result<Welcome, McpError> {
    let mut probe = pin!(probe(link, until));
    let early = tokio::select! {
        biased;
        probed = &mut probe => Some(probed?),
        () = tokio::time::sleep(times.probe) => None,
    };
    match early {
        Some(Probed::Modern(welcome)) => return Ok(welcome),
        Some(Probed::Older) => return hands(link, until).await,
        None => {}
    }
    // Some older servers do not answer what they do not know. A slow one may still answer the probe.
    let mut hands = pin!(hands(link, until));
    tokio::select! {
        biased;
        probed = &mut probe => match probed? {
            Probed::Modern(welcome) => Ok(welcome),
            Probed::Older => hands.await,
        },
        shaken = &mut hands => match shaken {
            Ok(welcome) => Ok(welcome),
            Err(refused) => match probe.await {
                Ok(Probed::Modern(welcome)) => Ok(welcome),
                Ok(Probed::Older) | Err(_) => Err(refused),
            },
        },
    }
}

async fn discover(link: &Link, until: &Until) -> Result<Box<RawValue>, McpError> {
    let meta = Meta::modern(link.inbox().capabilities());
    let request = Request::new("server/discover", Params { meta, ..Params::default() });
    link.request(request, until, None).await
}

/// Gives the revisions that an error names, if it is about them.
fn named_in(error: &McpError) -> Option<Vec<String>> {
    let McpError::Refused { code: UNSUPPORTED_VERSION, data, .. } = error else { return None };
    let theirs = data.as_ref().and_then(|data| data.get("supported")).and_then(Value::as_array);
    let theirs = theirs.map(Vec::as_slice).unwrap_or_default();
    Some(theirs.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect())
}

fn is_modern(theirs: &[String]) -> bool {
    theirs.iter().any(|one| one == Revision::MODERN.as_str())
}

async fn probe(link: &Link, until: &Until) -> Result<Probed, McpError> {
    let mut answer = discover(link, until).await;
    // One that refuses what it then names is asked once more.
    if answer.as_ref().err().and_then(named_in).is_some_and(|theirs| is_modern(&theirs)) {
        answer = discover(link, until).await;
    }
    let theirs = match answer {
        Ok(raw) => {
            let told = Told::read(&raw, "server/discover")?;
            // Some older servers have an empty answer to everything.
            let Some(theirs) = told.supported_versions.clone() else { return Ok(Probed::Older) };
            if is_modern(&theirs) {
                link.agree(Revision::MODERN);
                return Ok(Probed::Modern(told.welcome(Revision::MODERN)));
            }
            theirs
        }
        Err(error) if let Some(theirs) = named_in(&error) => theirs,
        Err(error) if is_of_an_older_server(&error) => return Ok(Probed::Older),
        Err(error) => return Err(error),
    };
    match theirs.iter().any(|one| Revision::agreed(one).is_some()) {
        true => Ok(Probed::Older),
        false => Err(McpError::NoCommonRevision { theirs }),
    }
}

/// Tells whether an error may be what an older server says to what it does not know. There is no one
/// code for that.
fn is_of_an_older_server(error: &McpError) -> bool {
    match error {
        McpError::Refused { code, .. } => !matches!(*code, HEADER_MISMATCH | MISSING_CAPABILITY),
        McpError::Status { .. } | McpError::Nonsense { .. } => true,
        _ => false,
    }
}

async fn hands(link: &Link, until: &Until) -> Result<Welcome, McpError> {
    let params = Params {
        protocol_version: Some(Revision::LAST_WITH_HANDSHAKE.as_str()),
        capabilities: Some(link.inbox().capabilities()),
        client_info: Some(ME),
        ..Params::default()
    };
    let raw = link.request(Request::new("initialize", params), until, None).await?;
    let told = Told::read(&raw, "initialize")?;
    let named = told.protocol_version.clone().unwrap_or_default();
    let revision = Revision::agreed(&named);
    let revision = revision.ok_or(McpError::NoCommonRevision { theirs: vec![named] })?;
    link.agree(revision);
    link.notify("notifications/initialized", Params::default(), until).await?;
    Ok(told.welcome(revision))
}
