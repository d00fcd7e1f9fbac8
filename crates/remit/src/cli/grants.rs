//! `remit grants`: what was permitted, and taking it back.

use remit_engine::ports::{Clock as _, Store, StoreError};
use remit_model::{Grant, Permit};
use serde_json::json;

use super::log::{print_json, time};
use super::{Exit, Output, PlainFormat};
use crate::clock::SystemClock;
use crate::house::{self, Place};

/// See what you permitted, and take it back
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit grants\n  remit grants revoke file_operator filesystem:write\n  remit grants revoke web_fetch web:read --agent helper\n  remit grants lift file_operator filesystem:write   it may be asked for again"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// How to print
    #[arg(long, value_enum, default_value_t = PlainFormat::Human, value_name = "FORMAT", global = true)]
    format: PlainFormat,
    #[command(flatten)]
    place: Place,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Take a permission back: from now on it is denied, also one that was never given
    Revoke(Named),
    /// Let a permission that was taken back be asked for again
    Lift(Named),
}

#[derive(clap::Args)]
struct Named {
    /// The tool that declares the scope
    #[arg(value_name = "TOOL")]
    source: String,
    /// The scope, as `remit explain` names it
    #[arg(value_name = "SCOPE")]
    scope: String,
    /// The agent it is about [default: yourself at the terminal]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl Named {
    /// Says if nothing here needs this permission: a misspelt name would take nothing back.
    fn warn_if_unknown(&self, place: &Place, output: &mut Output) {
        let Ok(offer) = place.offer() else { return };
        let known = offer
            .catalog
            .entries()
            .any(|entry| entry.source.name == self.source && entry.scope == self.scope);
        if !known {
            output.warning(&format!(
                "no tool here is named `{}` and needs `{}`; `remit tools` lists names and scopes",
                self.source, self.scope
            ));
        }
    }

    fn permit(&self) -> Permit {
        Permit {
            user: house::caller(None, None).user,
            agent: self.agent.clone().unwrap_or_default(),
            source: self.source.clone(),
            scope: self.scope.clone(),
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let store = match &arguments.command {
        None => arguments.place.existing_store(),
        Some(_) => arguments.place.store(),
    };
    if let Some(Command::Revoke(named)) = &arguments.command {
        named.warn_if_unknown(&arguments.place, output);
    }
    let done = store.and_then(|store| {
        let done = house::runtime()?.block_on(act(arguments, store.as_ref(), output));
        done.map_err(|error| error.to_string())
    });
    done.unwrap_or_else(|message| {
        output.error(&message);
        Exit::Failed
    })
}

async fn act(
    arguments: &Arguments,
    store: &dyn Store,
    output: &mut Output,
) -> Result<Exit, StoreError> {
    let now = SystemClock::new().now();
    match &arguments.command {
        None => list(arguments, &store.granted_by(&house::caller(None, None).user).await?, output),
        Some(Command::Revoke(named)) => {
            let count = store.revoke(named.permit(), now).await?;
            match arguments.format {
                PlainFormat::Json => print_json(&json!({"revoked": count}), output),
                PlainFormat::Human => output.line(&format!(
                    "`{}` of {} is taken back; {count} standing permissions are gone",
                    named.scope, named.source
                )),
            }
        }
        Some(Command::Lift(named)) => {
            let lifted = store.lift(named.permit(), now).await?;
            match arguments.format {
                PlainFormat::Json => print_json(&json!({"lifted": lifted}), output),
                PlainFormat::Human if lifted => {
                    output.line(&format!(
                        "`{}` of {} may be asked for again",
                        named.scope, named.source
                    ));
                }
                PlainFormat::Human => {
                    output.error(&format!(
                        "`{}` of {} was not taken back",
                        named.scope, named.source
                    ));
                    output.help("`remit grants` lists what was");
                }
            }
            return Ok(if lifted { Exit::Fine } else { Exit::Bad });
        }
    }
    Ok(Exit::Fine)
}

fn list(arguments: &Arguments, grants: &[Grant], output: &mut Output) {
    if arguments.format == PlainFormat::Json {
        return print_json(&json!({"grants": grants}), output);
    }
    for grant in grants {
        let state = if grant.revoked { "taken back" } else { "granted" };
        let whom = if grant.agent.is_empty() { "yourself" } else { &grant.agent };
        output.line(&format!(
            "{state:<10}  {:<20}  {:<24}  {whom:<16}  {:<6}  in {:<12}  last used {}",
            grant.source,
            grant.scope,
            grant.sensitivity.as_str(),
            if grant.thread.is_empty() { "-" } else { &grant.thread },
            time(grant.used.wall_ms),
        ));
    }
    if grants.is_empty() {
        output.line("nothing was granted or taken back");
    }
}
