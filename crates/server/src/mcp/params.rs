//! What requests carry: one form for all methods, so that it is read in one pass.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::Fault;

/// Is what a request carries. What a method does not use is not looked at.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'m> {
    #[serde(borrow, default, rename = "_meta", deserialize_with = "object")]
    pub(crate) meta: Option<Meta<'m>>,
    /// The tool that is called.
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'m RawValue>,
    #[serde(borrow, default)]
    pub(crate) input_responses: Option<BTreeMap<String, &'m RawValue>>,
    #[serde(default)]
    pub(crate) request_state: Option<String>,
    /// Where a list goes on.
    #[serde(default)]
    pub(crate) cursor: Option<String>,
    /// What is listened for.
    #[serde(default, deserialize_with = "object")]
    pub(crate) notifications: Option<Filter>,
    /// The revision of a handshake.
    #[serde(default)]
    pub(crate) protocol_version: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) capabilities: Option<Capabilities>,
    /// The request that is called off.
    #[serde(borrow, default)]
    pub(crate) request_id: Option<&'m RawValue>,
}

/// Reads an object. A list of its values in order, which the reader would take as well, is none.
fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&RawValue>::deserialize(from)?;
    match raw.get().as_bytes().first() {
        Some(b'{') => serde_json::from_str(raw.get()).map(Some).map_err(serde::de::Error::custom),
        Some(b'n') => Ok(None),
        _ => Err(serde::de::Error::custom("an object is wanted")),
    }
}

/// Is what stands beside what is asked.
#[derive(Deserialize, Default)]
pub(crate) struct Meta<'m> {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<String>,
    #[serde(
        default,
        rename = "io.modelcontextprotocol/clientCapabilities",
        deserialize_with = "object"
    )]
    pub(crate) capabilities: Option<Capabilities>,
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'m RawValue>,
    /// The conversation.
    #[serde(default, rename = "remit/threadId")]
    pub(crate) thread: Option<String>,
    /// The call: the same again gives the first outcome.
    #[serde(default, rename = "remit/callId")]
    pub(crate) call: Option<String>,
    /// The agent on whose behalf.
    #[serde(default, rename = "remit/agent")]
    pub(crate) agent: Option<String>,
}

/// Is what a client says it can do; only what matters here.
#[derive(Deserialize, Default)]
pub(crate) struct Capabilities {
    #[serde(default, deserialize_with = "object")]
    elicitation: Option<Elicitation>,
}

#[derive(Deserialize)]
struct Elicitation {
    #[serde(default)]
    form: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    url: Option<serde::de::IgnoredAny>,
}

impl Capabilities {
    /// Tells whether it can show a form to its user. Nothing said about the kind means forms.
    pub(crate) fn shows_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none())
    }
}

/// Says which changes a listener wants to hear of; those of tools are the only ones there are.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default)]
    pub(crate) tools_list_changed: bool,
}

impl<'m> Params<'m> {
    /// Reads them.
    pub(crate) fn read(raw: Option<&'m RawValue>) -> Result<Self, Fault> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        if !raw.get().starts_with('{') {
            return Err(Fault::params("the parameters are no object"));
        }
        serde_json::from_str(raw.get())
            .map_err(|error| Fault::params(format!("the parameters have another shape: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_shown_by_those_who_say_so() {
        for (said, shows) in [
            ("{}", false),
            (r#"{"elicitation": {}}"#, true),
            (r#"{"elicitation": {"form": {}}}"#, true),
            (r#"{"elicitation": {"form": {}, "url": {}}}"#, true),
            (r#"{"elicitation": {"url": {}}}"#, false),
            (r#"{"sampling": {}, "roots": {"listChanged": true}}"#, false),
        ] {
            let read: Capabilities = serde_json::from_str(said).unwrap();
            assert_eq!(read.shows_forms(), shows, "{said}");
        }
    }
}
