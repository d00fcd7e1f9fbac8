//! `remit doctor`: whether Remit works here, and what it finds around it.

use std::path::PathBuf;

use remit_manifest::compile::{self, Options};
use remit_manifest::{dialect, diff, schema::witness};
use remit_model::{Dialect, canonical};
use serde::Serialize;
use serde_json::json;

use super::{Exit, Output};
use crate::{paths, render};

/// Check that Remit works on this machine, and show what it finds
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  remit doctor\n  remit doctor --format json")]
pub(super) struct Arguments {
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a person
    Human,
    /// For programs
    Json,
}

/// Is one thing that was looked at.
#[derive(Serialize)]
struct Finding {
    name: &'static str,
    /// Whether it is as it must be; what is merely absent is not wrong.
    ok: bool,
    detail: String,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let mut findings = vec![
        version(),
        canonical_form(),
        dialects(),
        differences(),
        cores(),
        program("python3"),
        program("node"),
    ];
    findings.extend(sandbox());
    let ok = findings.iter().all(|f| f.ok);
    match arguments.format {
        Format::Json => {
            render::json::pretty(&json!({"ok": ok, "findings": findings}), &mut output.out);
        }
        Format::Human => {
            for finding in &findings {
                let mark =
                    if finding.ok { "\u{1b}[32m✓\u{1b}[0m" } else { "\u{1b}[91m✗\u{1b}[0m" };
                output.human.push_str(&format!("{mark} {:<18} {}\n", finding.name, finding.detail));
            }
        }
    }
    if ok { Exit::Fine } else { Exit::Bad }
}

fn version() -> Finding {
    let detail = format!(
        "remit {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    Finding { name: "version", ok: true, detail }
}

/// Hashes a value whose canonical form has everything that can go wrong in it.
fn canonical_form() -> Finding {
    let value = json!({"\u{fb33}": 1e21, "\u{1f600}": -0.0, "a": [0.000_001, 1e-7, "\u{1f}\n"]});
    let text = canonical::canonical(&remit_model::Node::from_json(&value));
    let ok = text == "{\"a\":[0.000001,1e-7,\"\\u001f\\n\"],\"\u{1f600}\":0,\"\u{fb33}\":1e+21}";
    let detail = if ok {
        "RFC 8785 form and SHA-256 are right"
    } else {
        "the canonical form is wrong on this machine"
    };
    Finding { name: "canonical", ok, detail: detail.to_owned() }
}

/// Checks the manifests that `remit new` writes.
fn dialects() -> Finding {
    let bad: Vec<_> = Dialect::ALL
        .into_iter()
        .filter(|d| {
            dialect::scaffold(*d).is_some_and(|text| {
                let checked = compile::check(text.as_bytes(), Options::default());
                checked.dialect != Some(*d) || !checked.diagnostics.is_empty()
            })
        })
        .map(Dialect::as_str)
        .collect();
    let ok = bad.is_empty();
    let detail = if ok {
        "all dialects read, check and lower".to_owned()
    } else {
        format!("{} does not check", bad.join(", "))
    };
    Finding { name: "dialects", ok, detail }
}

/// Compares two schemas and looks for the example that tells them apart.
fn differences() -> Finding {
    let schema = |least: u32| json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": least}}});
    let found = witness::find(&schema(0), &schema(5));
    let same = diff::diff(
        Dialect::Tool,
        &remit_model::Node::from_json(&schema(0)),
        &remit_model::Node::from_json(&schema(0)),
    );
    let ok = found.is_some() && same.is_empty();
    let detail = if ok {
        "changes are found, with examples"
    } else {
        "no example was found for a changed schema"
    };
    Finding { name: "diff", ok, detail: detail.to_owned() }
}

fn cores() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Finding {
        name: "cores",
        ok: true,
        detail: format!("{cores} used by `remit check` on directories"),
    }
}

/// Tries every layer of the sandbox. Only all of them together decide whether tools can be called;
/// control groups are used where they can be had.
fn sandbox() -> Vec<Finding> {
    let offers = std::env::current_exe().map_err(|error| error.to_string()).and_then(|binary| {
        let launcher = remit_exec::process::Launcher::new(binary);
        Ok(crate::house::runtime()?.block_on(remit_exec::process::offers(&launcher)))
    });
    match offers {
        Err(detail) => vec![Finding { name: "confinement", ok: false, detail }],
        Ok(offers) => offers
            .all()
            .into_iter()
            .map(|(name, offer)| Finding {
                name,
                ok: offer.available || name == "control groups",
                detail: offer.detail.clone(),
            })
            .collect(),
    }
}

/// Looks for an interpreter that tools may need.
fn program(name: &'static str) -> Finding {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths)
        .map(|dir| dir.join(name))
        .find(|path: &PathBuf| path.is_file());
    let detail = found.map_or_else(
        || "not found; only tools with this runtime need it".to_owned(),
        |path| paths::for_people(&path),
    );
    Finding { name, ok: true, detail }
}
