//! The tools that ask their client while they run.

use std::time::Duration;

use remit_engine::client::{Answers, CannotAsk, Contact, Inquiry, Level};
use remit_model::{Failure, Outcome};
use serde_json::{Value, json};

use crate::{gives, texts};

fn name_form(name: &str, message: &str) -> Inquiry {
    Inquiry::form(name, message, texts(&["name"]))
}

/// Gives what the model said, or what came of a form.
fn said(answers: &Answers) -> Outcome {
    let all: Vec<String> = answers.values().map(Value::to_string).collect();
    gives(json!(all.join(" ")))
}

fn defaults() -> Value {
    json!({"type": "object", "required": [], "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})
}

fn enums() -> Value {
    let titled = |name: &str, count: usize| -> Vec<Value> {
        let words = ["First", "Second", "Third"];
        let one = |n: usize| json!({"const": format!("value{}", n + 1), "title": format!("{} {name}", words[n])});
        (0..count).map(one).collect()
    };
    let options = ["option1", "option2", "option3"];
    json!({"type": "object", "required": [], "properties": {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option", 3)},
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice", 3)}},
    }})
}

/// Speaks while it works.
pub(crate) async fn speaks(contact: &Contact) -> Outcome {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        contact.tell(Level::Info, json!(line));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    gives(json!("It was said."))
}

fn questions(tool: &str, input: &Value, contact: &Contact) -> Vec<Inquiry> {
    let text = |name: &str| input[name].as_str().unwrap_or_default();
    let confirm =
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let capital = Inquiry::sample("capital_question", "What is the capital of France?", 100);
    match tool {
        "test_sampling" => vec![Inquiry::sample("prompt", text("prompt"), 100)],
        "test_missing_capability" => vec![Inquiry::sample("prompt", "Hello?", 10)],
        "test_elicitation" => {
            vec![Inquiry::form("user", text("message"), texts(&["username", "email"]))]
        }
        "test_elicitation_sep1034_defaults" => {
            vec![Inquiry::form("user", "Please look", defaults())]
        }
        "test_elicitation_sep1330_enums" => vec![Inquiry::form("user", "Please choose", enums())],
        "test_input_required_result_sampling" => vec![capital],
        "test_input_required_result_list_roots" => vec![Inquiry::roots("client_roots")],
        "test_input_required_result_request_state" => {
            vec![Inquiry::form("confirm", "Please confirm", confirm)]
        }
        "test_input_required_result_multiple_inputs" => vec![
            name_form("user_name", "What is your name?"),
            Inquiry::sample("greeting", "Generate a greeting", 50),
            Inquiry::roots("client_roots"),
        ],
        "test_input_required_result_capabilities" => {
            let all = [name_form("user_name", "What is your name?"), capital];
            all.into_iter().filter(|one| contact.has(one.asks)).collect()
        }
        _ => vec![name_form("user_name", "What is your name?")],
    }
}

async fn in_steps(contact: &Contact) -> Result<Outcome, CannotAsk> {
    let name = contact.ask(vec![name_form("step1", "Step 1: What is your name?")]).await?;
    let color = Inquiry::form("step2", "Step 2: What is your favorite color?", texts(&["color"]));
    let color = contact.ask(vec![color]).await?;
    Ok(gives(json!(format!("{name:?} {color:?}"))))
}

/// Does what the suite expects of a tool that asks.
pub(crate) async fn asks(tool: &str, input: &Value, contact: &Contact) -> Outcome {
    let outcome = match tool {
        "test_input_required_result_multi_round" => in_steps(contact).await,
        "test_input_required_result_request_state" => {
            let asked = contact.ask(questions(tool, input, contact)).await;
            asked.map(|_| gives(json!("state-ok")))
        }
        _ => contact.ask(questions(tool, input, contact)).await.map(|answers| said(&answers)),
    };
    outcome.unwrap_or_else(|why| Outcome::Failed(Failure::from(why)))
}
