//! The command line: one file a command. Arguments come in here and exit codes go out.

mod call;
mod canonical;
mod check;
mod completions;
mod config;
mod detach;
mod diff;
mod doctor;
mod execution;
mod explain;
mod find;
mod grants;
mod hash;
mod load;
mod log;
mod mcp;
mod new;
mod sample;
mod schema;
mod serve;
mod tools;
mod verbose;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};
use remit_model::Dialect;

/// Says how a command ended; the exit codes are a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// The thing asked about is bad.
    Bad = 1,
    /// Remit could not do it.
    Failed = 2,
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

#[derive(Parser)]
#[command(
    name = "remit",
    version,
    about = "The capability plane for AI agents: declare, check, compare and run what agents may do",
    after_help = "Exit codes: 0 all is well, 1 the thing asked about is bad, 2 Remit could not do it.\n\nStart with `remit new tool`, then `remit check`.",
    styles = STYLES
)]
struct Arguments {
    /// When to use colour.
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, global = true, value_name = "WHEN")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, ValueEnum)]
enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    New(new::Arguments),
    Check(check::Arguments),
    Diff(diff::Arguments),
    Hash(hash::Arguments),
    Canonical(canonical::Arguments),
    Schema(schema::Arguments),
    Serve(Box<serve::Arguments>),
    Mcp(mcp::Arguments),
    Call(Box<call::Arguments>),
    Tools(tools::Arguments),
    Explain(explain::Arguments),
    Execution(execution::Arguments),
    Grants(grants::Arguments),
    Log(log::Arguments),
    Config(config::Arguments),
    Completions(completions::Arguments),
    Doctor(doctor::Arguments),
}

/// Says who reads the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    /// For a person
    Human,
    /// For programs; stable
    Json,
}

/// Names a dialect on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArgument {
    /// What an agent can do on a user's device, and which permissions that takes
    Capability,
    /// A program with commands
    Tool,
    /// A published skill
    Skill,
    /// An agent with its MCP servers and tools
    Agent,
    /// The result of an MCP server's tools/list
    McpTools,
}

impl From<DialectArgument> for Dialect {
    fn from(argument: DialectArgument) -> Self {
        match argument {
            DialectArgument::Capability => Self::Capability,
            DialectArgument::Tool => Self::Tool,
            DialectArgument::Skill => Self::Skill,
            DialectArgument::Agent => Self::Agent,
            DialectArgument::McpTools => Self::McpTools,
        }
    }
}

/// Runs the command the arguments name.
pub(crate) fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Failed } else { Exit::Fine };
            // What the user typed may be anything, and is repeated in the message.
            let mut output = Output::default();
            for line in error.render().to_string().lines() {
                let line = remit_model::text::visible(line);
                let to = if error.use_stderr() { &mut output.err } else { &mut output.human };
                to.push_str(&line);
                to.push('\n');
            }
            return ExitCode::from(output.flush(code) as u8);
        }
    };
    match arguments.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    let mut output = Output::default();
    let exit = match &arguments.command {
        Command::New(arguments) => new::run(arguments, &mut output),
        Command::Check(arguments) => check::run(arguments, &mut output),
        Command::Diff(arguments) => diff::run(arguments, &mut output),
        Command::Hash(arguments) => hash::run(arguments, &mut output),
        Command::Canonical(arguments) => canonical::run(arguments, &mut output),
        Command::Schema(arguments) => schema::run(arguments, &mut output),
        Command::Serve(arguments) => serve::run(arguments, &mut output),
        Command::Mcp(arguments) => mcp::run(arguments, &mut output),
        Command::Call(arguments) => call::run(arguments, &mut output),
        Command::Tools(arguments) => tools::run(arguments, &mut output),
        Command::Explain(arguments) => explain::run(arguments, &mut output),
        Command::Execution(arguments) => execution::run(arguments, &mut output),
        Command::Grants(arguments) => grants::run(arguments, &mut output),
        Command::Log(arguments) => log::run(arguments, &mut output),
        Command::Config(arguments) => config::run(arguments, &mut output),
        Command::Completions(arguments) => completions::run(arguments, &mut output),
        Command::Doctor(arguments) => doctor::run(arguments, &mut output),
    };
    ExitCode::from(output.flush(exit) as u8)
}

/// Holds what a command prints until it is done, so that nothing is printed by halves.
#[derive(Default)]
pub(crate) struct Output {
    /// Goes to standard output as it is, for programs.
    pub(crate) out: Vec<u8>,
    /// Goes to standard output with colours where they are wanted, for a person.
    pub(crate) human: String,
    /// Goes to standard error, for a person.
    pub(crate) err: String,
}

impl Output {
    /// Adds a line for a person to standard output.
    pub(crate) fn line(&mut self, line: &str) {
        self.human.push_str(&remit_model::text::visible(line));
        self.human.push('\n');
    }

    /// Adds what went wrong to standard error.
    pub(crate) fn error(&mut self, message: &str) {
        self.err.push_str("\u{1b}[1m\u{1b}[91merror\u{1b}[0m\u{1b}[1m: ");
        self.err.push_str(&remit_model::text::visible(message));
        self.err.push_str("\u{1b}[0m\n");
    }

    /// Adds what is odd to standard error.
    pub(crate) fn warning(&mut self, message: &str) {
        self.err.push_str("\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m\u{1b}[1m: ");
        self.err.push_str(&remit_model::text::visible(message));
        self.err.push_str("\u{1b}[0m\n");
    }

    /// Adds more about it to standard error.
    pub(crate) fn err_line(&mut self, line: &str) {
        self.err.push_str("  ");
        self.err.push_str(&remit_model::text::visible(line));
        self.err.push('\n');
    }

    /// Adds what to do about it to standard error.
    pub(crate) fn help(&mut self, message: &str) {
        self.err.push_str("  \u{1b}[96mhelp\u{1b}[0m: ");
        self.err.push_str(&remit_model::text::visible(message));
        self.err.push('\n');
    }

    /// Writes everything out. A reader that went away is not an error; a full disk is.
    fn flush(self, exit: Exit) -> Exit {
        match self.write() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
                let _ = writeln!(stderr, "error: cannot write the output: {error}");
                Exit::Failed
            }
            _ => exit,
        }
    }

    /// Writes everything out, and tells whether anybody reads it.
    fn write(self) -> io::Result<()> {
        let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
        let _ = stderr.write_all(self.err.as_bytes());
        // What programs read goes around the stream that strips colours: it must arrive unchanged.
        let mut stdout = io::stdout().lock();
        stdout.write_all(&self.out)?;
        let mut styled = anstream::AutoStream::auto(stdout);
        styled.write_all(self.human.as_bytes())?;
        styled.flush()
    }
}

/// Tells whether a person watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
