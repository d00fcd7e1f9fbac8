//! `remit completions`: what a shell needs to complete Remit's arguments.

use clap::CommandFactory as _;

use super::{Exit, Output};

/// Print completions for a shell
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  remit completions bash > ~/.local/share/bash-completion/completions/remit\n  remit completions zsh > \"${fpath[1]}/_remit\"\n  remit completions fish > ~/.config/fish/completions/remit.fish"
)]
pub(super) struct Arguments {
    /// Which shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    let mut command = super::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "remit", &mut output.out);
    Exit::Fine
}
