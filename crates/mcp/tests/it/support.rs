//! Servers on two pipes, and what tests ask of them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use remit_mcp::{Config, Launch, McpError, Server, State, Surroundings, Transport, Until};
use serde_json::{Value, json};

/// Is longer than anything here takes.
pub const LONG: Duration = Duration::from_secs(60);

/// Gives the interpreter itself: what is found first may be a script that looks for it each time.
pub fn python() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let print = "import sys; print(sys.executable)";
        let out = Command::new("python3").args(["-c", print]).output();
        let out = out.expect("the tests need python3");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    })
}

/// Gives what local servers get of this process's environment.
pub fn around() -> Surroundings {
    Surroundings::pick(|name| std::env::var_os(name))
}

pub fn keeper() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_remit-mcp-keeper"))
}

/// Gives a server of ours with these arguments.
pub fn launch(args: &[&str]) -> Launch {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/server.py");
    let fixed = ["-I", "-S", file];
    let args = fixed.iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    Launch { command: python().to_owned(), args, ..Launch::default() }
}

/// Gives its configuration, with short pauses.
pub fn config(args: &[&str]) -> Config {
    let mut config = Config::new("py", Transport::Stdio(launch(args)));
    config.around = around();
    config.keeper = Some(keeper());
    config.times.first_pause = Duration::from_millis(20);
    config
}

pub fn server(args: &[&str]) -> Server {
    Server::new(config(args))
}

pub fn long() -> Until {
    Until::within(LONG)
}

/// Calls a tool and gives its first text.
pub async fn call(server: &Server, tool: &str, arguments: Value) -> Result<String, McpError> {
    call_until(server, tool, arguments, &long()).await
}

pub async fn call_until(
    server: &Server,
    tool: &str,
    arguments: Value,
    until: &Until,
) -> Result<String, McpError> {
    let result = server.call_tool(tool, &arguments, until, None).await?;
    Ok(result.content[0]["text"].as_str().unwrap_or_default().to_owned())
}

/// Shows that a server works.
pub async fn works(server: &Server) {
    assert_eq!(call(server, "echo", json!({"a": 1})).await.unwrap(), "{\"a\": 1}");
}

/// Waits until a server is in a state.
pub async fn reaches(server: &Server, wanted: impl Fn(&State) -> bool) -> State {
    let mut state = server.state();
    let waiting = async {
        while !wanted(&state) {
            state = server.changed(&state).await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.expect("the state never came");
    state
}

/// Waits until something is so.
pub async fn until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("this never came: {what}");
}

/// Tells whether a process is there and not only waiting to be reaped.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
