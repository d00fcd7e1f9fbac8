//! What requests carry: one form for all methods, so that it is read in one pass.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::Can;
use super::wire::Fault;

/// Is what a request carries. What a method does not use is not looked at.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'m> {
    #[serde(borrow, default, rename = "_meta", deserialize_with = "object")]
    pub(crate) meta: Option<Meta<'m>>,
    /// The tool that is called, or the prompt that is picked.
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'m RawValue>,
    #[serde(borrow, default)]
    pub(crate) input_responses: Option<BTreeMap<String, &'m RawValue>>,
    #[serde(default)]
    pub(crate) request_state: Option<String>,
    /// The resource that is read.
    #[serde(default)]
    pub(crate) uri: Option<String>,
    /// What has the blank that is to be filled in.
    #[serde(default, rename = "ref", deserialize_with = "object")]
    pub(crate) reference: Option<Reference>,
    /// The blank.
    #[serde(default, deserialize_with = "object")]
    pub(crate) argument: Option<Argument>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) context: Option<Context>,
    /// How much a remark must matter to be told.
    #[serde(default)]
    pub(crate) level: Option<String>,
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
    /// How much a remark must matter to be told.
    #[serde(default, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) level: Option<String>,
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

/// Says what has a blank: a prompt by its name, or a template by its URI.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Template { uri: String },
}

/// Is a blank and what stands in it so far.
#[derive(Deserialize)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Is what stands in other blanks.
#[derive(Deserialize, Default)]
pub(crate) struct Context {
    #[serde(default)]
    pub(crate) arguments: BTreeMap<String, String>,
}

/// Is what a client says it can do; only what matters here.
#[derive(Deserialize, Default)]
pub(crate) struct Capabilities {
    #[serde(default, deserialize_with = "object")]
    elicitation: Option<Elicitation>,
    #[serde(default, deserialize_with = "object")]
    sampling: Option<Empty>,
    #[serde(default, deserialize_with = "object")]
    roots: Option<Empty>,
}

#[derive(Deserialize)]
struct Empty {}

#[derive(Deserialize)]
struct Elicitation {
    #[serde(default)]
    form: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    url: Option<serde::de::IgnoredAny>,
}

impl Capabilities {
    /// Gives what the client can be asked for.
    pub(crate) fn can(&self) -> Can {
        let (sampling, roots) = (self.sampling.is_some(), self.roots.is_some());
        Can { forms: self.shows_forms(), sampling, roots }
    }

    /// Tells whether it can show a form to its user. Nothing said about the kind means forms.
    pub(crate) fn shows_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none())
    }
}

/// Says which changes a listener wants to hear of.
#[derive(Deserialize, Default, Clone, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Filter {
    pub(crate) tools_list_changed: bool,
    pub(crate) prompts_list_changed: bool,
    pub(crate) resources_list_changed: bool,
    /// The resources whose own changes matter.
    pub(crate) resource_subscriptions: Vec<String>,
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
    fn what_a_client_can_is_what_it_says() {
        let can = |said: &str| serde_json::from_str::<Capabilities>(said).unwrap().can();
        assert!(!can("{}").anything());
        let all = can(r#"{"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}}"#);
        assert_eq!(all, Can { forms: true, sampling: true, roots: true });
        assert!(!can(r#"{"sampling": null}"#).anything());
        assert!(serde_json::from_str::<Capabilities>(r#"{"sampling": true}"#).is_err());
    }

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
