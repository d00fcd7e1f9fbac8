//! Is a native tool for the tests: it tries to get out, by what Rust offers.

use std::io::{BufRead, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

type Attempt = (&'static str, fn(&Value) -> Result<String, String>);

const ATTEMPTS: &[Attempt] = &[
    ("read_outside", |at| read(&text(at, "secret"))),
    ("read_by_dotdot", |at| read(&format!("{}/../outside/secret.txt", text(at, "lent")))),
    ("read_by_link", |at| read(&format!("{}/link", text(at, "lent")))),
    ("read_through_proc", |at| read(&format!("/proc/self/root{}", text(at, "secret")))),
    ("read_data", |at| read(&format!("{}/store.db", text(at, "data")))),
    ("read_sibling", |at| read(&format!("/proc/{}/environ", at["sibling"]))),
    ("write_outside", |at| done(std::fs::write(text(at, "secret"), "canary"))),
    ("write_lent", |at| done(std::fs::write(format!("{}/a.txt", text(at, "lent")), "lent"))),
    ("stat_outside", |at| done(std::fs::metadata(text(at, "secret")))),
    ("tcp", |at| done(TcpStream::connect(format!("127.0.0.1:{}", at["tcp"])))),
    ("udp", |_| done(UdpSocket::bind("127.0.0.1:0"))),
    ("unix", |at| done(UnixStream::connect(text(at, "unix")))),
    ("abstract", |at| {
        done(
            SocketAddr::from_abstract_name(text(at, "abstract"))
                .and_then(|name| UnixStream::connect_addr(&name)),
        )
    }),
    ("shell", |_| done(Command::new("/bin/sh").args(["-c", ":"]).status())),
    ("mount", |at| {
        let flags = rustix::mount::MountFlags::empty();
        done(rustix::mount::mount("none", text(at, "out"), "tmpfs", flags, None).and_then(|()| {
            rustix::mount::unmount(text(at, "out"), rustix::mount::UnmountFlags::DETACH)
        }))
    }),
    ("unshare", |_| done(nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUTS))),
    ("signal", |at| {
        let pid = at["remit"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).ok_or("no process")?;
        done(rustix::process::test_kill_process(pid))
    }),
];

fn text(at: &Value, name: &str) -> String {
    at[name].as_str().unwrap_or_default().to_owned()
}

fn read(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(Path::new(path)).map_err(|error| error.to_string())?;
    if text.contains("canary") { Ok(text) } else { Err("no secret in it".to_owned()) }
}

fn done<T, E: std::fmt::Display>(outcome: Result<T, E>) -> Result<String, String> {
    outcome.map(|_| "done".to_owned()).map_err(|error| error.to_string())
}

fn answer(request: &Value) -> Value {
    let name = request["command"].as_str().unwrap_or_default();
    if name == "list" {
        return ATTEMPTS.iter().map(|(name, _)| *name).collect();
    }
    match ATTEMPTS.iter().find(|(known, _)| *known == name) {
        None => json!(["broken", "no such attempt"]),
        Some((_, attempt)) => match attempt(&request["parameters"]) {
            Ok(detail) => json!(["escaped", detail]),
            Err(detail) => json!(["refused", detail]),
        },
    }
}

fn main() -> ExitCode {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { return ExitCode::FAILURE };
        let mut line = json!({"id": request.get("id"), "result": answer(&request)}).to_string();
        line.push('\n');
        if std::io::stdout().write_all(line.as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
