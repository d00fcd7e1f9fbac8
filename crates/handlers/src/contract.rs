//! A call and its answer, as `docs/workers.md` describes them.

use std::time::{Duration, Instant};

use remit_model::text;
use serde_json::{Map, Value, json};

/// Is how long a call may take when the request does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Is one call, ready to be done.
pub(crate) struct Call {
    pub(crate) command: String,
    pub(crate) settings: Settings,
    parameters: Map<String, Value>,
    deadline: Instant,
}

impl Call {
    /// Takes a call out of a request.
    pub(crate) fn new(request: &mut Map<String, Value>) -> Self {
        let mut taken = |name: &str| match request.remove(name) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let timeout = taken("context")
            .get("timeout_ms")
            .and_then(Value::as_u64)
            .map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        // The answer has to be on its way before whoever asked stops waiting for it.
        let spare = (timeout / 10).min(Duration::from_millis(500));
        let now = Instant::now();
        Self {
            settings: Settings(taken("settings")),
            parameters: taken("parameters"),
            command: match request.remove("command") {
                Some(Value::String(command)) => command,
                _ => String::new(),
            },
            deadline: now.checked_add(timeout.saturating_sub(spare)).unwrap_or(now),
        }
    }

    /// Gives the moment by which the answer must be ready.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Gives how much time is left, at most `most`.
    pub(crate) fn time_left(&self, most: Duration) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).min(most)
    }

    /// Gives a parameter that is text and must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        match self.parameters.get(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Failure::parameter(name, "must be text")),
            None => Err(Failure::parameter(name, "is missing")),
        }
    }

    /// Gives a parameter that is text, if it is there.
    pub(crate) fn text_or<'c>(&'c self, name: &str, default: &'c str) -> Result<&'c str, Failure> {
        if self.parameters.get(name).is_none_or(Value::is_null) {
            return Ok(default);
        }
        self.text(name)
    }

    /// Gives a parameter that is yes or no.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.parameters.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Gives a parameter that is a count, if it is there.
    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, Failure> {
        match self.parameters.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .map(Some)
                .ok_or_else(|| Failure::parameter(name, "must be a whole number, 0 or more")),
        }
    }

    /// Gives a parameter that is a list of texts, empty when it is not there.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>, Failure> {
        let wrong = || Failure::parameter(name, "must be a list of texts");
        match self.parameters.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                list.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }
}

/// Is the tool's configuration, secrets included.
pub(crate) struct Settings(pub(crate) Map<String, Value>);

impl Settings {
    /// Gives a setting that is text, trimmed, or nothing.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.trim()),
            Some(_) => Err(Failure::setting(name, "must be text")),
        }
    }

    /// Gives a setting that is yes or no; what is neither counts as no.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Gives a setting that is a number, held within bounds.
    pub(crate) fn number(&self, name: &str, default: u64, least: u64, most: u64) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(default).clamp(least, most)
    }

    /// Gives a setting that is a list: of texts, or one text with commas between them.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<String>, Failure> {
        let wrong = || Failure::setting(name, "must be text with commas, or a list of texts");
        let parts: Vec<&str> = match self.0.get(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => text.split(',').collect(),
            Some(Value::Array(list)) => {
                list.iter().map(|v| v.as_str().ok_or_else(wrong)).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(wrong()),
        };
        Ok(parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).map(str::to_owned).collect())
    }
}

/// Is the answer of a call that worked, wholly or in part.
pub(crate) struct Done {
    result: Value,
    message: Option<String>,
    base64: Option<String>,
    partial: bool,
}

impl Done {
    /// Gives an answer with nothing but a result.
    pub(crate) fn new(result: Value) -> Self {
        Self { result, message: None, base64: None, partial: false }
    }

    /// Adds a sentence for the model.
    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Adds binary data.
    pub(crate) fn base64(mut self, data: String) -> Self {
        self.base64 = Some(data);
        self
    }

    /// Says that some of it could not be had, and what.
    pub(crate) fn partial(mut self, message: impl Into<String>) -> Self {
        self.partial = true;
        self.message(message)
    }

    fn into_map(self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("result".to_owned(), self.result);
        if let Some(message) = self.message {
            map.insert("message".to_owned(), message.into());
        }
        if let Some(data) = self.base64 {
            map.insert("base64".to_owned(), data.into());
        }
        if self.partial {
            map.insert("partial".to_owned(), true.into());
        }
        map
    }
}

/// Is the answer of a call that did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Failure {
    /// Makes a failure from a code and what to do differently.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    fn parameter(name: &str, what: &str) -> Self {
        Self::new("INVALID_PARAMETER", format!("the parameter {} {what}", text::quoted(name)))
    }

    /// Makes the failure of a setting that only the operator can put right.
    pub(crate) fn setting(name: &str, what: &str) -> Self {
        Self::new("BAD_SETTING", format!("the setting {} {what}", text::quoted(name)))
    }

    /// Makes the failure of a call that ran out of time.
    pub(crate) fn timeout(what: &str) -> Self {
        Self::new("TIMEOUT", format!("{what} took too long; ask for less or try again later"))
    }
}

/// Gives the fields of an answer, without its id.
pub(crate) fn answer(outcome: Result<Done, Failure>) -> Map<String, Value> {
    match outcome {
        Ok(done) => done.into_map(),
        Err(failure) => {
            let error = json!({"code": failure.code, "message": failure.message});
            Map::from_iter([("error".to_owned(), error)])
        }
    }
}

/// Is where a handler reports how far it has come: a fraction from 0 to 1 and a few words.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(f64, &str);
