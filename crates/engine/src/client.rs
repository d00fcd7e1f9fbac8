//! The client that made a call, as the work sees it: it can be told something, and asked something while
//! the call runs. What the tool's secrets are never gets there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use remit_model::Failure;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::catalog::Source;
use crate::ports::Pending;

/// How many things can be asked at once.
pub const MOST_INQUIRIES: usize = 8;
/// How long a remark may be, as JSON in bytes.
pub const LONGEST_REMARK: usize = 16 * 1024;

/// Says what a client is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asks {
    /// That its user fills in a form.
    Form,
    /// That its model says something.
    Sample,
    /// Which folders it works in.
    Roots,
}

impl Asks {
    /// Gives what a client says it can do that can do this.
    #[must_use]
    pub fn capability(self) -> &'static str {
        match self {
            Self::Form => "elicitation",
            Self::Sample => "sampling",
            Self::Roots => "roots",
        }
    }
}

/// Is one thing that is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Inquiry {
    /// Its name among those asked at once.
    pub name: String,
    /// What is asked for.
    pub asks: Asks,
    /// The question, in the words of MCP.
    pub params: Value,
}

impl Inquiry {
    /// Asks the client's user to fill in a form, whose fields a schema describes.
    #[must_use]
    pub fn form(name: &str, message: &str, schema: Value) -> Self {
        let params = [("message", json!(message)), ("requestedSchema", schema)];
        let params = params.map(|(name, value)| (name.to_owned(), value));
        Self { name: name.to_owned(), asks: Asks::Form, params: Value::from_iter(params) }
    }

    /// Asks the client's model.
    #[must_use]
    pub fn sample(name: &str, question: &str, most_tokens: u32) -> Self {
        let content = json!({"type": "text", "text": question});
        let messages = json!([{"role": "user", "content": content}]);
        let params = json!({"messages": messages, "maxTokens": most_tokens});
        Self { name: name.to_owned(), asks: Asks::Sample, params }
    }

    /// Asks which folders the client works in.
    #[must_use]
    pub fn roots(name: &str) -> Self {
        Self { name: name.to_owned(), asks: Asks::Roots, params: json!({}) }
    }
}

/// Is what was answered, under the names of what was asked, in the words of MCP.
pub type Answers = BTreeMap<String, Value>;

/// Says why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotAsk {
    /// The client, or the way the call came, has nothing to ask for this.
    Lacks(Asks),
    /// It was asked and gave no answer that fits.
    Unanswered,
    /// What was to be asked is no question: too many at once, or two of a name.
    Wrong,
}

impl From<CannotAsk> for Failure {
    fn from(why: CannotAsk) -> Self {
        match why {
            CannotAsk::Lacks(asks) => {
                let needs = asks.capability();
                let message = format!("the tool needs a client that offers `{needs}`");
                let required = json!({"required": {needs: {}}});
                Self::new("CLIENT_CANNOT", message).with_details(required)
            }
            CannotAsk::Unanswered => {
                Self::new("CLIENT_SILENT", "the client gave no answer that fits the question")
            }
            CannotAsk::Wrong => Self::new("BAD_QUESTION", "the tool asked its client no question"),
        }
    }
}

/// Says how much a remark matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the words of RFC 5424")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    /// Reads one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, one)| *one == word).map(|(level, _)| level)
    }

    /// Gives its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(level, _)| *level == self).map_or("info", |(_, word)| word)
    }
}

/// Is a line of a tool's own log.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// How much it matters.
    pub level: Level,
    /// What it says: a text, or an object.
    pub data: Value,
}

/// Is the client that made a call, as a surface has it.
pub trait Client: Send + Sync {
    /// Tells whether it can be asked for something.
    fn has(&self, asks: Asks) -> bool;
    /// Tells it something. It may not want to know.
    fn tell(&self, remark: Remark);
    /// Asks it, and waits. Every answer fits its question.
    fn ask(&self, inquiries: Vec<Inquiry>) -> Pending<'_, Result<Answers, CannotAsk>>;
}

/// Is the way from the work to the client. What goes out is searched for the tool's secrets.
#[derive(Clone, Default)]
pub struct Contact {
    client: Option<Arc<dyn Client>>,
    source: Option<Arc<Source>>,
    /// Fires when the work must stop: then it waits for no answer either.
    stop: CancellationToken,
}

impl Contact {
    /// Makes a way to a client for what has no secrets.
    #[must_use]
    pub fn to(client: Arc<dyn Client>) -> Self {
        Self { client: Some(client), ..Self::default() }
    }

    /// Makes the way for work that a source declares.
    pub(crate) fn of(
        client: Option<&Arc<dyn Client>>,
        source: &Arc<Source>,
        stop: &CancellationToken,
    ) -> Self {
        let source = client.is_some().then(|| Arc::clone(source));
        Self { client: client.cloned(), source, stop: stop.clone() }
    }

    /// Tells whether the client can be asked for something.
    #[must_use]
    pub fn has(&self, asks: Asks) -> bool {
        self.client.as_ref().is_some_and(|client| client.has(asks))
    }

    /// Tells the client something; where nobody listens, nothing happens.
    pub fn tell(&self, level: Level, mut data: Value) {
        let Some(client) = &self.client else { return };
        self.hide(&mut data);
        let length = data.to_string().len();
        if length > LONGEST_REMARK {
            data = json!(format!("a remark of {length} bytes was left out"));
        }
        client.tell(Remark { level, data });
    }

    /// Asks the client and waits for its answers. The call's own time goes on meanwhile.
    pub async fn ask(&self, mut inquiries: Vec<Inquiry>) -> Result<Answers, CannotAsk> {
        let names: BTreeSet<&str> = inquiries.iter().map(|one| one.name.as_str()).collect();
        let is_right =
            names.len() == inquiries.len() && (1..=MOST_INQUIRIES).contains(&names.len());
        if !is_right {
            return Err(CannotAsk::Wrong);
        }
        if let Some(lacks) = inquiries.iter().find(|one| !self.has(one.asks)) {
            return Err(CannotAsk::Lacks(lacks.asks));
        }
        let Some(client) = &self.client else { return Err(CannotAsk::Unanswered) };
        for inquiry in &mut inquiries {
            self.hide(&mut inquiry.params);
        }
        tokio::select! {
            answers = client.ask(inquiries) => answers,
            () = self.stop.cancelled() => Err(CannotAsk::Unanswered),
        }
    }

    fn hide(&self, value: &mut Value) {
        if let Some(Ok(settings)) = self.source.as_ref().map(|source| &source.settings) {
            settings.redactor.value(value);
        }
    }
}

impl std::fmt::Debug for Contact {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Contact({})", if self.client.is_some() { "a client" } else { "nobody" })
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
