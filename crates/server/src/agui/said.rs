//! What is said in a run, as it is kept: texts with what belongs to them beside.

use remit_engine::catalog::Catalog;
use remit_engine::record;
use remit_model::{CallId, ThreadId};
use serde::{Deserialize, Serialize};

use crate::project::ToolAgentOutput;
use crate::system;

/// Is what belongs to a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// The message's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) message_id: String,
    /// The run it was said in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) run_id: String,
    /// The calls it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<Called>,
    /// What came of the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_agent_output: Option<ToolAgentOutput>,
    /// Whether the client said it, so that the stream need not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) from_client: bool,
    /// Where the dialog with the system agent stands behind it. Only that agent writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<system::State>,
}

/// Is a call that a message makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Called {
    /// The call's id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments, as JSON text.
    pub(crate) arguments: String,
}

impl Beside {
    /// Reads what belongs to a message; what other surfaces wrote may be none.
    pub(crate) fn of(message: &record::Message) -> Self {
        serde_json::from_value(message.metadata.clone()).unwrap_or_default()
    }
}

/// Makes a message to be kept.
pub(crate) fn message(
    thread: &ThreadId,
    role: &str,
    content: String,
    call: Option<CallId>,
    beside: &Beside,
    at_ms: i64,
) -> record::Message {
    record::Message {
        thread: thread.clone(),
        role: role.to_owned(),
        content,
        metadata: serde_json::to_value(beside).unwrap_or_default(),
        call,
        at_ms,
    }
}

/// Takes the secrets out of what came from outside, before it is kept: what was said, and what calls
/// were given. What a tool answered was searched when it did.
pub(crate) fn without_secrets(mut message: record::Message, catalog: &Catalog) -> record::Message {
    let screen = catalog.screen();
    if message.role != "tool" {
        message.content = screen.hide(&message.content);
    }
    for given in ["/tool_calls", "/tool_agent_output/tool_call_args"] {
        if let Some(given) = message.metadata.pointer_mut(given) {
            screen.hide_in(given);
        }
    }
    message
}
