//! What goes wrong, said so that the caller can put it right.

use serde_json::{Map, Value, json};

/// Is the kind of a failure. The names are stable: programs branch on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// There is no such module or method.
    UnknownAction,
    /// The input is not what the method takes.
    InvalidActionInput,
    /// There is no such thing, or none that the caller may know of.
    NotFound,
    /// The caller knows of the thing but may not do this to it.
    Forbidden,
    /// The thing is not in the state, or of the revision, that the call expects.
    Conflict,
    /// There would be too many or too much.
    LimitExceeded,
    /// What was stored cannot be read.
    Internal,
}

impl Code {
    /// Gives the name that programs see.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownAction => "UNKNOWN_ACTION",
            Self::InvalidActionInput => "INVALID_ACTION_INPUT",
            Self::NotFound => "NOT_FOUND",
            Self::Forbidden => "FORBIDDEN",
            Self::Conflict => "CONFLICT",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// Is a failure: its kind, what to do about it, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its kind.
    pub code: Code,
    /// What went wrong and what to do next.
    pub message: String,
    /// The part of the input it is about, as a JSON Pointer.
    pub pointer: Option<String>,
    /// More facts, such as the revision there is.
    pub details: Map<String, Value>,
}

impl Failure {
    /// Makes a failure.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), pointer: None, details: Map::new() }
    }

    /// Makes a failure about one part of the input.
    pub fn input(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let mut failure = Self::new(Code::InvalidActionInput, message);
        failure.pointer = Some(pointer.into());
        failure
    }

    /// Makes the failure that a missing thing and a hidden one share, byte for byte.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(Code::NotFound, format!("there is no {what} `{}`", shown(id)))
    }

    /// Makes the failure of going past a limit.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(Code::LimitExceeded, message)
    }

    /// Adds a fact.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Gives the error object of SPEC §7.
    pub fn json(&self, module: &str, method: &str, input_schema: Option<&Value>) -> Value {
        let mut error = json!({
            "code": self.code.name(),
            "message": self.message,
            "module": module,
            "method": method,
        });
        if let Some(object) = error.as_object_mut() {
            if let Some(pointer) = &self.pointer {
                object.insert("pointer".to_owned(), json!(pointer));
            }
            if let (Code::InvalidActionInput, Some(schema)) = (self.code, input_schema) {
                object.insert("input_schema".to_owned(), schema.clone());
            }
            for (name, value) in &self.details {
                object.insert(name.clone(), value.clone());
            }
        }
        error
    }
}

/// Gives the beginning of what someone wrote, without anything that could break out of a message.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut out: String = text
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() || c == '`' { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}
