//! Whole commands: wall time, CPU time and the most memory, each from its own run.
//!
//! Done here and not in Python because a child is charged with the memory of the process it was
//! started from, and this one is small.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use serde_json::{Value, json};

use crate::measure::median;

/// Is how much CPU time a command gets before it is ended: far past every target.
const MOST_SECONDS: u64 = 10;

#[derive(Clone, Default)]
struct Runs {
    walls: Vec<f64>,
    cpus: Vec<f64>,
    code: Option<i32>,
}

impl Runs {
    fn answer(self) -> Value {
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        json!({
            "best": {"wall": best(&self.walls), "cpu": best(&self.cpus)},
            "wall": median(self.walls),
            "cpu": median(self.cpus),
            "code": self.code,
        })
    }
}

/// Is a command: its words, what it reads, and a place to look for programs before all others.
#[derive(Default)]
struct Order {
    words: Vec<String>,
    input: Option<String>,
    path: Option<String>,
}

impl Order {
    /// Reads an array of words, or an object with `words`, `input` and `path`.
    fn read(order: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let words =
            |value: &Value| value.as_array().expect("words").iter().filter_map(text).collect();
        match order {
            Value::Array(_) => Self { words: words(order), ..Self::default() },
            _ => Self {
                words: words(&order["words"]),
                input: text(&order["input"]),
                path: text(&order["path"]),
            },
        }
    }
}

/// Runs commands (a JSON array of them) in turns; gives for each the median and the best
/// time in nanoseconds and the exit code, and the most memory any of them took.
pub fn run(rounds: usize, commands: &str) -> Value {
    setrlimit(Resource::RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS).expect("a limit for the children");
    let commands: Vec<Value> = serde_json::from_str(commands).expect("commands");
    let commands: Vec<Order> = commands.iter().map(Order::read).collect();
    let mut runs = vec![Runs::default(); commands.len()];
    for _ in 0..rounds {
        for (order, runs) in commands.iter().zip(&mut runs) {
            once(order, runs);
        }
    }
    let answers: Vec<Value> = runs.into_iter().map(Runs::answer).collect();
    let most = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss();
    json!({"runs": answers, "kilobytes": most})
}

fn once(order: &Order, runs: &mut Runs) {
    let (program, args) = order.words.split_first().expect("a program");
    let input = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut command = Command::new(program);
    command.args(args).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(path) = &order.path {
        command.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap_or_default()));
    }
    let before = children();
    let start = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
    if let (Some(input), Some(mut pipe)) = (&order.input, child.stdin.take()) {
        pipe.write_all(input.as_bytes()).expect("it reads");
    }
    let status = child.wait().expect("it ends");
    runs.walls.push(start.elapsed().as_secs_f64() * 1e9);
    runs.cpus.push((children() - before) * 1e9);
    runs.code = status.code();
}

/// Gives the CPU seconds of the children that have ended.
fn children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}
