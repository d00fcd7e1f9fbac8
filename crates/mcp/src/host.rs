//! What a server asks of its client, and who answers.

use remit_engine::ports::Pending;
use serde_json::{Value, json};

/// Answers what servers ask: elicitation, sampling, roots. Whoever runs the client gives one; without
/// it a server is told plainly that there is nobody to ask.
pub trait Host: Send + Sync {
    /// Gives what servers are told that this client can do, as the protocol writes it. It stays the same
    /// while the host lives.
    fn capabilities(&self) -> Value;

    /// Answers one question with the result that the protocol has for it, or says why not.
    fn answer(&self, question: Question) -> Pending<'_, Result<Value, String>>;
}

/// Is a question of a server's.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The server that asks.
    pub server: String,
    /// What it asks for: `elicitation/create`, `sampling/createMessage`, `roots/list`.
    pub method: String,
    /// With what.
    pub params: Value,
}

impl Question {
    /// Lists what can be asked.
    pub const METHODS: [&'static str; 3] =
        ["elicitation/create", "sampling/createMessage", "roots/list"];
}

/// Answers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn capabilities(&self) -> Value {
        json!({})
    }

    fn answer(&self, question: Question) -> Pending<'_, Result<Value, String>> {
        let why = format!("this client has nobody to answer {}", question.method);
        Box::pin(std::future::ready(Err(why)))
    }
}

/// Is something a server said by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Its tools are others now.
    ToolsChanged,
    /// Its resources are others now.
    ResourcesChanged,
    /// Its prompts are others now.
    PromptsChanged,
    /// A resource has other contents now.
    ResourceUpdated(String),
    /// A line of its log.
    Log {
        /// How much it matters, in the protocol's words.
        level: String,
        /// What it says.
        data: Value,
    },
}

/// Is how far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How much is done.
    pub progress: f64,
    /// Of how much.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

impl Step {
    /// Gives it as a part of the whole, from 0 to 1, where the whole is known.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| total.is_finite() && *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0)).filter(|part| part.is_finite())
    }
}
