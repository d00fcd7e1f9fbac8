//! `remit config`: how tools are set up.

use std::path::Path;

use remit_engine::catalog::{Catalog, Source};
use remit_model::Severity;
use serde_json::{Value, json};

use super::{Exit, Output, PlainFormat};
use crate::config::{self, policy, settings};
use crate::house::{Offer, Place};
use crate::render;
use crate::render::human::Width;

/// Show, check and start the configuration of tools and the operator's policy
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit config example            writes configs/.tool.example\n  remit config show file_operator\n  remit config check"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// How to print
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT", global = true)]
    format: PlainFormat,
    #[command(flatten)]
    place: Place,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write an example of every tool's settings to `.tool.example`
    Example {
        /// Print it instead
        #[arg(long)]
        stdout: bool,
    },
    /// Show the settings that count, secrets hidden
    Show {
        /// Only of this tool
        #[arg(value_name = "TOOL")]
        tool: Option<String>,
    },
    /// Check the policy and every tool's settings
    Check,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    // The policy is shown with its places, so it is judged before anything builds on it.
    if !policy_is_fine(arguments, output) {
        return Exit::Bad;
    }
    let offer = match arguments.place.offer() {
        Ok(offer) => offer,
        Err(message) => {
            message.lines().for_each(|line| output.error(line));
            return Exit::Failed;
        }
    };
    match &arguments.command {
        Command::Example { stdout } => example(*stdout, &offer, output),
        Command::Show { tool } => show(arguments.format, tool.as_deref(), &offer, output),
        Command::Check => check(&offer, output),
    }
}

fn policy_is_fine(arguments: &Arguments, output: &mut Output) -> bool {
    let Some(path) = config::policy_file(arguments.place.config.as_deref()) else { return true };
    match policy::file(&path) {
        Err(reason) => {
            output.error(&format!("cannot read {}: {reason}", crate::paths::for_people(&path)));
            false
        }
        Ok(judged) => {
            for diagnostic in judged.diagnostics.iter().filter(|d| d.severity != Severity::Note) {
                let shown = crate::paths::for_people(&path);
                let text = render::human::diagnostic(
                    &shown,
                    &judged.reading.source,
                    diagnostic,
                    Width::of(&std::io::stderr()),
                );
                output.err.push_str(&text);
            }
            judged.errors().next().is_none()
        }
    }
}

/// Gives each source once, in order of name.
fn sources(catalog: &Catalog) -> Vec<&Source> {
    let mut sources: Vec<&Source> = catalog.entries().map(|entry| entry.source.as_ref()).collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources.dedup_by(|a, b| a.name == b.name);
    sources
}

fn example(stdout: bool, offer: &Offer, output: &mut Output) -> Exit {
    let mut text = String::from(
        "# Settings of every tool, with their defaults. Put what stands under a tool's name into\n# configs/<tool>.yaml. ${NAME} is replaced by the environment variable NAME.\n",
    );
    for source in sources(&offer.catalog) {
        let Some(schema) = &source.manifest.config_schema else { continue };
        text.push_str(&format!("\n{}:\n", source.name));
        let required = schema.get("required").and_then(Value::as_array);
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
            about.lines().for_each(|line| text.push_str(&format!("  # {}\n", line.trim())));
            let needed = required.is_some_and(|list| list.iter().any(|n| n == name));
            if needed {
                text.push_str("  # required\n");
            }
            let value = property.get("default").cloned().unwrap_or_else(|| json!(""));
            text.push_str(&format!("  {name}: {value}\n"));
        }
    }
    if stdout {
        output.out = text.into_bytes();
        return Exit::Fine;
    }
    let Some(configs) = offer.loader.configs() else {
        output.error("there is no tools directory to write the example into");
        output.help("name one with --tools or --configs, or print it with --stdout");
        return Exit::Failed;
    };
    let path = configs.join(".tool.example");
    match write(configs, &path, &text) {
        Ok(()) => {
            output.line(&format!("wrote {}", crate::paths::for_people(&path)));
            Exit::Fine
        }
        Err(error) => {
            output.error(&format!("cannot write {}: {error}", crate::paths::for_people(&path)));
            Exit::Failed
        }
    }
}

fn write(directory: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    std::fs::write(path, text)
}

fn show(format: PlainFormat, tool: Option<&str>, offer: &Offer, output: &mut Output) -> Exit {
    let mut shown = serde_json::Map::new();
    let mut exit = Exit::Fine;
    for source in sources(&offer.catalog) {
        if tool.is_some_and(|tool| tool != source.name) {
            continue;
        }
        match &source.settings {
            Ok(values) => {
                let values = settings::shown(&source.manifest, values);
                shown.insert(source.name.clone(), Value::Object(values));
            }
            Err(message) => {
                exit = Exit::Bad;
                shown.insert(source.name.clone(), Value::Null);
                output.error(&format!("{}: {message}", source.name));
            }
        }
    }
    if let (Some(tool), true) = (tool, shown.is_empty()) {
        output.error(&format!("there is no tool `{tool}`"));
        output.help("`remit tools` lists them");
        return Exit::Bad;
    }
    match format {
        PlainFormat::Json => {
            output.out = serde_json::to_vec_pretty(&Value::Object(shown)).unwrap_or_default();
            output.out.push(b'\n');
        }
        PlainFormat::Human => {
            for (name, values) in shown {
                output.line(&format!("{name}:"));
                for (key, value) in values.as_object().into_iter().flatten() {
                    output.line(&format!("  {key}: {value}"));
                }
            }
        }
    }
    exit
}

fn check(offer: &Offer, output: &mut Output) -> Exit {
    let mut exit = Exit::Fine;
    let all = sources(&offer.catalog);
    offer.warnings.iter().for_each(|warning| output.warning(warning));
    for wrong in offer.operator.bad_paths() {
        exit = Exit::Bad;
        output.error(&wrong);
    }
    for source in &all {
        if let Err(message) = &source.settings {
            exit = Exit::Bad;
            output.error(&format!("{}: {message}", source.name));
        }
    }
    if let Some(configs) = offer.loader.configs() {
        for stray in strays(configs, &all) {
            output.warning(&format!("{stray} configures no tool that is here"));
        }
    }
    if exit == Exit::Fine {
        output.line(&format!("the settings of {} tools are fine", all.len()));
    }
    exit
}

/// Finds configuration files whose name is no tool's: a misspelt name would else go unseen.
fn strays(configs: &Path, sources: &[&Source]) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(configs) else { return Vec::new() };
    let mut strays: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| crate::files::format_of(path).is_some())
        .filter(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            !sources.iter().any(|source| Some(source.name.as_str()) == stem)
        })
        .map(|path| crate::paths::for_people(&path))
        .collect();
    strays.sort();
    strays
}
