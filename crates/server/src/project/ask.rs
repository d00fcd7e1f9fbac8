//! What a model sends: `{module, method, input}` and nothing else.

use remit_engine::screen::Screen;
use remit_model::Failure;
use remit_model::text::quoted;
use serde_json::{Map, Value, json};

/// Is the name of the one tool.
pub const TOOL: &str = "project_cli";

/// Is how long the name of a module or a method may be, in characters.
const LONGEST: usize = 128;

/// The names of a protocol that is no more.
const GONE: [&str; 3] = ["command", "subcommand", "args"];

/// Is what a model asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The module: a tool manifest.
    pub module: String,
    /// The method: one of its commands.
    pub method: String,
    /// What it is given.
    pub input: Value,
}

impl Ask {
    /// Reads the arguments of a call of the tool.
    ///
    /// # Errors
    ///
    /// What is wrong with them, so that the model can put it right.
    pub fn parse(args: &Value) -> Result<Self, Failure> {
        let Some(fields) = args.as_object() else {
            return Err(wrong("send an object: `{module, method, input}`"));
        };
        if let Some(gone) = GONE.iter().find(|gone| fields.contains_key(**gone)) {
            let message = format!(
                "`{gone}` is not taken; send `module`, `method` and an `input` object instead"
            );
            return Err(wrong(message));
        }
        let known = ["module", "method", "input"];
        if let Some(other) = fields.keys().find(|name| !known.contains(&name.as_str())) {
            let message = format!(
                "{} is not taken; what the method needs goes into `input`",
                quoted(&Screen::default().hide(other))
            );
            return Err(wrong(message));
        }
        let input = fields.get("input").filter(|input| input.is_object());
        let Some(input) = input else {
            return Err(wrong("`input` must be an object; send `{}` if the method needs nothing"));
        };
        Ok(Self {
            module: name(fields, "module")?,
            method: name(fields, "method")?,
            input: input.clone(),
        })
    }

    /// Gives what a call of a capability would have been as a call of the tool.
    #[must_use]
    pub fn of(capability: &str, input: &Value) -> Self {
        let (module, method) = capability.split_once('.').unwrap_or((capability, ""));
        Self { module: module.to_owned(), method: method.to_owned(), input: input.clone() }
    }

    /// Gives the qualified name of the capability that is asked for.
    #[must_use]
    pub fn capability(&self) -> String {
        if self.method.is_empty() {
            return self.module.clone();
        }
        format!("{}.{}", self.module, self.method)
    }

    /// Gives the arguments.
    #[must_use]
    pub fn args(&self) -> Value {
        json!({ "module": self.module, "method": self.method, "input": self.input })
    }
}

fn name(fields: &Map<String, Value>, which: &str) -> Result<String, Failure> {
    let name = fields.get(which).and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() || name.chars().count() > LONGEST {
        let message = format!("`{which}` must be a name of 1 to {LONGEST} characters");
        return Err(wrong(message));
    }
    Ok(name.to_owned())
}

fn wrong(message: impl Into<String>) -> Failure {
    let details = json!({ "input_schema": tool_schema() });
    Failure::new("INVALID_TOOL_INPUT", message).with_details(details)
}

/// Gives the schema of the tool's arguments as a model sees it. What a method takes is not in it: a
/// skill document tells, and so does the error of a wrong input.
#[must_use]
pub fn tool_schema() -> Value {
    let name = |description: &str| {
        json!({
            "type": "string", "minLength": 1, "maxLength": LONGEST, "description": description,
        })
    };
    json!({
        "type": "object",
        "properties": {
            "module": name("The module, such as calendar"),
            "method": name("The method of the module, such as read"),
            "input": { "type": "object", "description": "What the method is given" },
        },
        "required": ["module", "method", "input"],
        "additionalProperties": false,
    })
}
