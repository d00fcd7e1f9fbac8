//! Timing of small pieces of work: warmed up, in turns, by the median.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
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
