//! `remit tools`: what can be called here, and what cannot and why.

use remit_engine::catalog::{Entry, State};
use remit_model::text;
use serde_json::{Value, json};

use super::{Exit, Output, PlainFormat};
use crate::house::reload::Fingerprint;
use crate::house::{self, Offer, Place};

/// How often the files are looked at.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(300);

/// List what can be called here, with states and reasons
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit tools\n  remit tools --tools ./tools --format json\n  remit tools --agent helper      what this agent may see"
)]
pub(super) struct Arguments {
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
    let entries: Vec<&Entry> = offer.catalog.visible(&caller).map(AsRef::as_ref).collect();
    match arguments.format {
        PlainFormat::Json => json_list(&entries, offer, output),
        PlainFormat::Human => human_list(&entries, output),
    }
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

fn state(entry: &Entry) -> (&'static str, Option<&str>) {
    match &entry.state {
        State::Ready => ("ready", None),
        State::Stale(why) => ("stale", Some(why)),
        State::Disabled => ("disabled", None),
        State::Broken(why) => ("broken", Some(why)),
    }
}

fn json_list(entries: &[&Entry], offer: &Offer, output: &mut Output) {
    let list: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let (word, why) = state(entry);
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
        })
        .collect();
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

fn human_list(entries: &[&Entry], output: &mut Output) {
    let width = entries.iter().map(|entry| entry.capability.name.len()).max().unwrap_or(0).min(48);
    for entry in entries {
        let (word, why) = state(entry);
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
