//! The server's own shelf: the skill documents, as resources and in a prompt. Whom a document may be shown
//! to is decided where documents are; nothing is shown here that is not shown there.

use remit_engine::Engine;
use remit_engine::client::Contact;
use remit_model::{Caller, text};

use super::{
    Amiss, Argument, Blank, Block, Body, Contents, Found, Line, Of, Prompt, Resource, Role, Script,
    Shelf, Template, Wanted, escaped, filled,
};
use crate::project::{TOOL, skills};

/// Where documents are.
pub(crate) const TEMPLATE: &str = "remit://skills/{module}";
/// The prompt that hands a document to the model.
pub(crate) const PROMPT: &str = "use_module";
const MODULE: &str = "module";
const TASK: &str = "task";
const MARKDOWN: &str = "text/markdown";

/// Is the shelf.
pub(crate) struct Skills(pub(crate) Engine);

fn uri(module: &str) -> String {
    format!("remit://skills/{}", escaped(module))
}

fn ready<'a, T: Send + 'a>(found: T) -> Found<'a, T> {
    Box::pin(std::future::ready(Ok(found)))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

impl Skills {
    fn document(&self, caller: &Caller, module: &str) -> Option<Contents> {
        let catalog = self.0.catalog();
        let document = skills::document(&catalog, caller, module)?.into_owned();
        let body = Body::Text(document);
        Some(Contents { uri: uri(module), mime_type: some(MARKDOWN), body })
    }
}

impl Shelf for Skills {
    fn resources<'a>(&'a self, caller: &'a Caller) -> Found<'a, Vec<Resource>> {
        let listed = skills::list(&self.0.catalog(), caller).into_iter().map(|listed| Resource {
            uri: uri(&listed.module),
            title: Some(format!("How to use {}", text::visible(&listed.module))),
            name: listed.module,
            description: Some(listed.summary),
            mime_type: some(MARKDOWN),
        });
        ready(listed.collect())
    }

    fn templates<'a>(&'a self, _caller: &'a Caller) -> Found<'a, Vec<Template>> {
        ready(vec![Template {
            uri_template: TEMPLATE.to_owned(),
            name: "skill".to_owned(),
            title: some("How to use a module"),
            description: some("The document of a module: its methods and what they take"),
            mime_type: some(MARKDOWN),
        }])
    }

    fn read<'a>(&'a self, caller: &'a Caller, uri: &'a str) -> Found<'a, Option<Vec<Contents>>> {
        let module = filled(TEMPLATE, uri);
        let document = module.and_then(|module| self.document(caller, &module));
        ready(document.map(|document| vec![document]))
    }

    fn prompts<'a>(&'a self, _caller: &'a Caller) -> Found<'a, Vec<Prompt>> {
        ready(vec![Prompt {
            name: PROMPT.to_owned(),
            title: some("Use a module"),
            description: some("Hands the model the document of a module, and a task"),
            arguments: vec![
                Argument {
                    name: MODULE.to_owned(),
                    description: some("The module, such as `calendar`"),
                    required: true,
                },
                Argument {
                    name: TASK.to_owned(),
                    description: some("What is to be done with it"),
                    required: false,
                },
            ],
        }])
    }

    fn prompt<'a>(
        &'a self,
        caller: &'a Caller,
        wanted: &'a Wanted,
        _contact: &'a Contact,
    ) -> Found<'a, Option<Script>> {
        if wanted.name != PROMPT {
            return ready(None);
        }
        let module = wanted.arguments.get(MODULE).map(String::as_str).unwrap_or_default();
        let Some(resource) = self.document(caller, module) else {
            let module = text::quoted(module);
            let message = format!("there is no document about {module} that you can read");
            return Box::pin(std::future::ready(Err(Amiss::Question(message))));
        };
        let how = format!(
            "This is how the module {} is used, through its tools or through `{TOOL}`.",
            text::quoted(module)
        );
        let task = match wanted.arguments.get(TASK).map(|task| task.trim()) {
            None | Some("") => {
                format!("{how} Say in short what it can do, and ask what is wanted.")
            }
            Some(task) => format!("{how} With it, do this: {task}"),
        };
        let line = |content| Line { role: Role::User, content };
        let messages = vec![line(Block::Resource { resource }), line(Block::Text { text: task })];
        ready(Some(Script { description: some("A module and a task"), messages }))
    }

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        blank: &'a Blank,
    ) -> Found<'a, Option<Vec<String>>> {
        match &blank.of {
            Of::Prompt(name) if name == PROMPT => {}
            Of::Template(template) if template == TEMPLATE => {}
            _ => return ready(None),
        }
        if blank.name != MODULE {
            return ready(Some(Vec::new()));
        }
        let begun = blank.begun.to_lowercase();
        let listed = skills::list(&self.0.catalog(), caller).into_iter();
        let modules = listed.map(|listed| listed.module);
        let fitting = modules.filter(|module| module.to_lowercase().starts_with(&begun));
        ready(Some(fitting.collect()))
    }
}
