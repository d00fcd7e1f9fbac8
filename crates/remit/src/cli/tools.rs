//! `remit tools`: what can be called here, and what cannot and why.

use remit_engine::catalog::Entry;
use remit_engine::policy::Policy;
use remit_model::text;
use serde_json::{Value, json};

use super::{Exit, Output, PlainFormat};
use crate::house::reload::Fingerprint;
use crate::house::state::state;
use crate::house::{self, Offer, Place};

/// How often the files are looked at.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(300);

/// List what can be called here, with states and reasons
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit tools\n  remit tools --tools ./tools --format json\n  remit tools --agent helper      what this agent may see\n  remit tools file_operator.read_file   all about one: parameters, scope, an input that fits"
)]
pub(super) struct Arguments {
    /// Show this capability whole, or all of this tool
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// How to print the list
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT")]
    format: PlainFormat,
    /// Only what this agent may see
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Go on, and show the list again when a manifest, a setting or the policy changes
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    place: Place,
}

impl Arguments {
    /// Tells whether an entry is among those that were asked for.
    fn names(&self, entry: &Entry) -> bool {
        self.name
            .as_ref()
            .is_none_or(|name| entry.capability.name == *name || entry.source.name == *name)
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let offer = match arguments.place.offer() {
        Ok(offer) => offer,
        Err(message) => {
            message.lines().for_each(|line| output.error(line));
            return Exit::Failed;
        }
    };
    let exit = show(arguments, &offer, output);
    if arguments.watch { watch(arguments, offer, output) } else { exit }
}

fn show(arguments: &Arguments, offer: &Offer, output: &mut Output) -> Exit {
    let caller = house::caller(None, arguments.agent.as_deref());
    let entries: Vec<&Entry> = offer
        .catalog
        .visible(&caller)
        .map(AsRef::as_ref)
        .filter(|entry| arguments.names(entry))
        .collect();
    if let (Some(name), true) = (&arguments.name, entries.is_empty()) {
        output.error(&format!("there is no tool or capability {}", text::quoted(name)));
        output.help("`remit tools` lists all; a manifest that is broken is named there");
        return Exit::Bad;
    }
    match arguments.format {
        PlainFormat::Json => json_list(&entries, offer, output),
        PlainFormat::Human if arguments.name.is_some() => {
            for entry in &entries {
                human_one(entry, offer.catalog.policy(), output);
            }
            return Exit::Fine;
        }
        PlainFormat::Human => human_list(&entries, offer.catalog.policy(), output),
    }
    offer.warnings.iter().for_each(|warning| output.warning(warning));
    for rejected in &offer.rejected {
        output.warning(&format!("{}: {}", rejected.origin, rejected.message));
    }
    for clash in offer.catalog.clashes() {
        output.error(&format!("{clash}; neither can be called"));
    }
    if offer.catalog.clashes().is_empty() { Exit::Fine } else { Exit::Bad }
}

/// Shows the list again at each change, until the reader goes away or the command is interrupted.
fn watch(arguments: &Arguments, mut offer: Offer, output: &mut Output) -> Exit {
    let mut seen = Fingerprint::of(&arguments.place);
    loop {
        if std::mem::take(output).write().is_err() {
            return Exit::Failed;
        }
        loop {
            std::thread::sleep(LOOK_EVERY);
            let now = Fingerprint::of(&arguments.place);
            if now != seen {
                seen = now;
                break;
            }
        }
        for message in offer.reload(&arguments.place) {
            output.warning(&message);
        }
        output.line("");
        show(arguments, &offer, output);
    }
}

/// Gives everything about a capability.
fn whole(entry: &Entry, policy: &Policy) -> Value {
    let (word, why) = state(entry, policy);
    let mut item = json!({
        "name": entry.capability.name,
        "description": entry.capability.description,
        "state": word,
        "scope": entry.scope,
        "sensitivity": entry.sensitivity,
        "timeout_ms": entry.capability.timeout_ms,
        "source": entry.source.name,
        "origin": entry.source.origin,
        "manifest_hash": entry.source.hash,
        "input_schema": entry.capability.input_schema,
    });
    if let (Some(why), Some(map)) = (why, item.as_object_mut()) {
        map.insert("reason".to_owned(), json!(why));
    }
    item
}

fn json_list(entries: &[&Entry], offer: &Offer, output: &mut Output) {
    let policy = offer.catalog.policy();
    let list: Vec<Value> = entries.iter().map(|entry| whole(entry, policy)).collect();
    let rejected: Vec<Value> = offer
        .rejected
        .iter()
        .map(|file| json!({"origin": file.origin, "message": file.message}))
        .collect();
    let whole =
        json!({"capabilities": list, "rejected": rejected, "clashes": offer.catalog.clashes()});
    output.out = serde_json::to_vec_pretty(&whole).unwrap_or_default();
    output.out.push(b'\n');
}

fn human_list(entries: &[&Entry], policy: &Policy, output: &mut Output) {
    let width = entries.iter().map(|entry| entry.capability.name.len()).max().unwrap_or(0).min(48);
    for entry in entries {
        let (word, why) = state(entry, policy);
        let first = entry.capability.description.lines().find(|l| !l.trim().is_empty());
        let about = first.unwrap_or_default().trim();
        let name = text::visible(&entry.capability.name);
        let care = entry.sensitivity.as_str();
        output.line(&format!("{name:<width$}  {word:<8}  {care:<6}  {}  {about}", entry.scope));
        if let Some(why) = why {
            output.line(&format!("{:width$}  {why}", ""));
        }
    }
    if entries.is_empty() {
        output.line("nothing can be called; `remit new tool` writes a manifest to start from");
    }
}

/// Shows everything about one capability.
fn human_one(entry: &Entry, policy: &Policy, output: &mut Output) {
    let capability = &entry.capability;
    let (word, why) = state(entry, policy);
    output.line(&capability.name);
    for line in capability.description.trim().lines() {
        output.line(&format!("  {line}"));
    }
    let timeout = capability.timeout_ms.map_or("the default".to_owned(), |ms| format!("{ms} ms"));
    let rows = [
        ("state", why.map_or(word.to_owned(), |why| format!("{word}: {why}"))),
        ("scope", entry.scope.clone()),
        ("sensitivity", entry.sensitivity.as_str().to_owned()),
        ("timeout", timeout),
        ("source", format!("{} ({})", entry.source.name, entry.source.origin)),
    ];
    for (name, value) in rows {
        output.line(&format!("  {name:<12} {value}"));
    }
    parameters(&capability.input_schema, output);
    if let Some(fits) = super::sample::input(&capability.input_schema) {
        output.line(&format!("  an input that fits: {fits}"));
    }
    output.line("  the whole schema is in --format json");
    output.line("");
}

fn parameters(schema: &Value, output: &mut Output) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|all| !all.is_empty()) else {
        return output.line("  parameters   none are named");
    };
    output.line("  parameters");
    for (name, property) in properties {
        let kind = match property.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(kinds) => kinds.to_string(),
            None => "any".to_owned(),
        };
        let need = if required.contains(&name.as_str()) { ", required" } else { "" };
        let default = property.get("default").map_or(String::new(), |d| format!(", default {d}"));
        output.line(&format!("    {name}: {kind}{need}{default}"));
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        about.trim().lines().for_each(|line| output.line(&format!("      {line}")));
    }
}
