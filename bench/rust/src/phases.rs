//! Where the time of checking many files goes: the stages of one check, timed one by one on one
//! thread.

use std::path::{Path, PathBuf};
use std::time::Duration;

use remit_manifest::check::set::{self, Entry, Facts};
use remit_manifest::compile::{self, Options};
use remit_manifest::read::{self, Format, Limits};
use serde_json::{Value, json};

use crate::measure::{cpu, median};

const ROUNDS: usize = 5;

#[derive(Default)]
struct Stages {
    list: Duration,
    load: Duration,
    parse: Duration,
    judge: Duration,
    facts: Duration,
    together: Duration,
    free: Duration,
}

/// Checks every file below a folder a few times and gives the median CPU time of each stage in
/// nanoseconds.
pub fn run(folder: &Path) -> Value {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(round(folder));
    }
    let share = |stage: fn(&Stages) -> Duration| {
        median(rounds.iter().map(|round| stage(round).as_secs_f64() * 1e9).collect())
    };
    json!({
        "list the folder": share(|s| s.list),
        "load the file": share(|s| s.load),
        "read YAML into a tree": share(|s| s.parse),
        "check the tree": share(|s| s.judge),
        "note what other files must know": share(|s| s.facts),
        "judge the files together": share(|s| s.together),
        "give memory back": share(|s| s.free),
    })
}

fn round(folder: &Path) -> Stages {
    let mut stages = Stages::default();
    let mut watch = Watch(cpu());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    stages.list += watch.lap();
    let mut all = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).expect("the file is there");
        stages.load += watch.lap();
        let reading = read::read(&bytes, Some(Format::Yaml), &Limits::MANIFEST);
        stages.parse += watch.lap();
        let checked = compile::judge(reading, Options::default());
        assert!(checked.ok(), "{}: {:?}", file.display(), checked.diagnostics);
        stages.judge += watch.lap();
        all.push(Facts::of(&checked).expect("a tool"));
        stages.facts += watch.lap();
        drop((bytes, checked));
        stages.free += watch.lap();
    }
    let entry = |facts| Entry { label: "a file", directory: "a folder", facts };
    let found = set::check(&all.iter().map(entry).collect::<Vec<_>>());
    assert!(found.is_empty(), "{found:?}");
    stages.together += watch.lap();
    stages
}

/// Measures CPU time, so that other work on the machine does not count.
struct Watch(Duration);

impl Watch {
    fn lap(&mut self) -> Duration {
        let now = cpu();
        now - std::mem::replace(&mut self.0, now)
    }
}
