//! Timing of small pieces of work: warmed up, in turns, by the median.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Map, Value, json};

const ROUNDS: usize = 25;
const BATCH: Duration = Duration::from_millis(20);
const WARM_UP: Duration = Duration::from_millis(300);

/// Is one contestant.
pub struct Task<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Task<'a> {
    /// Names a piece of work.
    pub fn new(name: &'static str, work: impl FnMut() + 'a) -> Self {
        Self { name, work: Box::new(work) }
    }
}

/// Gives the CPU time this process has used, all threads together.
pub fn cpu() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("the clock is there"))
}

/// Measures wall time, and the CPU time of this process and of all that descend from it, ended or
/// not. What measuring itself takes does not count.
pub struct Stopwatch {
    wall: Instant,
    own: Duration,
    others: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        let others = cpu_of_children();
        Self { others, own: cpu(), wall: Instant::now() }
    }

    /// Gives wall and CPU time in nanoseconds.
    pub fn stop(self) -> [f64; 2] {
        let wall = self.wall.elapsed();
        let own = cpu() - self.own;
        let used = own + cpu_of_children().saturating_sub(self.others);
        [wall, used].map(|time| time.as_secs_f64() * 1e9)
    }
}

/// Gives the middle of wall and CPU times, each divided by a count.
pub fn middle(turns: &[[f64; 2]], count: usize) -> Value {
    let of = |which: usize| median(turns.iter().map(|turn| turn[which]).collect()) / count as f64;
    json!({"wall": of(0), "cpu": of(1)})
}

fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
    let [user, system] = [usage.user_time(), usage.system_time()]
        .map(|time| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1_000));
    user + system + descendants().into_iter().filter_map(cpu_of).sum::<Duration>()
}

/// Gives the CPU time of a process to the nanosecond; nothing if it has just ended.
pub fn cpu_of(pid: i32) -> Option<Duration> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
    clock_gettime(clock).ok().map(Duration::from)
}

fn descendants() -> Vec<i32> {
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let listed = std::fs::read_dir("/proc").expect("there are processes").flatten();
    let all: Vec<(i32, i32)> =
        listed.filter_map(number).filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![std::process::id() as i32];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
    }
    found.split_off(1)
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Gives the middle of a list of figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Runs the tasks in turns, so that what disturbs one disturbs all, and gives for each the median
/// wall and CPU time of one call in nanoseconds.
pub fn race(tasks: &mut [Task<'_>]) -> Value {
    let batches: Vec<u32> = tasks.iter_mut().map(|task| batch_size(&mut task.work)).collect();
    let mut figures = vec![(Vec::new(), Vec::new()); tasks.len()];
    for _ in 0..ROUNDS {
        for ((task, &batch), (walls, cpus)) in tasks.iter_mut().zip(&batches).zip(&mut figures) {
            let (wall, used) = (Instant::now(), cpu());
            for _ in 0..batch {
                (task.work)();
            }
            walls.push(wall.elapsed().as_secs_f64() * 1e9 / f64::from(batch));
            cpus.push((cpu() - used).as_secs_f64() * 1e9 / f64::from(batch));
        }
    }
    let mut answer = Map::new();
    for (task, (walls, cpus)) in tasks.iter().zip(figures) {
        answer.insert(task.name.into(), json!({"wall": median(walls), "cpu": median(cpus)}));
    }
    Value::Object(answer)
}

fn batch_size(work: &mut dyn FnMut()) -> u32 {
    let start = Instant::now();
    let mut calls = 0u32;
    while start.elapsed() < WARM_UP {
        work();
        calls += 1;
    }
    (f64::from(calls) * BATCH.as_secs_f64() / WARM_UP.as_secs_f64()).ceil() as u32
}
