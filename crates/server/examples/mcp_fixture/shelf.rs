//! The resources and prompts that the suite reads and picks.

use std::sync::atomic::{AtomicU64, Ordering};

use remit_engine::client::{Contact, Inquiry};
use remit_model::Caller;
use remit_server::mcp::shelf::{
    Amiss, Argument, Blank, Block, Body, Contents, Found, Line, Of, Prompt, Resource, Role, Script,
    Shelf, Template, Wanted, filled,
};
use serde_json::json;

use crate::{PNG, texts};

const TEMPLATE: &str = "test://template/{id}/data";

/// Is the suite's shelf.
#[derive(Default)]
pub(crate) struct Suite(AtomicU64);

impl Suite {
    /// Adds a prompt, or takes it away.
    pub(crate) fn change(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn text(uri: &str, kind: &str, text: &str) -> Contents {
    let (uri, mime_type) = (uri.to_owned(), Some(kind.to_owned()));
    Contents { uri, mime_type, body: Body::Text(text.to_owned()) }
}

fn resource(uri: &str, kind: &str) -> Resource {
    let name = uri.trim_start_matches("test://").to_owned();
    let description = Some(format!("The suite's {name}"));
    Resource {
        uri: uri.to_owned(),
        name,
        description,
        mime_type: Some(kind.to_owned()),
        title: None,
    }
}

fn prompt(name: &str, arguments: &[&str]) -> Prompt {
    let argument = |name: &&str| Argument {
        name: (*name).to_owned(),
        description: Some(format!("The suite's {name}")),
        required: true,
    };
    Prompt {
        name: name.to_owned(),
        title: None,
        description: Some(format!("The suite's {name}")),
        arguments: arguments.iter().map(argument).collect(),
    }
}

fn user(content: Block) -> Line {
    Line { role: Role::User, content }
}

fn says(text: &str) -> Line {
    user(Block::Text { text: text.to_owned() })
}

impl Shelf for Suite {
    fn edition(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn resources<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Resource>> {
        Box::pin(async {
            Ok(vec![
                resource("test://static-text", "text/plain"),
                resource("test://static-binary", "image/png"),
                resource("test://watched-resource", "text/plain"),
            ])
        })
    }

    fn templates<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Template>> {
        Box::pin(async {
            Ok(vec![Template {
                uri_template: TEMPLATE.to_owned(),
                name: "template".to_owned(),
                description: Some("The suite's template".to_owned()),
                mime_type: Some("application/json".to_owned()),
                title: None,
            }])
        })
    }

    fn read<'a>(&'a self, _: &'a Caller, uri: &'a str) -> Found<'a, Option<Vec<Contents>>> {
        Box::pin(async move {
            let contents = match uri {
                "test://static-text" => {
                    text(uri, "text/plain", "This is the content of the static text resource.")
                }
                "test://static-binary" => {
                    let mime_type = Some("image/png".to_owned());
                    Contents { uri: uri.to_owned(), mime_type, body: Body::Blob(PNG.to_owned()) }
                }
                "test://watched-resource" => {
                    text(uri, "text/plain", &format!("Watched {}", self.edition()))
                }
                _ => {
                    let Some(id) = filled(TEMPLATE, uri) else { return Ok(None) };
                    let data = format!("Data for ID: {id}");
                    let body = json!({"id": id, "templateTest": true, "data": data}).to_string();
                    text(uri, "application/json", &body)
                }
            };
            Ok(Some(vec![contents]))
        })
    }

    fn prompts<'a>(&'a self, _: &'a Caller) -> Found<'a, Vec<Prompt>> {
        Box::pin(async {
            let mut prompts = vec![
                prompt("test_simple_prompt", &[]),
                prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
                prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
                prompt("test_prompt_with_image", &[]),
                prompt("test_input_required_result_prompt", &[]),
            ];
            if self.edition() % 2 == 1 {
                prompts.push(prompt("changed", &[]));
            }
            Ok(prompts)
        })
    }

    fn prompt<'a>(
        &'a self,
        _: &'a Caller,
        wanted: &'a Wanted,
        contact: &'a Contact,
    ) -> Found<'a, Option<Script>> {
        Box::pin(async move {
            let given = |name: &str| wanted.arguments[name].as_str();
            let messages = match wanted.name.as_str() {
                "test_prompt_with_arguments" => {
                    let (one, two) = (given("arg1"), given("arg2"));
                    vec![says(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
                }
                "test_prompt_with_embedded_resource" => {
                    let content = "Embedded resource content for testing.";
                    let resource = text(given("resourceUri"), "text/plain", content);
                    vec![
                        user(Block::Resource { resource }),
                        says("Please process the embedded resource above."),
                    ]
                }
                "test_prompt_with_image" => {
                    let (data, mime_type) = (PNG.to_owned(), "image/png".to_owned());
                    vec![
                        user(Block::Image { data, mime_type }),
                        says("Please analyze the image above."),
                    ]
                }
                "test_input_required_result_prompt" => {
                    let question = "What context should the prompt use?";
                    let form = Inquiry::form("user_context", question, texts(&["context"]));
                    let cannot = |_| Amiss::Question("this prompt asks its client".to_owned());
                    let answers = contact.ask(vec![form]).await.map_err(cannot)?;
                    vec![says(&format!("In this context: {answers:?}"))]
                }
                _ => vec![says("This is a simple prompt for testing.")],
            };
            Ok(Some(Script { description: None, messages }))
        })
    }

    fn complete<'a>(&'a self, _: &'a Caller, blank: &'a Blank) -> Found<'a, Option<Vec<String>>> {
        Box::pin(async move {
            match &blank.of {
                Of::Prompt(name) if name == "test_prompt_with_arguments" => {
                    let all = ["paris", "park", "party", "testValue1"].map(str::to_owned);
                    let fit = all.into_iter().filter(|one| one.starts_with(&blank.begun));
                    Ok(Some(fit.collect()))
                }
                Of::Template(template) if template == TEMPLATE => Ok(Some(Vec::new())),
                _ => Ok(None),
            }
        })
    }
}
