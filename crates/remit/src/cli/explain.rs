//! `remit explain`: which rule decides a call, by the code that decides it.

use remit_engine::Explanation;
use remit_model::{Call, ThreadId};
use serde_json::{Value, json};

use super::{Exit, Output, PlainFormat};
use crate::approve::{Answers, TerminalApprover};
use crate::house::{self, Place};

/// Say what would happen to a call, and which rule decides
///
/// Nothing runs and nothing is recorded. Without an input only the name and the permission are judged.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit explain file_operator.write_file\n  remit explain file_operator.read_file '{\"filePath\": \"/srv/a.txt\"}' --agent helper\n\nExit codes: 0 it would run or be asked about, 1 it would be refused."
)]
pub(super) struct Arguments {
    /// The capability
    #[arg(value_name = "CAPABILITY")]
    name: String,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(value_name = "JSON")]
    input: Option<String>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT")]
    format: PlainFormat,
    /// The conversation the call would belong to
    #[arg(long, value_name = "ID", default_value = "terminal")]
    thread: String,
    /// The agent on whose behalf it would be made
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    match explained(arguments) {
        Ok(explanation) => {
            match arguments.format {
                PlainFormat::Json => json_answer(&explanation, output),
                PlainFormat::Human => human_answer(arguments, &explanation, output),
            }
            if explanation.verdict == "refuse" { Exit::Bad } else { Exit::Fine }
        }
        Err(message) => {
            message.lines().for_each(|line| output.error(line));
            Exit::Failed
        }
    }
}

fn explained(arguments: &Arguments) -> Result<Explanation, String> {
    let input = arguments.input.as_deref().map(super::call::input).transpose()?;
    let thread = ThreadId::parse(&arguments.thread).ok_or("the thread is not an id")?;
    let offer = arguments.place.offer()?;
    let asking = TerminalApprover { answers: Answers::Deny, leaves: false };
    let launcher = arguments.place.launcher(None)?;
    let engine = arguments.place.engine(offer, asking, launcher)?;
    let judge_input = input.is_some();
    let call = Call {
        id: remit_engine::fresh_call_id(),
        caller: house::caller(None, arguments.agent.as_deref()),
        thread,
        group: false,
        capability: arguments.name.clone(),
        input: input.unwrap_or_else(|| json!({})),
        timeout_ms: None,
    };
    let explanation = house::runtime()?.block_on(engine.explain(call, judge_input));
    explanation.map_err(|error| error.to_string())
}

fn json_answer(explanation: &Explanation, output: &mut Output) {
    let mut answer = json!({
        "verdict": explanation.verdict,
        "rule": explanation.rule,
        "because": explanation.because,
    });
    if let (Some(map), Some(entry)) = (answer.as_object_mut(), &explanation.entry) {
        map.insert("scope".to_owned(), json!(entry.scope));
        map.insert("sensitivity".to_owned(), json!(entry.sensitivity));
        map.insert("source".to_owned(), json!(entry.source.name));
        map.insert("manifest_hash".to_owned(), json!(entry.source.hash));
    }
    if let (Some(map), Some(outcome)) = (answer.as_object_mut(), &explanation.outcome) {
        map.insert("outcome".to_owned(), serde_json::to_value(outcome).unwrap_or(Value::Null));
    }
    output.out = serde_json::to_vec_pretty(&answer).unwrap_or_default();
    output.out.push(b'\n');
}

fn human_answer(arguments: &Arguments, explanation: &Explanation, output: &mut Output) {
    let what = match explanation.verdict {
        "allow" => "would run without asking",
        "ask" => "would be asked about",
        _ => "would be refused",
    };
    output.line(&format!("{} {what}", arguments.name));
    output.line(&format!("  rule       {}", explanation.rule));
    output.line(&format!("  because    {}", explanation.because));
    if let Some(entry) = &explanation.entry {
        output.line(&format!("  scope      {} ({})", entry.scope, entry.sensitivity.as_str()));
        output.line(&format!("  source     {} ({})", entry.source.name, entry.source.origin));
    }
}
